"""Random values, degree, and betweenness against a search of all shortest paths."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import numpy.typing as npt
import pytest

from any_graph import ANY_KIND, any_graph, dense
from oracles import distances, make_graph, random_graph
from pcwinter import baselines
from pcwinter.graph.graph import Graph

Floats = npt.NDArray[np.float64]


def test_degree_and_random() -> None:
    graph = random_graph(5, n=20, probability=0.1)
    nodes = baselines.near_nodes(graph, 2)
    degree = baselines.degree(graph)
    assert (degree.items == nodes).all()
    assert (degree.value == graph.training.toarray().sum(axis=1)[nodes]).all()
    for draw, items in (
        (baselines.random_nodes, nodes),
        (baselines.random_edges, np.argwhere(np.triu(graph.training.toarray()))),
    ):
        first, again, other = draw(graph, seed=1), draw(graph, seed=1), draw(graph, seed=2)
        assert (first.items == items).all()
        assert (first.value == again.value).all()
        assert (first.value != other.value).any()
        assert np.isnan(first.stderr).all()


def shortest_paths(adjacency: Floats, source: int, target: int) -> list[list[int]]:
    """All shortest paths, by trying all paths of the right length."""
    distance = distances(adjacency, source)[target]
    paths = [[source]]
    for _ in range(int(distance) if np.isfinite(distance) else 0):
        paths = [[*path, int(w)] for path in paths for w in np.flatnonzero(adjacency[path[-1]])]
    return [path for path in paths if path[-1] == target]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_betweenness_counts_shortest_paths(seed: int) -> None:
    # a square has two shortest paths between opposite corners, which share one
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (5, 6)]
    graph = make_graph(edges, [0, 1], n=8) if seed == 0 else random_graph(seed, n=9, probability=0.3)
    ranking = baselines.betweenness(graph)
    n = graph.n_nodes - len(graph.val)
    adjacency = graph.training.toarray()
    expected = np.zeros(len(ranking.items))
    place = {tuple(edge): k for k, edge in enumerate(ranking.items.tolist())}
    several = 0
    for source, target in combinations(range(n), 2):
        paths = shortest_paths(adjacency, source, target)
        several += len(paths) > 1
        for path in paths:
            for u, v in pairwise(path):
                expected[place[min(u, v), max(u, v)]] += 1 / len(paths)
    np.testing.assert_allclose(ranking.value, expected / comb(n, 2), atol=1e-12)
    assert several


@ANY_KIND
def test_degree_adds_up_the_weights_in_both_directions(kind: str) -> None:
    graph = any_graph(kind)
    training = dense(graph)
    expected = training.sum(axis=1) + (training.sum(axis=0) if graph.directed else 0)
    ranking = baselines.degree(graph)
    np.testing.assert_allclose(ranking.value, expected[ranking.items])


def test_betweenness_follows_the_direction() -> None:
    graph = Graph([(0, 1), (1, 2), (2, 0), (1, 3)], np.eye(5), [0, 1, -1, -1, 0], [0, 1], [4], directed=True)
    ranking = baselines.betweenness(graph)
    expected = {(0, 1): 5, (1, 2): 3, (1, 3): 3, (2, 0): 4}  # of the 12 pairs of the four nodes
    found = {tuple(edge): value * 12 for edge, value in zip(ranking.items.tolist(), ranking.value, strict=True)}
    assert found == pytest.approx(expected)


def test_betweenness_of_a_transductive_graph_counts_all_nodes() -> None:
    graph = make_graph([(0, 1)], [0, 1], n_val=3).replace(setting="transductive")
    assert baselines.betweenness(graph).value.tolist() == [0.1] * 4
