"""The seam: left of it graphs and no game theory, right of it games and no graphs.

A game is anything with `walk(order)`: the utility after every step of an order. `SetGame` makes one
of any function of a coalition; `GraphGame` is the game of a graph, a head and a metric.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from pcwinter._types import BoolArray, UnitArray
from pcwinter.graph import Graph
from pcwinter.metrics import Metric, Parts
from pcwinter.orders import Order, Walk
from pcwinter.propagation import Problem, local_graphs, propagate
from pcwinter.tree import ContributionTree


class Game(Protocol):
    """Utilities are `unit` times what `walk` returns: accuracy is counted in whole validation nodes."""

    @property
    def n_players(self) -> int:
        """Number of players."""

    @property
    def unit(self) -> float:
        """Worth of one counted unit."""

    @property
    def empty(self) -> float:
        """Utility of the empty coalition, in units."""

    def walk(self, order: Order) -> Walk:
        """Utility after every step of an order, in units."""


@dataclass(frozen=True, slots=True)
class SetGame:
    """Any set function as a game: `function` takes a mask of players, (p,), and returns a number.

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
        """Utility after every step; one call of the function each."""
        steps = order.steps()
        coalition = np.zeros(self.n_players, dtype=np.bool_)
        utility = np.empty(len(steps) - 1)
        for k, (begin, end) in enumerate(pairwise(steps.tolist())):
            coalition[order.players[begin:end]] = True
            utility[k] = self.function(coalition)
        credited = int(order.visited.sum())
        return Walk(utility, credited, len(utility) - credited)


class Walker(Protocol):
    """A head made ready for one problem; utilities in units of the metric."""

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; what they are made of, by validation node, is added to `parts`."""

    def utility(self, coalition: BoolArray) -> float:
        """Utility of one coalition, from scratch."""

    def prepare(self, order: Order) -> None:
        """Compute and compile what walks like that of this order share, before processes share it."""


@dataclass(frozen=True, slots=True)
class GraphGame:
    """The game of the players of a contribution tree."""

    problem: Problem
    walker: Walker
    metric: Metric

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.problem.tree.n_players

    @property
    def unit(self) -> float:
        """1 / number of validation nodes for accuracy, else 1."""
        return self.metric.unit(len(self.problem.targets))

    @property
    def empty(self) -> float:
        """Utility of the empty coalition."""
        return self.metric.empty(self.problem.n_classes)

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utility after every step of an order; see `Walker` for `parts`."""
        return self.walker.walk(order, parts)

    def prepare(self, order: Order) -> None:
        """Compute and compile what walks like that of this order share."""
        self.walker.prepare(order)

    def utility(self, coalition: BoolArray) -> float:
        """Utility of one coalition, a mask of players, in plain numbers."""
        return self.unit * self.walker.utility(coalition)


def make_problem(graph: Graph, tree: ContributionTree) -> Problem:
    """What the heads work on: local graphs, and the validation nodes sorted by class."""
    val = graph.val[np.argsort(graph.labels[graph.val], kind="stable")]
    return Problem(
        tree=tree,
        local=local_graphs(tree),
        features=graph.features,
        labels=graph.labels[graph.train],
        n_classes=graph.n_classes,
        rows=propagate(graph.validation, graph.features, tree.hops)[val],
        targets=graph.labels[val],
    )


def marginals(game: Game, order: Order, walk: Walk) -> UnitArray:
    """(p,) marginal contribution of every player in one order, in units; 0 where it was not visited."""
    utility = walk.utility if float(game.empty).is_integer() else walk.utility.astype(np.float64)
    steps = order.steps()[:-1]
    change = np.diff(utility, prepend=np.array([game.empty], dtype=utility.dtype))
    result = np.zeros_like(utility, shape=game.n_players)
    credited = order.visited[steps]
    result[order.players[steps[credited]]] = change[credited]
    if not np.isfinite(result).all():
        player = int(np.flatnonzero(~np.isfinite(result))[0])
        raise FloatingPointError(f"the utility is not a finite number when player {player} joins")
    return result


def check_order(game: Game, order: Order) -> None:
    """Every player of the game joins once; else the order was drawn for another game."""
    n, places = game.n_players, len(order.players)
    if places != n or (np.bincount(order.players, minlength=n) != 1).any():
        raise ValueError(
            f"an order of {places} places does not hold each of the game's {n} players once: "
            "draw the orders from the same tree that the game has"
        )
