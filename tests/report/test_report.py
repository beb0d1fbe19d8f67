"""The page as a whole: what it loads, its size, and that it is always the same. test_browser.py has its behaviour."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

import pcwinter as pw
from oracles import make_graph
from pcwinter import report
from pcwinter.report import data
from pcwinter.runs.read import Run
from small_runs import HEAD, Elements, embedded, small_run


def test_nothing_is_loaded_and_only_this_script_may_run(run: Run) -> None:
    page = report.page(run)
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)[0]
    assert policy.startswith("default-src 'none';")
    for tag in ("script", "style"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert set(re.findall(r"\w+://[^\s\"'`]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not a place
    sources = [
        value for _, attributes in Elements(page).tags for name, value in attributes.items() if name in ("src", "href")
    ]
    assert all(value and (value.startswith("#") or value == "data:,") for value in sources)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", page)
    assert not re.search(r"<[^>]* style=", page)


def test_the_same_run_gives_the_same_page(run: Run) -> None:
    assert report.page(run) == report.page(run)


def test_a_graph_without_edges(tmp_path: Path) -> None:
    graph = make_graph([(2, 3)], [0, 1], n_val=20)
    run = small_run(tmp_path, graph)
    shown = embedded(report.page(run))
    assert len(run.edges) == 0
    assert shown["edges"]["value"] == []
    assert shown["nodes"]["distance"] == [0, 0]


def test_the_page_of_the_demo_is_small(tmp_path: Path) -> None:
    run = small_run(tmp_path, pw.load("demo"), head=HEAD, permutations=2)
    page = report.page(run)
    assert len(page.encode()) < 500_000
    assert embedded(page)["nodes"]["listed"] == 567
    assert len(embedded(page)["groups"]["value"]) == int((~run.null).sum())


@pytest.mark.real_data
def test_the_page_of_a_large_graph_is_bounded(tmp_path: Path, data_dir: Path) -> None:
    run = small_run(tmp_path, pw.load("amazon-photo", data=data_dir), permutations=1)
    page = report.page(run)
    assert len(page.encode()) < 3_000_000
    assert len(embedded(page)["groups"]["value"]) <= data.PATHS
    assert embedded(page)["edges"]["of"] > len(embedded(page)["edges"]["value"]) == data.EDGES
