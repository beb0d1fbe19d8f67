"""Slots of computation trees: one for every node that a tree reaches."""

import numpy as np
import pytest

from oracles import random_graph
from pcwinter.game.coalitions.records import empty_state, local_graphs
from pcwinter.game.tree import contribution_tree

TREE = contribution_tree(random_graph(2, n=8, probability=0.4, n_train=3), 2)
WEIGHT = np.random.default_rng(0).random(TREE.n_players)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["induced", "messages"])
def test_every_tree_has_a_slot_for_every_node_that_it_reaches(weight: np.ndarray | None) -> None:
    local = local_graphs(TREE, weight)
    assert (local.node[local.slot] == TREE.node).all()
    for tree, root in enumerate(TREE.roots.tolist()):
        players = np.flatnonzero(TREE.tree == tree)
        slots = np.arange(local.begin[tree], local.begin[tree + 1])
        assert sorted(set(local.slot[players].tolist())) == slots.tolist()
        assert sorted(local.node[slots].tolist()) == sorted(set(TREE.node[players].tolist()))
        assert local.slot[root] == local.root[tree]
        assert local.first[tree] == root
    assert not empty_state(local).joined.any()


def test_the_message_game_has_weights_and_no_edges() -> None:
    local = local_graphs(TREE, WEIGHT)
    assert local.n_edges == local.inner_begin.max() == local.null.sum() == 0
    np.testing.assert_allclose(local.total[:, 0], np.bincount(TREE.tree, WEIGHT))
    assert local_graphs(TREE).weight.size == 0
