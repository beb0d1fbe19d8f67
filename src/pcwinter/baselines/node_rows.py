"""Nodes that join -> rows of the labelled nodes and their kernels: the compiled sums of the node game.

A coalition keeps the subgraph that it induces. A new node changes the degrees of the nodes that it sends to, and so the
rows of all labelled nodes within K + 1 steps of it. Let degrees d count the self-loop of weight s, let A_wu be the
weight of the edge from u to w, and A_ww = s. Then

    T1_w = sum over u in N[w] of A_wu d_u^-1/2 x_u,   Tk_w = sum over u in N[w] of A_wu Tk-1_u / d_u,
    h_r = d_r^-1/2 TK_r.

If rows are normalised, T1_w = sum of A_wu x_u and h_r = TK_r / d_r. A new node changes d and T1 of few nodes; the sums
that depend on them are computed again. The row of a labelled node needs Tk only of nodes within K - k steps, and x of
nodes within K. A vector x is stored as its inner products with the validation rows, followed by coordinates that
preserve the inner products between nodes.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined


class Place(NamedTuple):
    """The input of a walk: the subgraph of the players, and the problem."""

    hops: int
    indptr: IntArray  # (n + 1,)
    indices: IntArray  # neighbours among the players: those that a node receives from
    weight: FloatArray  # of these edges
    out_indptr: IntArray  # (n + 1,)
    out_indices: IntArray  # those that a node sends to; the same as above in an undirected graph
    out_weight: FloatArray
    loop: float  # weight of the self-loops
    row: bool  # whether rows are normalised, instead of rows and columns
    label: IntArray  # (n,) class, -1 for unlabelled players; with numeric targets, 0 where they are known
    outcome: FloatArray  # (n, c) one-hot class, or targets minus the training mean; 0 for unlabelled players
    depth: IntArray  # (n,) steps to the nearest labelled node
    line: IntArray  # (n,) rank by depth: the row of each player in vectors and sums
    vectors: FloatArray  # (players of depth <= hops, v + d) inner products with validation rows, then coordinates
    ends: IntArray  # (c + 1,) where each class begins among the validation rows
    answers: FloatArray  # (c, v) numeric targets of the validation rows; empty with classes
    penalty: FloatArray  # (n,) of each labelled player's row
    constant: float  # bias^2
    temperature: float
    tie: float  # two scores closer than this are tied


class Rows(NamedTuple):
    """The state of a walk: the coalition, its sums, and the rows of its labelled nodes in order of arrival."""

    degree: FloatArray  # (n,) including the node itself; 0 while it is absent
    sums: FloatArray  # (hops - 1 or 1, players of depth < hops, v + d) T1, ..., T(K - 1); T1 at least
    place: IntArray  # (n,) row of a labelled node, -1 while it is absent
    player: IntArray  # (r,)
    coordinates: FloatArray  # (r, d)
    cross: FloatArray  # (r, v) k(h, Z)
    kernel: FloatArray  # (r, r) k(h, h)
    mark: IntArray  # (n,) stamp of the last visit to a node
    near: IntArray  # (n,) space for a list of nodes
    next: IntArray  # (n,)


def empty_rows(place: Place) -> Rows:
    """The empty coalition."""
    n, width = len(place.label), place.vectors.shape[1]
    v, r = int(place.ends[-1]), int((place.label >= 0).sum())
    nothing = np.empty(n, dtype=np.int64)
    return Rows(
        degree=np.zeros(n),
        sums=np.zeros((max(place.hops - 1, 1), int((place.depth < place.hops).sum()), width)),
        place=np.full(n, -1),
        player=np.empty(r, dtype=np.int64),
        coordinates=np.zeros((r, width - v)),
        cross=np.zeros((r, v)),
        kernel=np.zeros((r, r)),
        mark=np.zeros(n, dtype=np.int64),
        near=nothing,
        next=nothing.copy(),
    )


@compiled
def add(place: Place, rows: Rows, v: int, stamp: int, n_rows: int) -> bool:
    """Let node v join; return whether that changes the row of a labelled node."""
    indptr, indices, degree, line = place.indptr, place.indices, rows.degree, place.line
    first, x, near = rows.sums[0], place.vectors, rows.near
    rows.mark[v] = stamp
    near[0] = v
    n_near = 1
    degree[v] = place.loop
    for e in range(indptr[v], indptr[v + 1]):
        if degree[indices[e]] > 0:
            degree[v] += place.weight[e]
    rate = sending(place, degree[v])
    for e in range(place.out_indptr[v], place.out_indptr[v + 1]):
        u = place.out_indices[e]
        if degree[u] == 0:
            continue
        before = sending(place, degree[u])
        degree[u] += place.out_weight[e]
        change = sending(place, degree[u]) - before
        n_near = resend(place, rows, u, v, change, stamp, n_near)
        if place.depth[u] < place.hops:
            accumulate(first[line[u]], place.out_weight[e] * rate, x[line[v]])
    if place.depth[v] < place.hops:
        first[line[v]] = place.loop * rate * x[line[v]]
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if degree[u] > 0:
                accumulate(first[line[v]], place.weight[e] * sending(place, degree[u]), x[line[u]])
    # near: v, its neighbours and their neighbours, whose T1 or degree changed
    for level in range(1, place.hops - 1):
        n_near = widen(place, rows, n_near, stamp + level)
        sum_up_near(place, rows, n_near, level)
    if place.hops > 1:
        n_near = widen(place, rows, n_near, stamp + place.hops)
    return renew(place, rows, n_near, n_rows)


@inlined
def sending(place: Place, degree: float) -> float:
    """The factor of what a node sends, in T1."""
    return 1.0 if place.row else float(degree**-0.5)


@compiled
def resend(place: Place, rows: Rows, u: int, without: int, change: float, stamp: int, n_near: int) -> int:
    """Add the `change` of what node u sends to all T1, except that of one node, and list the nodes that changed."""
    for f in range(place.out_indptr[u] - 1, place.out_indptr[u + 1]):
        itself = f < place.out_indptr[u]
        w = u if itself else place.out_indices[f]
        if w == without or rows.degree[w] == 0:
            continue
        if change != 0 and place.depth[w] < place.hops:
            weight = place.loop if itself else place.out_weight[f]
            accumulate(rows.sums[0, place.line[w]], weight * change, place.vectors[place.line[u]])
        if rows.mark[w] != stamp:
            rows.mark[w] = stamp
            rows.near[n_near] = w
            n_near += 1
        if place.row:
            break
    return n_near


@compiled
def renew(place: Place, rows: Rows, n_near: int, n_rows: int) -> bool:
    """Compute the rows of nearby labelled nodes again; return False if there are none."""
    changed = False
    total = np.empty(place.vectors.shape[1])
    n_val = rows.cross.shape[1]
    for k in range(n_near):
        r = rows.near[k]
        at = rows.place[r]
        if at < 0:
            continue
        changed = True
        if place.hops > 1:
            sum_up(place, rows, rows.sums[place.hops - 2], r, total)
        else:
            total[:] = rows.sums[0, place.line[r]]
        scale = 1 / rows.degree[r] if place.row else rows.degree[r] ** -0.5
        for i in range(n_val):
            rows.cross[at, i] = scale * total[i] + place.constant
        for i in range(n_val, len(total)):
            rows.coordinates[at, i - n_val] = scale * total[i]
    for k in range(n_near):
        at = rows.place[rows.near[k]]
        if at >= 0:
            products = rows.coordinates[:n_rows] @ rows.coordinates[at] + place.constant
            rows.kernel[at, :n_rows] = products
            rows.kernel[:n_rows, at] = products
    return changed


@compiled
def widen(place: Place, rows: Rows, n_near: int, stamp: int) -> int:
    """Extend the list of nodes by those that they send to in the coalition; return its new length."""
    found = 0
    for a in range(n_near):
        u = rows.near[a]
        for f in range(place.out_indptr[u] - 1, place.out_indptr[u + 1]):
            w = u if f < place.out_indptr[u] else place.out_indices[f]
            if rows.degree[w] > 0 and rows.mark[w] != stamp:
                rows.mark[w] = stamp
                rows.next[found] = w
                found += 1
    rows.near[:found] = rows.next[:found]
    return found


@compiled
def sum_up_near(place: Place, rows: Rows, n_near: int, level: int) -> None:
    """T(level + 1) of the nodes in the list from those below."""
    for k in range(n_near):
        w = rows.near[k]
        if place.depth[w] < place.hops - level:
            sum_up(place, rows, rows.sums[level - 1], w, rows.sums[level, place.line[w]])


@compiled
def sum_up(place: Place, rows: Rows, below: FloatArray, w: int, into: FloatArray) -> None:
    """Tk_w = sum over u in N[w] of A_wu T(k-1)_u / d_u."""
    into[:] = place.loop * below[place.line[w]] / rows.degree[w]
    for e in range(place.indptr[w], place.indptr[w + 1]):
        u = place.indices[e]
        if rows.degree[u] > 0:
            accumulate(into, place.weight[e] / rows.degree[u], below[place.line[u]])


@inlined
def accumulate(into: FloatArray, weight: float, line: FloatArray) -> None:
    """Add weight * line in place, without a temporary array."""
    for i in range(len(into)):
        into[i] += weight * line[i]


@compiled
def scores_of(place: Place, rows: Rows, n: int, without: int) -> FloatArray:
    """(c, v) class-major scores of the first n rows, except row `without`."""
    kept = np.array([i for i in range(n) if i != without])
    m = len(kept)
    system = np.empty((m, m))
    target = np.empty((m, place.outcome.shape[1]))
    for i in range(m):
        player = rows.player[kept[i]]
        for j in range(m):
            system[i, j] = rows.kernel[kept[i], kept[j]]
        system[i, i] += place.penalty[player]
        target[i] = place.outcome[player]
    weights = np.ascontiguousarray(np.linalg.solve(system, target).T)
    return weights @ (rows.cross[:n] if m == n else rows.cross[kept])
