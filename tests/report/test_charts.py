"""The charts of a report: curves of experiments, ticks, texts that fit."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pcwinter import report
from pcwinter.report import svg
from pcwinter.report.layout import layout
from pcwinter.runs.read import Run
from small_runs import Elements, small_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(tmp_path_factory.mktemp("run"))


def test_curves_of_experiments(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "experiments"
    folder.mkdir()
    rows = [
        f"{method},{seed},{x},{x * 0.01 + int(seed)}"
        for method in ("own", "random")
        for seed in "12"
        for x in range(500)
    ]
    (folder / "drop nodes.csv").write_text("\n".join(["method,seed,dropped,accuracy", *rows]))
    page = report.page(replace(run, directory=tmp_path))
    lines = re.findall(r'<polyline points="([^"]*)" class="curve method\d"', page)
    assert [len(points.split()) for points in lines if len(points.split()) > 2] == [168, 168]
    assert page.count('class="band method') == 2
    words = Elements(page).words()
    for word in ("drop nodes", "dropped", "accuracy", "own", "random", "over 2 seeds", "some of their points"):
        assert word in words


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("a,1,1,1\na,1,2,1\nb,1,1,2\n", "One seed."),
        ("a,1,1,1\na,2,2,1\n", "One seed per point."),
        ("a,1,1,1\nb,1,1,2\nb,2,1,3\n", "1 to 2 seeds"),
    ],
)
def test_a_caption_counts_the_seeds_of_a_point(run: Run, tmp_path: Path, rows: str, sentence: str) -> None:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "few.csv").write_text("method,seed,x,y\n" + rows)
    assert sentence in Elements(report.page(replace(run, directory=tmp_path))).words()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "columns are missing"),
        (b"method,seed,x\n", "columns are method, seed, x, expected"),
        (b"method,seed,x,y\n", "no rows"),
        (b"method,seed,x,y\na,1,2\n", "line 2 has 3 entries, expected 4"),
        (b"method,seed,x,y\na,1,2,oops\n", "line 2 has 'oops' where a number is expected"),
        (b"method,seed,x,y\na,1,2,nan\n", "line 2 has 'nan' where a number is expected"),
        (b"method,seed,x,y\na,1,2,1e308\na,1,3,-1e308\n", "line 2 has '1e308' where a number is expected"),
        (b"method,seed,x,y\na,1,2," + b"x" * 9999, "x" * 79 + "…' where a number is expected"),
        (b"method,seed,x,y\na,1,2,3\na,1,2,4\n", "line 3 repeats a method, seed and x"),
        (b"\xff\xfe", "line 1 is not UTF-8"),
    ],
)
def test_a_malformed_experiment_is_named_and_breaks_nothing(
    run: Run, tmp_path: Path, content: bytes, sentence: str
) -> None:
    folder = tmp_path / "experiments"
    folder.mkdir()
    (folder / "good.csv").write_text("method,seed,x,y\na,1,2,3\n")
    (folder / "bad.csv").write_bytes(content)
    words = Elements(report.page(replace(run, directory=tmp_path))).words()
    assert "The file experiments/bad.csv is not shown: " in words
    assert sentence in words
    assert "One seed." in words
    assert str(tmp_path) not in words


def test_a_run_without_experiments_has_no_section_for_them(run: Run, tmp_path: Path) -> None:
    def mentions(directory: Path) -> list[str]:
        elements = Elements(report.page(replace(run, directory=directory)))
        places = [attributes.get(name) for _, attributes in elements.tags for name in ("id", "href")]
        return [place for place in places if place in ("experiments", "#experiments")]

    assert mentions(tmp_path) == []
    (tmp_path / "experiments").mkdir()
    assert mentions(tmp_path) == []
    (tmp_path / "experiments" / "good.csv").write_text("method,seed,x,y\na,1,2,3\n")
    assert sorted(mentions(tmp_path)) == ["#experiments", "experiments"]


def test_components_are_drawn_apart() -> None:
    ends = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [5, 6], [6, 7]])
    at = layout(10, ends)
    np.testing.assert_array_equal(at, layout(10, ends))
    parts = [at[[0, 1, 2]], at[[3, 4]], at[[5, 6, 7]], at[[8]], at[[9]]]
    for k, part in enumerate(parts):
        for other in parts[:k]:
            below, above = part.max(axis=0) < other.min(axis=0), part.min(axis=0) > other.max(axis=0)
            assert np.any(below | above)
    assert layout(0, np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)


def test_ticks_are_round_and_inside() -> None:
    assert svg.Scale(-0.013, 0.031, 0, 100).ticks() == pytest.approx([-0.01, 0, 0.01, 0.02, 0.03])
    assert svg.Scale(0, 340, 0, 100).ticks() == [0, 100, 200, 300]
    assert svg.Scale(0.04, 1.1, 0, 100, log=True).ticks() == pytest.approx([0.1, 0.3, 1])
    assert svg.span(np.array([2.0, 2.0])) == (1.0, 3.0)
    assert svg.span(np.zeros(0)) == pytest.approx((-0.04, 1.04))


def test_ticks_that_differ_look_different() -> None:
    assert svg.numbers([0.0, 0.5, -1000.0, 20_000.0]) == ["0", "0.5", f"{svg.MINUS}1,000", "20,000"]
    assert svg.numbers([0.66201, 0.662012]) == ["0.66201", "0.662012"]
    assert svg.numbers([1e6, 1e6 + 2]) == ["1000000", "1000002"]
    assert svg.numbers([-2e-7, 0]) == [f"{svg.MINUS}2e{svg.MINUS}7", "0"]
    low, high = svg.span(np.array([0.7, 0.7 + 1e-16]))
    assert high - low == pytest.approx(0.7)


def test_small_sums_are_not_zero() -> None:
    assert [svg.signed(x) for x in (0.01234, -0.5, 0.0, -1e-17, -1.23e-7)] == [
        "+0.0123",
        f"{svg.MINUS}0.5000",
        "+0.0000",
        "+0.0000",
        f"{svg.MINUS}1.2e{svg.MINUS}07",
    ]


def test_text_that_is_too_long_ends_in_dots() -> None:
    assert svg.text(0, 0, "a short one", room=100).endswith(">a short one</text>")
    for words in ("a" * 20, "W" * 20, "概率方法研究与应用论文集"):
        cut = re.fullmatch(r"<text[^>]*>(.*)…<title>(.*)</title></text>", svg.text(0, 0, words, room=100))
        assert cut is not None
        assert cut[2] == words
        assert 0 < len(cut[1]) <= 12
