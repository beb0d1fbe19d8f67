"""Players that join -> players that act, and the coefficients of the rows.

A player acts once it and all its ancestors have joined. What that does to the row of its labelled node is the rule of
the game: it adds an edge to a local graph (`induced`) or a message to a mean (`messages`).
"""

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.coalitions.induced import add_edge
from pcwinter.game.coalitions.messages import add_message
from pcwinter.game.coalitions.records import LocalGraphs, State, empty_state


def coefficients(local: LocalGraphs, coalition: BoolArray) -> FloatArray:
    """(m,) coefficients of a coalition, given as a mask of players; 0 in the trees of absent roots."""
    state = empty_state(local)
    join_all(local, state, np.flatnonzero(coalition))
    blocks = range(local.total.shape[1])
    scales = np.array([[row_scale(local, state, tree, k) for k in blocks] for tree in range(len(local.root))])
    tree_of = np.repeat(np.arange(len(local.root)), np.diff(local.begin))
    return np.asarray(scales[tree_of, local.block] * state.scale * state.inflow[-1])


def tree_coefficients(local: LocalGraphs, state: State, tree: int) -> FloatArray:
    """Coefficients c of the slots of one tree: h_r = sum over u of c_u x_u."""
    here = slice(local.begin[tree], local.begin[tree + 1])
    scales = np.array([row_scale(local, state, tree, k) for k in range(local.total.shape[1])])
    return np.asarray(scales[local.block[here]] * state.scale[here] * state.inflow[-1, here])


@inlined
def row_scale(local: LocalGraphs, state: State, tree: int, block: int) -> float:
    """The factor of a row: d_r^-1/2 in the induced game, W_r(all) / W_r(S) in the message game, 0 where W_r(S) is 0.

    In the message game, every `block` of the row has its own sums of weights.
    """
    if not len(local.weight):
        return float(state.scale[local.root[tree]])
    if state.added[tree] == local.size[local.first[tree]]:
        return 1.0
    mine = state.total[tree, block]
    return float(local.total[tree, block] / mine) if mine > 0 else 0.0


@inlined
def incomplete(local: LocalGraphs, state: State, tree: int) -> bool:
    """Whether the row of a tree can still change."""
    if len(local.weight):
        return bool(state.added[tree] < local.size[local.first[tree]])
    return bool(2 * state.added[tree] < local.room[local.begin[tree + 1]] - local.room[local.begin[tree]])


@inlined
def join(local: LocalGraphs, state: State, player: int) -> None:
    """Let a player join. If all its ancestors have joined, it acts, and so do descendants that were waiting for it."""
    state.joined[player] = True
    above = local.parent[player]
    if local.null[player] or (above >= 0 and not state.acting[above]):
        return
    _act(local, state, player)
    p, end = player + 1, player + local.size[player]
    while p < end:  # in pre-order, so a parent comes first; a subtree whose root does not act is skipped
        if state.joined[p] and not local.null[p]:
            _act(local, state, p)
            p += 1
        else:
            p += local.size[p]


@compiled
def join_all(local: LocalGraphs, state: State, players: IntArray) -> None:
    """Let players join, one after the other."""
    for player in players:
        join(local, state, player)


@compiled
def sort_tree(local: LocalGraphs, state: State, tree: int, sorted_state: State) -> None:
    """Build the row of one tree again, in `sorted_state`, from the edges or messages of `state` in pre-order.

    So its bits depend on the coalition alone, not on the order in which players joined.
    """
    first, here = local.first[tree], slice(local.begin[tree], local.begin[tree + 1])
    players = range(first, first + local.size[first])
    sorted_state.degree[here] = 1.0
    sorted_state.scale[here] = 1.0
    sorted_state.filled[here] = 0
    sorted_state.inflow[:, here] = 0.0
    sorted_state.outflow[:, here] = 0.0
    sorted_state.added[tree] = 0
    sorted_state.total[tree] = 0.0
    for player in players:
        if local.edge[player] >= 0:
            sorted_state.present[local.edge[player]] = False
    for player in players:
        if state.acting[player] or (local.edge[player] >= 0 and state.present[local.edge[player]]):
            _act(local, sorted_state, player)


@inlined
def begin_step(state: State) -> None:
    """Reset the record of what the last step did."""
    state.changes[0] = state.changes[1] = 0


@inlined
def _act(local: LocalGraphs, state: State, player: int) -> None:
    state.acting[player] = True
    if len(local.weight):
        if local.parent[player] < 0:
            state.changes[1] += 1
        add_message(local, state, player)
        return
    slot = local.slot[player]
    above = local.parent[player]
    if above < 0:
        state.outflow[:, slot] = 1.0
        state.inflow[1:, slot] = 1.0
        state.changes[1] += 1
    elif not state.present[local.edge[player]]:
        state.present[local.edge[player]] = True
        state.changes[0] += 1
        state.added[local.tree[player]] += 1
        add_edge(local, state, local.slot[above], slot)
