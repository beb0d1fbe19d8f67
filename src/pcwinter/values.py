"""Game -> estimate: the mean marginal contribution over orders, with its standard error.

    psi_p = mean over orders of U(before p, p) - U(before p)

Order k is drawn from child k of the seed, and orders are added up in blocks of fixed size, block
after block: the numbers depend on the seed alone. Sums of players (nodes, edges) have moments of
their own, because the players of one order are correlated.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from pcwinter._types import FloatArray, Incidence, UnitArray
from pcwinter.game import Game, GraphGame, check_order, marginals
from pcwinter.metrics import make_parts
from pcwinter.orders import Order
from pcwinter.stopping import WINDOW, Progress, Rule
from pcwinter.workers import Pool, blocks, one_thread, open_pool

BLOCK = 10  # orders; divides WINDOW, and is never derived from the number of workers
Levels = Mapping[str, Incidence]
Draw = Callable[[np.random.Generator], Order]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Count, sum and spread, in units of the game.

    Accuracy comes in whole numbers, and so does all that is kept of it: adding is exact. For other metrics squares
    are taken from the mean, since n squares - total^2 would lose what is small beside the mean.
    """

    n: int
    total: UnitArray
    squares: UnitArray  # sum of x^2 for whole numbers, else sum of (x - mean)^2

    @staticmethod
    def of(x: UnitArray) -> "Moments":
        """Moments of one observation."""
        return Moments(1, x, x * x if x.dtype.kind == "i" else np.zeros_like(x))

    def __add__(self, other: "Moments") -> "Moments":
        squares = self.squares + other.squares
        if squares.dtype.kind != "i":
            squares += (self.total / self.n - other.total / other.n) ** 2 * (self.n * other.n / (self.n + other.n))
        return Moments(self.n + other.n, self.total + other.total, squares)

    def mean(self, unit: float) -> FloatArray:
        """Means in plain numbers."""
        return np.asarray(self.total / self.n * unit, dtype=np.float64)

    def stderr(self, unit: float) -> FloatArray:
        """Standard errors of the means in plain numbers; not a number after a single order."""
        if self.n < 2:
            return np.full(len(self.total), np.nan)
        squares = self.squares
        if squares.dtype.kind == "i":
            squares = (self.n * squares - self.total * self.total) / self.n
        return np.asarray(np.sqrt(squares / (self.n * (self.n - 1))) * unit, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What a number of orders added up to; tallies of disjoint orders add."""

    levels: dict[str, Moments]  # "player", and one for every level
    detail: dict[str, FloatArray]  # (rows of the level, v) sums by validation node, of the levels asked for
    visited: int  # players that the orders visited, null ones included
    evaluations: int
    baselines: int

    @property
    def orders(self) -> int:
        """Number of orders."""
        return self.levels["player"].n

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            {name: moments + other.levels[name] for name, moments in self.levels.items()},
            {name: sums + other.detail[name] for name, sums in self.detail.items()},
            self.visited + other.visited,
            self.evaluations + other.evaluations,
            self.baselines + other.baselines,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """A tally, and how it came to an end."""

    tally: Tally
    unit: float
    status: str  # a sentence for the reader
    seconds: float
    change: FloatArray  # (blocks,) the convergence measure after each block
    exact: bool = False

    def __repr__(self) -> str:
        return f"Estimate of {len(self.mean()):,} players from {self.tally.orders:,} orders. {self.status}"

    def mean(self, level: str = "player") -> FloatArray:
        """Values of a level in plain numbers."""
        return self.tally.levels[level].mean(self.unit)

    def stderr(self, level: str = "player") -> FloatArray:
        """Standard errors from the sampling of orders; 0 when all orders were enumerated."""
        moments = self.tally.levels[level]
        return np.zeros(len(moments.total)) if self.exact else moments.stderr(self.unit)


def tally(game: Game, orders: Iterable[Order], levels: Levels, detail: Sequence[str] = ()) -> Tally:
    """Walk the orders one after the other and add up the marginal contributions, some levels by validation node too."""
    parts = None
    if detail:
        if not isinstance(game, GraphGame):
            raise TypeError("detail by validation node needs the game of a graph")
        parts = make_parts(sp.csr_array(sp.vstack([levels[name] for name in detail])), len(game.problem.targets))
    total: Tally | None = None
    for order in orders:
        check_order(game, order)
        walk = game.walk(order, parts) if isinstance(game, GraphGame) else game.walk(order)
        steps = marginals(game, order, walk)
        moments = {"player": Moments.of(steps)}
        for name, matrix in levels.items():
            moments[name] = Moments.of(np.asarray(matrix @ steps))
        one = Tally(moments, {}, int(order.visited.sum()), walk.evaluations, walk.baselines)
        total = one if total is None else total + one
    if total is None:
        raise ValueError("there are no orders to walk")
    if parts is None:
        return total
    ends = np.cumsum([levels[name].shape[0] for name in detail])
    sums = dict(zip(detail, np.split(parts.sums, ends[:-1]), strict=True))
    return replace(total, detail=sums)


def block_of_orders(draw: Draw, seed: int, begin: int, end: int) -> Iterable[Order]:
    """Orders `begin` to `end` of a run: order k owns child k of the seed."""
    for k in range(begin, end):
        yield draw(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,))))


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The orders of a run: a block of them, as two numbers, becomes a tally, in whatever process."""

    game: Game
    draw: Draw
    levels: Levels
    seed: int
    detail: Sequence[str]

    def prepare(self) -> None:
        """Let a game that can do so compute and compile what all orders share."""
        prepare = getattr(self.game, "prepare", None)
        if prepare is not None:
            for order in block_of_orders(self.draw, self.seed, 0, 1):
                check_order(self.game, order)
                prepare(order)

    def __call__(self, begin: int, end: int) -> Tally:
        """Tally of the orders `begin` to `end` - 1."""
        try:
            return tally(self.game, block_of_orders(self.draw, self.seed, begin, end), self.levels, self.detail)
        except FloatingPointError as error:
            raise FloatingPointError(f"among orders {begin} to {end - 1} of seed {self.seed}: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """An estimate after some blocks: what comes next depends on nothing else, so a run can go on from here."""

    total: Tally
    halves: tuple[Moments, Moments | None]  # of the level that is watched, from the even and from the odd blocks
    recent: tuple[FloatArray, ...]  # its values after the last blocks, back to WINDOW orders ago
    change: tuple[float, ...]  # the convergence measure after each block
    seconds: float  # spent on estimating


def advance(state: State | None, block: Tally, watch: str, unit: float, seconds: float) -> State:
    """The state after one more block."""
    mine = block.levels[watch]
    if state is None:
        return State(block, (mine, None), (mine.mean(unit),), (np.inf,), seconds)
    total, (even, odd) = state.total + block, state.halves
    halves = (even, mine if odd is None else odd + mine) if len(state.change) % 2 else (even + mine, odd)
    recent = (*state.recent, total.levels[watch].mean(unit))[-WINDOW // BLOCK - 1 :]
    after = State(total, halves, recent, (), seconds)
    return replace(after, change=(*state.change, progress_of(after, watch, unit).change))


def progress_of(state: State, watch: str, unit: float) -> Progress:
    """What a stopping rule sees of a state."""
    watched = state.total.levels[watch]
    complete = len(state.recent) == WINDOW // BLOCK + 1 and state.total.orders % BLOCK == 0
    even, odd = state.halves
    return Progress(
        orders=state.total.orders,
        seconds=state.seconds,
        evaluations=state.total.evaluations,
        values=state.recent[-1],
        stderr=watched.stderr(unit),
        earlier=state.recent[0] if complete else None,
        halves=(even.mean(unit), np.zeros_like(state.recent[-1]) if odd is None else odd.mean(unit)),
    )


@one_thread()
def estimate(
    game: Game,
    draw: Draw,
    stop: Rule,
    *,
    levels: Levels | None = None,
    watch: str = "player",
    seed: int = 0,
    detail: Sequence[str] = (),
    workers: int | Pool = 1,
    progress: Callable[[Progress], str | None] | None = None,
    begin: State | None = None,
    keep: Callable[[State], None] | None = None,
) -> Estimate:
    """Draw orders until `stop` is met by the values of the level `watch`; the same bits for any `workers`.

    `progress` hears of every block and may end the run with a sentence. `keep` is given the state after every whole
    block; to `begin` from such a state leads to the same bits as never to have stopped.
    """
    state, status, done = begin, None, 0
    if begin is not None:
        done = begin.total.orders
        if stop.limit is not None and done > stop.limit:
            raise ValueError(
                f"the run has {done:,} orders already, more than the {stop.limit:,} that are asked for now"
            )
        status = stop.check(progress_of(begin, watch, game.unit))
    sample = Sample(game, draw, levels or {}, seed, detail)
    if status is None:
        sample.prepare()
    started = time.perf_counter() - (begin.seconds if begin else 0.0)
    with open_pool(workers) as pool, closing(pool.run(sample, blocks(stop.limit, BLOCK, done))) as tallies:
        while status is None:
            state = advance(state, next(tallies), watch, game.unit, time.perf_counter() - started)
            if keep and state.total.orders % BLOCK == 0:
                keep(state)
            now = progress_of(state, watch, game.unit)
            said = progress(now) if progress else None
            status = stop.check(now) or said
    assert state is not None
    return Estimate(state.total, game.unit, status, state.seconds, np.array(state.change))


@one_thread()
def exact(game: Game, orders: Iterable[Order], *, levels: Levels | None = None) -> Estimate:
    """Values from a complete enumeration, all orders equally likely."""
    began = time.perf_counter()
    total = tally(game, orders, levels or {})
    status = f"All {total.orders:,} orders were enumerated: the values are exact."
    return Estimate(total, game.unit, status, time.perf_counter() - began, np.empty(0), exact=True)


def bootstrap_stderr(detail: FloatArray, orders: int, replicates: int, seed: int) -> FloatArray:
    """(n,) standard deviation of the values over resampled validation nodes.

    `detail` (n, v) holds sums over `orders` by validation node, so a replicate is one product with
    the counts of a multinomial draw.
    """
    v = detail.shape[1]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 0)))
    counts = rng.multinomial(v, np.full(v, 1 / v), size=replicates)
    spread: FloatArray = np.std(detail @ (counts.T / (v * orders)), axis=1, ddof=1)
    return spread
