"""The players: counted, ordered and marked null as the definition says."""

from itertools import pairwise

import numpy as np
import pytest

from oracles import distances, make_graph, random_graph
from pcwinter.game.tree import contribution_tree, count_players

TRIANGLE = [(0, 1), (1, 2), (0, 2), (2, 3)]


def walks(edges: list[tuple[int, int]], roots: list[int], hops: int) -> list[tuple[int, ...]]:
    """All players in pre-order, by recursion."""
    found: list[tuple[int, ...]] = []

    def grow(path: tuple[int, ...]) -> None:
        found.append(path)
        if len(path) <= hops:
            for v in sorted({a + b - path[-1] for a, b in edges if path[-1] in (a, b)}):
                grow((*path, v))

    for root in roots:
        grow((root,))
    return found


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_players_are_the_walks_in_pre_order(hops: int) -> None:
    tree = contribution_tree(make_graph(TRIANGLE, [0, 3]), hops)
    assert [tuple(v for v in path if v >= 0) for path in tree.paths().tolist()] == walks(TRIANGLE, [0, 3], hops)
    assert tree.n_players == count_players(make_graph(TRIANGLE, [0, 3]), hops)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arrays_describe_the_same_tree(hops: int, seed: int) -> None:
    graph = random_graph(seed)
    tree = contribution_tree(graph, hops)
    paths = [tuple(v for v in path if v >= 0) for path in tree.paths().tolist()]
    number = {path: p for p, path in enumerate(paths)}
    for p, path in enumerate(paths):
        assert tree.depth[p] == len(path) - 1
        assert tree.parent[p] == (number[path[:-1]] if len(path) > 1 else -1)
        assert tree.size[p] == sum(other[: len(path)] == path for other in paths)
        assert tree.children[p] == sum(len(other) == len(path) + 1 and other[:-1] == path for other in paths)
        if len(path) > 1:
            assert tuple(tree.edges[tree.edge[p]]) == tuple(sorted(path[-2:]))
    assert tree.nodes.tolist() == sorted({path[-1] for path in paths})


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_null_players(hops: int, seed: int) -> None:
    graph = random_graph(seed)
    tree = contribution_tree(graph, hops)
    adjacency = graph.training.toarray()
    for p, padded in enumerate(tree.paths().tolist()):
        path = [v for v in padded if v >= 0]
        distance = distances(adjacency, path[0])
        steps = [k == 1 + min(distance[path[k - 1]], distance[path[k]]) for k in range(1, len(path))]
        assert tree.null[p] == (not all(steps))


def test_walking_back_is_a_null_player_and_a_triangle_is_not() -> None:
    tree = contribution_tree(make_graph([(0, 1), (1, 2), (0, 2)], [0, 1]), 2)
    null = {tuple(path): bool(n) for path, n in zip(tree.paths().tolist(), tree.null, strict=True)}
    assert null[0, 1, 0]
    assert not null[0, 1, 2]
    assert not null[0, 2, 1]


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_incidence_matrices_sum_the_right_players(hops: int) -> None:
    tree = contribution_tree(random_graph(5), hops)
    paths = [[v for v in path if v >= 0] for path in tree.paths().tolist()]
    own, path_, edge, steps = (tree.incidence(level).toarray() for level in ("own", "path", "edge", "edge path"))
    for p, path in enumerate(paths):
        assert tree.nodes[np.flatnonzero(own[:, p])].tolist() == [path[-1]]
        assert tree.nodes[np.flatnonzero(path_[:, p])].tolist() == sorted(set(path))
        walked = [sorted(step) for step in pairwise(path)]
        assert tree.edges[np.flatnonzero(edge[:, p])].tolist() == walked[-1:]
        assert tree.edges[np.flatnonzero(steps[:, p])].tolist() == sorted(map(list, set(map(tuple, walked))))
    assert max(own.max(), path_.max(), edge.max(), steps.max()) == 1


def test_isolated_labelled_nodes_have_one_player() -> None:
    tree = contribution_tree(make_graph([(2, 3)], [0, 1]), 3)
    assert tree.n_players == 2
    assert tree.edges.shape == (0, 2)


@pytest.mark.parametrize("hops", [0, -1, 1.5, 2.0, True, None, float("nan")])
def test_hops_below_one_are_refused(hops: object) -> None:
    with pytest.raises(ValueError, match=r"hops is .* at least 1"):
        contribution_tree(make_graph(TRIANGLE, [0, 3]), hops)  # type: ignore[arg-type]


def test_a_tree_that_explodes_is_refused_before_it_is_built() -> None:
    complete = [(u, v) for u in range(60) for v in range(u)]
    with pytest.raises(ValueError, match=r"5\.315e\+35 players .* GB.* hops=20"):
        contribution_tree(make_graph(complete, [0, 1]), 20)
    with pytest.raises(ValueError, match=r"max_players=3"):
        contribution_tree(make_graph(TRIANGLE, [0, 3]), 1, max_players=3)
