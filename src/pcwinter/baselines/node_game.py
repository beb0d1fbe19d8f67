"""Graph -> NodeGame: the game whose players are nodes of the training graph, used by the baselines.

A coalition keeps the subgraph that it induces. The head is trained on its labelled nodes, propagated K steps in that
subgraph. A new node changes the degrees of its neighbours, and so the rows of all labelled nodes within K + 1 steps of
it. With degrees d that count the node itself,

    T1_w = sum over u in N[w] of d_u^-1/2 x_u,   Tk_w = sum over u in N[w] of Tk-1_u / d_u,   h_r = d_r^-1/2 TK_r.

A new node changes d and T1 of few nodes; the sums that depend on them are computed again. The row of a labelled node
needs Tk only of nodes within K - k steps, and x of nodes within K. A vector x is stored as its inner products with the
validation rows, followed by coordinates that preserve the inner products between nodes.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import whole_number
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.class_weights import class_weights
from pcwinter.game.metrics import TIE, Metric, class_ends, measure, metric_for, whole
from pcwinter.game.problem import expected
from pcwinter.game.protocol import Order, Walk
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.graph.propagation import propagate, propagate_to
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.graph_game import graph_game, suited_head
from pcwinter.heads.ridge.closed_form import inverse_norm, solve_for
from pcwinter.heads.ridge.head import CHUNK, Ridge
from pcwinter.heads.softmax import Softmax, fit_scores, softmax_for

PATIENCE = 5  # consecutive steps within the tolerance before a walk is truncated


class Place(NamedTuple):
    """The input of a walk: the subgraph of the players, and the problem."""

    hops: int
    indptr: IntArray  # (n + 1,)
    indices: IntArray  # neighbours among the players
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


@dataclass(frozen=True, slots=True, eq=False)
class NodeGame:
    """The game whose players are the nodes near labelled nodes."""

    nodes: IntArray  # (p,) graph node of each player, ascending
    n_players: int
    unit: float
    empty: float
    metric: Metric
    place: Place
    adjacency: Sparse  # (p, p) among the players
    features: Sparse  # (p, f)
    validation: Sparse  # (v, f)
    softmax: Softmax | None  # the softmax head, or None for ridge
    weights: FloatArray  # (c,) of the classes
    tolerance: float = 0.0  # a walk ends when it stays this close to `full`, relative to |full - empty|
    full: float = np.nan  # utility of all players, in units

    @property
    def slack(self) -> float:
        """How close to `full` is close enough, in units; negative if the tolerance is 0."""
        return self.tolerance * abs(self.full - self.empty) if self.tolerance else -1.0

    def prepare(self, order: Order) -> None:
        """Compile the walk."""
        self.walk(Order(order.players[:1], order.visited[:1]))

    def walk(self, order: Order) -> Walk:
        """Utility after every step."""
        if self.softmax is not None:
            return self._walk_softmax(order)
        utility = np.empty(len(order.players))
        numbers = self.metric.code, self.empty, self.full, self.slack
        evaluations = _walk(self.place, empty_rows(self.place), order.players, *numbers, utility)
        return Walk(whole(self.metric, utility, order), evaluations)

    def utility(self, coalition: BoolArray) -> float:
        """Utility of one coalition, from scratch, in units."""
        if not (self.place.label[coalition] >= 0).any():
            return self.empty
        return self.measured(self.scores(coalition))

    def measured(self, scores: FloatArray) -> float:
        """Utility of scores, in units."""
        place, nothing = self.place, np.empty(0)
        ends, answers = place.ends, place.answers
        return float(measure(self.metric.code, scores, ends, answers, place.temperature, place.tie, nothing))

    def scores(self, coalition: BoolArray) -> FloatArray:
        """(c, v) class-major scores of a coalition with labelled nodes, from scratch."""
        members = np.flatnonzero(coalition)
        inside = sp.csr_array(self.adjacency[members][:, members])
        labelled = np.flatnonzero(self.place.label[members] >= 0)
        rows = propagate_to(labelled, inside, self.features[members], self.place.hops)
        players = members[labelled]
        if self.softmax is not None:
            labels, n_classes = self.place.label[players], len(self.place.ends) - 1
            every, weights = [np.arange(len(players))], self.weights[labels]
            models = fit_scores(rows, labels, every, n_classes, self.softmax, self.validation, weights)
            return models.reshape(n_classes, -1)
        kernel = (rows @ rows.T).toarray() + self.place.constant
        cross = (rows @ self.validation.T).toarray() + self.place.constant
        return solve_for(kernel, cross, self.place.outcome[players], self.place.penalty[players])

    def changes(self, start: list[int], steps: int, coalition: BoolArray) -> bool:
        """Whether the coalition has a labelled node within `steps` steps of one of the players `start`."""
        reach = np.zeros(self.n_players, dtype=np.bool_)
        reach[start] = True
        for _ in range(steps):
            reach |= (self.adjacency @ reach > 0) & coalition
        return bool((self.place.label[reach] >= 0).any())

    def _walk_softmax(self, order: Order) -> Walk:
        """Train one model for every step that changes a row."""
        utility = np.empty(self.n_players)
        last, evaluations, close = self.empty, 0, 0
        coalition = np.zeros(self.n_players, dtype=np.bool_)
        for k, player in enumerate(order.players.tolist()):
            coalition[player] = True
            if self.changes([player], self.place.hops + 1, coalition):
                last = self.utility(coalition)
                evaluations += 1
            utility[k:] = last
            close = close + 1 if abs(self.full - last) <= self.slack else 0
            if close > PATIENCE:
                break
        return Walk(whole(self.metric, utility, order), evaluations)


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
def _walk(
    place: Place, rows: Rows, players: IntArray, code: int, empty: float, full: float, slack: float, utility: FloatArray
) -> int:
    """Fill `utility`, and return how many utilities were computed."""
    last, evaluations, close, n_rows, nothing = empty, 0, 0, 0, np.empty(0)
    for k in range(len(players)):
        v = players[k]
        if place.label[v] >= 0:
            rows.place[v] = n_rows
            rows.player[n_rows] = v
            n_rows += 1
        if add(place, rows, v, (k + 1) * (place.hops + 2), n_rows):
            scores = scores_of(place, rows, n_rows, -1)
            last = measure(code, scores, place.ends, place.answers, place.temperature, place.tie, nothing)
            evaluations += 1
        utility[k] = last
        close = close + 1 if abs(full - last) <= slack else 0
        if close > PATIENCE:
            utility[k:] = last
            break
    return evaluations


@compiled
def add(place: Place, rows: Rows, v: int, stamp: int, n_rows: int) -> bool:
    """Let node v join; return whether that changes the row of a labelled node."""
    indptr, indices, degree, line = place.indptr, place.indices, rows.degree, place.line
    first, x, near = rows.sums[0], place.vectors, rows.near
    rows.mark[v] = stamp
    near[0] = v
    n_near = 1
    degree[v] = 1.0
    for e in range(indptr[v], indptr[v + 1]):
        if degree[indices[e]] > 0:
            degree[v] += 1
    weight = degree[v] ** -0.5
    if place.depth[v] < place.hops:
        first[line[v]] = weight * x[line[v]]
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        if degree[u] == 0:
            continue
        before = degree[u] ** -0.5
        degree[u] += 1
        after = degree[u] ** -0.5
        for f in range(indptr[u] - 1, indptr[u + 1]):
            w = u if f < indptr[u] else indices[f]
            if w == v or degree[w] == 0:
                continue
            if place.depth[w] < place.hops:
                accumulate(first[line[w]], after - before, x[line[u]])
            if rows.mark[w] != stamp:
                rows.mark[w] = stamp
                near[n_near] = w
                n_near += 1
        if place.depth[v] < place.hops:
            accumulate(first[line[v]], after, x[line[u]])
        if place.depth[u] < place.hops:
            accumulate(first[line[u]], weight, x[line[v]])
    # near: v, its neighbours and their neighbours, whose T1 or degree changed
    for level in range(1, place.hops - 1):
        n_near = widen(place, rows, n_near, stamp + level)
        sum_up_near(place, rows, n_near, level)
    if place.hops > 1:
        n_near = widen(place, rows, n_near, stamp + place.hops)
    return renew(place, rows, n_near, n_rows)


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
    """Extend the list of nodes by their neighbours in the coalition; return its new length."""
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
def sum_up_near(place: Place, rows: Rows, n_near: int, level: int) -> None:
    """T(level + 1) of the nodes in the list from those below."""
    for k in range(n_near):
        w = rows.near[k]
        if place.depth[w] < place.hops - level:
            sum_up(place, rows, rows.sums[level - 1], w, rows.sums[level, place.line[w]])


@compiled
def sum_up(place: Place, rows: Rows, below: FloatArray, w: int, into: FloatArray) -> None:
    """Tk_w = sum over u in N[w] of T(k-1)_u / d_u."""
    into[:] = below[place.line[w]] / rows.degree[w]
    for e in range(place.indptr[w], place.indptr[w + 1]):
        u = place.indices[e]
        if rows.degree[u] > 0:
            accumulate(into, 1 / rows.degree[u], below[place.line[u]])


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


def node_game(
    graph: Graph,
    head: str | Ridge | Softmax,
    *,
    hops: int = 2,
    metric: str | None = None,
    reach: int | None = None,
    tolerance: float = 0.0,
) -> NodeGame:
    """The node game of a graph.

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`; missing parameters are calibrated.
    `hops` is the number of propagation steps. `metric` is a name in METRICS or "f1:CLASS"; None for the usual one.
    Players are the nodes within `reach` steps of a labelled node (default `hops`). A walk is truncated when its utility
    stays within `tolerance * |U(all) - U(empty)|` of U(all).
    """
    check_graph(graph)
    head, chosen = complete_head(graph, head, hops, metric), metric_for(metric, graph)
    hops = whole_number("hops", hops, 1)
    depths = steps_to_labelled(graph, hops if reach is None else reach)
    nodes = np.flatnonzero(depths >= 0)
    depth = depths[nodes]
    adjacency = sp.csr_array(graph.training[nodes][:, nodes])
    val = graph.val[np.argsort(graph.labels[graph.val], kind="stable")]
    label = np.where(depth == 0, graph.labels[nodes], -1)
    outcome = np.zeros((len(nodes), graph.targets.shape[1] or graph.n_classes))
    outcome[depth == 0], answers = expected(graph, val)
    weights = class_weights(graph.labels[graph.train], graph.n_classes, head.class_weight)
    features, validation = graph.features[nodes], propagate(graph.validation, graph.features, hops)[val]
    active = np.unique(features[depth <= hops].indices)
    features, validation = features[:, active], validation[:, active]
    ridge = head if isinstance(head, Ridge) else Ridge(penalty=1.0, bias=0.0)
    assert ridge.penalty is not None
    assert ridge.bias is not None
    if head is ridge:
        scale = np.sqrt(inverse_norm(propagate(adjacency, features, hops)[label >= 0]))
        features, validation = features * scale, validation * scale
    by_depth = np.argsort(depth, kind="stable")
    near = by_depth[: np.count_nonzero(depth <= hops)]
    place = Place(
        hops=hops,
        indptr=adjacency.indptr.astype(np.int64),
        indices=adjacency.indices.astype(np.int64),
        label=label,
        outcome=outcome,
        depth=depth,
        line=np.argsort(by_depth),
        vectors=_vectors(features[near], validation) if head is ridge else np.empty((0, 0)),
        ends=class_ends(graph.labels[val], outcome.shape[1]),
        answers=answers,
        penalty=ridge.penalty / weights[label],
        constant=ridge.bias**2,
        temperature=ridge.temperature or 1.0,
        tie=TIE,
    )
    game = NodeGame(
        nodes=nodes,
        n_players=len(nodes),
        unit=chosen.unit(len(val)),
        empty=chosen.empty(place.ends, answers)[0],
        metric=chosen,
        place=place,
        adjacency=adjacency,
        features=sp.csr_array(features),
        validation=sp.csr_array(validation),
        softmax=head if isinstance(head, Softmax) else None,
        weights=weights,
        tolerance=tolerance,
    )
    everybody = np.ones(len(nodes), dtype=np.bool_)
    if head is ridge:  # scores shrink as the penalty grows
        tie = TIE * float(np.abs(game.scores(everybody)).max())
        game = replace(game, place=place._replace(tie=tie))
    return replace(game, full=game.utility(everybody))


def steps_to_labelled(graph: Graph, reach: int) -> IntArray:
    """(n,) steps in the training graph from each node to the nearest labelled one; -1 beyond `reach`."""
    depth = np.full(graph.n_nodes, -1)
    depth[graph.train] = 0
    for step in range(1, reach + 1):
        depth[(graph.training @ (depth >= 0) > 0) & (depth < 0)] = step
    return depth


def _vectors(features: Sparse, validation: Sparse) -> FloatArray:
    """(n, v + d) inner products with validation rows, then coordinates with the same inner products as the features."""
    (n, f), v = features.shape, validation.shape[0]
    vectors = np.empty((n, v + min(n, f)))
    for at in range(0, v, CHUNK):
        vectors[:, at : min(at + CHUNK, v)] = np.asarray(features @ validation[at : at + CHUNK].toarray().T)
    vectors[:, v:] = features.toarray() if f <= n else np.asarray(np.linalg.qr(features.toarray().T, mode="r")).T
    return vectors


def complete_head(
    graph: Graph, head: str | Ridge | Softmax, hops: int = 2, metric: str | None = None
) -> Ridge | Softmax:
    """The head with all parameters that the metric needs; missing ones are calibrated, as for PC-Winter."""
    chosen, head = metric_for(metric, graph), suited_head(head, graph)
    if isinstance(head, Softmax) or head == "softmax":
        return head if isinstance(head, Softmax) else softmax_for(graph)
    if isinstance(head, Ridge) and head.complete(chosen.tempered):
        return head
    _, _, found = graph_game(graph, contribution_tree(graph, hops), head, metric)
    assert found is not None
    ridge = replace(head if isinstance(head, Ridge) else Ridge(), penalty=found.penalty, bias=found.bias)
    return replace(ridge, temperature=found.temperature) if isinstance(found, Calibration) else ridge
