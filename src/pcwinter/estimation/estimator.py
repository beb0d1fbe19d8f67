"""Game -> Estimate: the mean marginal contribution over orders, with its standard error.

    psi_p = mean over orders of U(before p, p) - U(before p)

Order k is drawn from child k of the seed, and orders are added up in blocks of fixed size, one block after another. So
the numbers depend only on the seed. `states` is the loop; its caller decides when to save, display and stop. A run can
end inside a block. It then has the same bits as a run of that many orders, and continues inside the block.
"""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, Incidence, IntArray
from pcwinter._util.checks import count, function, instance, one_of, whole_number
from pcwinter._util.threads import one_thread
from pcwinter.estimation.jobs import Interruptible, Late, Pool, blocks, never
from pcwinter.estimation.moments import Moments, Tally
from pcwinter.estimation.pools import open_pool
from pcwinter.estimation.stopping import FIRST, WINDOW, Progress, Rule, Stage, stages, unheard
from pcwinter.game.detail import Parts, make_parts, settle
from pcwinter.game.protocol import Detailed, Game, Order, Preparable, check_order, marginals, null_players

NOT_MET = "the limit of the stopping rule was reached, but its check did not stop the run: make limit and check agree"
BLOCK = 10  # orders; divides WINDOW, and does not depend on the number of workers
Levels = Mapping[str, Incidence]
Draw = Callable[[np.random.Generator], Order]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """The sums over all orders, and how the run ended."""

    tally: Tally
    unit: float
    status: str  # a sentence for the reader
    seconds: float
    change: FloatArray  # (blocks,) the convergence measure after each block
    exact: bool = False

    def __repr__(self) -> str:
        players, orders = count(len(self.mean()), "player"), count(self.tally.orders, "order")
        return f"Estimate of {players} from {orders}. {self.status}"

    def mean(self, level: str = "player") -> FloatArray:
        """Values of a level in plain numbers; `level` is "player" or a name in the `levels` of `estimate`."""
        return self._moments(level).mean(self.unit)

    def stderr(self, level: str = "player") -> FloatArray:
        """Standard errors from the sampling of orders, for a `level` as in `mean`; 0 if all orders were enumerated.

        NaN means unknown: truncated orders visited the players fewer than two times, and gave them no shares.
        """
        moments = self._moments(level)
        return np.zeros(len(moments.total)) if self.exact else moments.stderr(self.unit)

    def visits(self, level: str = "player") -> IntArray:
        """Number of orders that visited each entry of a `level` as in `mean`, or gave it a share."""
        return self._moments(level).known_visits()

    def _moments(self, level: str) -> Moments:
        return self.tally.levels[one_of("level", level, self.tally.levels)]


def tally(
    game: Game, orders: Iterable[Order], levels: Levels, detail: Sequence[str] = (), begin: Tally | None = None
) -> Tally:
    """Walk the orders and add up the marginal contributions; the levels in `detail` also by part of the utility.

    `begin` is the tally of the orders before them. The bits are those of one tally of all orders.
    """
    walk, parts = game.walk, None
    if detail:
        if not isinstance(game, Detailed):
            raise TypeError(f"{type(game).__name__} does not split utilities into parts: leave out the bootstrap")
        parts = _parts(game, levels, detail)
        walk = partial(game.walk, parts=parts)
        sums, squares = np.zeros_like(parts.sums), np.zeros(len(parts.sums))
        if begin is not None:
            sums, squares = (np.concatenate([of[name] for name in detail]) for of in (begin.detail, begin.squares))
    find_visited = visited_rows(game, levels)
    total = None if begin is None else replace(begin, detail={}, squares={})
    for order in orders:
        check_order(game, order)
        walked = walk(order)
        steps = marginals(game, order, walked)
        visited = find_visited(order)
        moments = {"player": Moments.of(steps, visited.get("player"))}
        for name, matrix in levels.items():
            moments[name] = Moments.of(np.asarray(matrix @ steps), visited.get(name))
        one = Tally(moments, {}, int(order.visited.sum()), walked.evaluations, walked.baselines)
        total = one if total is None else total + one
        if parts is not None:
            settle(parts.sums, sums, squares)
    if total is None:
        raise ValueError("orders is empty: pass at least one order")
    if parts is None:
        return total
    ends = np.cumsum([levels[name].shape[0] for name in detail])
    by_level = [dict(zip(detail, np.split(array, ends[:-1]), strict=True)) for array in (sums, squares)]
    return replace(total, detail=by_level[0], squares=by_level[1])


def _parts(game: Detailed, levels: Levels, detail: Sequence[str]) -> Parts:
    return make_parts(sp.csr_array(sp.vstack([levels[name] for name in detail])), game.n_parts)


def visited_rows(game: Game, levels: Levels) -> Callable[[Order], dict[str, BoolArray]]:
    """A function that takes an order and says, by level, which rows it visits or gives a share; empty if all.

    Null players need no visit, because their value is known.
    """
    live = ~null_players(game)
    idle = {name: np.asarray(matrix @ live) == 0 for name, matrix in levels.items()}

    def find(order: Order) -> dict[str, BoolArray]:
        seen = order.credited(~live) & live
        if (seen == live).all():
            return {}
        rows = {name: (np.asarray(matrix @ seen) > 0) | idle[name] for name, matrix in levels.items()}
        return {"player": seen | ~live, **rows}

    return find


def block_of_orders(draw: Draw, seed: int, begin: int, end: int, late: Late = never) -> Iterable[Order]:
    """Orders `begin` to `end` - 1 of a run, or the first of them when `late()`, at least one.

    Order k uses child k of the seed.
    """
    for k in range(begin, end):
        if k > begin and late():
            return
        yield draw(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,))))


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """An estimate after some blocks, of which the last may have ended early."""

    total: Tally
    halves: tuple[Moments, Moments | None]  # of the watched level, from the even and from the odd blocks
    recent: tuple[FloatArray, ...]  # values of the watched level after the last blocks, back to WINDOW orders ago
    change: tuple[float, ...]  # the convergence measure after each block
    seconds: float  # spent on estimating
    setup: float = 0.0  # seconds spent on preparation
    cut: "Checkpoint | None" = None  # where to continue, if the last block ended early

    @property
    def whole(self) -> bool:
        """Whether the last block is complete."""
        return self.total.orders % BLOCK == 0

    @property
    def checkpoint(self) -> "Checkpoint":
        """All that a run needs to continue from here."""
        return self.cut or Checkpoint(self, None, self.seconds, self.setup)


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Where a run continues: after some complete blocks, perhaps inside the next one."""

    state: State | None  # after the complete blocks; None if there are none
    part: Tally | None  # of the orders after them; None if there are none
    seconds: float
    setup: float = 0.0

    @property
    def tallies(self) -> list[Tally]:
        """The tallies of the complete blocks and of the rest; one of them may be missing."""
        return [one for one in (self.state.total if self.state else None, self.part) if one is not None]

    @property
    def orders(self) -> int:
        """Number of orders."""
        return sum(one.orders for one in self.tallies)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The orders of a run. As a job, it turns a block of orders into a tally, in any process."""

    game: Game
    draw: Draw
    levels: Levels
    seed: int = 0
    detail: Sequence[str] = ()
    watch: str = "player"  # the level that stopping rules look at
    part: Tally | None = None  # of the orders with which the first block began in an earlier session

    def prepare(self) -> None:
        """Let the game compute and compile what all orders share."""
        if isinstance(self.game, Preparable):
            for order in block_of_orders(self.draw, self.seed, 0, 1):
                check_order(self.game, order)
                if self.detail and isinstance(self.game, Detailed):
                    parts = _parts(self.game, self.levels, self.detail)
                    self.game.prepare(order, parts)
                    settle(parts.sums, np.zeros_like(parts.sums), np.zeros(len(parts.sums)))
                else:
                    self.game.prepare(order)

    def __call__(self, begin: int, end: int) -> Tally:
        """Tally of the orders `begin` to `end` - 1."""
        return self.until(begin, end, never)

    def until(self, begin: int, end: int, late: Late) -> Tally:
        """Tally of the orders `begin` to `end` - 1, or of the first of them when `late()`; `part` is included."""
        orders = block_of_orders(self.draw, self.seed, begin, end, late)
        try:
            return tally(self.game, orders, self.levels, self.detail, self.part if begin % BLOCK else None)
        except FloatingPointError as error:
            raise FloatingPointError(f"among orders {begin} to {end - 1} of seed {self.seed}: {error}") from error

    def advance(self, state: State | None, block: Tally, seconds: float, setup: float = 0.0) -> State:
        """The state after one more block, which may have ended early."""
        mine, unit = replace(block.levels[self.watch], visits=None), self.game.unit  # halves need only their means
        cut = Checkpoint(state, block, seconds, setup) if block.orders < BLOCK else None
        if state is None:
            return State(block, (mine, None), (mine.mean(unit),), (np.inf,), seconds, setup, cut)
        total, (even, odd) = state.total + block, state.halves
        halves = (even, mine if odd is None else odd + mine) if len(state.change) % 2 else (even + mine, odd)
        recent = (*state.recent, total.levels[self.watch].mean(unit))[-WINDOW // BLOCK - 1 :]
        after = State(total, halves, recent, (), seconds, setup, cut)
        return replace(after, change=(*state.change, self.progress(after).change))

    def with_visits(self, begin: Checkpoint) -> Checkpoint:
        """The checkpoint with its visits, which versions up to 0.2.0 did not store."""
        state, part = begin.state, begin.part
        if state is not None:
            state = replace(state, total=self._with_visits(state.total, 0))
        if part is not None:
            part = self._with_visits(part, begin.orders - part.orders)
        return replace(begin, state=state, part=part)

    def _with_visits(self, done: Tally, begin: int) -> Tally:
        """The tally of the orders from `begin` on, with its visits. Orders are drawn again, not walked."""
        first = next(iter(block_of_orders(self.draw, self.seed, 0, 1)))
        if done.levels["player"].visits is not None or first.owner is not None or first.visited.all():
            return done  # if the first order leaves nobody out, none does
        find = visited_rows(self.game, self.levels)
        visits = {name: np.zeros(len(moments.total), dtype=np.int64) for name, moments in done.levels.items()}
        for order in block_of_orders(self.draw, self.seed, begin, begin + done.orders):
            rows = find(order)
            for name, counts in visits.items():
                counts += rows.get(name, 1)
        if (visits["player"] == done.orders).all():
            return done  # only null players were left out
        levels = {name: replace(moments, visits=visits[name]) for name, moments in done.levels.items()}
        return replace(done, levels=levels)

    def progress(self, state: State) -> Progress:
        """What a stopping rule sees after a block."""
        watched, unit = state.total.levels[self.watch], self.game.unit
        complete = len(state.recent) == WINDOW // BLOCK + 1 and state.whole
        even, odd = state.halves
        return Progress(
            orders=state.total.orders,
            seconds=state.seconds,
            evaluations=state.total.evaluations,
            values=state.recent[-1],
            stderr=watched.stderr(unit),
            earlier=state.recent[0] if complete else None,
            halves=(even.mean(unit), np.zeros_like(state.recent[-1]) if odd is None else odd.mean(unit)),
            setup=state.setup,
        )

    def estimate(self, state: State, status: str) -> Estimate:
        """The estimate at a state; `status` says why the run ended there."""
        return Estimate(state.total, self.game.unit, status, state.seconds, np.array(state.change))


def states(
    sample: Sample,
    *,
    limit: int | None = None,
    workers: int | Pool = 1,
    begin: Checkpoint | None = None,
    late: Callable[[float, int], bool] | None = None,
    began: float | None = None,
    stage: Stage = unheard,
) -> Generator[State]:
    """The state after every block of orders, starting with that of `begin`, up to `limit` orders or forever.

    A run that starts from a checkpoint ends with the same bits as one that never stopped. Close the generator to stop
    the workers. When `late(seconds, orders)`, as in `Rule`, the last state comes after the current order. `began` is
    when preparation began, by `time.perf_counter`; None does not count its time. `stage` is called with what happens
    before the first state.
    """
    spent = Checkpoint(None, None, 0.0) if begin is None else sample.with_visits(begin)

    def setup() -> float:
        return spent.setup + (0.0 if began is None else time.perf_counter() - began)

    state = done = spent.state
    if begin is not None:
        if limit is not None and begin.orders > limit:
            raise ValueError(
                f"the run already has {begin.orders:,} orders, but the limit is now {limit:,}: raise the limit"
            )
        if spent.part is not None:
            state = sample.advance(done, spent.part, spent.seconds)
        assert state is not None
        state = replace(state, seconds=spent.seconds, setup=setup())
        yield state
    stage("compiling")
    sample.prepare()
    prepared, started = setup(), time.perf_counter() - spent.seconds

    def now() -> bool:
        past = prepared + time.perf_counter() - started
        return late is not None and late(past, state.total.orders if state else 0)

    stage(FIRST)
    job, parts = replace(sample, part=spent.part), blocks(limit, BLOCK, spent.orders)
    with open_pool(workers) as pool:
        found = pool.run_until(job, parts, now) if isinstance(pool, Interruptible) else pool.run(job, parts)
        with closing(found) as tallies:
            for block in tallies:
                state = sample.advance(done, block, time.perf_counter() - started, prepared)
                yield state
                if not state.whole:
                    return  # the orders of later blocks would leave a gap
                done = state


@one_thread()
def estimate(
    game: Game,
    draw: Draw,
    stop: Rule,
    *,
    levels: Levels | None = None,
    watch: str = "player",
    seed: int = 0,
    workers: int | Pool = 1,
    progress: Callable[[Progress], object] | None = None,
) -> Estimate:
    """Estimate the values of any game.

    `game` is the game. `draw` takes a random generator and returns an order, see `sampler`. Orders are drawn until the
    rule `stop` is met by the values of the level `watch`. `levels` maps names to 0/1 matrices (rows, players); each row
    gets a value, the sum of its players. `seed` is the seed of the orders. `workers` is the number of processes; it
    does not change the values. `progress(now)` is called after every block of orders.
    """
    began = time.perf_counter()
    _check_game(game)
    if not callable(draw):
        raise ValueError(f"draw is {draw!r}, expected a function that draws an order, such as pcwinter.sampler(tree)")
    check_sampling(stop, seed, progress)
    sample = Sample(game, draw, levels or {}, seed, watch=one_of("watch", watch, ["player", *(levels or ())]))
    run = states(sample, limit=stop.limit, workers=workers, late=stop.late, began=began, stage=stages(progress))
    with closing(run) as found:
        for state in found:
            now = sample.progress(state)
            if progress:
                progress(now)
            if status := stop.check(now):
                return sample.estimate(state, status)
    raise ValueError(NOT_MET)


@one_thread()
def exact(game: Game, orders: Iterable[Order], *, levels: Levels | None = None) -> Estimate:
    """Exact values of `game` from all its `orders`, each equally likely; `levels` is as in `estimate`."""
    _check_game(game)
    began = time.perf_counter()
    total = tally(game, orders, levels or {})
    status = f"All {total.orders:,} orders were enumerated: the values are exact."
    return Estimate(total, game.unit, status, time.perf_counter() - began, np.empty(0), exact=True)


def check_sampling(stop: object, seed: object, progress: object) -> None:
    """Raise an error about these arguments of `estimate` before any work is done."""
    instance("stop", stop, Rule, "a rule such as pcwinter.stopping.converged()")
    whole_number("seed", seed, 0)
    function("progress", progress, "progress(now)")


def _check_game(game: object) -> None:
    if not callable(getattr(game, "walk", None)):  # the other attributes may take long to compute
        raise ValueError(f"game is {game!r}, expected a pcwinter.Game, with n_players, unit, empty and walk")


def bootstrap_stderr(detail: FloatArray, squares: FloatArray, orders: int, replicates: int, seed: int) -> FloatArray:
    """(n,) standard deviation of the values over resampled validation nodes, without the noise of the orders.

    `detail`, (n, v), holds sums over `orders` orders by validation node, so a replicate is one product with the counts
    of a multinomial draw. The sums are themselves noisy, and that noise widens the replicates. Let x_ij belong to order
    i and validation node j, centred over j. An unbiased estimate of the noise in

        sum_j (sum_i x_ij)^2 / orders    is    (sum_ij x_ij^2 - sum_j (sum_i x_ij)^2 / orders) / (orders - 1).

    `squares`, (n,), holds sum_ij x_ij^2. The noise is subtracted, down to 0 at most. One order does not show its noise,
    so the result is then NaN.
    """
    if orders < 2:
        return np.full(len(detail), np.nan)
    v = detail.shape[1]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 0)))
    counts = rng.multinomial(v, np.full(v, 1 / v), size=replicates)
    spread: FloatArray = np.std(detail @ (counts.T / (v * orders)), axis=1, ddof=1)
    whole = detail.var(axis=1) * (v / orders)
    noise = (squares - whole) / (orders - 1)
    share = np.divide(noise, whole, out=np.zeros_like(whole), where=whole > 0)
    return np.asarray(spread * np.sqrt(1 - np.clip(share, 0, 1)))
