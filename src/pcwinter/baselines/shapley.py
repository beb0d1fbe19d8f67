"""Graph -> Ranking: Data Shapley and Beta Shapley, estimated over random orders of the nodes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import number
from pcwinter.baselines.node_game import node_game
from pcwinter.baselines.ranking import Ranking
from pcwinter.estimation.estimator import Estimate, check_sampling, estimate
from pcwinter.estimation.jobs import Pool
from pcwinter.estimation.stopping import USUAL, Progress, Rule
from pcwinter.game.protocol import Game, Order, Preparable, Walk
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

TOLERANCE = 0.01  # of truncated Monte Carlo, relative to |U(all) - U(empty)|


def data_shapley(
    graph: Graph,
    head: str | Ridge | Softmax,
    stop: Rule = USUAL,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    metric: str | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], object] | None = None,
) -> Ranking:
    """Data Shapley by truncated Monte Carlo: the mean marginal contribution of a node over random orders.

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`. `stop` is the stopping rule, see
    `pcwinter.stopping`. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of
    the powers of the propagation; only "sgc" is fast. `metric` is a name in METRICS or "f1:CLASS";
    None for the usual one. A walk ends when its utility stays
    within `tolerance * |U(all) - U(empty)|` of U(all); 0 never truncates. `seed` determines the orders. `workers` is
    the number of processes; it does not change the values. `progress(now)` is called after every block of orders.
    """
    tolerance = number("tolerance", tolerance, zero=True)
    check_sampling(stop, seed, progress)
    game = node_game(graph, head, hops=hops, filter=filter, metric=metric, tolerance=tolerance)
    done = estimate(game, Free(game.n_players), stop, seed=seed, workers=workers, progress=progress)
    return sampled_ranking("data-shapley", game.nodes, done)


def beta_shapley(
    graph: Graph,
    head: str | Ridge | Softmax,
    stop: Rule = USUAL,
    *,
    alpha: float = 16.0,
    beta: float = 1.0,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    metric: str | None = None,
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], object] | None = None,
) -> Ranking:
    """Beta(alpha, beta)-Shapley: like Data Shapley, but contributions are weighted by the size of the coalition.

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`. `stop` is the stopping rule, see
    `pcwinter.stopping`. `alpha` and `beta` are the parameters of the Beta distribution: the larger `alpha`, the more
    small coalitions count. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights
    of the powers of the propagation; only "sgc" is fast. `metric` is a name in METRICS or "f1:CLASS";
    None for the usual one. `seed` determines the orders.
    `workers` is the number of processes; it does not change the values. `progress(now)` is called after every block of
    orders.
    """
    alpha, beta = number("alpha", alpha), number("beta", beta)
    check_sampling(stop, seed, progress)
    game = node_game(graph, head, hops=hops, filter=filter, metric=metric)
    weighted = Weighted(game, beta_weights(game.n_players, alpha, beta))
    done = estimate(weighted, Free(game.n_players), stop, seed=seed, workers=workers, progress=progress)
    return sampled_ranking(f"beta-shapley({alpha:g},{beta:g})", game.nodes, done)


def beta_weights(n: int, alpha: float, beta: float) -> FloatArray:
    """(n,) weight of a contribution at each position of an order. The mean weight is 1."""
    before = np.arange(n)  # number of players before
    choose = gammaln(n) - gammaln(before + 1) - gammaln(n - before)
    return np.asarray(n * np.exp(choose + betaln(before + beta, n - before - 1 + alpha) - betaln(alpha, beta)))


@dataclass(frozen=True, slots=True)
class Weighted:
    """A game in which the weight of a contribution depends on its position in the order."""

    game: Game
    weights: FloatArray  # (p,)

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.game.n_players

    @property
    def unit(self) -> float:
        """Utility of one counted unit."""
        return self.game.unit

    @property
    def empty(self) -> float:
        """Utility of the empty coalition, which is not weighted."""
        return float(self.game.empty)

    def prepare(self, order: Order) -> None:
        """Prepare the game."""
        if isinstance(self.game, Preparable):
            self.game.prepare(order)

    def walk(self, order: Order) -> Walk:
        """Cumulative sums of the weighted contributions."""
        walk = self.game.walk(order)
        steps = np.diff(walk.utility.astype(np.float64), prepend=self.empty)
        return Walk(self.empty + np.cumsum(self.weights * steps), walk.evaluations, walk.baselines)


@dataclass(frozen=True, slots=True)
class Free:
    """Draws an order of n players, uniformly from all permutations."""

    n: int

    def __call__(self, rng: np.random.Generator) -> Order:
        """One random order."""
        return Order(rng.permutation(self.n), np.ones(self.n, dtype=np.bool_))


def sampled_ranking(method: str, nodes: IntArray, done: Estimate) -> Ranking:
    """The ranking of `nodes` by an estimate."""
    spent = done.tally.orders, done.tally.evaluations, done.seconds
    return Ranking(method, nodes, done.mean(), done.stderr(), *spent, done.status)
