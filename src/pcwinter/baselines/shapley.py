"""Graph -> Ranking: Data Shapley and Beta Shapley, over all orders of the nodes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import number
from pcwinter.baselines.node_game import node_game
from pcwinter.baselines.ranking import Ranking
from pcwinter.estimation.estimator import Estimate, estimate
from pcwinter.estimation.jobs import Pool
from pcwinter.estimation.stopping import USUAL, Progress, Rule
from pcwinter.game.protocol import Game, Order, Preparable, Walk
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

TOLERANCE = 0.01  # of truncated Monte Carlo, relative to the utility of all players


def data_shapley(
    graph: Graph,
    head: str | Ridge | Softmax,
    stop: Rule = USUAL,
    *,
    hops: int = 2,
    metric: str = "accuracy",
    tolerance: float = TOLERANCE,
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], object] | None = None,
) -> Ranking:
    """Truncated Monte Carlo over all orders of the nodes: a walk ends when it stays close to the utility of all.

    `tolerance` says how close, relative to what all nodes add to the empty coalition. `stop` is when the estimate ends,
    see `pcwinter.stopping`. The other arguments are those of `value`.
    """
    tolerance = number("tolerance", tolerance, zero=True)
    game = node_game(graph, head, hops=hops, metric=metric, tolerance=tolerance)
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
    metric: str = "accuracy",
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], object] | None = None,
) -> Ranking:
    """Beta(alpha, beta)-Shapley: contributions to small coalitions count more when `alpha` is large.

    The other arguments are those of `data_shapley`.
    """
    alpha, beta = number("alpha", alpha), number("beta", beta)
    game = node_game(graph, head, hops=hops, metric=metric)
    weighted = Weighted(game, beta_weights(game.n_players, alpha, beta))
    done = estimate(weighted, Free(game.n_players), stop, seed=seed, workers=workers, progress=progress)
    return sampled_ranking(f"beta-shapley({alpha:g},{beta:g})", game.nodes, done)


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
        if isinstance(self.game, Preparable):
            self.game.prepare(order)

    def walk(self, order: Order) -> Walk:
        """Weighted contributions, added up."""
        walk = self.game.walk(order)
        steps = np.diff(walk.utility.astype(np.float64), prepend=self.empty)
        return Walk(self.empty + np.cumsum(self.weights * steps), walk.evaluations, walk.baselines)


@dataclass(frozen=True, slots=True)
class Free:
    """Draws any order of n players."""

    n: int

    def __call__(self, rng: np.random.Generator) -> Order:
        """All orders are equally likely."""
        return Order(rng.permutation(self.n), np.ones(self.n, dtype=np.bool_))


def sampled_ranking(method: str, nodes: IntArray, done: Estimate) -> Ranking:
    """The ranking that an estimate gives."""
    spent = done.tally.orders, done.tally.evaluations, done.seconds
    return Ranking(method, nodes, done.mean(), done.stderr(), *spent, done.status)
