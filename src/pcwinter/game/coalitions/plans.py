"""Order -> Plan: the additions that every step of an order makes to the rows, in the message game.

A player that acts adds its message to the row of its labelled node. Steps of many players are silent blocks, and mostly
all children of a player that is one step from the end of its walk. Their messages together are a multiple of

    T_w = sum over the neighbours u of w of S[w, u] x_u

so such a block adds one vector, and takes the messages of the children away that are not in it.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.coalitions.records import LocalGraphs


class Plan(NamedTuple):
    """The additions of all steps; those of step k are end[k]:end[k + 1]. A silent step that ends a tree has none."""

    end: IntArray  # (s + 1,)
    player: IntArray  # whose message is added; ~q for the sum over all children of q
    row: IntArray  # where the lines of its node are, or those of T_w
    weight: FloatArray  # negative if the message is taken away
    scale: FloatArray  # (s, b) factor of each block of the row after each step
    changed: BoolArray  # (s,) whether the step changes its row, or is the first of its tree


@compiled
def make_plan(
    local: LocalGraphs, rows: IntArray, sum_rows: IntArray, players: IntArray, visited: BoolArray, steps: IntArray
) -> Plan:
    """The plan of an order whose trees are contiguous.

    `rows`, (m,), says where the lines of each slot's node are, and `sum_rows`, (m,), where those of its T_w are. If
    `sum_rows` is empty, no sums are used.
    """
    n_steps, n_players = len(steps) - 1, len(local.slot)
    parent, size, weight, n_blocks = local.parent, local.size, local.weight, local.total.shape[1]
    plan = Plan(
        np.zeros(n_steps + 1, dtype=np.int64),
        np.empty(len(players), dtype=np.int64),
        np.empty(len(players), dtype=np.int64),
        np.empty(len(players)),
        np.zeros((n_steps, n_blocks)),
        np.zeros(n_steps, dtype=np.bool_),
    )
    joined, acting = np.zeros(n_players, dtype=np.bool_), np.zeros(n_players, dtype=np.bool_)
    fresh, children = np.empty(n_players, dtype=np.int64), np.zeros(n_players, dtype=np.int64)
    fresh_at = np.full(n_players, -1)
    total = np.zeros(n_blocks)
    tree, added, n = -1, 0, 0
    for step in range(n_steps):
        begin, end = steps[step], steps[step + 1]
        if local.tree[players[begin]] != tree:
            tree, added = local.tree[players[begin]], 0
            total[:] = 0.0
        m = 0
        for position in range(begin, end):
            m = _join(parent, size, joined, acting, players[position], fresh, m)
        for p in fresh[:m]:
            total[local.block[local.slot[p]]] += weight[p]
            if weight[p] != 0 or parent[p] < 0:
                plan.changed[step] = True
        added += m
        for k in range(n_blocks):
            if added == size[local.first[tree]]:
                plan.scale[step, k] = 1.0
            elif total[k] > 0:
                plan.scale[step, k] = local.total[tree, k] / total[k]
        if visited[begin] or (end < len(players) and local.tree[players[end]] == tree):
            if m > 1 and len(sum_rows):
                n = _list_sums(local, fresh[:m], fresh_at, step, children, plan, n)
            else:
                for p in fresh[:m]:
                    if weight[p] != 0:
                        plan.player[n], plan.weight[n] = p, weight[p]
                        n += 1
        plan.end[step + 1] = n
    for k in range(n):
        p = plan.player[k]
        plan.row[k] = rows[local.slot[p]] if p >= 0 else sum_rows[local.slot[~p]]
    return plan


@inlined
def _join(
    parent: IntArray,
    size: IntArray,
    joined: BoolArray,
    acting: BoolArray,
    player: int,
    fresh: IntArray,
    m: int,
) -> int:
    """Let a player join, and list the players that act from now on: itself and descendants that waited for it."""
    joined[player] = True
    above = parent[player]
    if above >= 0 and not acting[above]:
        return m
    p, end = player, player + size[player]
    while p < end:  # in pre-order, so a parent comes first; a subtree whose root has not joined is skipped
        if joined[p]:
            acting[p] = True
            fresh[m] = p
            m += 1
            p += 1
        else:
            p += size[p]
    return m


@compiled
def _list_sums(
    local: LocalGraphs, fresh: IntArray, fresh_at: IntArray, step: int, children: IntArray, plan: Plan, n: int
) -> int:
    """List the additions of the `fresh` players of a step, with sums; `children`, (p,), is scratch, all 0.

    `fresh_at`, (p,), is the step in which a player became fresh.
    """
    for p in fresh:
        fresh_at[p] = step
        if local.parent[p] >= 0:
            children[local.parent[p]] += 1
    for p in fresh:
        q = local.parent[p]
        few = q < 0 or local.reach[q] == 0.0 or 2 * abs(children[q]) <= local.size[q]
        if few and local.weight[p] != 0:
            plan.player[n], plan.weight[n] = p, local.weight[p]
            n += 1
        elif not few and children[q] > 0:
            children[q] = -children[q]  # listed
            plan.player[n], plan.weight[n] = ~q, local.reach[q]
            n += 1
            for other in range(q + 1, q + local.size[q]):
                if fresh_at[other] != step:
                    plan.player[n], plan.weight[n] = other, -local.weight[other]
                    n += 1
    for p in fresh:
        children[max(local.parent[p], 0)] = 0
    return n
