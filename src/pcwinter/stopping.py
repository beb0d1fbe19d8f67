"""Progress of an estimate -> stop or go on; rules compose with `|` and `&`.

A rule answers with the sentence that the result will carry when it is met, or None. Rules are asked
after every block of orders, always in the order of the orders, so that they never depend on how
many workers there are; only `seconds` depends on the machine.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pcwinter._options import number, whole_number
from pcwinter._types import FloatArray

WINDOW = 20  # orders between the two estimates that `converged` compares


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """What is known after a block of orders; values are those of the nodes, or of the players of a bare game."""

    orders: int
    seconds: float
    evaluations: int
    values: FloatArray  # (n,)
    stderr: FloatArray  # (n,)
    earlier: FloatArray | None  # (n,) values WINDOW orders ago
    halves: tuple[FloatArray, FloatArray]  # values from the even and from the odd blocks, 0 before the first

    @property
    def change(self) -> float:
        """Sum |v_t - v_(t - 20)| / sum |v_t|; infinite while there is nothing to compare."""
        if self.earlier is None:
            return np.inf
        moved, size = float(np.abs(self.values - self.earlier).sum()), float(np.abs(self.values).sum())
        return moved / size if size else (np.inf if moved else 0.0)


@dataclass(frozen=True, slots=True)
class Rule:
    """When to stop, and the sentence that says so."""

    check: Callable[[Progress], str | None]
    limit: int | None = None  # the rule is met at exactly this many orders, whatever happens

    def __or__(self, other: "Rule") -> "Rule":
        limits = [rule.limit for rule in (self, other) if rule.limit is not None]
        return Rule(lambda p: self.check(p) or other.check(p), min(limits, default=None))

    def __and__(self, other: "Rule") -> "Rule":
        def check(p: Progress) -> str | None:
            first, second = self.check(p), other.check(p)
            return f"{first} {second}" if first and second else None

        both = self.limit is not None and other.limit is not None
        return Rule(check, max(self.limit or 0, other.limit or 0) if both else None)


def permutations(n: int) -> Rule:
    """Exactly `n` orders."""
    n = whole_number("permutations", n, 1)
    return Rule(lambda p: f"All {n:,} orders that were asked for were drawn." if p.orders >= n else None, limit=n)


def at_most(n: int) -> Rule:
    """Give up after `n` orders."""
    n = whole_number("max_permutations", n, 1)
    sentence = f"The {n:,} permitted orders were drawn before any other rule was met: permit more, or ask for less."
    return Rule(lambda p: sentence if p.orders >= n else None, limit=n)


def seconds(limit: float) -> Rule:
    """Stop after the first block that ends past `limit` seconds."""
    limit = number("seconds", limit)
    return Rule(
        lambda p: (
            f"The time limit of {limit:g} seconds was reached after {p.orders:,} orders."
            if p.seconds >= limit
            else None
        )
    )


def evaluations(n: int) -> Rule:
    """Stop after the first block that ends with `n` evaluations or more."""
    n = whole_number("evaluations", n, 1)
    return Rule(
        lambda p: f"{p.evaluations:,} utilities were computed, as {n:,} were asked for." if p.evaluations >= n else None
    )


def converged(tolerance: float = 0.05, *, literal: bool = False) -> Rule:
    """The paper's rule made well-defined: sum |v_t - v_(t - 20)| / sum |v_t| below `tolerance`.

    `literal` takes the mean of |v_t - v_(t - 20)| / |v_t| instead, with 0 / 0 = 0, as the paper writes it;
    it is never met while a value passes through exactly 0.
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

    return Rule(check)


def largest_stderr(bound: float) -> Rule:
    """No value has a standard error above `bound`."""
    bound = number("largest_stderr", bound)

    def check(p: Progress) -> str | None:
        largest = float(p.stderr.max())
        return f"The largest standard error fell to {largest:.3g} (bound {bound:g})." if largest <= bound else None

    return Rule(check)


def rank_stability(correlation: float = 0.95) -> Rule:
    """Values from the even and from the odd blocks agree: Spearman correlation of at least `correlation`."""
    if number("rank_stability", correlation) > 1:
        raise ValueError(f"rank_stability is {correlation}, expected a correlation above 0 and at most 1")
    from scipy.stats import rankdata  # here, because it takes longer to import than all else together

    def check(p: Progress) -> str | None:
        first, second = (rankdata(half) for half in p.halves)
        if np.ptp(first) == 0 or np.ptp(second) == 0:
            return None
        rho = float(np.corrcoef(first, second)[0, 1])
        if rho < correlation:
            return None
        return (
            f"The ranks of two halves of the orders agree: Spearman correlation {rho:.3f} (asked for {correlation:g})."
        )

    return Rule(check)


def _mean_ratio(p: Progress) -> float:
    if p.earlier is None:
        return np.inf
    moved, size = np.abs(p.values - p.earlier), np.abs(p.values)
    ratio = np.divide(moved, size, out=np.where(moved > 0, np.inf, 0.0), where=size > 0)
    return float(ratio.mean())


USUAL = converged() | at_most(2_000)  # when a valuation ends if nobody says when
