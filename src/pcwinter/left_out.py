"""Graph -> leave-one-out values: what the whole training graph loses with one node, or with one edge."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from pcwinter._jit import compiled
from pcwinter._types import FloatArray, IntArray
from pcwinter.induced import NodeGame, Place, Rows, accumulate, add, empty_rows, renew, scores_of, sum_up_near, widen
from pcwinter.metrics import measure


def leave_one_out(game: NodeGame, pairs: IntArray) -> tuple[FloatArray, int]:
    """(m,) U(all) - U(without), in units, for each row (a, b) of `pairs`, and the number of utilities computed.

    (a, b) is an edge between two players of the game, (a, -1) the player a.
    """
    values = np.empty(len(pairs))
    if game.recipe is None:
        rows = empty_rows(game.place)
        full, evaluations = _leave_out(game.place, rows, pairs, game.metric.code, game.empty, values)
        return full - values, evaluations
    evaluations = 1
    everybody = np.ones(game.n_players, dtype=np.bool_)
    for k, (a, b) in enumerate(pairs.tolist()):
        hops = game.place.hops
        if game.changes([a], hops + 1, everybody) if b < 0 else game.changes([a, b], hops, everybody):
            values[k] = _utility_without(game, a, b)
            evaluations += 1
        else:
            values[k] = game.full
    return game.full - values, evaluations


def _utility_without(game: NodeGame, a: int, b: int) -> float:
    """From scratch, for the softmax head."""
    everybody = np.ones(game.n_players, dtype=np.bool_)
    if b < 0:
        everybody[a] = False
        return game.utility(everybody)
    gone = sp.csr_array((np.ones(2), ([a, b], [b, a])), shape=game.adjacency.shape)
    return replace(game, adjacency=sp.csr_array(game.adjacency - gone)).utility(everybody)


@compiled
def _leave_out(
    place: Place, rows: Rows, pairs: IntArray, code: int, empty: float, values: FloatArray
) -> tuple[float, int]:
    """Fill the utilities without each pair; returns the utility of all, and how many utilities were computed."""
    nothing = np.empty(0)
    stamp, n_rows = 0, 0
    for v in range(len(place.label)):
        stamp += place.hops + 2
        if place.label[v] >= 0:
            rows.place[v] = n_rows
            rows.label[n_rows] = place.label[v]
            n_rows += 1
        add(place, rows, v, stamp, n_rows)
    full = measure(code, scores_of(place, rows, n_rows, -1), place.ends, place.temperature, place.tie, nothing)
    degree, kernel = rows.degree.copy(), rows.kernel.copy()
    cross, coordinates = rows.cross.copy(), rows.coordinates.copy()
    sums = rows.sums.copy()
    evaluations = 1
    for k in range(len(pairs)):
        stamp += place.hops + 2
        a, b = pairs[k]
        touched = _remove(place, rows, a, b, stamp)
        # the list of nodes grows with every level, so what was touched at the last holds all that must be put back
        for level in range(1, place.hops - 1):
            touched = widen(place, rows, touched, stamp + level)
            sum_up_near(place, rows, touched, level, a, b)
        if place.hops > 1:
            touched = widen(place, rows, touched, stamp + place.hops)
        gone = rows.place[a] if b < 0 else -1
        if renew(place, rows, touched, n_rows, a, b) or gone >= 0:
            if n_rows - (gone >= 0) > 0:
                scores = scores_of(place, rows, n_rows, gone)
                values[k] = measure(code, scores, place.ends, place.temperature, place.tie, nothing)
            else:
                values[k] = empty
            evaluations += 1
        else:
            values[k] = full
        rows.degree[a] = degree[a]
        for i in range(touched):
            w = rows.near[i]
            rows.degree[w] = degree[w]
            if place.depth[w] < place.hops:
                rows.sums[:, place.line[w]] = sums[:, place.line[w]]
            at = rows.place[w]
            if at >= 0:
                rows.cross[at] = cross[at]
                rows.coordinates[at] = coordinates[at]
                rows.kernel[at] = kernel[at]
                rows.kernel[:, at] = kernel[:, at]
    return full, evaluations


@compiled
def _remove(place: Place, rows: Rows, a: int, b: int, stamp: int) -> int:
    """Take the edge {a, b}, or the node a, out of degrees and T1; lists what changed, and returns how many."""
    found = 0
    weight = rows.degree[a] ** -0.5
    if b < 0:
        rows.degree[a] = 0.0
        for e in range(place.indptr[a], place.indptr[a + 1]):
            u = place.indices[e]
            found = _shrink(place, rows, u, -1, stamp, found)
            _take(place, rows, u, weight, a)
        return found
    other = rows.degree[b] ** -0.5
    found = _shrink(place, rows, a, b, stamp, found)
    found = _shrink(place, rows, b, a, stamp, found)
    _take(place, rows, a, other, b)
    _take(place, rows, b, weight, a)
    return found


@compiled
def _take(place: Place, rows: Rows, u: int, weight: float, gone: int) -> None:
    """Take the part of a neighbour out of T1 of node u."""
    if place.depth[u] < place.hops:
        accumulate(rows.sums[0, place.line[u]], -weight, place.vectors[place.line[gone]])


@compiled
def _shrink(place: Place, rows: Rows, u: int, without: int, stamp: int, found: int) -> int:
    """Node u loses one neighbour: its part in T1 of itself and of the others grows."""
    before = rows.degree[u] ** -0.5
    rows.degree[u] -= 1
    change = rows.degree[u] ** -0.5 - before
    for f in range(place.indptr[u] - 1, place.indptr[u + 1]):
        w = u if f < place.indptr[u] else place.indices[f]
        if rows.degree[w] == 0 or w == without:
            continue
        if place.depth[w] < place.hops:
            accumulate(rows.sums[0, place.line[w]], change, place.vectors[place.line[u]])
        if rows.mark[w] != stamp:
            rows.mark[w] = stamp
            rows.near[found] = w
            found += 1
    return found
