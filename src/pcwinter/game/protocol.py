"""Order -> Walk: a game is anything with `walk(order)`, which returns the utility after every step.

This file separates graphs from game theory: estimators need only what is here. `SetGame` turns any set function into a
game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

import numpy as np

from pcwinter._util.arrays import BoolArray, IntArray, UnitArray
from pcwinter.game.detail import Parts


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """All players, in the sequence in which they join the coalition.

    Consecutive players that are not visited form a silent step: they join together. With `owner`, a silent step ends
    where the owner changes, and its players share the change of utility equally; without, nobody gets credit for it.
    """

    players: IntArray  # (p,)
    visited: BoolArray  # (p,) by position in `players`; False for players that truncation skips
    owner: IntArray | None = None  # (p,) by position: the player itself or its deepest visited ancestor

    def steps(self) -> IntArray:
        """(s + 1,) positions where the steps begin, then the end. A step is one visited player or one silent run."""
        silent = ~self.visited
        begins = np.ones(len(silent) + 1, dtype=np.bool_)
        begins[1:-1] = ~(silent[1:] & silent[:-1])
        if self.owner is not None:
            begins[1:-1] |= self.owner[1:] != self.owner[:-1]
        return np.flatnonzero(begins)

    def credited(self, null: BoolArray) -> BoolArray:
        """(p,) by player: who is visited or shares the change of a silent step; `null` players never share."""
        result = np.zeros(len(null), dtype=np.bool_)
        result[self.players] = self.visited
        return result if self.owner is None else result | ~null


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Utilities along an order, in units of the game, and how many evaluations were needed."""

    utility: UnitArray  # (s,) after each step of the order
    evaluations: int  # utilities computed for a marginal contribution
    baselines: int = 0  # utilities computed only because a silent step ended there


class Game(Protocol):
    """Utilities are `unit` times what `walk` returns; accuracy, for example, is counted in validation nodes."""

    @property
    def n_players(self) -> int:
        """Number of players."""

    @property
    def unit(self) -> float:
        """Utility of one counted unit."""

    @property
    def empty(self) -> float:
        """Utility of the empty coalition, in units."""

    def walk(self, order: Order) -> Walk:
        """Utility after every step of an order, in units."""


@runtime_checkable
class Preparable(Protocol):
    """Optional part of a game: work that all orders share."""

    def prepare(self, order: Order, parts: Parts | None = None) -> None:
        """Compute and compile what walks along such orders share; `parts` only if the game is `Detailed`."""


@runtime_checkable
class Nullable(Protocol):
    """Optional part of a game: players that can never change a utility, and get no share of a silent step."""

    @property
    def null(self) -> BoolArray:
        """(p,) mask of these players."""


@runtime_checkable
class Detailed(Protocol):
    """Optional part of a game: utilities that are sums over parts, such as validation nodes."""

    @property
    def n_parts(self) -> int:
        """Number of parts."""

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utility after every step; the marginal contributions are added to `parts`, one column per part."""


@dataclass(frozen=True, slots=True)
class SetGame:
    """Any set function as a game.

    `n_players` is the number of players. `function` takes a mask of players, (p,), and returns a number. Utilities
    are `unit` times what it returns.

    >>> import pcwinter as pw
    >>> game = pw.SetGame(3, lambda coalition: float(coalition.sum() >= 2))  # two of three win
    """

    n_players: int
    function: Callable[[BoolArray], float]
    unit: float = 1.0

    @property
    def empty(self) -> float:
        """Utility of the empty coalition."""
        return float(self.function(np.zeros(self.n_players, dtype=np.bool_)))

    def walk(self, order: Order) -> Walk:
        """Utility after every step, with one call of the function per step."""
        steps = order.steps()
        coalition = np.zeros(self.n_players, dtype=np.bool_)
        utility = np.empty(len(steps) - 1)
        for k, (begin, end) in enumerate(pairwise(steps.tolist())):
            coalition[order.players[begin:end]] = True
            utility[k] = self.function(coalition)
        credited = int(order.visited.sum())
        return Walk(utility, credited, len(utility) - credited)


def null_players(game: Game) -> BoolArray:
    """(p,) players that are known never to change a utility."""
    return game.null if isinstance(game, Nullable) else np.zeros(game.n_players, dtype=np.bool_)


def marginals(game: Game, order: Order, walk: Walk) -> UnitArray:
    """(p,) marginal contribution of every player in one order, in units.

    A player that was not visited gets its share of the silent step, in orders with owners, and 0 in all others.
    """
    utility = walk.utility if float(game.empty).is_integer() else walk.utility.astype(np.float64)
    steps = order.steps()
    change = np.diff(utility, prepend=np.array([game.empty], dtype=utility.dtype))
    credited = order.credited(null_players(game))[order.players]
    step = np.repeat(np.arange(len(change)), np.diff(steps))[credited]
    sharing = np.bincount(step, minlength=len(change))
    if (sharing > 1).any():
        change = change / np.maximum(sharing, 1)
    result = np.zeros_like(change, shape=game.n_players)
    result[order.players[credited]] = change[step]
    if not np.isfinite(result).all():
        player = int(np.flatnonzero(~np.isfinite(result))[0])
        raise FloatingPointError(f"the utility is not a finite number when player {player} joins")
    return result


def check_order(game: Game, order: Order) -> None:
    """Raise an error unless every player of the game joins exactly once."""
    n, places = game.n_players, len(order.players)
    if places != n or (np.bincount(order.players, minlength=n) != 1).any():
        raise ValueError(
            f"an order of length {places} does not contain each of the {n} players of the game exactly once: "
            "draw orders from the tree of this game"
        )
