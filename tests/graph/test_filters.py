"""Filters against dense algebra, and what is refused."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from oracles import dense_power, filtered, random_graph
from pcwinter.graph.filters import filter_name, filter_weights
from pcwinter.graph.propagation import propagate, propagate_to

HOPS = pytest.mark.parametrize("hops", [1, 2, 3])


def appnp(adjacency: npt.NDArray[np.float64], features: npt.NDArray[np.float64], alpha: float, hops: int) -> Any:
    """The iteration of the APPNP paper: Z <- (1 - alpha) S Z + alpha X."""
    rows, step = features, dense_power(adjacency, 1)
    for _ in range(hops):
        rows = (1 - alpha) * step @ rows + alpha * features
    return rows


@HOPS
def test_names_are_weights_of_powers(hops: int) -> None:
    graph = random_graph(3)
    adjacency, features = graph.training.toarray(), graph.features.toarray()
    powers = [dense_power(adjacency, j) @ features for j in range(hops + 1)]
    expected = {
        "sgc": powers[-1],
        "mean": np.mean(powers, axis=0),
        "appnp:0.3": appnp(adjacency, features, 0.3, hops),
        "appnp:0.05": appnp(adjacency, features, 0.05, hops),
    }
    for name, rows in expected.items():
        theta = filter_weights(name, hops)
        np.testing.assert_allclose(propagate(graph.training, graph.features, hops, theta).toarray(), rows, atol=1e-12)
        some = propagate_to(graph.train, graph.training, graph.features, hops, theta).toarray()
        np.testing.assert_allclose(some, rows[graph.train], atol=1e-12)


def test_any_weights() -> None:
    graph, theta = random_graph(3), [0.2, 0, 0.5, 3]
    rows = propagate(graph.training, graph.features, 3, filter_weights(theta, 3)).toarray()
    np.testing.assert_allclose(rows, filtered(graph.training.toarray(), theta) @ graph.features.toarray(), atol=1e-12)
    assert filter_weights(tuple(np.array(theta)), 3) == (0.2, 0.0, 0.5, 3.0)
    assert filter_weights([0, 0, 1], 2) == filter_weights("sgc", 2) == ()


def test_a_filter_has_one_name() -> None:
    assert [filter_name(name) for name in ("sgc", "mean", "appnp:0.1", "appnp:0.10", "appnp:1e-1")] == [
        "sgc",
        "mean",
        *["appnp:0.1"] * 3,
    ]


@pytest.mark.parametrize(
    ("filter", "facts"),
    [
        ("gcn", "filter is 'gcn', expected sgc, appnp:ALPHA, mean or hops"),
        ("means", "did you mean mean"),
        ("sgc:2", "filter is 'sgc:2', expected sgc"),
        ("appnp", "such as appnp:0.1"),
        ("appnp:x", "ALPHA between 0 and 1"),
        ("appnp:1", "ALPHA between 0 and 1"),
        ("appnp:0", "ALPHA between 0 and 1"),
        ("appnp:nan", "ALPHA between 0 and 1"),
        ("appnp:0.999999", "gives a power the weight 1e-12.*further from 0 and 1"),
        ([1, 2], "filter has 2 weights, expected 3"),
        ([0, 0, 0], "no weight above 0"),
        ([1, -1, 0], "filter is -1"),
        (3, "filter is 3, expected a list of 3 numbers"),
    ],
)
def test_what_does_not_fit_is_refused(filter: Any, facts: str) -> None:
    with pytest.raises(ValueError, match=facts):
        filter_weights(filter, 2)
