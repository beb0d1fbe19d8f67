"""Curves of experiments in a report, and files that are not shown."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pcwinter import report
from pcwinter.runs.read import Run
from small_runs import Elements


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
