"""Graph -> Values: the whole flow in one call."""

import math
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import FloatArray
from pcwinter._util.checks import count, function, whole_number
from pcwinter._util.memory import budget
from pcwinter._util.threads import one_thread
from pcwinter.estimation.estimator import NOT_MET, Checkpoint, Estimate, Sample, State, bootstrap_stderr, exact, states
from pcwinter.estimation.jobs import Pool
from pcwinter.estimation.pools import open_pool
from pcwinter.estimation.stopping import Progress, Rule, Stage, choose, stages, unheard
from pcwinter.game.metrics import ACCURACY, LOPSIDED
from pcwinter.game.orders import Truncation, count_orders, every_order, sampler
from pcwinter.game.problem import GraphGame
from pcwinter.game.tree import LEVELS, ContributionTree, contribution_tree
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.graph_game import graph_game
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax
from pcwinter.values import Request, Values, metric_of

BOOTSTRAPPED = ("own", "path", "edge")  # "edge path" would need too much memory
MAX_PLAYERS = 10_000_000


def value(
    graph: Graph,
    *,
    hops: int = 2,
    preset: str | None = None,
    head: str | Ridge | Softmax | None = None,
    metric: str | None = None,
    coalition: str | None = None,
    filter: str = "sgc",
    theta: Sequence[float] = (),
    orders: str = "dfs",
    truncation: Truncation = (),
    remainder: str | None = None,
    empty: str = "nothing",
    permutations: int | None = None,
    max_permutations: int | None = None,
    tolerance: float | None = None,
    max_seconds: float | None = None,
    stop: Rule | None = None,
    seed: int = 0,
    bootstrap: int = 0,
    max_players: int = MAX_PLAYERS,
    workers: int | Pool = 1,
    memory: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Values:
    """Estimate what every node and edge of the training graph is worth.

    What is valued:

    - `graph`: the graph.
    - `hops`: propagation steps, K.
    - `preset`: "paper" for the paper's game: head="softmax", coalition="induced", remainder="nobody".
    - `head`: the classifier, "ridge" (closed form, the default) or "softmax" (the paper's), or a `Ridge` or `Softmax`.
    - `metric`: what is measured on the validation nodes, one of `METRICS`, or "f1:CLASS" with the name of a class. By
      default "accuracy", or "r2" if the graph has numeric targets. Averages over classes are over those that occur
      among the validation nodes.
    - `coalition`: what a coalition is. "messages" (the default) weights the messages that have joined as the whole
      model does, so that everything is the model itself; "induced" (the paper's) propagates on the edges that joined.
    - `filter`: how the powers of the propagation are weighted, for "messages": "sgc" (the last power alone, the
      default), "appnp:ALPHA" with the teleport probability ALPHA, such as "appnp:0.1", or "mean". "hops" puts them side
      by side, with rows that sum to 1 and without self-loops.
    - `theta`: any other weights of the powers 0 to `hops`, instead of `filter`.
    - `orders`: "dfs" (PC-Winter), "level", "precedence" or "free" (Shapley).
    - `truncation`: the share of children that join silently at each depth, such as (0.5, 0.7); none by default.
    - `remainder`: who gets what silent players change, they themselves ("silent", the default) or "nobody" (the paper).
    - `empty`: what the empty coalition scores, that of predicting "nothing" (accuracy 0), or of the best "constant".
    - `seed`: seed of the orders.
    - `bootstrap`: how often to resample the validation nodes, for `stderr_validation` and `stderr_total`; 0 for never.

    When to stop:

    - `tolerance`: stop when the node values move by less than this share over 20 orders; 0.05 by default.
    - `max_permutations`: stop after this many orders even if the values have not converged; 2,000 by default.
    - `permutations`: draw exactly this many orders instead.
    - `max_seconds`: stop after the first order that ends past this time, which includes preparation.
    - `stop`: any other rule, see `pcwinter.stopping`, instead of these four.

    How it runs:

    - `workers`: number of processes, or a pool; it changes only the time.
    - `memory`: limit on the memory of the ridge head in each process, in megabytes.
    - `max_players`: raise an error if there are more players than this.
    - `progress(now)`: called after every block of orders.
    """
    began = time.perf_counter()
    rule = choose(stop, permutations, max_permutations, tolerance, max_seconds)
    check_graph(graph)
    request = Request(
        hops=hops,
        preset=preset,
        head=head,
        metric=metric_of(graph, metric, preset),
        coalition=coalition,
        filter=filter,
        theta=theta,
        orders=orders,
        truncation=truncation,
        remainder=remainder,
        empty=empty,
        seed=seed,
        bootstrap=bootstrap,
    )
    function("progress", progress, "progress(now)")
    room = budget(memory, workers if isinstance(workers, int) and workers > 0 else 1)
    with one_thread(), open_pool(workers) as pool:  # processes start while the game is prepared
        stage = stages(progress)
        valuation = prepare(graph, request, max_players=max_players, memory=room, began=began, stage=stage)
        with closing(valuation.states(rule, pool)) as found:
            for state in found:
                now = valuation.sample.progress(state)
                if progress:
                    progress(now)
                if status := rule.check(now):
                    return valuation.values(state, status, rule)
    raise ValueError(NOT_MET)


def exact_value(
    graph: Graph,
    *,
    hops: int = 2,
    preset: str | None = None,
    head: str | Ridge | Softmax | None = None,
    metric: str | None = None,
    coalition: str | None = None,
    filter: str = "sgc",
    theta: Sequence[float] = (),
    orders: str = "dfs",
    truncation: Truncation = (),
    remainder: str | None = None,
    empty: str = "nothing",
    max_orders: int = 100_000,
) -> Values:
    """Exact values of `graph` from all permissible orders; for the smallest graphs only.

    An error is raised if there are more than `max_orders` orders. The other arguments are those of `value`.
    """
    check_graph(graph)
    request = Request(
        hops=hops,
        preset=preset,
        head=head,
        metric=metric_of(graph, metric, preset),
        coalition=coalition,
        filter=filter,
        theta=theta,
        orders=orders,
        truncation=truncation,
        remainder=remainder,
        empty=empty,
        exact=True,
    )
    tree = contribution_tree(graph, request.hops)
    n = count_orders(tree, orders)
    if n > whole_number("max_orders", max_orders, 1):
        many = f"{n:,}" if n < 10**15 else f"about 10^{int(math.log10(n))}"
        raise ValueError(
            f"there are {many} {orders} orders of {count(tree.n_players, 'player')}, more than "
            f"max_orders={max_orders:,}: estimate with pcwinter.value instead, or use a smaller graph"
        )
    with one_thread():
        return prepare(graph, request).enumerate()


@dataclass(eq=False)
class Valuation:
    """A graph with its prepared game; `value` and `run` loop over its states."""

    graph: Graph
    request: Request
    tree: ContributionTree
    game: GraphGame
    head: str  # name and parameters of the head
    calibration: Calibration | None
    sample: Sample
    began: float
    stage: Stage

    def states(self, rule: Rule, workers: int | Pool, begin: Checkpoint | None = None) -> Generator[State]:
        """The state after every block of orders, starting with that of `begin`; the last block may end early."""
        return states(
            self.sample,
            limit=rule.limit,
            workers=workers,
            begin=begin,
            late=rule.late,
            began=self.began,
            stage=self.stage,
        )

    def values(self, state: State, status: str, rule: Rule) -> Values:
        """The values at a state; `status` says why the run ended there."""
        done, replicates, seed = state.total, self.request.bootstrap, self.request.seed
        spread = {
            name: np.where(
                done.levels[name].known_visits() < 2,
                np.nan,
                bootstrap_stderr(sums, done.squares[name], done.orders, replicates, seed),
            )
            for name, sums in done.detail.items()
        }
        return self._values(self.sample.estimate(state, status), spread, rule.settings, state.setup)

    def enumerate(self) -> Values:
        """Exact values, from all orders."""
        setup = time.perf_counter() - self.began
        every = every_order(self.tree, self.request.orders, self.request.truncation, str(self.request.remainder))
        return self._values(exact(self.game, every, levels=self.sample.levels), {}, {}, setup)

    def _values(
        self, estimate: Estimate, spread: dict[str, FloatArray], stop: dict[str, float], setup: float
    ) -> Values:
        game = self.game
        full, roots = game.utility(np.ones_like(self.tree.null)), game.utility(self.tree.depth == 0)
        notes = _warnings(full, roots, game, self.calibration)
        for note in notes:
            warnings.warn(note, stacklevel=4)
        return Values(
            graph=self.graph,
            tree=self.tree,
            null=game.null,
            estimate=estimate,
            validation_stderr=spread,
            utility_full=full,
            utility_roots=roots,
            utility_empty=game.empty * game.unit,
            request=self.request,
            stop=stop,
            head=self.head,
            calibration=self.calibration,
            warnings=notes,
            setup_seconds=setup,
        )


def prepare(
    graph: Graph,
    request: Request,
    *,
    max_players: int = MAX_PLAYERS,
    memory: int | None = None,
    calibration: Calibration | None = None,
    began: float | None = None,
    stage: Stage = unheard,
) -> Valuation:
    """Build the tree and the game, and calibrate the head.

    `memory` is in bytes; None sets no limit. `calibration` is an earlier one that is used again. `began` is when
    preparation began, by default now. `stage` is called with what happens next.
    """
    request = request.of(graph)
    began = time.perf_counter() if began is None else began
    stage("preparing the game")
    tree = contribution_tree(graph, request.hops, max_players=max_players)
    asked = (str(request.coalition), request.powers, request.empty, request.filter == "hops", calibration, stage)
    game, head, calibration = graph_game(graph, tree, request.head or "ridge", request.metric, memory, *asked)
    sample = Sample(
        game,
        sampler(tree, request.orders, request.truncation, str(request.remainder)),
        {level: tree.incidence(level) for level in LEVELS},
        request.seed,
        BOOTSTRAPPED if request.bootstrap else (),
        watch="own",
    )
    return Valuation(graph, request, tree, game, head, calibration, sample, began, stage)


def _warnings(full: float, roots: float, game: GraphGame, calibration: Calibration | None) -> tuple[str, ...]:
    notes, constant, metric, problem = [], game.constant_utility(), game.metric, game.problem
    fitted = "" if calibration else "leave out the head's parameters, so that they are calibrated, or "
    if full <= constant:
        notes.append(
            f"the model trained on everything scores {full:.4f} on the validation nodes, no better than "
            f"{metric.constant} ({constant:.4f}), so the values mean little: {fitted}"
            f"check features, {'targets' if metric.regression else 'labels'} and split, or try features='standard' "
            "(--features standard)"
        )
    if full < roots:
        notes.append(
            f"the edges harm the model on the validation nodes: {full:.4f} with all of them, {roots:.4f} with none; "
            "try hops=1, or drop the edges of lowest value and value the graph again"
        )
    if calibration and calibration.edge:
        named = " and ".join(f"{name} {getattr(calibration.head, name):g}" for name in calibration.edge)
        notes.append(
            f"calibration chose the end of its range ({named}): better parameters may lie beyond it, so compare the "
            "values with those of other parameters, or try features='standard' (--features standard)"
        )
    largest = np.bincount(problem.targets).max() / len(problem.targets)
    if metric.code == ACCURACY and problem.n_classes > 1 and largest > LOPSIDED:
        notes.append(
            f"{largest:.0%} of the validation nodes are of one class, so accuracy says little about the others: "
            "metric='balanced-accuracy' or metric='roc-auc' says more"
        )
    return tuple(notes)
