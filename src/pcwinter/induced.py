"""Graph -> a game among nodes of the training graph: the utility of the baselines.

A coalition keeps the subgraph that it induces. Its labelled nodes are the rows of the classifier, propagated K steps in
that subgraph, so that one newcomer changes the rows of all labelled nodes within K steps of it. With degrees d that
count the node itself,

    T1_w = sum over u in N[w] of d_u^-1/2 x_u,   Tk_w = sum over u in N[w] of Tk-1_u / d_u,   h_r = d_r^-1/2 TK_r.

A newcomer changes d and T1 of few nodes; what depends on them is summed up anew. The vectors x are kept as their inner
products with the validation rows, followed by coordinates that give those with each other.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pcwinter._jit import compiled
from pcwinter._types import BoolArray, FloatArray, IntArray, Sparse
from pcwinter.graph import Graph, Recipe
from pcwinter.heads.ridge import Ridge, inverse_norm
from pcwinter.heads.softmax import fit_scores
from pcwinter.metrics import ACCURACY, TIE, Metric, class_ends, measure
from pcwinter.orders import Order, Walk
from pcwinter.propagation import propagate

PATIENCE = 5  # steps in a row that must be within the tolerance before a walk is truncated


class Place(NamedTuple):
    """What a walk reads: the subgraph of the players, and the problem."""

    hops: int
    indptr: IntArray  # (n + 1,)
    indices: IntArray  # neighbours among the players
    label: IntArray  # (n,) class, -1 for players that are not labelled
    vectors: FloatArray  # (n, v + d) inner products with validation rows, then coordinates
    ends: IntArray  # (c + 1,) where each class begins among the validation rows
    penalty: float
    constant: float  # bias^2
    temperature: float
    tie: float


class Rows(NamedTuple):
    """What a walk keeps: the coalition, its sums, and the rows of its labelled nodes in order of arrival."""

    degree: FloatArray  # (n,) with the node itself; 0 while it is absent
    sums: FloatArray  # (hops - 1 or 1, n, v + d) T1, ..., T(K - 1)
    place: IntArray  # (n,) row of a labelled node, -1 while it is absent
    label: IntArray  # (r,)
    coordinates: FloatArray  # (r, d)
    cross: FloatArray  # (r, v) k(h, Z)
    kernel: FloatArray  # (r, r) k(h, h)
    mark: IntArray  # (n,) when a node was last looked at
    near: IntArray  # (n,) room for a list of nodes
    next: IntArray  # (n,)


@dataclass(frozen=True, slots=True, eq=False)
class NodeGame:
    """The game of the labelled nodes and of those within `hops` steps of one."""

    nodes: IntArray  # (p,) graph node of each player, ascending
    n_players: int
    unit: float
    empty: float
    metric: Metric
    place: Place
    adjacency: Sparse  # (p, p) among the players
    features: Sparse  # (p, f)
    validation: Sparse  # (v, f)
    recipe: Recipe | None  # softmax instead of ridge
    tolerance: float = 0.0  # of the whole utility; a walk ends when it stays that close to it
    full: float = np.nan  # utility of all players, in units

    def walk(self, order: Order) -> Walk:
        """Utility after every step."""
        if self.recipe is not None:
            return self._walk_softmax(order)
        rows = empty_rows(self.place)
        utility = np.empty(self.n_players)
        slack = self.tolerance * abs(self.full) if self.tolerance else -1.0
        evaluations = _walk(self.place, rows, order.players, self.metric.code, self.empty, self.full, slack, utility)
        whole = utility.astype(np.int64) if self.metric.code == ACCURACY else utility
        return Walk(whole, evaluations)

    def utility(self, coalition: BoolArray) -> float:
        """Utility of one coalition, from scratch, in units."""
        members = np.flatnonzero(coalition)
        inside = self.adjacency[members][:, members]
        rows = propagate(sp.csr_array(inside), self.features[members], self.place.hops)
        labels = self.place.label[members]
        if not (labels >= 0).any():
            return self.empty
        rows, labels = rows[labels >= 0], labels[labels >= 0]
        n_classes = len(self.place.ends) - 1
        if self.recipe is not None:
            everybody = [np.arange(len(labels))]
            scores = fit_scores(rows, labels, everybody, n_classes, self.recipe, self.validation)[0]
            return float(measure(self.metric.code, scores, self.place.ends, 1.0, TIE, np.empty(0)))
        kernel = (rows @ rows.T).toarray() + self.place.constant + self.place.penalty * np.eye(len(labels))
        cross = (rows @ self.validation.T).toarray() + self.place.constant
        scores = np.ascontiguousarray(scipy.linalg.solve(kernel, np.eye(n_classes)[labels], assume_a="pos").T) @ cross
        place = self.place
        return float(measure(self.metric.code, scores, place.ends, place.temperature, place.tie, np.empty(0)))

    def _walk_softmax(self, order: Order) -> Walk:
        """One model after the other, for every step that changes a row."""
        utility = np.full(self.n_players, self.empty)
        last, evaluations, close = self.empty, 0, 0
        coalition = np.zeros(self.n_players, dtype=np.bool_)
        reach = np.zeros(self.n_players, dtype=np.bool_)
        for k, player in enumerate(order.players.tolist()):
            coalition[player] = True
            reach[:] = False
            reach[player] = True
            for _ in range(self.place.hops):
                reach |= (self.adjacency @ reach > 0) & coalition
            if (self.place.label[reach] >= 0).any():
                last = self.utility(coalition)
                evaluations += 1
            utility[k] = last
            close = close + 1 if self.tolerance and abs(self.full - last) <= self.tolerance * abs(self.full) else 0
            if close > PATIENCE:
                utility[k:] = last
                break
        return Walk(utility.astype(np.int64) if self.metric.code == ACCURACY else utility, evaluations)


def empty_rows(place: Place) -> Rows:
    """The empty coalition."""
    n, width = place.vectors.shape
    v, r = int(place.ends[-1]), int((place.label >= 0).sum())
    nothing = np.empty(n, dtype=np.int64)
    return Rows(
        degree=np.zeros(n),
        sums=np.zeros((max(place.hops - 1, 1), n, width)),
        place=np.full(n, -1),
        label=np.empty(r, dtype=np.int64),
        coordinates=np.zeros((r, width - v)),
        cross=np.zeros((r, v)),
        kernel=np.zeros((r, r)),
        mark=np.zeros(n, dtype=np.int64),
        near=nothing,
        next=nothing.copy(),
    )


@compiled
def _walk(
    place: Place,
    rows: Rows,
    players: IntArray,
    code: int,
    empty: float,
    full: float,
    slack: float,
    utility: FloatArray,
) -> int:
    """Fill the utilities, and return how many were computed."""
    last, evaluations, close, n_rows = empty, 0, 0, 0
    nothing = np.empty(0)
    for k in range(len(players)):
        v = players[k]
        if place.label[v] >= 0:
            rows.place[v] = n_rows
            rows.label[n_rows] = place.label[v]
            n_rows += 1
        if add(place, rows, v, (k + 1) * (place.hops + 2), n_rows):
            scores = scores_of(place, rows, n_rows, -1)
            last = measure(code, scores, place.ends, place.temperature, place.tie, nothing)
            evaluations += 1
        utility[k] = last
        close = close + 1 if abs(full - last) <= slack else 0
        if close > PATIENCE:
            utility[k + 1 :] = last
            break
    return evaluations


@compiled
def add(place: Place, rows: Rows, v: int, stamp: int, n_rows: int) -> bool:
    """Let node v join; True if that changes the row of a labelled node."""
    indptr, indices, degree, x = place.indptr, place.indices, rows.degree, place.vectors
    first = rows.sums[0]
    mine = first[v]
    near = rows.near
    rows.mark[v] = stamp
    near[0] = v
    n_near = 1
    degree[v] = 1.0
    for e in range(indptr[v], indptr[v + 1]):
        if degree[indices[e]] > 0:
            degree[v] += 1
    weight = degree[v] ** -0.5
    mine[:] = weight * x[v]
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        if degree[u] == 0:
            continue
        before = degree[u] ** -0.5
        degree[u] += 1
        after = degree[u] ** -0.5
        line = x[u]
        for f in range(indptr[u] - 1, indptr[u + 1]):
            w = u if f < indptr[u] else indices[f]
            if w == v or degree[w] == 0:
                continue
            sums = first[w]
            for i in range(len(line)):
                sums[i] += (after - before) * line[i]
            if rows.mark[w] != stamp:
                rows.mark[w] = stamp
                near[n_near] = w
                n_near += 1
        sums = first[u]
        for i in range(len(line)):
            mine[i] += after * line[i]
            sums[i] += weight * x[v, i]
    # near: v, its neighbours and theirs, whose T1 or degree changed
    for level in range(1, place.hops - 1):
        n_near = widen(place, rows, n_near, stamp + level)
        for a in range(n_near):
            sum_up(place, rows, rows.sums[level - 1], near[a], -1, rows.sums[level][near[a]])
    if place.hops > 1:
        n_near = widen(place, rows, n_near, stamp + place.hops)
    return renew(place, rows, n_near, n_rows, -1, -1)


@compiled
def renew(place: Place, rows: Rows, n_near: int, n_rows: int, a: int, b: int) -> bool:
    """Compute the rows of the labelled nodes near by again, without the edge {a, b}; False if there are none."""
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
            sum_up(place, rows, rows.sums[place.hops - 2], r, b if r == a else (a if r == b else -1), total)
        else:
            total[:] = rows.sums[0, r]
        scale = rows.degree[r] ** -0.5
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
    """Add to the list of nodes their neighbours in the coalition; returns its new length."""
    found = 0
    for a in range(n_near):
        u = rows.near[a]
        for f in range(place.indptr[u] - 1, place.indptr[u + 1]):
            w = u if f < place.indptr[u] else place.indices[f]
            if rows.degree[w] > 0 and rows.mark[w] != stamp:
                rows.mark[w] = stamp
                rows.next[found] = w
                found += 1
    rows.near[:found] = rows.next[:found]
    return found


@compiled
def sum_up(place: Place, rows: Rows, below: FloatArray, w: int, without: int, into: FloatArray) -> None:
    """Tk_w = sum over u in N[w] of T(k-1)_u / d_u; the neighbour `without` is not there."""
    into[:] = below[w] / rows.degree[w]
    for e in range(place.indptr[w], place.indptr[w + 1]):
        u = place.indices[e]
        if rows.degree[u] > 0 and u != without:
            weight, line = 1 / rows.degree[u], below[u]
            for i in range(len(into)):
                into[i] += weight * line[i]


@compiled
def scores_of(place: Place, rows: Rows, n: int, without: int) -> FloatArray:
    """(c, v) class-major scores of the first n rows, except row `without`."""
    kept = np.array([i for i in range(n) if i != without])
    m = len(kept)
    system = np.empty((m, m))
    target = np.zeros((m, len(place.ends) - 1))
    for i in range(m):
        for j in range(m):
            system[i, j] = rows.kernel[kept[i], kept[j]]
        system[i, i] += place.penalty
        target[i, rows.label[kept[i]]] = 1.0
    weights = np.ascontiguousarray(np.linalg.solve(system, target).T)
    return weights @ (rows.cross[:n] if m == n else rows.cross[kept])


def node_game(
    graph: Graph, *, hops: int, metric: Metric, head: Ridge | Recipe, reach: int | None = None, tolerance: float = 0.0
) -> NodeGame:
    """The game of a graph; `head` is a ridge head with its parameters, or how to train a softmax head.

    Players are the nodes within `reach` steps of a labelled node, `hops` unless given. A walk is truncated when it
    stays within `tolerance` of the utility of all players, relative to that utility.
    """
    near = np.zeros(graph.n_nodes)
    near[graph.train] = 1
    for _ in range(hops if reach is None else reach):
        near = np.minimum(near + graph.training @ near, 1)
    nodes = np.flatnonzero(near)
    adjacency = sp.csr_array(graph.training[nodes][:, nodes])
    val = graph.val[np.argsort(graph.labels[graph.val], kind="stable")]
    label = np.where(np.isin(nodes, graph.train), graph.labels[nodes], -1)
    features, validation = graph.features[nodes], propagate(graph.validation, graph.features, hops)[val]
    active = np.unique(features.indices)
    features, validation = features[:, active], validation[:, active]
    ridge = head if isinstance(head, Ridge) else Ridge(penalty=1.0, bias=0.0)
    if ridge.penalty is None or ridge.bias is None:
        raise ValueError(f"{ridge} lacks penalty or bias: give both, as calibration finds them")
    if head is ridge:
        scale = np.sqrt(inverse_norm(propagate(adjacency, features, hops)[label >= 0]))
        features, validation = features * scale, validation * scale
    vectors = _vectors(features, validation) if head is ridge else np.empty((len(nodes), 0))
    place = Place(
        hops=hops,
        indptr=adjacency.indptr.astype(np.int64),
        indices=adjacency.indices.astype(np.int64),
        label=label,
        vectors=vectors,
        ends=class_ends(graph.labels[val], graph.n_classes),
        penalty=ridge.penalty,
        constant=ridge.bias**2,
        temperature=ridge.temperature or 1.0,
        tie=TIE,
    )
    game = NodeGame(
        nodes=nodes,
        n_players=len(nodes),
        unit=metric.unit(len(val)),
        empty=metric.empty(graph.n_classes),
        metric=metric,
        place=place,
        adjacency=adjacency,
        features=sp.csr_array(features),
        validation=sp.csr_array(validation),
        recipe=head if isinstance(head, Recipe) else None,
        tolerance=tolerance,
    )
    return replace(game, full=game.utility(np.ones(len(nodes), dtype=np.bool_)))


def _vectors(features: Sparse, validation: Sparse) -> FloatArray:
    """(n, v + d) inner products with the validation rows, and coordinates with the same inner products as features."""
    dense = features.toarray()
    coordinates = dense if dense.shape[1] <= len(dense) else np.asarray(np.linalg.qr(dense.T, mode="r")).T
    return np.ascontiguousarray(np.hstack([(features @ validation.T).toarray(), coordinates]))
