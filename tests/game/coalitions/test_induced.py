"""Incremental coefficients against a dense matrix power on the local graph."""

import numpy as np
import numpy.typing as npt
import pytest

from oracles import dense_power, local_graph, random_graph
from pcwinter.game.coalitions.acting import begin_step, coefficients, join, tree_coefficients
from pcwinter.game.coalitions.records import empty_state, local_graphs
from pcwinter.game.orders import FAMILIES
from pcwinter.game.tree import contribution_tree


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_prefix_equals_the_dense_power(hops: int, family: str, seed: int) -> None:
    graph = random_graph(seed, n=7, probability=0.4, n_train=2)
    tree = contribution_tree(graph, hops)
    local = local_graphs(tree)
    rng = np.random.default_rng(seed)
    order = FAMILIES[family](tree, rng)
    checked = set(rng.choice(tree.n_players, min(25, tree.n_players), replace=False).tolist())
    state = empty_state(local)
    coalition = np.zeros(tree.n_players, dtype=bool)
    edges = 0
    for k, player in enumerate(order.players.tolist()):
        begin_step(state)
        join(local, state, player)
        coalition[player] = True
        if k not in checked and k != tree.n_players - 1:
            continue
        for t, root in enumerate(tree.roots):
            here = slice(local.begin[t], local.begin[t + 1])
            dense = np.zeros(graph.n_nodes)
            dense[local.node[here]] = tree_coefficients(local, state, t)
            if not coalition[root]:
                assert not dense.any()
                continue
            r = int(tree.node[root])
            adjacency = local_graph(graph, tree, r, coalition)
            edges += int(adjacency.sum())
            np.testing.assert_allclose(dense, dense_power(adjacency, hops)[r], atol=1e-12)
            np.testing.assert_allclose(coefficients(local, coalition)[here], dense[local.node[here]], atol=1e-12)
    assert edges


def test_the_complete_local_graph_has_the_degrees_of_the_tree_only() -> None:
    """An edge between two nodes at distance K lies outside the local graph, and outside their degrees."""
    graph = random_graph(3, n=10, probability=0.4)
    tree = contribution_tree(graph, 1)
    local = local_graphs(tree)
    complete = coefficients(local, np.ones(tree.n_players, dtype=bool))
    degree: npt.NDArray[np.float64] = graph.training.sum(axis=1)
    for t, root in enumerate(graph.train):
        here = slice(local.begin[t], local.begin[t + 1])
        star = np.where(local.node[here] == root, 1 / (degree[root] + 1), (2 * (degree[root] + 1)) ** -0.5)
        np.testing.assert_allclose(complete[here], star)
