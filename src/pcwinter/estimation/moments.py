"""Marginal contributions -> Moments and Tally: sums and squares over orders.

Sums of players (nodes, edges) need separate moments, because the contributions in one order are correlated.
"""

from dataclasses import dataclass, field

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, UnitArray


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Count, sum and spread, in units of the game.

    Accuracy is counted in integers, so its sums are exact. For other metrics, squares are taken about the mean, because
    n squares - total^2 would lose digits when the spread is much smaller than the mean.
    """

    n: int
    total: UnitArray
    squares: UnitArray  # sum of x^2 for whole numbers, else sum of (x - mean)^2
    visits: IntArray | None = None  # orders in which x is more than a 0 for players left out; None if these are all

    @staticmethod
    def of(x: UnitArray, visited: BoolArray | None = None) -> "Moments":
        """Moments of one observation; where `visited` is False, x is 0 because the order left the players out."""
        squares = x * x if x.dtype.kind == "i" else np.zeros_like(x)
        return Moments(1, x, squares, None if visited is None else visited.astype(np.int64))

    def __add__(self, other: "Moments") -> "Moments":
        squares = self.squares + other.squares
        if squares.dtype.kind != "i":
            squares += (self.total / self.n - other.total / other.n) ** 2 * (self.n * other.n / (self.n + other.n))
        visits = None
        if self.visits is not None or other.visits is not None:
            visits = self.known_visits() + other.known_visits()
        return Moments(self.n + other.n, self.total + other.total, squares, visits)

    def known_visits(self) -> IntArray:
        """Number of orders that say something about each entry: all, except with truncation and no shares."""
        return np.full(len(self.total), self.n) if self.visits is None else self.visits

    def mean(self, unit: float) -> FloatArray:
        """Means in plain numbers."""
        return np.asarray(self.total / self.n * unit, dtype=np.float64)

    def stderr(self, unit: float) -> FloatArray:
        """Standard errors of the means in plain numbers; NaN, for unknown, after fewer than two visits."""
        squares = self.squares
        if squares.dtype.kind == "i":
            squares = (self.n * squares - self.total * self.total) / self.n
        known = self.known_visits() >= 2
        return np.asarray(np.where(known, np.sqrt(squares / (self.n * max(self.n - 1, 1))) * unit, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The sums over some orders; tallies of disjoint orders can be added."""

    levels: dict[str, Moments]  # "player", and every other level
    detail: dict[str, FloatArray]  # (rows of the level, v) sums by validation node, for the requested levels
    visited: int  # players that the orders visited, including null players
    evaluations: int
    baselines: int
    squares: dict[str, FloatArray] = field(default_factory=dict)  # (rows,) spread of `detail`, see `settle`

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
            {name: spread + other.squares[name] for name, spread in self.squares.items()},
        )
