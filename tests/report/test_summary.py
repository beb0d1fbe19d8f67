"""The words and figures at the top of the page."""

import re
from pathlib import Path

import pytest

import pcwinter as pw
from oracles import make_graph
from pcwinter import report
from pcwinter.runs.read import Run
from small_runs import Elements, embedded, small_run, with_story


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("accuracy", ("accuracy", "percentage point")),
        ("macro-f1", ("macro", "F1")),
        ("probability", ("mean", "probability", "true class")),
        ("log-likelihood", ("mean", "log-likelihood", "true class")),
    ],
)
def test_three_items_say_what_the_numbers_mean(metric: str, words: tuple[str, ...], tmp_path: Path) -> None:
    run = small_run(tmp_path, head=pw.Ridge(penalty=0.3, bias=1.0, temperature=1.0), metric=metric)
    page = report.page(run)
    sentences = re.findall(r'<ol class="meaning">(.*?)</ol>', page, re.DOTALL)[0].split("</li>")[:-1]
    assert len(sentences) == 3
    assert all(word in sentences[0] for word in (*words, "validation nodes"))
    assert "standard error" in sentences[1]
    gain = run.story["utility_full"] - run.story["utility_empty"]
    assert f"= {gain:.4f}" in sentences[2]
    assert gain == pytest.approx(run.nodes["value"].sum())
    roots = run.value[(run.paths >= 0).sum(axis=1) == 1].sum()
    for part in (roots, run.edges["value"].sum()):
        assert f" {part:.4f}".replace("-", "\N{MINUS SIGN}") in sentences[2]


def test_the_figures_at_the_top(run: Run) -> None:
    page = report.page(run)
    pairs = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", page)
    names, figures = zip(*pairs, strict=True)
    assert [name.split(" with ")[-1].removeprefix("with ") for name in names[:3]] == [
        "everything",
        "labelled nodes only",
        "nothing",
    ]
    assert names[0].startswith("validation accuracy ")
    utilities = [run.story[f"utility_{name}"] for name in ("full", "roots", "empty")]
    assert [float(figure) for figure in figures[:3]] == pytest.approx(utilities, abs=1e-4)
    counts = [len(run.nodes), len(run.edges), run.story["n_players"], run.story["permutations"]]
    assert [int(figure.replace(",", "")) for figure in figures[3:]] == counts


def test_the_sentences_of_special_runs(tmp_path: Path) -> None:
    truncated = report.page(small_run(tmp_path / "a", truncation=(0.5, 0.5), remainder="nobody"))
    assert "truncated (0.5, 0.5)" in truncated
    assert "not add up" not in report.page(small_run(tmp_path / "shared", truncation=(0.5, 0.5)))
    assert "do not add up" in truncated
    assert "do not add up" not in report.page(small_run(tmp_path / "d", truncation=(0.0, 0.0)))
    exact = report.page(small_run(tmp_path / "b", pw_graph(), exactly=True))
    assert "no sampling error" in exact
    assert "all permitted orders" in exact
    assert "no convergence to show" in exact
    again = small_run(tmp_path / "c", bootstrap=20)
    bootstrapped = report.page(again)
    assert "“± validation”" in bootstrapped
    assert len(embedded(bootstrapped)["nodes"]["stderr_validation"]) == len(again.nodes)


def test_a_single_order_has_no_error_bars(tmp_path: Path) -> None:
    page = report.page(small_run(tmp_path, permutations=1))
    shown = embedded(page)
    assert set(shown["nodes"]["stderr"]) == set(shown["edges"]["stderr"]) == set(shown["groups"]["stderr"]) == {None}
    assert "no standard error" in page
    assert "Too few orders" in page
    assert not any(shown["nodes"]["unclear"] + shown["edges"]["unclear"])
    assert "NaN" not in re.sub(r"<script>.*", "", page, flags=re.DOTALL)


def test_warnings_are_shown_and_absent_ones_are_not(run: Run) -> None:
    warned = Elements(report.page(with_story(run, warnings=["mind the gap", "fw/edges.csv has more columns"])))
    assert {("li", "mind the gap"), ("li", "fw/edges.csv has more columns")} <= set(warned.text)
    calm = report.page(with_story(run, warnings=[]))
    assert 'id="warned"' not in calm
    assert Elements(calm).words().count(run.story["status"]) == 1


def pw_graph() -> pw.Graph:
    return make_graph([(0, 1), (0, 2), (3, 4)], [0, 3], n_val=20)
