"""Propagation on a whole graph against a dense matrix power."""

import numpy as np
import pytest

from any_graph import ANY_KIND, any_graph, dense, model_rows, operator
from block_rows import model_blocks, plain_blocks
from oracles import dense_power, random_graph
from pcwinter.graph.propagation import filter_of, normalized, powers, propagate, propagate_to


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_propagation_on_the_whole_graph(hops: int) -> None:
    graph = random_graph(1)
    expected = dense_power(graph.training.toarray(), hops) @ graph.features.toarray()
    np.testing.assert_allclose(propagate(graph.training, graph.features, hops).toarray(), expected, atol=1e-12)
    rows = np.array([4, 0, 2])
    some = propagate_to(rows, graph.training, graph.features, hops)
    np.testing.assert_allclose(some.toarray(), expected[rows], atol=1e-12)


@ANY_KIND
@pytest.mark.parametrize("theta", [(0.0, 1.0), (0.0, 0.0, 1.0), (0.2, 0.3, 0.1, 0.4)])
def test_propagation_with_weights_and_direction(kind: str, theta: tuple[float, ...]) -> None:
    graph, hops = any_graph(kind, 1), len(theta) - 1
    step = operator(graph, dense(graph))
    np.testing.assert_allclose(normalized(graph.training, graph.scaling).toarray(), step, atol=1e-12)
    rows = propagate(graph.training, graph.features, hops, theta, graph.scaling).toarray()
    np.testing.assert_allclose(rows, model_rows(graph, dense(graph), theta), atol=1e-12)
    some = propagate_to(graph.train, graph.training, graph.features, hops, theta, graph.scaling).toarray()
    np.testing.assert_allclose(some, model_rows(graph, dense(graph), theta)[graph.train], atol=1e-12)
    some = propagate_to(graph.train, graph.training, graph.features, hops, scaling=graph.scaling).toarray()
    last = model_rows(graph, dense(graph), (*[0.0] * hops, 1.0))
    np.testing.assert_allclose(some, last[graph.train], atol=1e-12)


@ANY_KIND
def test_powers_without_self_loops(kind: str) -> None:
    graph = any_graph(kind, 1)
    for found, expected in zip(
        powers(graph.training, graph.features, 3), plain_blocks(graph, 3, "training"), strict=True
    ):
        np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


@ANY_KIND
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_blocks_side_by_side(kind: str, hops: int) -> None:
    graph = any_graph(kind, 3, n=9)
    theta = filter_of("hops", hops, graph.training, graph.features, graph.train)
    expected = model_blocks(graph, hops)
    rows = propagate(graph.training, graph.features, hops, theta, graph.scaling)
    np.testing.assert_allclose(rows.toarray(), expected, atol=1e-12)
    some = propagate_to(graph.train, graph.training, graph.features, hops, theta, graph.scaling)
    np.testing.assert_allclose(some.toarray(), expected[graph.train], atol=1e-12)
    assert filter_of("sgc", hops, graph.training, graph.features, graph.train) == ()
