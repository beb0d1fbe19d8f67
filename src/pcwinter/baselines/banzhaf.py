"""Graph -> Ranking: Data Banzhaf, estimated from random coalitions that all nodes share."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray
from pcwinter._util.checks import function, whole_number
from pcwinter._util.threads import one_thread
from pcwinter.baselines.node_game import NodeGame, node_game
from pcwinter.baselines.ranking import Ranking
from pcwinter.estimation.jobs import Pool
from pcwinter.estimation.pools import OnBlock, gather
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

COALITIONS = 50  # coalitions that a worker evaluates at a time


@one_thread()
def data_banzhaf(
    graph: Graph,
    head: str | Ridge | Softmax,
    *,
    samples: int = 2_000,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    metric: str | None = None,
    seed: int = 0,
    workers: int | Pool = 1,
    progress: OnBlock | None = None,
) -> Ranking:
    """Data Banzhaf: mean utility of the random coalitions with a node, minus that of the coalitions without it.

    Each node joins a coalition with probability 1/2, and every coalition is used for all nodes (maximum sample reuse).

    `graph` is the graph. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`. `samples` is the number of coalitions.
    `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of the powers of the
    propagation. `metric` is a name in METRICS or "f1:CLASS";
    None for the usual one. `seed` determines the coalitions. `workers` is the number of processes;
    it does not change the values. `progress(done, total)` is called as coalitions are evaluated.
    """
    samples, seed = whole_number("samples", samples, 2), whole_number("seed", seed, 0)
    function("progress", progress, "progress(done, total)")
    began = time.perf_counter()
    game = node_game(graph, head, hops=hops, filter=filter, metric=metric)
    found = gather(workers, Coalitions(game, seed), samples, COALITIONS, progress)
    inside, utility = (np.concatenate(part) for part in zip(*found, strict=True))
    value, stderr = banzhaf_from(inside, utility * game.unit)
    seconds = time.perf_counter() - began
    return Ranking(
        "data-banzhaf", game.nodes, value, stderr, 0, samples, seconds, f"{samples:,} coalitions were drawn."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Coalitions:
    """A job: random coalitions and their utilities in units. Coalition k is drawn from child k of the seed."""

    game: NodeGame
    seed: int

    def prepare(self) -> None:
        """Nothing to do: the game holds everything that coalitions share."""

    def __call__(self, begin: int, end: int) -> tuple[BoolArray, FloatArray]:
        """Coalitions `begin` to `end` - 1."""
        seeds = [np.random.SeedSequence(self.seed, spawn_key=(k,)) for k in range(begin, end)]
        inside = np.array([np.random.default_rng(seed).random(self.game.n_players) < 0.5 for seed in seeds])
        return inside, np.array([self.game.utility(coalition) for coalition in inside])


def banzhaf_from(inside: BoolArray, utility: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and standard errors from (samples, p) coalitions and their utilities.

    The value is NaN for a player that was always in or always out. Its error is NaN also if it was in or out only once.
    """
    value, variance = np.zeros(inside.shape[1]), np.zeros(inside.shape[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        for sign, mask in ((1, inside.astype(np.float64)), (-1, 1.0 - inside)):
            count = mask.sum(axis=0)
            mean = (utility @ mask) / count
            value += sign * mean
            variance += ((utility[:, None] - mean) ** 2 * mask).sum(axis=0) / (count * (count - 1))
    return value, np.sqrt(variance)
