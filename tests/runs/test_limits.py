"""A run ends between two orders, by time or Ctrl-C, and continues there to the bits of an undisturbed run."""

import io
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from command import files
from oracles import random_graph
from pcwinter import valuation
from pcwinter.estimation import estimator
from pcwinter.estimation.display import Display
from pcwinter.game.problem import GraphGame
from pcwinter.game.tree import LEVELS
from pcwinter.runs import directory
from pcwinter.runs.checkpoints import NAMES
from pcwinter.valuation import BOOTSTRAPPED

pytestmark = pytest.mark.filterwarnings("ignore:the edges harm the model")
HEAD = pw.Ridge(penalty=0.3, bias=1.0, temperature=0.5)
ORDER = 50.0  # seconds of the fake clock
GRAPH = random_graph(3)
OPTIONS: dict[str, Any] = {"head": HEAD, "metric": "log-likelihood", "bootstrap": 5}


@pytest.fixture
def tick(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock that stands still, except that an order takes 50 seconds; the fixture moves it."""
    now = 1000.0

    def tick(seconds: float) -> None:
        nonlocal now
        now += seconds

    real = GraphGame.walk

    def walk(game: GraphGame, *arguments: object, **options: object) -> object:
        tick(ORDER)
        return real(game, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(GraphGame, "walk", walk)
    for module in (estimator, valuation, directory):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now))
    return tick


@pytest.mark.parametrize("orders", [1, 7, 10, 23])
def test_a_time_limit_ends_a_run_after_the_order_under_way(orders: int, tick: Callable[[float], None]) -> None:
    limited = pw.value(GRAPH, **OPTIONS, max_seconds=orders * ORDER - 1)
    assert limited.permutations == orders
    assert limited.estimate.seconds == orders * ORDER
    whole = pw.value(GRAPH, **OPTIONS, permutations=orders)
    assert limited.nodes().equals(whole.nodes())
    assert limited.players().equals(whole.players())


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("stops", [[1], [7], [10], [3, 5, 12, 23], [23, 29, 30]])
def test_a_run_continues_inside_a_block(
    stops: list[int], workers: int, tick: Callable[[float], None], tmp_path: Path
) -> None:
    for orders in stops:
        limited = pw.run(GRAPH, tmp_path / "run", **OPTIONS, max_seconds=orders * ORDER, resume=True)
        assert limited.permutations == orders
    drawn: list[int] = []
    pw.run(
        GRAPH,
        tmp_path / "run",
        **OPTIONS,
        permutations=45,
        resume=True,
        workers=workers,
        progress=lambda now: drawn.append(now.orders),
    )
    assert drawn[0] == stops[-1]  # no order is repeated
    pw.run(GRAPH, tmp_path / "peace", **OPTIONS, permutations=45)
    assert files(tmp_path / "run") == files(tmp_path / "peace")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("bootstrap", [0, 5])
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
def test_visits_and_errors_continue_inside_a_block(
    metric: str, bootstrap: int, workers: int, tick: Callable[[float], None], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"head": HEAD, "metric": metric, "bootstrap": bootstrap}
    options |= {"truncation": (0.8, 0.8), "remainder": "nobody"}
    for orders in (1, 7, 13):
        pw.run(GRAPH, tmp_path / "run", **options, max_seconds=orders * ORDER, resume=True)
    cut = pw.run(GRAPH, tmp_path / "run", **options, permutations=16, resume=True, workers=workers)
    whole = pw.run(GRAPH, tmp_path / "peace", **options, permutations=16)
    assert files(tmp_path / "run") == files(tmp_path / "peace")
    assert len(np.unique(whole.estimate.visits())) > 2
    assert 0 < whole.players()["stderr"].isna().sum() < len(whole.players())
    for level in ("player", *LEVELS):
        np.testing.assert_array_equal(cut.estimate.visits(level), whole.estimate.visits(level))
        np.testing.assert_array_equal(cut.estimate.stderr(level), whole.estimate.stderr(level))
    assert cut.validation_stderr.keys() == whole.validation_stderr.keys() == set(BOOTSTRAPPED if bootstrap else ())
    for level, spread in whole.validation_stderr.items():
        assert (spread > 0).any()
        np.testing.assert_array_equal(cut.validation_stderr[level], spread)


def test_a_run_whose_time_is_over_stays_as_it_is(tick: Callable[[float], None], tmp_path: Path) -> None:
    for _ in range(2):
        again = pw.run(GRAPH, tmp_path, **OPTIONS, loading=30.0, max_seconds=7 * ORDER, resume=True)
        assert again.permutations == 7


def test_preparation_counts_and_is_told_apart(
    tick: Callable[[float], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GraphGame, "prepare", lambda game, order, parts=None: tick(100.0))
    done = pw.run(GRAPH, tmp_path, **OPTIONS, loading=30.0, max_seconds=5 * ORDER)
    assert done.permutations == 3  # 30 + 100 + 3 * 50 > 250
    assert "3 orders" in done.status
    assert "in 150.00 s, after 130.00 s of preparation" in repr(done)
    story = pw.read(tmp_path).story
    assert (story["seconds"], story["setup_seconds"]) == (150.0, 130.0)


def test_one_order_comes_out_even_if_preparation_takes_too_long(tick: Callable[[float], None], tmp_path: Path) -> None:
    assert pw.run(GRAPH, tmp_path, **OPTIONS, loading=1000.0, max_seconds=10).permutations == 1


def test_workers_end_inside_a_block(tmp_path: Path) -> None:
    limited = pw.run(GRAPH, tmp_path / "run", **OPTIONS, max_seconds=1e-6, workers=2)
    assert 1 <= limited.permutations <= 10  # usually 1: the workers learn of the limit while they start
    pw.run(GRAPH, tmp_path / "run", **OPTIONS, permutations=25, workers=2, resume=True)
    pw.run(GRAPH, tmp_path / "peace", **OPTIONS, permutations=25)
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_ctrl_c_ends_a_run_between_two_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, walked = GraphGame.walk, []

    def walk(game: GraphGame, *arguments: object, **options: object) -> object:
        walked.append(1)
        if len(walked) == 13:
            os.kill(os.getpid(), signal.SIGINT)
            end = time.monotonic() + 10
            while not display.signal:
                assert time.monotonic() < end
                time.sleep(0.001)
        return real(game, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(GraphGame, "walk", walk)
    with Display(stream=io.StringIO()) as display:
        stop = pw.stopping.permutations(1000) | display.interrupted
        cut = pw.run(GRAPH, tmp_path / "run", **OPTIONS, stop=stop, progress=display)
    assert cut.permutations == len(walked) == 13
    assert cut.status == "Interrupted after 13 orders: resume=True continues the run."
    pw.run(GRAPH, tmp_path / "run", **OPTIONS, permutations=25, resume=True)
    pw.run(GRAPH, tmp_path / "peace", **OPTIONS, permutations=25)
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_a_damaged_checkpoint_inside_a_block_costs_only_that_block(
    tick: Callable[[float], None], tmp_path: Path
) -> None:
    pw.run(GRAPH, tmp_path / "run", **OPTIONS, max_seconds=13 * ORDER)
    newest = max((tmp_path / "run" / name for name in NAMES), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(newest.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="is damaged .* continues from 10 orders"):
        pw.run(GRAPH, tmp_path / "run", **OPTIONS, permutations=15, resume=True)
    pw.run(GRAPH, tmp_path / "peace", **OPTIONS, permutations=15)
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_the_display_learns_what_happens_before_the_first_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    display, seen = Display(stream=io.StringIO()), list[str]()
    monkeypatch.setattr(display, "stage", seen.append)
    pw.value(GRAPH, permutations=1, progress=display)
    assert seen == ["preparing the game", "calibrating", "compiling", "first orders"]
    seen.clear()
    pw.value(GRAPH, head=HEAD, permutations=1, progress=display)
    assert seen == ["preparing the game", "compiling", "first orders"]
