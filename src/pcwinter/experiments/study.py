"""Dataset -> rankings: the valuations that the experiments need, each computed once, stored, and resumable."""

import json
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from pcwinter._util.arrays import IntArray
from pcwinter._util.threads import one_thread
from pcwinter.baselines.influence import influence_edges, influence_nodes
from pcwinter.baselines.leave_one_out import leave_one_out_edges, leave_one_out_nodes
from pcwinter.baselines.node_game import complete_head, node_game
from pcwinter.baselines.ranking import Ranking, of_values
from pcwinter.baselines.shapley import TOLERANCE, Free, sampled_ranking
from pcwinter.baselines.simple import betweenness, degree, random_edges, random_nodes
from pcwinter.estimation.display import Display, now_and_then
from pcwinter.estimation.estimator import Sample, states
from pcwinter.estimation.stopping import USUAL, Rule, choose, evaluations, seconds
from pcwinter.estimation.stopping import permutations as exactly
from pcwinter.experiments.cache import as_plain, as_ranking, keep, kept
from pcwinter.experiments.curves import POINTS, Curve, addable, droppable, judged
from pcwinter.experiments.figures import SHARE
from pcwinter.experiments.folder import STUDY, claim, parts_of
from pcwinter.experiments.judge import ON, Judge, judging_head
from pcwinter.experiments.output import file_name
from pcwinter.game.tree import LEVELS
from pcwinter.graph.graph import Graph
from pcwinter.graph.splits import choice_split, fresh_split
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax, softmax_for
from pcwinter.runs.checkpoints import Checkpoints
from pcwinter.runs.directory import BITS, run
from pcwinter.values import Values

QUICK, QUICK_POINTS = 20, 11  # orders of a quick valuation, and points of its curves
LONG = 5  # seconds: longer steps are reported
FRESH = 11  # seed of the first fresh split: splits 0 to 10 were used while the methods were designed
MANY = 5_000  # nodes: values of larger graphs take minutes
PARTS = (*ON, "choice")  # what rankings can be scored on


class Interrupted(Exception):
    """A signal, given as the argument, interrupted the study; finished work is stored."""


@dataclass(eq=False)
class Study:
    """A dataset, the settings of its experiments, and the directory of the results.

    With `on="choice"`, every seed has its own random split: see `at`.
    """

    dataset: str
    graph: Graph
    out: Path
    head: str = "ridge"
    preset: str | None = None  # "paper" for the paper's game and head
    truncation: tuple[float, ...] = ()
    hops: int = 2
    workers: int = 1
    quick: bool = False
    max_seconds: float | None = None  # limit for every sampled valuation
    orders: int | None = None  # for every family of orders in the ablation
    points: int = POINTS  # of a curve
    on: str = "test"  # the graph that rankings are scored on: test, validation or choice
    remaining: bool = False  # whether the rows of the scored nodes come from the remaining graph; if transductive
    metric: str | None = None  # of values and of scores; None for the usual one of the graph
    class_weight: str | None = None  # of all heads that are trained
    filter: str = "sgc"  # of the values, the baselines and the judge
    quiet: bool = False
    split: str = ""  # name of the split, unless it is the public one
    used: dict[str, Ranking] = field(default_factory=dict)  # rankings of the current experiment
    _known: dict[str, Ranking] = field(default_factory=dict)
    _last: tuple[str, Values] | None = None  # the last run: own, path and edge values share it

    @cached_property
    def judges(self) -> dict[str, Judge]:
        """One judge for the graph of the study, and one for the validation graph, on which methods are chosen."""
        parts = {"validation": "validation", self.on: "test" if self.on == "choice" else self.on}
        options: dict[str, Any] = {"hops": self.hops, "filter": self.filter, "remaining": self.remaining}
        options |= {"metric": self.metric, "head": judging_head(self.graph, self.class_weight)}
        return {on: Judge(self.graph, on=part, **options) for on, part in parts.items()}

    @cached_property
    def parameters(self) -> Ridge | Softmax:
        """The calibrated head, which all methods share."""
        head: str | Ridge | Softmax = softmax_for(self.graph) if self.preset else self.head
        if self.class_weight is not None:
            plain = Ridge() if head == "ridge" else softmax_for(self.graph)
            head = replace(plain, class_weight=self.class_weight)
        return complete_head(self.graph, head, self.hops, self.metric, filter=self.filter)

    @property
    def kind(self) -> str:
        """The preset, or the head if it is not ridge: part of the names of files, and of titles."""
        return self.preset or ("" if self.head == "ridge" else self.head)

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        """Hashes of the graph, and versions of the packages."""
        return parts_of(self.graph) | {name: metadata.version(name) for name in BITS}

    @cached_property
    def _kind(self) -> str:
        """A short hash: runs that differ in it cannot resume each other."""
        return sha256(json.dumps([self.fingerprint, LEVELS]).encode()).hexdigest()[:8]

    def title(self, experiment: str, *, judged: bool = True) -> str:
        """The title of an outcome of an `experiment`; the usual game and head and the test graph are not mentioned.

        `judged` says whether the outcome was scored on a graph.
        """
        where = [_where(self.on), "remaining" if self.remaining else ""] if judged else []
        return " ".join(part for part in (self.dataset, experiment, *self.own, self.kind, *where) if part)

    @property
    def own(self) -> list[str]:
        """Metric, class weights and filter, if they are not the usual ones: names and keys of results contain them."""
        return [part for part in (self.metric, self.class_weight, self.filter.replace("sgc", "")) if part]

    def knows(self, method: str) -> bool:
        """Whether the baseline `method` exists here: influence functions need classes, and a filter that adds up."""
        return not (method.startswith("influence") and (self.graph.regression or self.filter == "hops"))

    def axis(self, steps: str, *, fresh: bool = False) -> str:
        """The label of the x axis. On `fresh` splits, it shows the share of the `steps`: their number differs."""
        return f"{SHARE}{steps}" if fresh or self.on == "choice" else steps

    @property
    def enough(self) -> int:
        """The default number of seeds. On Cora a mean over three seeds varies by 0.003, and ten seeds are cheap."""
        return 3 if self.quick or self.kind or self.graph.n_nodes > MANY else 10

    def say(self, sentence: str) -> None:
        """Show the user a `sentence` about the progress."""
        if not self.quiet:
            Display().say(f"{self.dataset}{self.split}: {sentence}")

    def tell(self) -> None:
        """Write the settings of the study; refuse a directory that belongs to something else."""
        graph = self.graph
        settings = {
            "dataset": self.dataset,
            "nodes": graph.n_nodes,
            "training edges": graph.count_edges(graph.training),
            "labelled": len(graph.train),
            "head": self.settings,
            "game": "induced, remainder to nobody" if self.preset else "messages, remainder to silent players",
            "filter": self.filter,
            "truncation": list(self.truncation),
            **({"metric and class weights": self.own} if self.own else {}),
            "python": platform.python_version(),
            "pcwinter": metadata.version("pcwinter"),
            "graph": parts_of(graph),
        }
        claim(self.out, STUDY[self.kind], settings)

    def fresh(self, seed: int) -> "Study":
        """The same study on a new random split, drawn with `seed`; its results are stored in the same directory.

        With `on="choice"` the split comes from `choice_split`, and the test nodes of `graph` are the choice nodes.
        """
        if self.on == "choice":
            graph, split = choice_split(self.graph, seed)[0], f", choice split {seed}"
        else:
            graph, split = fresh_split(self.graph, FRESH + seed), f", split {FRESH + seed}"
        return replace(self, graph=graph, split=split, _last=None)

    def at(self, seed: int) -> "Study":
        """The study that repetition `seed` uses: with `on="choice"` a fresh split, otherwise this study."""
        return self.fresh(seed) if self.on == "choice" else self

    @property
    def _bound(self) -> str:
        return "" if self.max_seconds is None else f"{self.max_seconds:g} s"

    @property
    def settings(self) -> str:
        """The head and its parameters as text."""
        found = self.parameters
        weighted = f", {found.class_weight} class weights" if found.class_weight else ""
        if isinstance(found, Ridge):
            return f"ridge, penalty {found.penalty:g}, bias {found.bias:g}{weighted}"
        return f"softmax, rate {found.learning_rate:g}, {found.epochs} epochs, decay {found.weight_decay:g}{weighted}"

    @property
    def rule(self) -> Rule:
        """The stopping rule, which all sampled methods share."""
        rule = exactly(QUICK) if self.quick else USUAL
        return rule if self.max_seconds is None else rule | seconds(self.max_seconds)

    def values(
        self,
        seed: int,
        *,
        orders: str = "dfs",
        truncation: Sequence[float] | None = None,
        permutations: int | None = None,
    ) -> Values:
        """Values of PC-Winter, or of a variant with other `orders`, `truncation` or number of orders, `permutations`.

        `seed` determines the orders.
        """
        ratios = self.truncation if truncation is None else tuple(truncation)
        ratios = ratios if orders == "dfs" else ()
        if permutations is None and self.quick:
            permutations = QUICK
        game: dict[str, Any] = {"preset": self.preset} if self.preset else {"head": self.parameters}
        kind = (self.kind or self.head, *self.own)
        key = file_name(*kind, orders, *ratios, permutations or "converged", self._bound, f"seed {seed}")
        if self._last and self._last[0] == key:
            return self._last[1]
        stop = choose(None, permutations, None, None, self.max_seconds)
        with self._display(stop) as display:
            values = run(
                self.graph,
                self.out / "runs" / file_name(key, self._kind),
                name=self.dataset,
                resume=True,
                **game,
                metric=self.metric,
                hops=self.hops,
                filter=self.filter,
                orders=orders,
                truncation=ratios,
                stop=stop | display.interrupted,
                seed=seed,
                workers=self.workers,
                progress=display,
            )
        self._finish(display, values.status, f"PC-Winter ({key})", values.estimate.seconds)
        self._last = key, values
        return values

    def pc_winter(self, level: str, seed: int, *, method: str | None = None, **options: Any) -> Ranking:
        """The ranking by own, path or edge values.

        `level` is as in `of_values`. `seed` and the `options` are those of `values`. `method` is the name of the
        ranking.
        """
        name = method or f"PC-Winter ({level})"
        given = {option: value for option, value in options.items() if value is not None}
        return self._once(
            name, seed, lambda: of_values(self.values(seed, **given), level, name), level, json.dumps(given)
        )

    def data_shapley(self, seed: int, *, most: int | None = None, time_limit: float | None = None) -> Ranking:
        """Data Shapley by the common stopping rule, or with a budget instead.

        `seed` determines the orders. The budget is `most` evaluations, or `time_limit` seconds.
        """
        rule, budget = self.rule, ""
        if most is not None:
            rule, budget = evaluations(most), f"{most} evaluations"
        elif time_limit is not None:
            rule, budget = seconds(time_limit), f"{time_limit} s"
        about = file_name(self.kind or self.head, budget, f"seed {seed}")
        short = budget if time_limit is None or most is not None else f"{float(f'{time_limit:.3g}'):g} s"

        def make() -> Ranking:
            kind = (self.kind or self.head, *self.own)
            called = file_name("data-shapley", *kind, short, f"seed {seed}", self._bound, self.split)
            folder = self.out / "runs" / called
            folder.mkdir(parents=True, exist_ok=True)
            checkpoints = Checkpoints(folder, self._about(about))
            begin, _ = checkpoints.load()
            began = time.perf_counter() if time_limit is None else None  # budgets compare the time of estimating
            options: dict[str, Any] = {"hops": self.hops, "filter": self.filter, "metric": self.metric}
            game = node_game(self.graph, self.parameters, tolerance=TOLERANCE, **options)
            sample = Sample(game, Free(game.n_players), {}, seed)
            with self._display(rule) as display, one_thread():
                stop = rule | display.interrupted
                sampled = states(
                    sample,
                    limit=stop.limit,
                    workers=self.workers,
                    begin=begin,
                    late=stop.late,
                    began=began,
                    stage=display.stage,
                )
                with closing(sampled) as found:
                    for state in found:
                        if begin is None or state.total.orders > begin.orders:
                            checkpoints.save(state.checkpoint)
                        now = sample.progress(state)
                        display(now)
                        status = stop.check(now) or ""
                        if status:
                            break
            ranking = sampled_ranking("data-shapley", game.nodes, sample.estimate(state, status))
            self._finish(display, status, f"Data Shapley (seed {seed})", ranking.seconds)
            return ranking

        return self._once("Data Shapley", seed, make, about)

    def baseline(self, method: str, seed: int) -> Ranking:
        """A baseline without sampling: `method` is its name, and `seed` is used by random values only."""
        slow = isinstance(self.parameters, Softmax) or self.filter != "sgc"
        graph, hops, filter, helpers = self.graph, self.hops, self.filter, self._helpers(long=slow)
        metric, weighted = self.metric, self.class_weight
        makers: dict[str, Callable[[], Ranking]] = {
            "random": lambda: random_nodes(graph, hops=hops, seed=seed),
            "degree": lambda: degree(graph, hops=hops),
            "leave-one-out": lambda: leave_one_out_nodes(
                graph,
                self.parameters,
                hops=hops,
                filter=filter,
                metric=metric,
                workers=helpers,
                progress=now_and_then(self.say, method),
            ),
            "influence": lambda: influence_nodes(graph, hops=hops, filter=filter, class_weight=weighted),
            "random edges": lambda: random_edges(graph, seed=seed),
            "betweenness": lambda: betweenness(graph),
            "leave-one-out edges": lambda: leave_one_out_edges(
                graph,
                self.parameters,
                hops=hops,
                filter=filter,
                metric=metric,
                workers=helpers,
                progress=now_and_then(self.say, method),
            ),
            "influence edges": lambda: influence_edges(graph, hops=hops, filter=filter, class_weight=weighted),
        }
        return self._once(method, seed if method.startswith("random") else 0, makers[method])

    def dropping(self, ranking: Ranking, seed: int, which: str = "unlabelled") -> Curve:
        """The curve of dropping the nodes of `ranking`; `seed` breaks ties, and `which` is as in `judge_file`."""
        return self._judged(f"{ranking.method}, seed {seed}", droppable(self.graph, ranking, which, seed), self.on)

    def adding(self, ranking: Ranking, seed: int, rest: float = 0.0, on: str | None = None) -> Curve:
        """The curve of adding the edges of `ranking`.

        `seed` breaks ties. Edges without a value get `rest`. `on` is the graph to score on, by default that of the
        study.
        """
        return self._judged(f"{ranking.method}, seed {seed}", addable(self.graph, ranking, seed, rest), on or self.on)

    def _judged(self, what: str, best_first: IntArray, on: str) -> Curve:
        """The stored curve, or a new one, which is then stored."""
        rest = [*self.own, *(["remaining"] * self.remaining)]
        settings = (self.fingerprint, self.hops, self.points, best_first.shape, *rest)
        key = sha256(json.dumps(settings).encode() + best_first.tobytes()).hexdigest()
        path = self.out / file_name("curves", _where(on)) / f"{key}.json"
        found = kept(path)
        if found is None:
            began = time.perf_counter()
            report = now_and_then(self.say, f"curve of {what}")
            curve = judged(self.judges[on], best_first, self.points, self._helpers(), report)
            self._took(f"curve of {what}", began)
            found = [curve.count.tolist(), curve.accuracy.tolist()]
            keep(path, found)
        return Curve(np.array(found[0], dtype=np.int64), np.array(found[1], dtype=np.float64))

    def _helpers(self, *, long: bool = False) -> int:
        """Processes for work without sampling: on a small graph starting them takes longer than the work."""
        return self.workers if long or self.graph.n_nodes > MANY else 1

    def _took(self, what: str, began: float) -> None:
        took = time.perf_counter() - began
        if took > LONG:
            self.say(f"{what}: {took:.1f} s")

    def _display(self, stop: Rule) -> Display:
        return Display(stop, quiet=self.quiet, again="the same command")

    def _finish(self, display: Display, status: str, what: str, took: float) -> None:
        if display.signal:  # even if the valuation has finished: its result is stored
            raise Interrupted(display.signal)
        self.say(f"{what}: {status} {took:.1f} s")

    def _about(self, *parts: object) -> str:
        asked = (self.hops, self.truncation, self.preset, self.quick, self.max_seconds)
        settings = (self.fingerprint, repr(self.parameters), asked, parts, *self.own)
        return sha256(json.dumps(settings, default=str).encode()).hexdigest()

    def _once(self, method: str, seed: int, make: Callable[[], Ranking], *parts: object) -> Ranking:
        """The ranking from memory or from disk, or a new one, which is then stored."""
        key = file_name(self.kind or self.head, method, f"seed {seed}", self._about(method, seed, *parts)[:12])
        if key not in self._known:
            path = self.out / "rankings" / f"{key}.json"
            found = kept(path)
            if found is None:
                began = time.perf_counter()
                found = as_plain(replace(make(), workers=self.workers))
                keep(path, found)
                self._took(f"{method}, seed {seed}", began)
            self._known[key] = as_ranking(found)
        self.used[key] = self._known[key]
        return self._known[key]

    def limits(self) -> list[str]:
        """Sentences about the time limits and processes of the rankings used."""
        sampled = [ranking for ranking in self.used.values() if ranking.orders]
        notes = []
        if self.max_seconds is not None and sampled:
            end = f"time limit of {self.max_seconds:g} seconds"  # not the limit of an equal-time budget
            cut = sum(end in ranking.status for ranking in sampled)
            notes.append(
                f"Time limit: {self.max_seconds:g} seconds per valuation, plus the order already started. "
                f"It ended the valuations behind {cut} of {len(sampled)} rankings."
            )
        processes = {ranking.workers for ranking in sampled}
        if processes - {1}:
            notes.append(
                f"Times were measured with {' or '.join(map(str, sorted(processes)))} processes "
                "and include starting them."
            )
        return notes


def _where(on: str) -> str:
    return "" if on == "test" else f"on {on}"
