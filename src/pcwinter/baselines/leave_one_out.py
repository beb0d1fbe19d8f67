"""Graph -> Ranking: leave-one-out values, the loss in utility when one node or one edge is removed.

To remove a node, it is subtracted from the sums of its neighbours, and the rows nearby are computed again. An edge
{a, b} changes the propagation S = D^-1/2 A D^-1/2 only in the rows and columns of a and b, and S = D^-1 A only in their
rows; a directed edge changes only the row of its target. With Hj = S^j X,

    S'^K X - S^K X = sum over i + j = K - 1 of S'^i (S' - S) Hj

moves all rows within the span of H0, ..., HK of a and b. So an edge costs only these few vectors, no matter how many
rows it moves.
"""

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import function
from pcwinter._util.compiled import compiled
from pcwinter._util.threads import one_thread
from pcwinter.baselines.node_game import NodeGame, node_game
from pcwinter.baselines.node_rows import (
    Place,
    Rows,
    accumulate,
    empty_rows,
    renew,
    resend,
    scores_of,
    sending,
    sum_up_near,
    widen,
)
from pcwinter.baselines.ranking import Ranking, all_edges, near_nodes
from pcwinter.estimation.jobs import Pool
from pcwinter.estimation.pools import OnBlock, gather
from pcwinter.game.metrics import measure
from pcwinter.graph.adjacency import edge_weights, graph_of
from pcwinter.graph.graph import Graph
from pcwinter.graph.propagation import normalized
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

CHUNK, MODELS = 500, 20  # nodes or edges in a block: ridge head, softmax head


def leave_one_out_nodes(
    graph: Graph,
    head: str | Ridge | Softmax,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    metric: str | None = None,
    workers: int | Pool = 1,
    progress: OnBlock | None = None,
) -> Ranking:
    """Leave-one-out values of nodes: U(training graph) - U(training graph without the node).

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`. `hops` is the number of propagation
    steps. `filter` is a name as in `value`, or the weights of the powers of the propagation; only "sgc" is fast.
    `metric` is a name in METRICS or "f1:CLASS";
    None for the usual one. `workers` is the number of processes; it does not change the values.
    `progress(done, total)` is called as nodes are evaluated.
    """
    return _leave_one_out(graph, head, hops, filter, metric, near_nodes(graph, hops), workers, progress)


def leave_one_out_edges(
    graph: Graph,
    head: str | Ridge | Softmax,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    metric: str | None = None,
    workers: int | Pool = 1,
    progress: OnBlock | None = None,
) -> Ranking:
    """Leave-one-out values of edges: U(training graph) - U(training graph without the edge).

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`. `hops` is the number of propagation
    steps. `filter` is a name as in `value`, or the weights of the powers of the propagation; only "sgc" is fast.
    `metric` is a name in METRICS or "f1:CLASS";
    None for the usual one. `workers` is the number of processes; it does not change the values.
    `progress(done, total)` is called as edges are evaluated.
    """
    return _leave_one_out(graph, head, hops, filter, metric, all_edges(graph), workers, progress)


@one_thread()
def _leave_one_out(
    graph: Graph,
    head: str | Ridge | Softmax,
    hops: int,
    filter: str | Sequence[float],
    metric: str | None,
    items: IntArray,
    workers: int | Pool,
    progress: OnBlock | None,
) -> Ranking:
    """Values of all `items`. Degrees of nodes K steps away matter, so the game reaches one step further."""
    function("progress", progress, "progress(done, total)")
    game = node_game(graph, head, hops=hops, filter=filter, metric=metric, reach=hops + 1)
    inside = np.isin(items, game.nodes)
    if items.ndim == 2:
        inside = np.asarray(inside.all(axis=1))
    job = leave_out(game, np.searchsorted(game.nodes, items[inside]))
    found = [job(0, 0)]  # compiles, if necessary
    began = time.perf_counter()
    found += gather(workers, job, len(job.items), job.size, progress)
    value = np.zeros(len(items))
    value[inside] = game.full - np.concatenate([utilities for utilities, _ in found])
    evaluations = 1 + sum(computed for _, computed in found)
    seconds = time.perf_counter() - began
    return Ranking(
        "leave-one-out", items, value * game.unit, np.full(len(value), np.nan), 0, evaluations, seconds, "Exact."
    )


class Powers(NamedTuple):
    """What leaving out an edge needs. Nodes are sorted by depth, so that labelled nodes come first."""

    indptr: IntArray
    indices: IntArray
    weight: FloatArray  # S
    degree: FloatArray  # (n,) including the self-loop
    player: IntArray  # (t,)
    begin: IntArray  # (K + 2,) where the lines of each power begin in `vectors`
    vectors: FloatArray  # Hj of nodes within K - j steps of a labelled node: products with validation, coordinates
    kernel: FloatArray  # (t, t) k(h, h)


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOut:
    """A job: the utilities in units without each item, and how many of them had to be computed."""

    utilities: Callable[[IntArray], tuple[FloatArray, int]]
    items: IntArray
    size: int  # of a block

    def prepare(self) -> None:
        """Nothing to do: everything shared was computed when the job was made."""

    def __call__(self, begin: int, end: int) -> tuple[FloatArray, int]:
        """Utilities without each of the items `begin` to `end` - 1."""
        return self.utilities(self.items[begin:end])


def leave_out(game: NodeGame, items: IntArray) -> LeaveOut:
    """The job for `items`: players, or (m, 2) edges between players."""
    if game.slow:
        return LeaveOut(partial(_retrain, game), items, MODELS)
    powers = _powers(game)
    if items.ndim == 2:
        return LeaveOut(partial(_leave_edges, game, powers), game.place.line[items], CHUNK)
    return LeaveOut(partial(_leave_nodes, game, _everybody(game.place, powers)), items, CHUNK)


def _leave_nodes(game: NodeGame, whole: Rows, players: IntArray) -> tuple[FloatArray, int]:
    values, numbers = np.empty(len(players)), (game.metric.code, game.empty, game.full)
    return values, _without_nodes(game.place, deepcopy(whole), whole, players, *numbers, values)


def _leave_edges(game: NodeGame, powers: Powers, edges: IntArray) -> tuple[FloatArray, int]:
    lost = edge_weights(game.adjacency, np.argsort(game.place.line)[edges])
    values, code, one_way = np.empty(len(edges)), game.metric.code, game.directed
    return values, _without_edges(game.place, powers, edges, lost, one_way, code, game.full, values)


def _retrain(game: NodeGame, items: IntArray) -> tuple[FloatArray, int]:
    """Utilities without each item, retrained from scratch."""
    values, evaluations = np.full(len(items), game.full), 0
    everybody = np.ones(game.n_players, dtype=np.bool_)
    for k, item in enumerate(items):
        ends = np.atleast_1d(item).tolist()
        if not game.changes(ends, game.place.hops + (len(ends) == 1), everybody):
            continue
        if len(ends) == 1:
            left = everybody.copy()
            left[ends] = False
            values[k] = game.utility(left)
        else:
            edge = graph_of(game.adjacency, np.array([ends]), game.directed)
            values[k] = replace(game, adjacency=sp.csr_array(game.adjacency - edge)).utility(everybody)
        evaluations += 1
    return values, evaluations


def _powers(game: NodeGame) -> Powers:
    place = game.place
    by_depth = np.argsort(place.line)
    within = [int((place.depth <= place.hops - j).sum()) for j in range(place.hops + 1)]
    near = game.adjacency[by_depth][:, by_depth]
    weights = normalized(near, game.scaling)
    begin = np.concatenate([[0], np.cumsum(within)])
    vectors = np.empty((begin[-1], place.vectors.shape[1]))
    vectors[: within[0]] = place.vectors
    for j in range(place.hops):
        below, above = vectors[begin[j] : begin[j + 1]], vectors[begin[j + 1] : begin[j + 2]]
        above[:] = weights[: within[j + 1], : within[j]] @ below
    rows = vectors[begin[place.hops] :, place.ends[-1] :]
    return Powers(
        indptr=weights.indptr.astype(np.int64),
        indices=weights.indices.astype(np.int64),
        weight=weights.data,
        degree=np.asarray(near.sum(axis=1)) + place.loop,
        player=by_depth[: within[-1]],
        begin=begin,
        vectors=vectors,
        kernel=rows @ rows.T + place.constant,
    )


def _everybody(place: Place, powers: Powers) -> Rows:
    """The rows of the coalition of all players, where Tk = d^1/2 Hk, or d Hk if rows are normalised."""
    rows, by_depth, n_val = empty_rows(place), np.argsort(place.line), int(place.ends[-1])
    rows.degree[by_depth] = powers.degree
    for k in range(1, max(place.hops, 2)):
        power = powers.vectors[powers.begin[k] : powers.begin[k + 1]]
        degree = powers.degree[: len(power), None]
        rows.sums[k - 1, : len(power)] = (degree if place.row else np.sqrt(degree)) * power
    last = powers.vectors[powers.begin[place.hops] :]
    rows.place[by_depth[: len(last)]] = np.arange(len(last))
    rows.player[:] = powers.player
    rows.cross[:] = last[:, :n_val] + place.constant
    rows.coordinates[:] = last[:, n_val:]
    rows.kernel[:] = powers.kernel
    return rows


@compiled
def _without_edges(
    place: Place,
    powers: Powers,
    edges: IntArray,
    lost: FloatArray,
    one_way: bool,
    code: int,
    full: float,
    values: FloatArray,
) -> int:
    """Fill `values` with the utilities without each edge of weight `lost`; return how many were computed."""
    n_rows, n_val, hops = len(powers.player), place.ends[-1], place.hops
    rows = powers.vectors[powers.begin[hops] :]
    cross = rows[:, :n_val] + place.constant
    coordinates = np.ascontiguousarray(rows[:, n_val:])
    still, target = powers.kernel.copy(), place.outcome[powers.player]
    for r in range(n_rows):
        still[r, r] += place.penalty[powers.player[r]]
    now = np.empty((len(powers.degree), 4))
    after = np.empty_like(now)
    nothing = np.empty(0)
    evaluations = 0
    for k in range(len(edges)):
        moved = _moves(place, powers, edges[k, 0], edges[k, 1], lost[k], one_way, now, after)
        used = np.array([i for i in range(moved.shape[1]) if np.any(moved[:, i] != 0)])
        if len(used) == 0:
            values[k] = full
            continue
        move = np.ascontiguousarray(moved[:, used])
        lines = np.array([powers.begin[i // 2] + edges[k, i % 2] for i in used])
        near = powers.vectors[lines]
        axes = np.ascontiguousarray(near[:, n_val:])
        products = coordinates @ axes.T
        half = products + 0.5 * (move @ (axes @ axes.T))  # the two halves together give the kernel of the moved rows
        system = still + move @ half.T + half @ move.T
        weights = np.ascontiguousarray(np.linalg.solve(system, target).T)
        scores = weights @ cross + (weights @ move) @ np.ascontiguousarray(near[:, :n_val])
        values[k] = measure(code, scores, place.ends, place.answers, place.temperature, place.tie, nothing)
        evaluations += 1
    return evaluations


@compiled
def _moves(
    place: Place, powers: Powers, a: int, b: int, lost: float, one_way: bool, now: FloatArray, after: FloatArray
) -> FloatArray:
    """(t, 2K + 2) how far the row of each labelled node moves along H0 of a and of b, H1 of a and of b, ...

    Without the edge, which has the weight w, S' = F S F off {a, b}, where F is sqrt(d / (d - w)) at a and b, 1
    elsewhere. If rows are normalised, S' = F S with F = d / (d - w). If the edge is `one_way`, from a to b, F is 1 at
    a. The columns of `now` are S'^i times four vectors: a and b themselves, and the changes of their columns of S in
    all other rows, which are 0 if rows are normalised.
    """
    n_rows, hops = len(powers.player), place.hops
    grow_a = powers.degree[a] / (powers.degree[a] - (0.0 if one_way else lost))
    grow_b = powers.degree[b] / (powers.degree[b] - lost)
    loop = 0.0
    if not place.row:
        grow_a, grow_b, loop = grow_a**0.5, grow_b**0.5, place.loop
    now[:] = 0.0
    from_a = from_b = 0.0
    for end in range(2):
        u, other, grow = (a, b, grow_a) if end == 0 else (b, a, grow_b)
        for e in range(powers.indptr[u], powers.indptr[u + 1]):
            w = powers.indices[e]
            if w == other:
                if end == 1:
                    from_a = powers.weight[e]
                elif not one_way:
                    from_b = powers.weight[e]
            elif w != u and not place.row:
                now[w, 2 + end] = (grow - 1) * powers.weight[e]
        now[u, end] = 1.0
    moved = np.zeros((n_rows, 2 * hops + 2))
    for i in range(hops):
        j = hops - 1 - i
        for r in range(n_rows):
            moved[r, 2 * j] += (
                now[r, 0] * grow_a * (grow_a - 1) * loop / powers.degree[a] - now[r, 1] * grow_b * from_a + now[r, 2]
            )
            moved[r, 2 * j + 1] += (
                now[r, 1] * grow_b * (grow_b - 1) * loop / powers.degree[b] - now[r, 0] * grow_a * from_b + now[r, 3]
            )
            moved[r, 2 * j + 2] += now[r, 0] * (grow_a - 1)
            moved[r, 2 * j + 3] += now[r, 1] * (grow_b - 1)
        if j == 0:
            break
        for r in range(n_rows if j == 1 else len(now)):  # the last pass needs only labelled nodes
            after[r] = 0.0
            for e in range(powers.indptr[r], powers.indptr[r + 1]):
                w = powers.indices[e]
                if (r == a and w == b and not one_way) or (r == b and w == a):
                    continue
                weight = powers.weight[e] * (grow_a if r == a else (grow_b if r == b else 1.0))
                if not place.row:
                    weight *= grow_a if w == a else (grow_b if w == b else 1.0)
                for c in range(4):
                    after[r, c] += weight * now[w, c]
        now, after = after, now
    return moved


@compiled
def _without_nodes(
    place: Place, rows: Rows, whole: Rows, players: IntArray, code: int, empty: float, full: float, values: FloatArray
) -> int:
    """Fill `values` with the utilities without each player, restoring each from `whole`; return how many were new."""
    nothing = np.empty(0)
    n_rows, evaluations = len(rows.player), 0
    rows.mark[:] = 0
    for k in range(len(players)):
        stamp = (k + 1) * (place.hops + 2)
        a = players[k]
        touched = _remove(place, rows, a, stamp)
        # the list of nodes grows with every level, so the last one holds all that must be restored
        for level in range(1, place.hops - 1):
            touched = widen(place, rows, touched, stamp + level)
            sum_up_near(place, rows, touched, level)
        if place.hops > 1:
            touched = widen(place, rows, touched, stamp + place.hops)
        gone = rows.place[a]
        values[k] = full
        if renew(place, rows, touched, n_rows) or gone >= 0:
            values[k] = empty
            if n_rows - (gone >= 0) > 0:
                scores = scores_of(place, rows, n_rows, gone)
                values[k] = measure(code, scores, place.ends, place.answers, place.temperature, place.tie, nothing)
            evaluations += 1
        rows.degree[a] = whole.degree[a]
        for i in range(touched):
            w = rows.near[i]
            rows.degree[w] = whole.degree[w]
            if place.depth[w] < place.hops:
                rows.sums[:, place.line[w]] = whole.sums[:, place.line[w]]
            at = rows.place[w]
            if at >= 0:
                rows.cross[at] = whole.cross[at]
                rows.coordinates[at] = whole.coordinates[at]
                rows.kernel[at] = whole.kernel[at]
                rows.kernel[:, at] = whole.kernel[:, at]
    return evaluations


@compiled
def _remove(place: Place, rows: Rows, a: int, stamp: int) -> int:
    """Remove node a from the degrees and T1; list the nodes that changed, and return how many."""
    found = 0
    rate = sending(place, rows.degree[a])
    rows.degree[a] = 0.0
    for e in range(place.out_indptr[a], place.out_indptr[a + 1]):
        u = place.out_indices[e]
        before = sending(place, rows.degree[u])
        rows.degree[u] = place.loop
        for f in range(place.indptr[u], place.indptr[u + 1]):  # subtracting a heavy edge would leave rounding errors
            if rows.degree[place.indices[f]] > 0:
                rows.degree[u] += place.weight[f]
        change = sending(place, rows.degree[u]) - before
        found = resend(place, rows, u, a, change, stamp, found)
        if place.depth[u] < place.hops:
            accumulate(rows.sums[0, place.line[u]], -place.out_weight[e] * rate, place.vectors[place.line[a]])
    return found
