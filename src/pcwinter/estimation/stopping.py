"""Progress of an estimate -> stop or continue; rules compose with `|` and `&`.

A rule returns None to continue, or a sentence to stop; the sentence becomes the status of the result. Rules are checked
after every block, in the sequence of the orders, so they do not depend on the number of workers. Only `seconds` depends
on the machine. It can end a run inside a block, after any order.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from pcwinter._util.arrays import FloatArray
from pcwinter._util.checks import count, instance, number, whole_number

__all__ = [
    "at_most",
    "converged",
    "evaluations",
    "largest_stderr",
    "permutations",
    "rank_stability",
    "seconds",
]

Stage: TypeAlias = Callable[[str], object]  # called with what happens next
FIRST = "first orders"  # the last stage
WINDOW = 20  # orders between the two estimates that `converged` compares


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """The estimate after a block of orders. Values are those of the nodes, or in `estimate` those of the players."""

    orders: int
    seconds: float  # spent on estimating
    evaluations: int
    values: FloatArray = field(repr=False)  # (n,)
    stderr: FloatArray = field(repr=False)  # (n,)
    earlier: FloatArray | None = field(repr=False)  # (n,) values WINDOW orders ago
    halves: tuple[FloatArray, FloatArray] = field(repr=False)  # from even and odd blocks, 0 before the first
    setup: float = 0.0  # seconds spent on preparation

    @property
    def change(self) -> float:
        """Sum |v_t - v_(t - 20)| / sum |v_t|; infinite while there is nothing to compare."""
        if self.earlier is None:
            return np.inf
        moved, size = float(np.abs(self.values - self.earlier).sum()), float(np.abs(self.values).sum())
        return moved / size if size else (np.inf if moved else 0.0)


@runtime_checkable
class Staged(Protocol):
    """Optional part of a `progress` function: what happens before the first orders."""

    def stage(self, what: str) -> None:
        """`what` begins, such as "compiling"."""


def stages(progress: object) -> Stage:
    """The `stage` method of `progress`, or a function that does nothing."""
    return progress.stage if isinstance(progress, Staged) else unheard


def unheard(what: str) -> None:
    """Do nothing."""


def _never(seconds: float, orders: int) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Rule:
    """When to stop: `check` returns None to continue, or a sentence that says why the run stopped.

    `limit` is the number of orders at which `check` always stops the run, or None. `settings` is a record of the
    parameters, by name. `late(seconds, orders)` is called between the orders of a block. If it returns True, the block
    ends there; `check` must then stop the run. `seconds` includes preparation, `orders` is that of the last check.
    """

    check: Callable[[Progress], str | None]
    limit: int | None = None
    settings: dict[str, float] = field(default_factory=dict)
    late: Callable[[float, int], bool] = _never

    def __or__(self, other: "Rule") -> "Rule":
        _check_rule(other)
        limits = [rule.limit for rule in (self, other) if rule.limit is not None]
        return Rule(
            lambda p: self.check(p) or other.check(p),
            min(limits, default=None),
            self.settings | other.settings,
            lambda seconds, orders: self.late(seconds, orders) or other.late(seconds, orders),
        )

    def __and__(self, other: "Rule") -> "Rule":
        _check_rule(other)

        def check(p: Progress) -> str | None:
            first, second = self.check(p), other.check(p)
            return f"{first} {second}" if first and second else None

        both = self.limit is not None and other.limit is not None
        limit = max(self.limit or 0, other.limit or 0) if both else None
        return Rule(
            check,
            limit,
            self.settings | other.settings,
            lambda seconds, orders: self.late(seconds, orders) and other.late(seconds, orders),
        )


def _check_rule(other: object) -> None:
    if not isinstance(other, Rule):
        raise TypeError(
            f"a rule is combined with {other!r}, expected another rule, such as pcwinter.stopping.seconds(60)"
        )


def permutations(n: int) -> Rule:
    """Draw exactly `n` orders."""
    n = whole_number("permutations", n, 1)
    sentence = "The requested order was drawn." if n == 1 else f"All {n:,} requested orders were drawn."
    return _orders(n, sentence, "permutations")


def at_most(n: int) -> Rule:
    """Stop after `n` orders, even if no other rule is met."""
    n = whole_number("max_permutations", n, 1)
    sentence = (
        f"The limit of {count(n, 'order')} was reached before any other rule was met: "
        "raise it, or loosen the other rules."
    )
    return _orders(n, sentence, "max_permutations")


def _orders(n: int, sentence: str, name: str) -> Rule:
    return Rule(lambda p: sentence if p.orders >= n else None, n, {name: n}, lambda seconds, orders: orders >= n)


def seconds(limit: float) -> Rule:
    """Stop after the first order that ends past `limit` seconds, including preparation.

    The first order is always finished.
    """
    limit = number("seconds", limit)

    def check(p: Progress) -> str | None:
        done = f"The time limit of {limit:g} seconds was reached after {count(p.orders, 'order')}."
        return done if p.setup + p.seconds >= limit else None

    return Rule(check, settings={"max_seconds": limit}, late=lambda seconds, orders: seconds >= limit)


def evaluations(n: int) -> Rule:
    """Stop after the first block that ends with `n` evaluations or more."""
    n = whole_number("evaluations", n, 1)

    def check(p: Progress) -> str | None:
        done = f"{p.evaluations:,} utilities were computed; at least {n:,} were requested."
        return done if p.evaluations >= n else None

    return Rule(check, settings={"evaluations": n})


def converged(tolerance: float = 0.05, *, literal: bool = False) -> Rule:
    """Stop when sum |v_t - v_(t - 20)| / sum |v_t| is below `tolerance`: the paper's rule, made well-defined.

    With `literal`, the mean of |v_t - v_(t - 20)| / |v_t| is used, as in the paper, with 0 / 0 = 0. It is infinite
    if a value became exactly 0 within the last 20 orders.
    """
    tolerance = number("tolerance", tolerance)

    def check(p: Progress) -> str | None:
        change = _mean_ratio(p) if literal else p.change
        if change >= tolerance:
            return None
        return (
            f"Converged after {p.orders:,} orders: the values moved by {change:.2%} over the last {WINDOW} orders "
            f"(tolerance {tolerance:.4g})."
        )

    return Rule(check, settings={"tolerance": tolerance})


def largest_stderr(bound: float) -> Rule:
    """Stop when no value has a standard error above `bound`; an unknown one (NaN) may be above it."""
    bound = number("largest_stderr", bound)

    def check(p: Progress) -> str | None:
        largest = float(p.stderr.max())  # NaN if any is NaN
        return f"The largest standard error fell to {largest:.3g} (bound {bound:g})." if largest <= bound else None

    return Rule(check, settings={"largest_stderr": bound})


def rank_stability(correlation: float = 0.95) -> Rule:
    """Stop when values from the even and the odd blocks have a Spearman correlation of at least `correlation`."""
    if number("rank_stability", correlation) > 1:
        raise ValueError(f"rank_stability is {correlation}, expected a correlation above 0 and at most 1")
    from scipy.stats import rankdata  # here, because importing it takes longer than everything else together

    def check(p: Progress) -> str | None:
        first, second = (rankdata(half) for half in p.halves)
        if np.ptp(first) == 0 or np.ptp(second) == 0:
            return None
        rho = float(np.corrcoef(first, second)[0, 1])
        if rho < correlation:
            return None
        return (
            f"The ranks from two halves of the orders agree: Spearman correlation {rho:.3f} (required {correlation:g})."
        )

    return Rule(check, settings={"rank_stability": correlation})


def _mean_ratio(p: Progress) -> float:
    if p.earlier is None:
        return np.inf
    moved, size = np.abs(p.values - p.earlier), np.abs(p.values)
    ratio = np.divide(moved, size, out=np.where(moved > 0, np.inf, 0.0), where=size > 0)
    return float(ratio.mean())


TOLERANCE, MOST = 0.05, 2_000  # the defaults of `value`
USUAL = converged(TOLERANCE) | at_most(MOST)


_exactly = permutations  # `choose` has an argument of the same name


def choose(
    stop: Rule | None,
    permutations: int | None,
    max_permutations: int | None,
    tolerance: float | None,
    max_seconds: float | None,
) -> Rule:
    """The rule that these arguments of `value` describe; raises an error if one would have no effect."""
    given = {
        "permutations": permutations,
        "max_permutations": max_permutations,
        "tolerance": tolerance,
        "max_seconds": max_seconds,
    }
    given = {name: option for name, option in given.items() if option is not None}
    if stop is not None:
        instance("stop", stop, Rule, "a rule such as pcwinter.stopping.converged()")
        if given:
            raise ValueError(f"{next(iter(given))} and stop both say when to stop: pass only one of them")
        return stop
    if permutations is None:
        rule = converged(TOLERANCE if tolerance is None else tolerance)
        rule |= at_most(MOST if max_permutations is None else max_permutations)
    else:
        rule = _exactly(permutations)
        idle = [name for name in given if name in ("max_permutations", "tolerance")]
        if idle:
            raise ValueError(
                f"permutations={permutations} asks for exactly that many orders, so {idle[0]}={given[idle[0]]} would "
                "have no effect: leave one of them out"
            )
    return rule if max_seconds is None else rule | seconds(number("max_seconds", max_seconds))
