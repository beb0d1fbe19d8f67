"""Graph -> NodeGame: the game whose players are nodes of the training graph, used by the baselines.

A coalition keeps the subgraph that it induces. The head is trained on its labelled nodes, propagated K steps in that
subgraph. `node_rows` has the sums that a walk keeps up to date.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import whole_number
from pcwinter._util.compiled import compiled
from pcwinter.baselines.node_rows import Place, Rows, add, empty_rows, scores_of
from pcwinter.game.class_weights import class_weights
from pcwinter.game.metrics import TIE, Metric, class_ends, measure, metric_for, whole
from pcwinter.game.problem import expected
from pcwinter.game.protocol import Order, Walk
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.filters import Blocks, filter_weights
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.graph.propagation import Scaling, filter_of, propagate, propagate_to
from pcwinter.heads.graph_game import complete, graph_game, suited_head
from pcwinter.heads.ridge.closed_form import inverse_norm, solve_for
from pcwinter.heads.ridge.head import CHUNK, Ridge
from pcwinter.heads.softmax import Softmax, fit_scores

PATIENCE = 5  # consecutive steps within the tolerance before a walk is truncated


@dataclass(frozen=True, slots=True, eq=False)
class NodeGame:
    """The game whose players are the nodes near labelled nodes."""

    nodes: IntArray  # (p,) graph node of each player, ascending
    n_players: int
    unit: float
    empty: float
    metric: Metric
    place: Place
    adjacency: Sparse  # (p, p) among the players, [target, source]
    scaling: Scaling
    theta: tuple[float, ...]  # weights of the powers; empty for the last power alone
    directed: bool
    features: Sparse  # (p, f)
    validation: Sparse  # (v, f)
    softmax: Softmax | None  # the softmax head, or None for ridge
    weights: FloatArray  # (c,) of the classes
    tolerance: float = 0.0  # a walk ends when it stays this close to `full`, relative to |full - empty|
    full: float = np.nan  # utility of all players, in units

    @property
    def slow(self) -> bool:
        """Whether every utility is computed from scratch: sums need a head in closed form, self-loops, and SGC."""
        return self.softmax is not None or self.place.loop == 0 or bool(self.theta)

    @property
    def slack(self) -> float:
        """How close to `full` is close enough, in units; negative if the tolerance is 0."""
        return self.tolerance * abs(self.full - self.empty) if self.tolerance else -1.0

    def prepare(self, order: Order) -> None:
        """Compile the walk."""
        self.walk(Order(order.players[:1], order.visited[:1]))

    def walk(self, order: Order) -> Walk:
        """Utility after every step."""
        if self.slow:
            return self._walk_slowly(order)
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
        rows = propagate_to(labelled, inside, self.features[members], self.place.hops, self.theta, self.scaling)
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

    def _walk_slowly(self, order: Order) -> Walk:
        """Train one model from scratch for every step that changes a row."""
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


def node_game(
    graph: Graph,
    head: str | Ridge | Softmax,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    metric: str | None = None,
    reach: int | None = None,
    tolerance: float = 0.0,
) -> NodeGame:
    """The node game of a graph.

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`; missing parameters are calibrated.
    `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of the powers of the
    propagation. `metric` is a name in METRICS or "f1:CLASS"; None for the usual one. Players are the nodes within
    `reach` steps of a labelled node (default `hops`). A walk is truncated when its utility stays within
    `tolerance * |U(all) - U(empty)|` of U(all).
    """
    check_graph(graph)
    head, chosen = complete_head(graph, head, hops, metric, filter=filter), metric_for(metric, graph)
    hops = whole_number("hops", hops, 1)
    theta = filter_of(filter, hops, graph.training, graph.features, graph.train)
    depths = steps_to_labelled(graph, hops if reach is None else reach)
    nodes = np.flatnonzero(depths >= 0)
    depth = depths[nodes]
    adjacency = sp.csr_array(graph.training[nodes][:, nodes])
    val = graph.val[np.argsort(graph.labels[graph.val], kind="stable")]
    label = np.where(depth == 0, graph.labels[nodes], -1)
    outcome = np.zeros((len(nodes), graph.targets.shape[1] or graph.n_classes))
    outcome[depth == 0], answers = expected(graph, val)
    of_class = class_weights(graph.labels[graph.train], graph.n_classes, head.class_weight)
    features = graph.features[nodes]
    validation = propagate(graph.validation, graph.features, hops, theta, graph.scaling)[val]
    active = np.unique(features[depth <= hops].indices)
    blocks = range(hops + 1 if isinstance(theta, Blocks) else 1)
    validation = validation[:, np.concatenate([active + k * graph.features.shape[1] for k in blocks])]
    features = features[:, active]
    ridge = head if isinstance(head, Ridge) else Ridge(penalty=1.0, bias=0.0)
    assert ridge.penalty is not None
    assert ridge.bias is not None
    if head is ridge:
        rows = propagate(adjacency, features, hops, theta, graph.scaling)[label >= 0]
        scale = np.sqrt(inverse_norm(rows))
        features, validation = features * scale, validation * scale
    by_depth = np.argsort(depth, kind="stable")
    near = by_depth[: np.count_nonzero(depth <= hops)]
    indptr, indices, weights = edges = lists(adjacency)
    out_indptr, out_indices, out_weights = lists(sp.csr_array(adjacency.T)) if graph.directed else edges
    place = Place(
        hops=hops,
        indptr=indptr,
        indices=indices,
        weight=weights,
        out_indptr=out_indptr,
        out_indices=out_indices,
        out_weight=out_weights,
        loop=graph.self_loop,
        row=graph.normalisation == "row",
        label=label,
        outcome=outcome,
        depth=depth,
        line=np.argsort(by_depth),
        vectors=_vectors(features[near], validation) if head is ridge and not theta else np.empty((0, 0)),
        ends=class_ends(graph.labels[val], outcome.shape[1]),
        answers=answers,
        penalty=ridge.penalty / of_class[label],
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
        scaling=graph.scaling,
        theta=theta,
        directed=graph.directed,
        features=sp.csr_array(features),
        validation=sp.csr_array(validation),
        softmax=head if isinstance(head, Softmax) else None,
        weights=of_class,
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
    back = graph.training.T if graph.directed else graph.training
    for step in range(1, reach + 1):
        depth[(back @ (depth >= 0) > 0) & (depth < 0)] = step
    return depth


def lists(adjacency: Sparse) -> tuple[IntArray, IntArray, FloatArray]:
    """`indptr`, `indices` and the weights of a matrix, for compiled functions."""
    return adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64), adjacency.data.astype(np.float64)


def _vectors(features: Sparse, validation: Sparse) -> FloatArray:
    """(n, v + d) inner products with validation rows, then coordinates with the same inner products as the features."""
    (n, f), v = features.shape, validation.shape[0]
    vectors = np.empty((n, v + min(n, f)))
    for at in range(0, v, CHUNK):
        vectors[:, at : min(at + CHUNK, v)] = np.asarray(features @ validation[at : at + CHUNK].toarray().T)
    vectors[:, v:] = features.toarray() if f <= n else np.asarray(np.linalg.qr(features.toarray().T, mode="r")).T
    return vectors


def complete_head(
    graph: Graph,
    head: str | Ridge | Softmax,
    hops: int = 2,
    metric: str | None = None,
    coalition: str = "messages",
    filter: str | Sequence[float] = "sgc",
) -> Ridge | Softmax:
    """The head with all parameters that the metric needs; missing ones are calibrated, as for PC-Winter.

    `coalition` is the game of PC-Winter, "induced" or "messages", and `filter` is as in `node_game`.
    """
    checked = suited_head(head, graph)
    if not complete(checked, metric_for(metric, graph)):
        tree = contribution_tree(graph, hops)
        theta = filter_weights(filter, tree.hops)
        options: dict[str, Any] = {"blocks": True} if isinstance(theta, Blocks) else {"theta": theta}
        _, _, found = graph_game(graph, tree, checked, metric, coalition=coalition, **options)
        assert found is not None
        return found.head
    assert not isinstance(checked, str)
    return checked
