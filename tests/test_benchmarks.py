"""The benchmarks on the embedded graph: they time the right thing, and the page shows what was measured."""

import json
from collections.abc import Callable
from functools import reduce
from operator import add
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import costs, coverage
from benchmarks.growth import with_edges, with_labelled, with_validation
from benchmarks.machine import ROOT, in_fresh_process
from benchmarks.peer import rows_alone
from benchmarks.plain import PlainLoop
from benchmarks.ratios import evaluated, spaced, thin
from benchmarks.table import markdown

import pcwinter as pw
from pcwinter.estimation.moments import Moments
from pcwinter.game.problem import GraphGame
from pcwinter.heads.softmax import softmax_for

RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def demo() -> pw.Graph:
    return pw.load("demo")


@pytest.fixture(scope="module")
def tree(demo: pw.Graph) -> pw.ContributionTree:
    return pw.contribution_tree(demo)


@pytest.fixture(scope="module")
def ridge(demo: pw.Graph, tree: pw.ContributionTree) -> GraphGame:
    return pw.graph_game(demo, tree, pw.Ridge(penalty=3, bias=3), coalition="induced")[0]


def test_the_plain_loop_plays_the_game_of_the_softmax_head(demo: pw.Graph, tree: pw.ContributionTree) -> None:
    """Single precision may turn a node or two of 500."""
    game, _, _ = pw.graph_game(demo, tree, softmax_for(demo), coalition="induced")
    plain = PlainLoop(demo, tree)
    for truncation in ((), (0.5, 0.7)):
        order = pw.sampler(tree, "dfs", truncation)(np.random.default_rng(1))
        ends = [int(at) + 1 for at in spaced(evaluated(tree, order), 5)]
        for end, evaluation in zip(ends, plain.prepare(order, ends), strict=True):
            coalition = np.zeros(tree.n_players, dtype=np.bool_)
            coalition[order.players[:end]] = True
            assert len(evaluation.labels) == coalition[tree.roots].sum()
            assert plain.evaluate(evaluation) == pytest.approx(game.utility(coalition), abs=2.5 / len(demo.val))


@pytest.mark.parametrize("truncation", [(), (0.5, 0.7)], ids=str)
def test_what_counts_as_evaluated(truncation: tuple[float, ...], tree: pw.ContributionTree, ridge: GraphGame) -> None:
    order = pw.sampler(tree, "dfs", truncation)(np.random.default_rng(2))
    assert len(evaluated(tree, order)) == ridge.walk(order).evaluations


def test_a_thinned_order_has_the_same_utilities(tree: pw.ContributionTree, ridge: GraphGame) -> None:
    order = pw.sampler(tree)(np.random.default_rng(3))
    whole = ridge.walk(order)
    short = thin(tree, order, 600)
    walk = ridge.walk(short)
    assert 450 <= walk.evaluations + walk.baselines <= 750
    assert short.visited[np.isin(order.players, tree.roots)].all()
    at = evaluated(tree, short)
    assert set(at) <= set(evaluated(tree, order))
    steps = np.searchsorted(short.steps(), at, side="right") - 1
    np.testing.assert_array_equal(walk.utility[steps], whole.utility[at])


def test_graphs_that_grow_in_one_size_only(demo: pw.Graph) -> None:
    def edges(graph: pw.Graph | None) -> set[tuple[int, int]]:
        assert graph is not None
        coo = sp.coo_array(graph.training)
        return set(zip(coo.row.tolist(), coo.col.tolist(), strict=True))

    more = with_validation(demo, 700)
    assert more is not None
    assert (len(more.val), len(more.test), edges(more)) == (700, 800, edges(demo))
    labelled = with_labelled(demo, 300)
    assert labelled is not None
    assert (len(labelled.train), edges(labelled)) == (300, edges(demo))
    assert set(demo.train) < set(labelled.train)
    assert edges(with_edges(demo, 1.0)) == edges(demo)
    assert edges(with_edges(demo, 0.3)) < edges(demo)
    assert with_validation(demo, 10_000) is None


def test_the_game_that_the_peer_plays(demo: pw.Graph, tree: pw.ContributionTree) -> None:
    """Without edges, the labelled rows alone score as all players do."""
    rows = rows_alone(demo)
    alone = pw.contribution_tree(rows, hops=1)
    game, _, _ = pw.graph_game(rows, alone, pw.Ridge(penalty=3, bias=3))
    assert game.n_players == len(demo.train)
    whole, _, _ = pw.graph_game(demo, tree, pw.Ridge(penalty=3, bias=3))
    full = np.ones(tree.n_players, dtype=np.bool_)
    assert game.utility(np.ones(game.n_players, dtype=np.bool_)) == whole.utility(full)


def test_workers_are_compared_by_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that only the stub moves: 1 s to start two workers, then twice the speed."""
    now = [0.0]

    def value(
        graph: object, *, head: object, permutations: int, progress: Callable[[object], None], workers: int
    ) -> None:
        now[0] += workers - 1.0
        for orders in range(10, permutations + 1, 10):
            now[0] += 0.1 / workers
            progress(SimpleNamespace(orders=orders))

    monkeypatch.setattr(pw, "value", value)
    monkeypatch.setattr(costs, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    result = costs.workers("demo", orders=600, rounds=1)
    assert result["ratio_steady"] == pytest.approx(2)
    assert result["ratio_with_start"] == pytest.approx(6 / 4)


def test_a_measurement_in_a_fresh_process() -> None:
    (line,) = in_fresh_process("memory", dataset="demo")
    assert 0 < line["imports_mb"] < line["peak_mb"] < 4_000
    with pytest.raises(RuntimeError, match="there is no dataset 'nowhere'"):
        in_fresh_process("memory", dataset="nowhere")


def test_the_page_shows_what_was_measured() -> None:
    page = (RESULTS / "bench.md").read_text()
    results = json.loads((RESULTS / "bench.json").read_text())
    assert markdown(results) == page
    assert len(results["ratios"]) == 12  # three datasets, two heads, with and without truncation
    assert (RESULTS / "growth.png").exists()


def test_what_failed_is_named_on_the_page() -> None:
    machine = dict.fromkeys(
        ("command", "date", "commit", "cpu", "cores", "system", "python", "numpy", "scipy", "numba", "torch"), "?"
    )
    page = markdown({"machine": machine, "failed": {"pyDVL, cora": "no network"}})
    assert "- pyDVL, cora: no network" in page


def test_the_coverage_of_normal_numbers_is_95_percent() -> None:
    """Two rows: normal numbers, and a constant."""
    draws = np.random.default_rng(0).normal(size=(6_000, 1)) * [1.0, 0.0] + 5
    blocks = [reduce(add, map(Moments.of, part)) for part in np.split(draws, 600)]
    kurtosis = coverage._kurtosis(np.array([np.sum(draws**k, axis=0) for k in range(5)]))
    assert kurtosis[0] == pytest.approx(3, abs=4 * np.sqrt(24 / 6_000))
    assert np.isnan(kurtosis[1])
    sampled = coverage.Sampled(blocks, kurtosis, {"own": slice(0, 2)}, 1.0)
    for together in (1, 2):
        share = coverage.covered(sampled, together)[0]
        assert abs(share - 0.95) <= 4 * np.sqrt(0.95 * 0.05 * together / 600)
    (line,) = coverage.lines(sampled, "any", [10])
    assert line.startswith("| any | own | 10 | 2 | 1 | ")
