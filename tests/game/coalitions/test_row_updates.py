"""Rows that move along lines, against a dense matrix power on the local graph after every step."""

import numpy as np
import pytest

from oracles import dense_power, local_graph, random_graph
from pcwinter.game.coalitions.acting import begin_step, join
from pcwinter.game.coalitions.records import empty_state, local_graphs
from pcwinter.game.coalitions.row_updates import apply, forget, no_moves, plan
from pcwinter.game.orders import FAMILIES
from pcwinter.game.tree import contribution_tree


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rows_move_to_where_the_definition_has_them(hops: int, family: str, seed: int) -> None:
    graph = random_graph(seed, n=7, probability=0.4, n_train=2)
    tree = contribution_tree(graph, hops)
    local = local_graphs(tree)
    rng = np.random.default_rng(seed)
    order = FAMILIES[family](tree, rng)
    checked = {*rng.choice(tree.n_players, min(25, tree.n_players), replace=False).tolist(), tree.n_players - 1}
    state, coalition, moved = empty_state(local), np.zeros(tree.n_players, dtype=bool), 0
    n, inner = graph.n_nodes, int(local.inner_begin[-1])
    lines = np.zeros((n + inner + len(tree.roots), 5))  # those of nodes, of T_w and of g; the last column is left alone
    x, g = lines[:n], lines[n + inner :]
    x[:] = rng.normal(size=x.shape)
    moves = no_moves(local)
    for k, player in enumerate(order.players.tolist()):
        begin_step(state)
        join(local, state, player)
        coalition[player] = True
        t = int(local.tree[player])
        if state.changes.any():
            moved += 1
            anew = bool(rng.random() < 0.2)  # the sums may be started again at any step
            if anew:
                forget(local, t, moves)
                lines[n + local.inner_begin[t] : n + local.inner_begin[t + 1]] = g[t] = 0.0
            plan(local, state, t, moves, anew)
            apply(moves, local.node, lines, n + local.inner_begin[t], n + inner + t, 4)
        if k not in checked:
            continue
        for t, root in enumerate(tree.roots):
            r = int(tree.node[root])
            row = dense_power(local_graph(graph, tree, r, coalition), hops)[r] @ x if coalition[root] else np.zeros(5)
            np.testing.assert_allclose(state.scale[local.root[t]] * g[t, :4], row[:4], atol=1e-12)
    assert moved > len(tree.roots)
    assert not g[:, 4].any()
