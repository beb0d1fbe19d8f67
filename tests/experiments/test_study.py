"""A study: what is known is not computed again, limits, signals, one process at a time."""

import re
from collections.abc import Callable
from pathlib import Path
from signal import SIGINT

import numpy as np
import pytest

import pcwinter as pw
from oracles import random_graph
from pcwinter.baselines.ranking import Ranking
from pcwinter.estimation.display import Display
from pcwinter.experiments import reproduce
from pcwinter.experiments.folder import alone
from pcwinter.experiments.opening import open_study
from pcwinter.experiments.study import QUICK, Interrupted, Study
from stub_study import GRAPH, Stub

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")


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


@quiet
def test_a_filter_is_that_of_values_baselines_and_judge(tmp_path: Path) -> None:
    graph = random_graph(3)
    plain = open_study("tiny", tmp_path, graph=graph, quick=True, on="validation", quiet=True)
    study = open_study("tiny", tmp_path, graph=graph, quick=True, filter="appnp:0.30", on="validation", quiet=True)
    assert study.title("add-edges") == "tiny add-edges appnp:0.3 on validation"
    assert study.values(0).request.filter == "appnp:0.3"
    theta = (0.3, 0.21, 0.49)
    assert study.judges["validation"].theta == pytest.approx(theta)
    for method in ("leave-one-out", "leave-one-out edges", "influence", "influence edges"):
        other = plain.baseline(method, 0)
        assert study.baseline(method, 0).items.tolist() == other.items.tolist()
    expected = pw.baselines.influence_nodes(graph, filter=theta)
    np.testing.assert_allclose(study.baseline("influence", 0).value, expected.value, atol=1e-12)
    assert np.abs(plain.baseline("influence", 0).value - expected.value).max() > 1e-4
    assert study.data_shapley(0).orders == QUICK
    with pytest.raises(ValueError, match="preset='paper' means the filter sgc"):
        open_study("tiny", tmp_path, graph=graph, preset="paper", filter="mean")
    with pytest.raises(ValueError, match="filter is 'x', expected sgc"):
        open_study("tiny", tmp_path, graph=graph, filter="x")


@quiet
def test_a_budget_in_seconds_gives_a_short_name(tmp_path: Path) -> None:
    study = Study("tiny", random_graph(3), tmp_path, quiet=True)
    first = study.data_shapley(0, time_limit=0.1117307519998576)
    (folder,) = (tmp_path / "runs").iterdir()
    assert "0.112-s" in folder.name
    again = Study("tiny", random_graph(3), tmp_path, quiet=True).data_shapley(0, time_limit=0.1117307519998576)
    assert again.evaluations == first.evaluations
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [folder.name]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    study = Study("toy", GRAPH, tmp_path / "new", quiet=True)
    with alone(study.out), pytest.raises(BlockingIOError, match=r"another process is using .*new: wait"):
        list(reproduce(study, "counts", seeds=1))
    assert len(list(reproduce(study, "counts", seeds=1))) == 1
    for name, which in (("drop_nodes", "unlabelled"), ("drop-nodes", "all")):
        with pytest.raises(ValueError, match=r"'drop.nodes.* counts, drop-nodes unl"):
            list(reproduce(study, name, which))


@quiet
def test_what_is_known_is_not_computed_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    first = study.pc_winter("own", 0)
    again = open_study("demo", study.out, quick=True, quiet=True)
    monkeypatch.setattr(Study, "values", lambda *_, **__: pytest.fail("computed again"))
    second = again.pc_winter("own", 0)
    np.testing.assert_array_equal(first.value, second.value)
    np.testing.assert_array_equal(first.items, second.items)
    assert (first.orders, first.evaluations, first.status) == (second.orders, second.evaluations, second.status)


@quiet
def test_what_is_damaged_is_made_again(study: Study) -> None:
    first = study.baseline("degree", 0)
    curve = study.dropping(first, 0)
    for damage in (lambda text: "{}", lambda text: text[:50], lambda text: re.sub(r"(\d\.\d+)", "0.5", text)):
        for path in [*(study.out / "rankings").glob("*degree*"), *(study.out / "curves").iterdir()]:
            path.write_text(damage(path.read_text()))
        again = open_study("demo", study.out, quick=True, quiet=True)
        np.testing.assert_array_equal(again.baseline("degree", 0).value, first.value)
        np.testing.assert_array_equal(again.dropping(first, 0).accuracy, curve.accuracy)


def test_a_curve_that_is_known_is_read(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = np.flatnonzero(~np.isin(np.arange(study.graph.n_nodes), study.graph.train))[:4]
    ranking = Ranking("mine", nodes, -np.arange(4.0), np.full(4, np.nan))
    first = study.dropping(ranking, 0)
    monkeypatch.setattr("pcwinter.experiments.study.judged", lambda *_, **__: pytest.fail("judged again"))
    again = study.dropping(ranking, 0)
    np.testing.assert_array_equal(first.count, again.count)
    np.testing.assert_array_equal(first.accuracy, again.accuracy)
    with pytest.raises(pytest.fail.Exception):  # another order is another curve
        study.dropping(Ranking("mine", nodes[::-1].copy(), -np.arange(4.0), np.full(4, np.nan)), 0)
