"""Players that joined -> Moves: how the row of a labelled node changes when its local graph grows.

`g` and the `T_w` of `induced` are sums of the x_u, and so is everything that depends linearly on them: inner products
with validation rows, whitened kernels, predictions. A step is planned once, as a list of additions of lines, and then
applied to every kind of line that a head stores.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.coalitions.records import LocalGraphs, State


class Moves(NamedTuple):
    """The additions of the current step. A target is the inner number of a `T_w`, or -1 for `g`."""

    n: IntArray  # (1,) number of targets
    target: IntArray
    end: IntArray  # (targets,) the additions of target k are end[k - 1]:end[k]
    source: IntArray  # slot u of an x_u, or ~inner number of a T_w
    weight: FloatArray
    # the sums after earlier steps
    mine: FloatArray  # (m,) weight of x_w in T_w
    theirs: FloatArray  # (2 e,) weights of the neighbours in T_w, in the room of each slot
    whole: FloatArray  # (m,) weight of x_u in g, that is, d_u^-1/2 inflow_K(u)
    seen: IntArray  # (m,) number of edges in the tree when T_w was last updated


def no_moves(local: LocalGraphs) -> Moves:
    """Empty moves, with room for any step in any tree."""
    slots, rooms = np.diff(local.begin), np.diff(local.room[local.begin])
    n_slots, n_room = int(slots.max()), int((rooms + 3 * slots).max())
    return Moves(
        n=np.zeros(1, dtype=np.int64),
        target=np.zeros(n_slots + 1, dtype=np.int64),
        end=np.zeros(n_slots + 1, dtype=np.int64),
        source=np.zeros(n_room + 2, dtype=np.int64),
        weight=np.zeros(n_room + 2),
        mine=np.zeros(len(local.node)),
        theirs=np.zeros(local.room[-1]),
        whole=np.zeros(len(local.node)),
        seen=np.zeros(len(local.node), dtype=np.int64),
    )


@compiled
def forget(local: LocalGraphs, tree: int, moves: Moves) -> None:
    """Reset the sums of a tree. The caller sets its lines of T_w and g to 0; the next plan rebuilds g from the x_u."""
    begin, end = local.begin[tree], local.begin[tree + 1]
    moves.mine[begin:end] = 0.0
    moves.whole[begin:end] = 0.0
    moves.seen[begin:end] = -1
    moves.theirs[local.room[begin] : local.room[end]] = 0.0


@inlined
def plan(local: LocalGraphs, state: State, tree: int, moves: Moves, anew: bool) -> None:
    """List the additions that the step makes in one tree; `anew` is True after `forget`.

    One message changes g along one line, one edge along a few, whatever the degrees. Any other step changes g along the
    x_u whose weights it changed. T_w is updated only when it is needed.
    """
    targets = n = 0
    here = slice(local.begin[tree], local.begin[tree + 1])
    scale, inflow, whole = state.scale[here], state.inflow[local.hops, here], moves.whole[here]
    if len(local.weight) and state.changes[0] == 1 and not anew:
        u = state.ends[0]
        moves.source[0], moves.weight[0] = u, state.along[0]
        moves.whole[u] = inflow[u - local.begin[tree]]
        n = 1
    elif state.changes[0] == 1 and state.changes[1] == 0 and not anew:
        for k in range(state.n_moved[0]):
            w, begin = state.moved[k], n
            n = _refresh(state, w, local.room[w], state.added[tree], moves, n)
            if n > begin:
                moves.target[targets], moves.end[targets] = local.inner[w], n
                targets += 1
        for k in range(2):
            moves.source[n], moves.weight[n] = state.ends[k], state.along[k]
            n += 1
        for k in range(state.n_moved[0]):
            moves.source[n], moves.weight[n] = ~local.inner[state.moved[k]], state.shift[k]
            n += 1
        for u in range(len(whole)):
            whole[u] = scale[u] * inflow[u]
    else:
        for u in range(len(whole)):
            weight = scale[u] * inflow[u]
            if weight != whole[u]:
                moves.source[n], moves.weight[n] = local.begin[tree] + u, weight - whole[u]
                whole[u] = weight
                n += 1
    moves.target[targets], moves.end[targets] = -1, n
    moves.n[0] = targets + 1


@inlined
def _refresh(state: State, w: int, room: int, added: int, moves: Moves, n: int) -> int:
    """List the additions, from the n-th on, that update T_w: neighbours that are new or whose degree has changed."""
    if moves.mine[w] != state.scale[w]:
        moves.source[n], moves.weight[n] = w, state.scale[w] - moves.mine[w]
        moves.mine[w] = state.scale[w]
        n += 1
    new = moves.seen[w] == added - 1 and (w == state.ends[0] or w == state.ends[1])  # only the last neighbour is new
    for j in range(room + state.filled[w] - 1 if new else room, room + state.filled[w]):
        u = state.neighbour[j]
        if moves.theirs[j] != state.scale[u]:
            moves.source[n], moves.weight[n] = u, state.scale[u] - moves.theirs[j]
            moves.theirs[j] = state.scale[u]
            n += 1
    moves.seen[w] = added
    return n


@compiled
def apply(moves: Moves, where: IntArray, lines: FloatArray, sums: int, g: int, width: int) -> None:
    """Make the planned additions in the first `width` columns of `lines`.

    Row `where[u]` belongs to x_u, row `sums + k` to the T_w of inner number k, and row `g` to g.
    """
    begin = 0
    for k in range(moves.n[0]):
        end = moves.end[k]
        target = g if moves.target[k] < 0 else sums + moves.target[k]
        for j in range(begin, end, 4):
            if j == end - 1:
                _add_one(lines, target, _row(moves, j, end, where, sums), moves.weight[j], width)
                continue
            add_four(
                lines,
                target,
                lines,
                _row(moves, j, end, where, sums),
                _row(moves, j + 1, end, where, sums),
                _row(moves, j + 2, end, where, sums),
                _row(moves, j + 3, end, where, sums),
                moves.weight[j],
                moves.weight[j + 1] if j + 1 < end else 0.0,
                moves.weight[j + 2] if j + 2 < end else 0.0,
                moves.weight[j + 3] if j + 3 < end else 0.0,
                0,
                width,
            )
        begin = end


@compiled
def _row(moves: Moves, k: int, end: int, where: IntArray, sums: int) -> int:
    source = moves.source[min(k, end - 1)]
    return int(where[source]) if source >= 0 else sums + ~int(source)


@compiled
def _add_one(lines: FloatArray, to: int, i: int, a: float, width: int) -> None:
    """Add `a` times row i to row `to`, in the first `width` columns."""
    here, there, rate = lines[to, :width], lines[i, :width], lines.dtype.type(a)
    for n in range(width):
        here[n] += rate * there[n]


@compiled
def add_four(
    y: FloatArray,
    to: int,
    x: FloatArray,
    i: int,
    j: int,
    k: int,
    m: int,
    a: float,
    b: float,
    c: float,
    d: float,
    begin: int,
    end: int,
) -> None:
    """Add `a x_i + b x_j + c x_k + d x_m` to some columns of row `to` of y; y is read and written only once."""
    f = y.dtype.type
    a, b, c, d = f(a), f(b), f(c), f(d)
    here, first, second = y[to, begin:end], x[i, begin:end], x[j, begin:end]
    third, fourth = x[k, begin:end], x[m, begin:end]
    for n in range(len(here)):
        here[n] += (a * first[n] + b * second[n]) + (c * third[n] + d * fourth[n])
