"""Who acts in a coalition, and when a row is complete: against the definition, in both games."""

import numpy as np
import pytest

from oracles import random_graph
from pcwinter.game.coalitions.acting import begin_step, coefficients, incomplete, join, row_scale, tree_coefficients
from pcwinter.game.coalitions.records import LocalGraphs, empty_state
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import COALITIONS, make_problem
from pcwinter.game.tree import ContributionTree, contribution_tree

GRAPH = random_graph(2, n=8, probability=0.4, n_train=3)
TREE = contribution_tree(GRAPH, 2)


def local_of(coalition: str) -> LocalGraphs:
    return make_problem(GRAPH, TREE, coalition).local


def with_ancestors(tree: ContributionTree, inside: np.ndarray) -> list[int]:
    found = []
    for player in np.flatnonzero(inside).tolist():
        above = player
        while above >= 0 and inside[above]:
            above = int(tree.parent[above])
        if above < 0:
            found.append(player)
    return found


@pytest.mark.parametrize("coalition", COALITIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_player_acts_once_all_its_ancestors_have_joined(coalition: str, family: str) -> None:
    local = local_of(coalition)
    state, inside = empty_state(local), np.zeros(TREE.n_players, dtype=bool)
    never = TREE.null if coalition == "induced" else np.zeros_like(TREE.null)
    last = {tree: coefficients(local, inside) for tree in range(len(TREE.roots))}
    for player in FAMILIES[family](TREE, np.random.default_rng(1)).players.tolist():
        begin_step(state)
        join(local, state, player)
        inside[player] = True
        assert np.flatnonzero(state.acting).tolist() == [p for p in with_ancestors(TREE, inside) if not never[p]]
        tree = int(TREE.tree[player])
        now = coefficients(local, inside)
        here = slice(local.begin[tree], local.begin[tree + 1])
        np.testing.assert_allclose(tree_coefficients(local, state, tree), now[here], atol=1e-15)
        if not state.changes.any():
            np.testing.assert_allclose(now, last[tree], atol=1e-15)
        last = dict.fromkeys(last, now)
    assert not any(incomplete(local, state, tree) for tree in range(len(TREE.roots)))


def test_a_row_is_incomplete_until_its_last_message_and_then_has_scale_one() -> None:
    local = local_of("messages")
    state = empty_state(local)
    assert row_scale(local, state, 0, 0) == 0
    for player in range(TREE.size[0]):
        assert incomplete(local, state, 0)
        join(local, state, player)
    assert not incomplete(local, state, 0)
    assert row_scale(local, state, 0, 0) == 1
