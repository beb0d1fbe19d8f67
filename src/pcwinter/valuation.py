"""Graph -> Values: what every player, node and edge is worth; the whole flow in one call."""

import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pcwinter._memory import budget
from pcwinter._options import number, whole_number
from pcwinter._types import FloatArray
from pcwinter.game import GraphGame, make_problem
from pcwinter.graph import Graph
from pcwinter.heads.calibration import Calibration, calibrate
from pcwinter.heads.ridge import Ridge, RidgeWalker
from pcwinter.heads.softmax import Softmax, SoftmaxWalker
from pcwinter.metrics import LOG_LIKELIHOOD, TIE, class_ends, find_metric, measure
from pcwinter.orders import Truncation, check_truncation, count_orders, every_order, sampler
from pcwinter.stopping import Progress, Rule, at_most, converged, seconds
from pcwinter.stopping import permutations as exactly
from pcwinter.tree import LEVELS, ContributionTree, contribution_tree
from pcwinter.values import Estimate, State, bootstrap_stderr, estimate, exact
from pcwinter.workers import Pool, one_thread, open_pool

if TYPE_CHECKING:
    import pandas as pd

BOOTSTRAPPED = ("own", "path", "edge")  # not the path values of edges: a number for every edge and validation node


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Values of players, nodes and edges, with standard errors and the story of the run.

    `stderr` covers the sampling of orders only; `stderr_validation`, when a bootstrap was asked
    for, the sampling of validation nodes.
    """

    graph: Graph
    tree: ContributionTree
    estimate: Estimate
    validation_stderr: dict[str, FloatArray]  # by level; empty without a bootstrap
    utility_full: float
    utility_roots: float  # labelled nodes alone, without any edge
    utility_empty: float
    asked: Mapping[str, object]  # head, hops, metric, orders, truncation, seed, bootstrap, stop
    head: str  # the head with its parameters
    calibration: Calibration | None
    warnings: tuple[str, ...]
    setup_seconds: float

    @property
    def status(self) -> str:
        """How the run ended, in a sentence."""
        return self.estimate.status

    @property
    def permutations(self) -> int:
        """Number of orders."""
        return self.estimate.tally.orders

    def nodes(self, aggregate: str = "own") -> "pd.DataFrame":
        """One line per node that has players, in the order of the graph; nodes are named by their ids.

        `value` and `stderr` are those of the aggregate: `own` sums the players whose node it is and adds up
        to U(all) - U(empty); `path` sums those whose path contains it, and suits dropping nodes.
        """
        if aggregate not in ("own", "path"):
            raise ValueError(f"aggregate is {aggregate!r}, expected own or path")
        table = _table(
            {
                "node": self.graph.ids[self.tree.nodes],
                "value": self.estimate.mean(aggregate),
                "stderr": self.estimate.stderr(aggregate),
                "value_path": self.estimate.mean("path"),
                "stderr_path": self.estimate.stderr("path"),
                "labelled": np.isin(self.tree.nodes, self.graph.train),
                "players": np.bincount(np.searchsorted(self.tree.nodes, self.tree.node)),
            }
        )
        if self.validation_stderr:
            table["stderr_validation"] = self.validation_stderr[aggregate]
        return table

    def edges(self) -> "pd.DataFrame":
        """One line per undirected edge that has players.

        `value` sums the players whose last step it is and adds up to U(all) less the labelled nodes' own players;
        `value_path` sums those whose path contains it, and so counts what is reached through it.
        """
        table = _table(
            {
                "source": self.graph.ids[self.tree.edges[:, 0]],
                "target": self.graph.ids[self.tree.edges[:, 1]],
                "value": self.estimate.mean("edge"),
                "stderr": self.estimate.stderr("edge"),
                "value_path": self.estimate.mean("edge path"),
                "stderr_path": self.estimate.stderr("edge path"),
            }
        )
        if self.validation_stderr:
            table["stderr_validation"] = self.validation_stderr["edge"]
        return table

    def players(self) -> "pd.DataFrame":
        """One line per player, in pre-order; `step_0` is the labelled node; past the end, -1 or ""."""
        ids = self.graph.ids
        paths, ended = self.tree.paths(), -1 if ids.dtype.kind == "i" else ""
        steps = np.where(paths < 0, ended, ids[paths])
        table = _table({f"step_{k}": steps[:, k] for k in range(steps.shape[1])})
        return table.assign(
            node=ids[self.tree.node],
            depth=self.tree.depth,
            null=self.tree.null,
            value=self.estimate.mean(),
            stderr=self.estimate.stderr(),
        )

    def __repr__(self) -> str:
        done = self.estimate.tally
        lines = [
            f"Values of {len(self.tree.nodes):,} nodes and {len(self.tree.edges):,} edges "
            f"({self.tree.n_players:,} players, {self.head})",
            self.status,
            f"{done.orders:,} orders, {done.evaluations:,} utilities, {self.estimate.seconds:.2f} s "
            f"after {self.setup_seconds:.2f} s of preparation",
            f"utility {self.utility_full:.4f} of all players, {self.utility_roots:.4f} of the labelled nodes without "
            f"edges, {self.utility_empty:.4f} of nobody; "
            f"{self.graph.n_cut_edges:,} edges lie outside the inductive graphs",
            *(f"warning: {warning}" for warning in self.warnings),
        ]
        return "\n".join(lines)


class Keeper(Protocol):
    """Where a run is kept while it lasts: the seam for directories."""

    def begin(self, asked: Mapping[str, object]) -> State | None:
        """Where to go on from, None for the beginning; called when the request has been checked, before any work."""

    def keep(self, state: State) -> None:
        """Take note of a state; called after every whole block of orders."""


def _table(columns: dict[str, Any]) -> "pd.DataFrame":
    import pandas as pd  # here, because workers need no tables, and it takes as long to import as all else together

    return pd.DataFrame(columns)


def value(
    graph: Graph,
    *,
    hops: int = 2,
    head: str | Ridge | Softmax = "ridge",
    metric: str = "accuracy",
    orders: str = "dfs",
    truncation: Truncation = (),
    permutations: int | None = None,
    max_permutations: int = 2_000,
    tolerance: float = 0.05,
    max_seconds: float | None = None,
    stop: Rule | None = None,
    seed: int = 0,
    bootstrap: int = 0,
    max_players: int = 10_000_000,
    workers: int | Pool = 1,
    memory: int | None = None,
    progress: Callable[[Progress], str | None] | None = None,
    keeper: Keeper | None = None,
) -> Values:
    """Estimate what every node and edge of the training graph is worth.

    Orders are drawn until the node values have converged (`tolerance`), at most `max_permutations`;
    `permutations` asks for exactly so many instead, and `stop` for any other rule; `max_seconds` ends the first two
    early. `bootstrap` is the number of resamplings of the validation nodes, 0 for none. `workers` is the number of
    processes that walk orders; it changes the time and nothing else. `memory` bounds, in megabytes, what the ridge head
    takes for the walks of each process. `progress` hears of every block of orders and may end the run with a sentence;
    `keeper` makes the run survive, see `pcwinter.run`.
    """
    limits = {
        "permutations": permutations,
        "max_permutations": max_permutations,
        "tolerance": tolerance,
        "max_seconds": max_seconds,
    }
    if stop is None:
        limit = at_most(max_permutations)
        stop = converged(tolerance) | limit if permutations is None else exactly(permutations)
        stop = stop if max_seconds is None else stop | seconds(number("max_seconds", max_seconds))
    elif not isinstance(stop, Rule):
        raise ValueError(f"stop is {stop!r}, expected a rule such as pcwinter.stopping.converged()")
    elif permutations is not None or max_seconds is not None:
        raise ValueError("permutations or max_seconds and stop both say when to end: give one of them")
    else:
        limits = {}
    seed, bootstrap = whole_number("seed", seed, 0), whole_number("bootstrap", bootstrap, 0)
    room = budget(memory, workers if isinstance(workers, int) and workers > 0 else 1)
    truncation = _check_request(graph, hops, head, metric, orders, truncation)
    if bootstrap == 1:
        raise ValueError("bootstrap is 1, expected 0 or a number of resamplings of at least 2")
    if bootstrap and not find_metric(metric).additive:
        raise ValueError(f"the bootstrap needs a metric that is a mean over validation nodes, which {metric} is not")
    asked = {**_asked(hops, head, metric, orders, truncation), "seed": seed, "bootstrap": bootstrap, "stop": limits}
    state = keeper.begin(asked) if keeper else None
    began = time.perf_counter()
    with one_thread(), open_pool(workers) as pool:  # processes start while the game is made
        tree = contribution_tree(graph, hops, max_players=max_players)
        game, title, calibration = graph_game(graph, tree, head, metric, room)
        levels = {level: tree.incidence(level) for level in LEVELS}
        result = estimate(
            game,
            sampler(tree, orders, truncation),
            stop,
            levels=levels,
            watch="own",
            seed=seed,
            detail=BOOTSTRAPPED if bootstrap else (),
            workers=pool,
            progress=progress,
            begin=state,
            keep=keeper.keep if keeper else None,
        )
        before = state.seconds if state else 0.0
        setup = time.perf_counter() - began - (result.seconds - before)  # compiling is part of it
        done = result.tally
        spread = {name: bootstrap_stderr(sums, done.orders, bootstrap, seed) for name, sums in done.detail.items()}
        return _values(graph, tree, game, result, spread, asked, title, calibration, setup)


def exact_value(
    graph: Graph,
    *,
    hops: int = 2,
    head: str | Ridge | Softmax = "ridge",
    metric: str = "accuracy",
    orders: str = "dfs",
    truncation: Truncation = (),
    max_orders: int = 100_000,
) -> Values:
    """Exact values from all permissible orders; for the smallest of graphs only."""
    truncation = _check_request(graph, hops, head, metric, orders, truncation)
    began = time.perf_counter()
    tree = contribution_tree(graph, hops)
    n = count_orders(tree, orders)
    if n > whole_number("max_orders", max_orders, 1):
        many = f"{n:,}" if n < 10**15 else f"about 10^{int(math.log10(n))}"
        raise ValueError(
            f"there are {many} {orders} orders of {tree.n_players} players, more than max_orders={max_orders:,}: "
            "estimate with pcwinter.value instead, or take a smaller graph"
        )
    with one_thread():
        game, title, calibration = graph_game(graph, tree, head, metric)
        levels = {level: tree.incidence(level) for level in LEVELS}
        setup = time.perf_counter() - began
        result = exact(game, every_order(tree, orders, truncation), levels=levels)
        asked = _asked(hops, head, metric, orders, truncation)
        return _values(graph, tree, game, result, {}, asked, title, calibration, setup)


@one_thread()
def graph_game(
    graph: Graph,
    tree: ContributionTree,
    head: str | Ridge | Softmax = "ridge",
    metric: str = "accuracy",
    memory: int | None = None,
) -> tuple[GraphGame, str, Calibration | None]:
    """The game of a graph, the head's description with its parameters, and what was calibrated.

    `memory` is a bound in bytes on what a ridge walk takes, None for none.
    """
    chosen = find_metric(metric)
    _check_head(head)
    if isinstance(head, str):
        head = Ridge() if head == "ridge" else Softmax()
    problem = make_problem(graph, tree)
    if isinstance(head, Softmax):
        recipe = head.recipe(graph.recipe)
        walker = SoftmaxWalker(problem, recipe, chosen)
        return GraphGame(problem, walker, chosen), f"softmax head, {recipe}", None
    calibration = None
    penalty, bias, temperature = head.penalty, head.bias, head.temperature
    if penalty is None or bias is None or (temperature is None and chosen.tempered):
        calibration = calibrate(problem, graph.recipe, head)
        penalty, bias, temperature = calibration.penalty, calibration.bias, calibration.temperature
    ridge = RidgeWalker(problem, penalty, bias, chosen, temperature=temperature or 1.0, memory=memory)
    title = f"ridge head, penalty {penalty:g}, bias {bias:g}"
    if chosen.tempered:
        title += f", temperature {temperature:.3g}"
    return GraphGame(problem, ridge, chosen), title, calibration


def _check_request(
    graph: Graph, hops: int, head: object, metric: str, orders: str, truncation: Truncation
) -> tuple[float, ...]:
    """Refuse before any work is done; returns the truncation as a tuple."""
    if not isinstance(graph, Graph):
        raise ValueError(f"graph is {graph!r}, expected a pcwinter.Graph: build one, or load one with pcwinter.load")
    _check_head(head)
    find_metric(metric)
    return check_truncation(whole_number("hops", hops, 1), orders, truncation)


def _asked(
    hops: int, head: str | Ridge | Softmax, metric: str, orders: str, truncation: tuple[float, ...]
) -> dict[str, object]:
    """The game that was asked for, in words and numbers."""
    kind = head if isinstance(head, str) else type(head).__name__.lower()
    parameters = {} if isinstance(head, str) else asdict(head)
    return {
        "head": kind,
        **{name: given for name, given in parameters.items() if given is not None},
        "hops": int(hops),
        "metric": metric,
        "orders": orders,
        "truncation": list(truncation),
    }


def _check_head(head: object) -> None:
    if not (isinstance(head, Ridge | Softmax) or (isinstance(head, str) and head in ("ridge", "softmax"))):
        raise ValueError(f"head is {head!r}, expected ridge, softmax, or a pcwinter.Ridge(...) or Softmax(...)")


def _constant_model(game: GraphGame) -> float:
    """Utility of naming the most frequent class everywhere; with log-likelihood, of the frequencies."""
    problem = game.problem
    frequency = np.bincount(problem.targets, minlength=problem.n_classes) / len(problem.targets)
    scores = np.zeros((problem.n_classes, len(problem.targets)))
    if game.metric.code == LOG_LIKELIHOOD:
        scores += np.log(np.maximum(frequency, 1e-300))[:, None]
    else:
        scores[frequency.argmax()] = 1e3
    ends = class_ends(problem.targets, problem.n_classes)
    return game.unit * float(measure(game.metric.code, scores, ends, 1.0, TIE, np.empty(0)))


def _values(
    graph: Graph,
    tree: ContributionTree,
    game: GraphGame,
    result: Estimate,
    spread: dict[str, FloatArray],
    asked: Mapping[str, object],
    title: str,
    calibration: Calibration | None,
    setup: float,
) -> Values:
    full, roots = game.utility(np.ones_like(tree.null)), game.utility(tree.depth == 0)
    notes = []
    constant = _constant_model(game)
    if full <= constant:
        notes.append(
            f"the model of all players scores {full:.4f} on the validation nodes, no better than always naming their "
            f"most frequent class ({constant:.4f}): the values say little; check features, labels and split"
        )
    if full < roots:
        notes.append(
            f"the edges harm the model on the validation nodes: {full:.4f} with all of them, {roots:.4f} with none"
        )
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return Values(
        graph=graph,
        tree=tree,
        estimate=result,
        validation_stderr=spread,
        utility_full=full,
        utility_roots=roots,
        utility_empty=game.empty * game.unit,
        asked=asked,
        head=title,
        calibration=calibration,
        warnings=tuple(notes),
        setup_seconds=setup,
    )
