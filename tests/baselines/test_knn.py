"""KNN-Shapley against the sum over all subsets."""

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
import pytest

from node_game_oracle import TINY
from oracles import filtered, random_graph, validation_rows
from pcwinter import baselines
from pcwinter.baselines.knn import knn_values

Floats = npt.NDArray[np.float64]


def shapley(n: int, game: Callable[[tuple[int, ...]], float]) -> Floats:
    """Shapley values by the sum over subsets."""
    total = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            for subset in combinations(others, size):
                gain = game(tuple(sorted((*subset, i)))) - game(subset)
                total[i] += gain / (n * comb(n - 1, size))
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_knn_values_equal_enumeration(k: int, n: int) -> None:
    right = np.random.default_rng(n).integers(0, 2, (4, n)).astype(np.float64)
    values = knn_values(right, k)
    for line, correct in zip(values, right, strict=True):
        expected = shapley(n, lambda members, c=correct: float(sum(c[i] for i in members[:k]) / k))  # type: ignore[misc]
        np.testing.assert_allclose(line, expected, atol=1e-12)


@pytest.mark.parametrize(("k", "filter"), [(1, "sgc"), (3, "sgc"), (9, "sgc"), (3, "mean"), (2, [0.5, 0.1, 0.4])])
def test_knn_shapley_of_a_graph(k: int, filter: str | list[float]) -> None:
    graph = random_graph(4, n=12, n_train=5, n_val=8, n_classes=3)
    ranking = baselines.knn_shapley(graph, filter=filter, k=k)
    named = {"sgc": [0.0, 0.0, 1.0], "mean": [1 / 3, 1 / 3, 1 / 3]}
    theta = named[filter] if isinstance(filter, str) else filter
    rows = (filtered(graph.training.toarray(), theta) @ graph.features.toarray())[graph.train]
    expected = np.zeros(5)
    for z, target in zip(validation_rows(graph, 2, theta), graph.labels[graph.val], strict=True):
        near = np.argsort(np.linalg.norm(rows - z, axis=1)).tolist()
        right = graph.labels[graph.train] == target

        def votes(members: tuple[int, ...], near: list[int] = near, right: Floats = right) -> float:
            return float(sum(right[i] for i in [j for j in near if j in members][:k]) / k)

        expected += shapley(5, votes) / len(graph.val)
    assert ranking.items.tolist() == graph.train.tolist()
    np.testing.assert_allclose(ranking.value, expected, atol=1e-12)


def test_the_number_of_neighbours_is_checked() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        baselines.knn_shapley(TINY, k=0)
