"""Graph -> Ranking: what other methods say that nodes and edges are worth.

Node methods rank the nodes within K steps of a labelled node, edge methods the edges of the training graph. Their
utility is that of `induced`: the head on K-step features of the subgraph that a coalition of nodes induces.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import betaln, gammaln

from pcwinter._options import number, whole_number
from pcwinter._types import BoolArray, FloatArray, IntArray
from pcwinter.by_class import by_class
from pcwinter.game import Game
from pcwinter.graph import Graph, Recipe
from pcwinter.heads.ridge import Ridge
from pcwinter.heads.softmax import Softmax
from pcwinter.induced import NodeGame, node_game, steps_to_labelled
from pcwinter.left_out import leave_out
from pcwinter.metrics import find_metric
from pcwinter.orders import Order, Walk
from pcwinter.propagation import propagate
from pcwinter.stopping import USUAL, Progress, Rule
from pcwinter.tree import contribution_tree
from pcwinter.valuation import Values, graph_game
from pcwinter.values import State, estimate
from pcwinter.workers import Pool, Told, gather, one_thread

if TYPE_CHECKING:
    import pandas as pd

Head: TypeAlias = str | Ridge | Softmax | Recipe  # as `value` takes it, or how to train a softmax head
COALITIONS = 50  # that a worker values at a time
TOLERANCE = 0.01  # of truncated Monte Carlo, relative to the utility of all players


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Values of nodes or edges by some method, and what they took."""

    method: str
    items: IntArray  # (m,) node numbers, or (m, 2) the ends of edges, source < target
    value: FloatArray  # (m,)
    stderr: FloatArray  # (m,) not a number where the method has no error
    orders: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    status: str = ""
    workers: int = 1  # processes that took these seconds, where a study knows

    def best_first(self, seed: int = 0) -> IntArray:
        """(m,) places from the most to the least valuable; ties are shuffled, since many values are exactly 0."""
        shuffled = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,))).permutation(len(self.value))
        return shuffled[np.argsort(-self.value[shuffled], kind="stable")]

    def table(self, graph: Graph) -> "pd.DataFrame":
        """One line per node or edge, by its ids, with value and standard error: a file that `pcwinter judge` reads."""
        import pandas as pd

        names = ("node",) if self.items.ndim == 1 else ("source", "target")
        ids = np.atleast_2d(graph.ids[self.items].T)
        return pd.DataFrame({**dict(zip(names, ids, strict=True)), "value": self.value, "stderr": self.stderr})


def head_of(graph: Graph, head: Head, hops: int = 2, metric: str = "accuracy") -> Ridge | Recipe:
    """The head with all parameters that the metric needs; those not given are what PC-Winter's calibration finds."""
    if isinstance(head, Ridge) and None not in (head.penalty, head.bias):
        if head.temperature is not None or not find_metric(metric).tempered:
            return head
    elif isinstance(head, Recipe):
        return head
    elif isinstance(head, Softmax) or head == "softmax":
        return (head if isinstance(head, Softmax) else Softmax()).recipe(graph.recipe)
    _, _, found = graph_game(graph, contribution_tree(graph, hops), head, metric)  # refuses what is no head
    assert found is not None
    return Ridge(found.penalty, found.bias, found.temperature)


def of_values(values: Values, level: str, method: str) -> Ranking:
    """What PC-Winter says: level own, path, edge, edge path or edge by class."""
    tree, done, beside = values.tree, values.estimate, level == "edge by class"
    items = tree.edges if level.startswith("edge") else tree.nodes
    value = by_class(values) if beside else done.mean(level)
    stderr = np.full(len(items), np.nan) if beside else done.stderr(level)
    spent = done.tally.orders, done.tally.evaluations + done.tally.baselines, done.seconds
    return Ranking(method, items, value, stderr, *spent, done.status)


def random_nodes(graph: Graph, *, hops: int = 2, seed: int = 0) -> Ranking:
    """Values that mean nothing."""
    return _plain("random", near_nodes(graph, hops), lambda nodes: np.random.default_rng(seed).random(len(nodes)))


def degree(graph: Graph, *, hops: int = 2) -> Ranking:
    """Number of neighbours in the training graph."""
    return _plain(
        "degree", near_nodes(graph, hops), lambda nodes: np.diff(graph.training.indptr)[nodes].astype(np.float64)
    )


def random_edges(graph: Graph, *, seed: int = 0) -> Ranking:
    """Values that mean nothing."""
    return _plain("random", all_edges(graph), lambda edges: np.random.default_rng(seed).random(len(edges)))


def betweenness(graph: Graph) -> Ranking:
    """Shortest paths between pairs of nodes of the training graph that pass through an edge, as a share of all."""
    import igraph

    def values(edges: IntArray) -> FloatArray:
        network = igraph.Graph(n=graph.n_nodes, edges=edges.tolist())
        inside = graph.n_nodes - len(graph.val) - len(graph.test)
        return np.array(network.edge_betweenness(directed=False)) / (inside * (inside - 1) / 2)

    return _plain("betweenness", all_edges(graph), values)


def leave_one_out_nodes(
    graph: Graph,
    head: Head,
    *,
    hops: int = 2,
    metric: str = "accuracy",
    workers: int | Pool = 1,
    progress: Told | None = None,
) -> Ranking:
    """U(training graph) - U(training graph without the node); `progress` hears how many are done, and of how many."""
    return _left_out(graph, head, hops, metric, near_nodes(graph, hops), workers, progress)


def leave_one_out_edges(
    graph: Graph,
    head: Head,
    *,
    hops: int = 2,
    metric: str = "accuracy",
    workers: int | Pool = 1,
    progress: Told | None = None,
) -> Ranking:
    """U(training graph) - U(training graph without the edge); `progress` hears how many are done, and of how many."""
    return _left_out(graph, head, hops, metric, all_edges(graph), workers, progress)


def data_shapley(
    graph: Graph,
    head: Head,
    stop: Rule = USUAL,
    *,
    hops: int = 2,
    metric: str = "accuracy",
    tolerance: float = TOLERANCE,
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], str | None] | None = None,
    begin: State | None = None,
    keep: Callable[[State], None] | None = None,
) -> Ranking:
    """Truncated Monte Carlo over all orders of the nodes: a walk ends when it stays close to the utility of all."""
    tolerance = number("tolerance", tolerance, zero=True)
    game = _game(graph, head, hops, metric, tolerance=tolerance)
    return _sampled("data-shapley", game, game.nodes, stop, seed, workers, progress, begin, keep)


def beta_shapley(
    graph: Graph,
    head: Head,
    stop: Rule = USUAL,
    *,
    alpha: float = 16.0,
    beta: float = 1.0,
    hops: int = 2,
    metric: str = "accuracy",
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], str | None] | None = None,
) -> Ranking:
    """Beta(alpha, beta)-Shapley: contributions to small coalitions count more when alpha is large."""
    alpha, beta = number("alpha", alpha), number("beta", beta)
    game = _game(graph, head, hops, metric)
    weighted = Weighted(game, beta_weights(game.n_players, alpha, beta))
    return _sampled(f"beta-shapley({alpha:g},{beta:g})", weighted, game.nodes, stop, seed, workers, progress)


def beta_weights(n: int, alpha: float, beta: float) -> FloatArray:
    """(n,) weight of a contribution at each position of an order, 1 on average."""
    before = np.arange(n)  # players that came before
    choose = gammaln(n) - gammaln(before + 1) - gammaln(n - before)
    return np.asarray(n * np.exp(choose + betaln(before + beta, n - before - 1 + alpha) - betaln(alpha, beta)))


@dataclass(frozen=True, slots=True)
class Weighted:
    """A game in which a contribution counts by its position in the order."""

    game: Game
    weights: FloatArray  # (p,)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.game.n_players

    @property
    def unit(self) -> float:
        """Worth of one counted unit."""
        return self.game.unit

    @property
    def empty(self) -> float:
        """Utility of the empty coalition, which is not weighted."""
        return float(self.game.empty)

    def prepare(self, order: Order) -> None:
        """Let the game compile."""
        prepare = getattr(self.game, "prepare", None)
        if prepare is not None:
            prepare(order)

    def walk(self, order: Order) -> Walk:
        """Weighted contributions, added up."""
        walk = self.game.walk(order)
        steps = np.diff(walk.utility.astype(np.float64), prepend=self.empty)
        return Walk(self.empty + np.cumsum(self.weights * steps), walk.evaluations, walk.baselines)


@one_thread()
def data_banzhaf(
    graph: Graph,
    head: Head,
    *,
    samples: int = 2_000,
    hops: int = 2,
    metric: str = "accuracy",
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Told | None = None,
) -> Ranking:
    """Mean utility of the random coalitions that a node is in, less that of those it is not in.

    Every coalition serves all nodes (maximum sample reuse); each node is in with probability one half.
    """
    samples = whole_number("samples", samples, 2)
    began = time.perf_counter()
    game = _game(graph, head, hops, metric)
    found = gather(workers, Coalitions(game, seed), samples, COALITIONS, progress)
    inside, utility = (np.concatenate(part) for part in zip(*found, strict=True))
    value, stderr = banzhaf_from(inside, utility * game.unit)
    seconds = time.perf_counter() - began
    return Ranking(
        "data-banzhaf", game.nodes, value, stderr, 0, samples, seconds, f"{samples:,} coalitions were drawn."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Coalitions:
    """Random coalitions and their utilities in units; coalition k owns child k of the seed."""

    game: NodeGame
    seed: int

    def prepare(self) -> None:
        """Nothing is shared that the game does not hold."""

    def __call__(self, begin: int, end: int) -> tuple[BoolArray, FloatArray]:
        """Coalitions `begin` to `end` - 1."""
        seeds = [np.random.SeedSequence(self.seed, spawn_key=(k,)) for k in range(begin, end)]
        inside = np.array([np.random.default_rng(seed).random(self.game.n_players) < 0.5 for seed in seeds])
        return inside, np.array([self.game.utility(coalition) for coalition in inside])


def banzhaf_from(inside: BoolArray, utility: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and standard errors from (samples, p) coalitions and their utilities.

    Not a number for a player that was always in or always out; nor is the error of one that was so once only.
    """
    value, variance = np.zeros(inside.shape[1]), np.zeros(inside.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        for sign, mask in ((1, inside.astype(np.float64)), (-1, 1.0 - inside)):
            count = mask.sum(axis=0)
            mean = (utility @ mask) / count
            value += sign * mean
            variance += ((utility[:, None] - mean) ** 2 * mask).sum(axis=0) / (count * (count - 1))
    return value, np.sqrt(variance)


def knn_shapley(graph: Graph, *, hops: int = 2, k: int = 5) -> Ranking:
    """Exact Shapley values of the labelled nodes for a k-nearest-neighbour vote on K-step features.

    For each validation node of class y, with n labelled nodes from near to far,

        s_n = [y_n = y] min(k, n) / (k n),   s_i = s_(i+1) + ([y_i = y] - [y_(i+1) = y]) min(k, i) / (k i).
    """
    k, hops = whole_number("k", k, 1), whole_number("hops", hops, 1)
    began = time.perf_counter()
    rows = propagate(graph.training, graph.features, hops)[graph.train]
    z = propagate(graph.validation, graph.features, hops)[graph.val]
    squares: FloatArray = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    distance = squares[None, :] - 2 * (z @ rows.T).toarray()
    near = np.argsort(distance, axis=1, kind="stable")
    right = (graph.labels[graph.train][near] == graph.labels[graph.val][:, None]).astype(np.float64)
    value = knn_values(right, k)
    total = np.zeros(len(graph.train))
    np.add.at(total, near.ravel(), value.ravel())
    seconds = time.perf_counter() - began
    mean = total / len(graph.val)
    return Ranking("knn-shapley", graph.train, mean, np.full(len(mean), np.nan), 0, 0, seconds, "The values are exact.")


def knn_values(right: FloatArray, k: int) -> FloatArray:
    """(v, n) Shapley values of a vote of the k nearest; `right` tells from near to far who has the right label."""
    n = right.shape[1]
    place = np.arange(1, n)
    steps = (right[:, :-1] - right[:, 1:]) * np.minimum(k, place) / (k * place)
    last = right[:, -1:] * min(k, n) / (k * n)
    return np.asarray(last + np.concatenate([np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], np.zeros_like(last)], axis=1))


def near_nodes(graph: Graph, hops: int) -> IntArray:
    """Nodes within `hops` steps of a labelled node: those that have players."""
    return np.flatnonzero(steps_to_labelled(graph, whole_number("hops", hops, 1)) >= 0)


def all_edges(graph: Graph) -> IntArray:
    """(m, 2) edges of the training graph, source < target."""
    upper = sp.triu(graph.training, format="coo")
    return np.stack([upper.row, upper.col], axis=1).astype(np.int64)


def _game(
    graph: Graph, head: Head, hops: int, metric: str, *, reach: int | None = None, tolerance: float = 0.0
) -> NodeGame:
    chosen, full = find_metric(metric), head_of(graph, head, hops, metric)
    return node_game(graph, hops=hops, metric=chosen, head=full, reach=reach, tolerance=tolerance)


def _plain(method: str, items: IntArray, values: Callable[[IntArray], FloatArray]) -> Ranking:
    began = time.perf_counter()
    value = values(items)
    return Ranking(method, items, value, np.full(len(value), np.nan), seconds=time.perf_counter() - began)


@one_thread()
def _left_out(
    graph: Graph, head: Head, hops: int, metric: str, items: IntArray, workers: int | Pool, told: Told | None
) -> Ranking:
    """The degrees of nodes K steps away count, so one step more is taken in; edges farther away change nothing."""
    game = _game(graph, head, hops, metric, reach=hops + 1)
    inside = np.isin(items, game.nodes)
    if items.ndim == 2:
        inside = np.asarray(inside.all(axis=1))
    job = leave_out(game, np.searchsorted(game.nodes, items[inside]))
    found = [job(0, 0)]  # compiles, if it must
    began = time.perf_counter()
    found += gather(workers, job, len(job.items), job.size, told)
    value = np.zeros(len(items))
    value[inside] = game.full - np.concatenate([utilities for utilities, _ in found])
    evaluations = 1 + sum(computed for _, computed in found)
    seconds = time.perf_counter() - began
    return Ranking(
        "leave-one-out", items, value * game.unit, np.full(len(value), np.nan), 0, evaluations, seconds, "Exact."
    )


def _sampled(
    method: str,
    game: Game,
    nodes: IntArray,
    stop: Rule,
    seed: int,
    workers: int | Pool,
    progress: Callable[[Progress], str | None] | None,
    begin: State | None = None,
    keep: Callable[[State], None] | None = None,
) -> Ranking:
    done = estimate(game, Free(len(nodes)), stop, seed=seed, workers=workers, progress=progress, begin=begin, keep=keep)
    tally = done.tally
    return Ranking(
        method, nodes, done.mean(), done.stderr(), tally.orders, tally.evaluations, done.seconds, done.status
    )


@dataclass(frozen=True, slots=True)
class Free:
    """Draws any order of n players."""

    n: int

    def __call__(self, rng: np.random.Generator) -> Order:
        """All orders are equally likely."""
        return Order(rng.permutation(self.n), np.ones(self.n, dtype=np.bool_))
