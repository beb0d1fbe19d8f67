"""Experiments on made-up rankings and curves: what they ask for, and the numbers of their tables, known in advance."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.figure import Figure

import pcwinter as pw
from oracles import make_graph, random_graph
from pcwinter._util.arrays import BoolArray
from pcwinter.baselines.node_game import NodeGame, node_game
from pcwinter.baselines.ranking import Ranking
from pcwinter.estimation.display import Display
from pcwinter.experiments import add_edges, costs, drop_nodes, reproduce, variants
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.figures import _draw_panel, band
from pcwinter.experiments.output import Outcome
from pcwinter.experiments.study import QUICK, Interrupted, Study

Spent = tuple[int, int, float]  # orders, evaluations, seconds
GRAPH = make_graph([(0, 2), (2, 4), (4, 6), (1, 3), (3, 5)], [0, 1])  # node 6 is three steps away
LEAD = {"PC-Winter (own)": ([0, 1], [0, 4]), "data-shapley": ([0, 1], [0, 1])}  # the best two nodes, by seed
quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model of all players")


@dataclass(eq=False)
class Stub(Study):
    """Makes up rankings, what they cost, and curves; keeps what it was asked for."""

    dataset: str = "cora"
    graph: pw.Graph = GRAPH
    out: Path = Path()
    mine: tuple[Spent, ...] = ((100, 1000, 20.0), (100, 1000, 4.0))  # of PC-Winter, by seed
    theirs: tuple[Spent, ...] = ((40, 4000, 8.0), (50, 250, 8.0))  # of Data Shapley
    added: dict[tuple[str, str, float], list[float]] = field(default_factory=dict)  # by method, on and rest
    sizes: tuple[int, ...] = (0, 1, 4, 10, 20)  # numbers of edges added
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def pc_winter(self, level: str, seed: int, *, method: str | None = None, **options: Any) -> Ranking:
        self.asked.append((level, options))
        name = method or f"PC-Winter ({level})"
        orders = self.mine[seed][0]
        return self._made(name, seed, self.mine[seed], (options.get("permutations") or orders) / orders)

    def data_shapley(self, seed: int, **limits: Any) -> Ranking:
        self.asked.append(("Data Shapley", limits))
        _, evaluations, took = self.theirs[seed]
        share = limits.get("most", evaluations) / evaluations * limits.get("time_limit", took) / took
        return self._made("data-shapley", seed, self.theirs[seed], share)

    def baseline(self, method: str, seed: int) -> Ranking:
        return self._made(method, seed, (0, 0, 1.0))

    def dropping(self, ranking: Ranking, seed: int, which: str = "unlabelled") -> Curve:
        return Curve(np.array([0, 5, 10]), ranking.orders / 1000 * np.array([2, 0, 1]))

    def adding(self, ranking: Ranking, seed: int, rest: float = 0.0, on: str | None = None) -> Curve:
        accuracy = self.added.get((ranking.method, on or self.on, rest), [0.1] * 5)
        return Curve(np.array(self.sizes), np.array(accuracy))

    def _made(self, method: str, seed: int, spent: Spent, share: float = 1.0) -> Ranking:
        best = np.isin(np.arange(6), LEAD.get(method, ([4, 5], [4, 5]))[seed]).astype(np.float64)
        cost = round(share * spent[0]), round(share * spent[1]), share * spent[2]
        return Ranking(method, np.arange(6), best, np.full(6, np.nan), *cost)

    def asks(self, name: str) -> list[dict[str, Any]]:
        return [options for asked, options in self.asked if asked == name]


@pytest.mark.parametrize(
    ("spent", "fewer", "limits"),
    [
        (((100, 1000, 20.0), (40, 4000, 8.0)), (None, 40), [{"most": 1000}]),
        (((100, 1000, 4.0), (50, 250, 8.0)), (25, None), [{"time_limit": 4.0}]),
        (((100, 1000, 20.0), (50, 960, 20.8)), (None, None), []),
        (((100, 1000, 20.0), (50, 940, 21.2)), (94, None), [{"time_limit": 20.0}]),
        (((100, 1000, 20.0), (50, 1060, 18.8)), (None, 94), [{"most": 1000}]),
        (((100, 1000, 20.0), (1, 1, 0.01)), (1, 1), []),
    ],
)
def test_whoever_spent_more_is_asked_again_with_less(
    spent: tuple[Spent, Spent], fewer: tuple[int | None, int | None], limits: list[dict[str, float]]
) -> None:
    study = Stub(mine=spent[:1], theirs=spent[1:])
    drop_nodes.fair(study, 1)
    assert study.asks("path") == [{"permutations": orders} for orders in (None, *fewer)]
    assert study.asks("own") == [{}, *study.asks("path")]
    assert study.asks("Data Shapley") == [{}, *limits]


def test_the_fair_table_has_means_of_what_was_spent() -> None:
    rows = drop_nodes.fair(Stub(), 2)
    names = ("mean", "mean sd", "orders", "evaluations", "seconds")
    found = {(row["budget"], row["method"]): [row[name] for name in names] for row in rows}
    sd = 0.5**0.5  # of two numbers with the difference 1
    expected = {
        "same rule": ([0.1, 0, 100, 1000, 12], [0.045, 0.01 * sd, 45, 2125, 8]),
        "equal evaluations": ([0.0625, 0.075 * sd, 62.5, 625, 10.5], [0.03, 0.04 * sd, 30, 625, 5]),
        "equal time": ([0.07, 0.06 * sd, 70, 700, 6], [0.0325, 0.015 * sd, 32.5, 2062.5, 6]),
    }
    assert len(found) == 9
    for budget, (ours, other) in expected.items():
        assert found[budget, "PC-Winter (own)"] == found[budget, "PC-Winter (path)"] == pytest.approx(ours)
        assert found[budget, "Data Shapley"] == pytest.approx(other)


@pytest.mark.parametrize("which", ["unlabelled", "labelled", "mixed"])
def test_tables_of_nodes_that_are_dropped(which: str) -> None:
    rows, *fair = drop_nodes.run(Stub(), 2, which).tables.values()
    assert len(fair) == ("rebound sd" in rows[0]) == (which == "unlabelled")
    names = ("orders", "evaluations", "seconds", "rebound", "labelled among the first", "labelled in all")
    found = {row["method"]: [row.get(name) for name in names] for row in rows}
    for method, spent, rebound, share in (
        ("PC-Winter (own)", (100, 1000, 12), 0.1, 0.75),
        ("PC-Winter (path)", (100, 1000, 12), 0.1, 0),
        ("Data Shapley", (45, 2125, 8), 0.045, 1),
        ("random", (None, None, 1), 0, 0),
    ):
        shares = (share, 2 / 6) if which == "mixed" else (None, None)
        assert found[method] == pytest.approx([*spent, rebound if which == "unlabelled" else None, *shares])


def test_edges_are_added_and_the_ranking_is_chosen_by_its_beginning_on_validation() -> None:
    own, path, beside = "PC-Winter (edge)", "PC-Winter (edge path)", "PC-Winter (edge by class)"
    added = {
        (own, "test", 0.0): [0.2, 0.5, 0.8, 0.4, 0.7],  # the best on test
        (own, "test", -np.inf): [0.2, 0.2, 0.2, 0.2, 0.7],
        (path, "test", 0.0): [0.1, 0.2, 0.5, 0.4, 0.6],
        (own, "validation", 0.0): [0.3, 0.3, 0.3, 0.3, 0.3],
        (path, "validation", 0.0): [0.5, 0.5, 0.5, 0.0, 0.0],  # the best over the first fifth
        (beside, "validation", 0.0): [0.4, 0.4, 0.4, 0.9, 0.9],  # the best over all
    }
    outcome = add_edges.run(study := Stub(added=added), 1)
    rows = {row["method"]: row for row in outcome.tables["cora add-edges"]}
    names = ("mean", "first 20 %", "at 10 %", "share that reaches all", "whole graph")
    chosen = (0.36, 0.8 / 3, 0.3, 1, 0.6)
    for method, expected in {
        "PC-Winter (own)": (0.52, 0.5, 0.6, 0.2, 0.7),
        "PC-Winter (own), edges without players last": (0.3, 0.2, 0.2, 1, 0.7),
        "PC-Winter (path)": chosen,
        "PC-Winter (chosen on validation)": chosen,
        "random": (0.1, 0.1, 0.1, 0, 0.1),
    }.items():
        assert [rows[method][name] for name in names] == pytest.approx(expected), method
    assert outcome.notes == ["Chosen on the validation graph: 1 \N{MULTIPLICATION SIGN} PC-Winter (path)."]
    assert [level for level, _ in study.asked] == ["edge", "edge path", "edge by class"]


@dataclass(eq=False)
class Splits(Stub):
    """Every split has another number of edges, and other curves; nothing is asked of the public one."""

    def pc_winter(self, *_: object, **__: object) -> Ranking:
        pytest.fail("asked the public split")

    def baseline(self, *_: object) -> Ranking:
        pytest.fail("asked the public split")

    def adding(self, *_: object, **__: object) -> Curve:
        pytest.fail("asked the public split")

    def fresh(self, seed: int) -> Study:
        own, chosen, random = ([0.2, 0.5, 0.8, 0.4, 0.6], [0.1, 0.2, 0.9, 0.4, 0.5], [0.3, 0.4, 0.2, 0.5, 0.5])
        if seed == 1:
            own, chosen, random = ([x / 2 for x in accuracy] for accuracy in (own, chosen, random))
        curves = {("PC-Winter (edge)", "test", 0.0): own, ("PC-Winter (edge path)", "test", 0.0): chosen}
        curves |= {("random edges", "test", 0.0): random, ("PC-Winter (edge path)", "validation", 0.0): [0.9] * 5}
        return Stub(added=curves, sizes=(0, 1, 4, 10, 20) if seed else (0, 10, 40, 100, 200), head="softmax")


def test_methods_are_compared_split_by_split() -> None:
    outcome = add_edges.run(Splits(), 2, fresh=True)
    rows = {row["method"]: row for row in outcome.tables["cora fresh-splits"]}
    sd = 0.5**0.5  # of two numbers with the difference 1
    for method, ahead, over in (
        ("PC-Winter (own)", -0.1, 0.0),
        ("PC-Winter (path)", 0.0, -0.2 / 3),
        ("random", 0.1, -0.5 / 3),
    ):
        row = rows[method]
        assert row["choice ahead by"] == pytest.approx(0.75 * ahead)
        assert row["choice ahead by sd"] == pytest.approx(abs(ahead / 2) * sd)
        assert row["10 % over all"] == pytest.approx(0.75 * over)
        assert row["10 % over all sd"] == pytest.approx(abs(over / 2) * sd)
    assert "choice ahead by" not in rows["PC-Winter (chosen on validation)"]
    assert "paper at 10 %" not in {name for row in rows.values() for name, value in row.items() if value is not None}
    settings = "softmax, rate 0.01, 200 epochs, decay 0.0005"
    assert outcome.notes[1:] == [f"Training graphs of 5 to 5 edges; heads: 2 \N{MULTIPLICATION SIGN} {settings}."]
    for by_seed in outcome.curves.values():
        assert [curve.count.tolist() for curve in by_seed.values()] == [[0, 5, 20, 50, 100]] * 2


@pytest.mark.parametrize("head", ["ridge", "softmax"])
def test_seconds_of_orders_and_evaluations(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_softmax_models", lambda study, walked: (0.02, 0.1 if walked == 40 else np.nan))
    mine, theirs = ((10, 1000, 5.0), (20, 4000, 60.0)), ((5, 100, 10.0), (5, 300, 10.0))
    ((_, rows),) = costs.efficiency(Stub(mine=mine, theirs=theirs, head=head), 2).tables.items()
    names = ("orders", "seconds an order", "seconds in total", "microseconds an evaluation")
    found = {row["method"]: [row[name] for name in names] for row in rows}
    expected = {"PC-Winter": (15, 1.75, 32.5, 10_000), "Data Shapley": (5, 2, 10, 2e5 / 3)}
    if head == "ridge":
        expected |= {"PC-Winter, softmax": (15, 3, 50, 20_000), "Data Shapley, softmax": (5, 4, 20, 100_000)}
    assert found == {method: pytest.approx(numbers) for method, numbers in expected.items()}


PAIRS = {"-".join(map(str, pair)): {"truncation": pair} for pair in ((0.5, 0.7), (0.9, 0.7), (0.5, 0.9))}
NUMBERS = {f"{n} orders": {"permutations": n} for n in (10, 50, 100)}
FAMILIES = {"PC-Winter": "dfs", "level only (L)": "level", "precedence only (P)": "precedence", "free": "free"}
WHOLE = {"truncation": (), "permutations": 200}


@pytest.mark.parametrize(
    ("experiment", "usual", "expected"),
    [
        (variants.truncation, (0.5, 0.7), PAIRS | {"none": {"truncation": ()}}),
        (variants.truncation, (0.7, 0.9), {"0.7-0.9": {"truncation": (0.7, 0.9)}} | PAIRS),
        (variants.permutations, (), NUMBERS | {"converged": {"permutations": None}}),
        (variants.ablation, (), {name: {"orders": family} | WHOLE for name, family in FAMILIES.items()}),
    ],
)
def test_variants_of_pc_winter(
    experiment: Callable[[Study, int], Outcome], usual: tuple[float, ...], expected: dict[str, dict[str, Any]]
) -> None:
    study = Stub(truncation=usual, mine=((300, 3000, 60.0),))
    ((_, rows),) = experiment(study, 1).tables.items()
    assert study.asks("own") == study.asks("path") == list(expected.values())
    orders = [given.get("permutations") or 300 for given in expected.values() for _ in range(2)]
    if experiment is variants.permutations:
        beside = rows.pop()
        assert (beside["method"], beside["orders"], beside["seconds"], beside["mean"]) == ("Data Shapley", 40, 8, 0.04)
    assert [row["method"] for row in rows] == [f"{name}, {level}" for name in expected for level in ("own", "path")]
    assert [row["orders"] for row in rows] == orders
    assert [row["seconds"] for row in rows] == pytest.approx([n / 5 for n in orders])
    assert [row["mean"] for row in rows] == pytest.approx([n / 1000 for n in orders])


@pytest.mark.parametrize("head", ["ridge", "softmax"])
def test_either_head_is_ablated_with_as_many_orders_of_every_family(head: str) -> None:
    for asked, drawn in ((None, 200), (70, 70)):
        study = Stub(head=head, orders=asked, mine=((300, 3000, 60.0),))
        variants.ablation(study, 1)
        assert [given["permutations"] for given in study.asks("own")] == [drawn] * 4


def test_a_budget_in_seconds_is_no_time_limit() -> None:
    study = Stub(max_seconds=300.0)
    for k, end in enumerate(
        ("Converged.", "The time limit of 300 seconds was", "The time limit of 30 seconds was", "")
    ):
        study.used[str(k)] = Ranking("a", np.arange(1), np.ones(1), np.ones(1), orders=int(bool(end)), status=end)
    (told,) = study.limits()
    assert "1 of 3 rankings" in told
    study.used["more"] = Ranking("a", np.arange(1), np.ones(1), np.ones(1), orders=1, workers=2)
    assert "1 or 2 processes" in study.limits()[1]


def test_a_figure_shows_the_mean_and_the_range() -> None:
    found = band([Curve(np.array([0, 7]), np.array(accuracy)) for accuracy in ([0.5, 0.5], [0.75, 0.5], [0.25, 0.2])])
    expected = np.array([[0, 7], [0.5, 0.4], [0.25, 0.2], [0.75, 0.5]])
    np.testing.assert_allclose(np.array(found), expected)
    axes = Figure().subplots()
    _draw_panel(axes, {"a": found}, {"a": ("black", "-")})
    (line,), (area,) = axes.get_lines(), axes.collections
    np.testing.assert_allclose(np.asarray(line.get_xydata()).T, expected[:2])
    corners = {tuple(corner) for corner in np.asarray(area.get_paths()[0].vertices).tolist()}
    assert corners == {(0, 0.25), (0, 0.75), (7, 0.2), (7, 0.5)}
    axes = Figure().subplots()
    _draw_panel(axes, {"a": found}, {"a": ("black", "-")}, shade=False)
    assert (len(axes.get_lines()), len(axes.collections)) == (1, 0)


@pytest.mark.parametrize("head", [pw.Ridge(0.1, 0.0, 0.4), pw.Softmax(0.1, 12, 5e-4)], ids=["ridge", "softmax"])
def test_data_shapley_ends_a_walk_after_six_steps_within_a_hundredth(head: pw.Ridge | pw.Softmax) -> None:
    labels = np.arange(44) % 2  # the more nodes know their class, the less one more adds
    graph = pw.Graph([(0, 2)], np.eye(2)[labels], labels, np.arange(40), np.arange(40, 44), [])
    game = node_game(graph, hops=2, metric="log-likelihood", head=head)
    expected = np.zeros(40)
    for k in range(3):
        coalition, last, close = np.zeros(40, dtype=np.bool_), game.empty, 0
        for player in np.random.default_rng(np.random.SeedSequence(0, spawn_key=(k,))).permutation(40):
            coalition[player] = True
            utility = game.utility(coalition)
            expected[player] += (utility - last) / 3
            last, close = utility, close + 1 if abs(game.full - utility) <= 0.01 * abs(game.full - game.empty) else 0
            if close == 6:
                break
        assert not coalition.all()
    found = pw.baselines.data_shapley(graph, head, pw.stopping.permutations(3), metric="log-likelihood")
    np.testing.assert_allclose(found.value, expected, atol=1e-10)


@quiet
def test_all_utilities_that_were_computed_are_counted() -> None:
    values = pw.value(random_graph(3), truncation=(0.5, 0.5), permutations=10)
    tally = values.estimate.tally
    assert min(tally.evaluations, tally.baselines) > 0
    assert pw.baselines.of_values(values, "own", "mine").evaluations == tally.evaluations + tally.baselines


class Late(Display):
    def __call__(self, now: pw.Progress) -> None:
        self.signal = SIGINT if now.orders == QUICK else 0
        super().__call__(now)


@quiet
@pytest.mark.parametrize("rank", [lambda study: study.pc_winter("own", 0), lambda study: study.data_shapley(0)])
def test_a_signal_in_the_last_block_ends_the_study(
    rank: Callable[[Study], Ranking], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study("tiny", random_graph(3), tmp_path, quick=True, quiet=True)
    with monkeypatch.context() as patch:
        patch.setattr("pcwinter.experiments.study.Display", Late)
        with pytest.raises(Interrupted) as end:
            rank(study)
    assert end.value.args == (SIGINT,)
    assert rank(study).orders == QUICK


def test_one_process_at_a_time(tmp_path: Path) -> None:
    study = Study("toy", GRAPH, tmp_path / "new", quiet=True)
    with study.alone(), pytest.raises(BlockingIOError, match=r"another process is using .*new: wait"):
        list(reproduce(study, "counts", seeds=1))
    assert len(list(reproduce(study, "counts", seeds=1))) == 1
    for name, which in (("drop_nodes", "unlabelled"), ("drop-nodes", "all")):
        with pytest.raises(
            ValueError, match=r"there is no experiment 'drop.nodes.*: choose from counts, drop-nodes unl"
        ):
            list(reproduce(study, name, which))


def test_a_table_of_more_seeds_does_not_go_without_a_word(tmp_path: Path) -> None:
    study = Stub(out=tmp_path, quiet=True)
    told = ["".join(reproduce(study, "permutations", seeds=seeds)) for seeds in (2, 1, 1)]
    word = "a table of 2 seeds"
    assert [word in text for text in told] == [False, True, False]


def test_models_of_nodes_are_those_of_a_truncated_walk() -> None:
    sizes = []

    class Game:
        n_players, place = 300, SimpleNamespace(hops=2)

        def changes(self, start: list[int], steps: int, coalition: BoolArray) -> bool:
            assert coalition[start].all()
            return coalition.sum() % 2 == 0 and steps == 3  # every other step changes a row

        def utility(self, coalition: BoolArray) -> float:
            sizes.append(int(coalition.sum()))
            return 0.0

    order = np.random.default_rng(0).permutation(300)
    assert costs._node_seconds(cast(NodeGame, Game()), order, 20.5) > 0
    assert sizes == list(range(2, 43, 2))
    sizes.clear()
    costs._node_seconds(cast(NodeGame, Game()), order, 1000.0)
    assert len(sizes) == 100
    assert (sizes[0], sizes[-1]) == (2, 300)
