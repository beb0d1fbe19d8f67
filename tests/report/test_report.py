"""The report: its text, its numbers and its size. How it behaves in a browser is in test_browser.py."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from oracles import distances, make_graph
from pcwinter import report
from pcwinter.report import data
from pcwinter.report.facts import OPTIONS, limits
from pcwinter.runs.read import Run
from small_runs import HEAD, HOSTILE, HOSTILE_CLASSES, Elements, named_graph, node_sums, nonnull, small_run, with_story


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def paths_of(shown: dict[str, Any], node: int) -> list[tuple[list[int], float]]:
    """What the page's script makes of the players of a listed node: paths by rows, with values."""
    groups, width, found = shown["groups"], shown["groups"]["width"], []
    for group in range(groups["begin"][node], groups["begin"][node + 1]):
        for path in range(groups["first"][group], groups["first"][group + 1]):
            inner = [step for step in groups["inner"][path * width : (path + 1) * width] if step >= 0]
            root = groups["root"][group]
            found.append(([node] if root == node else [root, *inner, node], groups["value"][path]))
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(tmp_path_factory.mktemp("run"))


def test_the_tables_hold_the_numbers_of_the_run(run: Run) -> None:
    shown = embedded(report.page(run))
    for name, table in (("nodes", run.nodes), ("edges", run.edges)):
        assert shown[name]["of"] == len(table) == len(shown[name]["value"])
    nodes = shown["nodes"]
    by_id = run.nodes.set_index("node")
    for column in ("value", "stderr", "value_path", "stderr_path"):
        assert nodes[column] == by_id.loc[nodes["id"], column].round(shown["decimals"]).tolist()
    for column in ("labelled", "players"):
        assert nodes[column] == by_id.loc[nodes["id"], column].astype(int).tolist()
    edges = shown["edges"]
    ends = [(nodes["id"][a], nodes["id"][b]) for a, b in zip(edges["source"], edges["target"], strict=True)]
    by_ends = {(row.source, row.target): row for row in run.edges.round(shown["decimals"]).itertuples()}
    assert edges["value"] == [by_ends[pair].value for pair in ends]
    assert edges["stderr"] == [by_ends[pair].stderr for pair in ends]


def test_edges_are_compared_with_their_class(tmp_path: Path) -> None:
    values = pw.value(pw.load("demo"), head=HEAD, permutations=2)
    pw.write(values, tmp_path)
    shown = embedded(report.page(pw.read(tmp_path)))
    table = values.edges()
    pairs = zip(table["source"].astype(str), table["target"].astype(str), strict=True)
    wanted = dict(zip(pairs, values.edges_within_class().round(shown["decimals"]).tolist(), strict=True))
    ids, edges = shown["nodes"]["id"], shown["edges"]
    ends = [(ids[a], ids[b]) for a, b in zip(edges["source"], edges["target"], strict=True)]
    assert dict(zip(ends, edges["within_class"], strict=True)) == pytest.approx(wanted, abs=1e-12)
    assert any(wanted.values())


def test_values_within_two_standard_errors_of_zero_are_unclear(run: Run) -> None:
    nodes = run.nodes.assign(value=1.0, stderr=0.1)
    nodes.loc[:5, "value"] = [0.2, -0.2, 0.2001, -0.2001, 0.0, 0.0]
    nodes.loc[5, "stderr"] = 0.0  # exactly 0, which is clear
    nodes.loc[6, "stderr"] = np.nan
    shown = embedded(report.page(replace(run, nodes=nodes)))["nodes"]
    marked = {name for name, unclear in zip(shown["id"], shown["unclear"], strict=True) if unclear}
    assert marked == {str(nodes["node"][k]) for k in (0, 1, 4)}
    edges = embedded(report.page(run))["edges"]
    assert sum(edges["unclear"]) == int((run.edges["value"].abs() <= 2 * run.edges["stderr"]).sum())


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_the_players_of_all_nodes_are_those_of_the_run(tmp_path: Path, hops: int) -> None:
    run = small_run(tmp_path, hops=hops)
    shown = embedded(report.page(run))
    number = dict(zip(run.nodes["node"], run.number.tolist(), strict=True))
    numbers = [number[name] for name in shown["nodes"]["id"]]
    found, sums = [], node_sums(run)
    half = 0.51 * 10.0 ** -(shown["decimals"] + 1)  # of the last digit, which every player is rounded to
    for node in range(shown["nodes"]["listed"]):
        players = paths_of(shown, node)
        found += [tuple(numbers[step] for step in path) for path, _ in players]
        assert sum(value for _, value in players) == pytest.approx(sums[numbers[node]], abs=len(players) * half)
    assert sorted(found) == sorted(nonnull(run))
    assert sum(shown["groups"]["null"]) == int(run.null.sum())
    assert not any(shown["groups"]["left_roots"])
    assert not any(shown["groups"]["rest"])


def test_what_does_not_fit_is_summed_up(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit in (("NODES", 9), ("EDGES", 3), ("DRAWN", 8), ("LINES", 2), ("PATHS", 20), ("PER_ROOT", 1)):
        monkeypatch.setattr(data, name, limit)
    shown = embedded(report.page(run))
    nodes, groups, edges = shown["nodes"], shown["groups"], shown["edges"]
    assert (nodes["listed"], nodes["of"], nodes["ahead"]) == (9, 10, 4)
    assert nodes["labelled"][:9] == [1] * 4 + [0] * 5
    assert len(shown["drawing"]["x"]) == 8
    assert len(shown["drawing"]["source"]) == 2 < shown["drawing"]["between"]
    assert max(shown["drawing"]["source"] + shown["drawing"]["target"]) < 8
    strongest = np.sort(run.edges["value"].abs())[::-1][:3]
    np.testing.assert_allclose(np.abs(edges["value"]), strongest, atol=1e-4)
    sums = dict(zip(run.nodes["node"], node_sums(run).values(), strict=True))
    assert any(groups["left_roots"])
    assert any(groups["rest"])
    total = 0
    for node in range(9):
        here = slice(groups["begin"][node], groups["begin"][node + 1])
        whole = sum(groups["total"][here]) + groups["left_total"][node]
        assert whole == pytest.approx(sums[nodes["id"][node]], abs=1e-3)
        total += sum(groups["paths"][here]) + groups["left_paths"][node] + groups["null"][node]
    assert total == sum(nodes["players"][:9])
    assert len(groups["value"]) <= 20


def test_many_labelled_nodes_do_not_crowd_out_the_others(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "DRAWN", 6)
    shown = embedded(report.page(run))["nodes"]
    assert shown["ahead"] == 0
    assert np.all(np.diff(np.abs(shown["value"])) <= 0)


def test_distance_is_the_fewest_steps_from_a_labelled_node(tmp_path: Path) -> None:
    graph = named_graph()
    shown = embedded(report.page(small_run(tmp_path, graph)))["nodes"]
    full = graph.training.toarray()
    nearest = np.min([distances(full, int(root)) for root in graph.train], axis=0)
    rows = [graph.ids.tolist().index(name) for name in shown["id"]]
    assert shown["distance"] == nearest[rows].tolist()
    assert shown["degree"] == full.sum(axis=1)[rows].tolist()


def test_ids_and_names_cannot_become_html(tmp_path: Path) -> None:
    graph = named_graph(ids=HOSTILE, classes=HOSTILE_CLASSES)
    run = small_run(tmp_path, graph)
    (tmp_path / "experiments").mkdir()
    curves = "method,seed,<i>x</i>,<i>y</i>\n<img src=x>,1,0,1\n<img src=x>,1,1,2\n"
    (tmp_path / "experiments" / "<img src=x>.csv").write_text(curves)
    (tmp_path / "experiments" / "<img src=y>.csv").write_text("<img src=z>\n")
    run = with_story(run, graph="<img src=x>", warnings=["<img src=x>"], status="<img src=x>")
    page = report.page(run)
    elements = Elements(page)
    assert set(HOSTILE) >= set(embedded(page)["nodes"]["id"]) >= set(HOSTILE[:4])
    assert embedded(page)["classes"] == [*HOSTILE_CLASSES, "unknown"]
    tags = [tag for tag, _ in elements.tags]
    assert tags.count("script") == 2
    assert not {"img", "b", "i", "iframe"} & set(tags)
    assert not [name for _, attributes in elements.tags for name in attributes if name.startswith("on")]
    assert not set("<>&\u2028\u2029") & set(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])


def test_what_cannot_be_seen_is_spelt_out(tmp_path: Path) -> None:
    run = small_run(tmp_path, named_graph(ids=["a\u202eb", "c\x1bd"], classes=("red\u2066", "blue")))
    page = report.page(with_story(run, graph="caf\udce9", status="\u202edone", warnings=["\x00"]))
    page.encode()  # half a character would have no code
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page)
    assert {r"a\u202eb", r"c\u001bd"} <= set(embedded(page)["nodes"]["id"])
    for words in (r"caf\udce9", r"\u202edone", r"\u0000", r"red\u2066"):
        assert words in page


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
    truncated = report.page(small_run(tmp_path / "a", truncation=(0.5, 0.5)))
    assert "truncated (0.5, 0.5)" in truncated
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


def pw_graph() -> pw.Graph:
    return make_graph([(0, 1), (0, 2), (3, 4)], [0, 3], n_val=20)


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


def test_nodes_of_unknown_class(run: Run) -> None:
    shown = embedded(report.page(run))
    assert shown["classes"] == ["red", "blue", "unknown"]
    assert {
        kind for kind, labelled in zip(shown["nodes"]["kind"], shown["nodes"]["labelled"], strict=True) if not labelled
    } == {2}
    assert "unknown" in Elements(report.page(run)).words()
    named = replace(run, classes=("unknown", "blue"))
    assert embedded(report.page(named))["classes"] == ["unknown", "blue", "(unknown)"]


def test_a_graph_without_edges(tmp_path: Path) -> None:
    graph = make_graph([(2, 3)], [0, 1], n_val=20)
    run = small_run(tmp_path, graph)
    shown = embedded(report.page(run))
    assert len(run.edges) == 0
    assert shown["edges"]["value"] == []
    assert shown["nodes"]["distance"] == [0, 0]


def test_convergence_has_a_line_at_the_tolerance(run: Run) -> None:
    longer = replace(run, change=np.array([np.inf, np.inf, 0.8, 0.3, 0.04]))
    longer = with_story(longer, permutations=45)
    old: dict[str, float | None] = {
        "tolerance": 0.05,
        "permutations": 45,
        "max_permutations": 2000,
        "max_seconds": None,
    }
    without: list[dict[str, float | None]] = [old, {"permutations": 45}, {}]
    for stop in without:
        assert ">tolerance 0.05<" not in report.page(with_story(longer, stop=stop))
    drawn: list[dict[str, float | None]] = [
        {**old, "permutations": None},
        {"tolerance": 0.05, "max_permutations": 2000},
    ]
    for stop in drawn:
        page = report.page(with_story(longer, stop=stop))
        assert ">tolerance 0.05<" in page
    assert "4.00% at the end" in page
    (curve,) = re.findall(r'<polyline points="([^"]*)" class="curve"', page)
    assert len(curve.split()) == 3
    still = with_story(replace(run, change=np.array([np.inf, np.inf, 0.0])), permutations=30)
    assert "0.00% at the end" in report.page(still)


@pytest.mark.parametrize(
    ("stop", "wanted"),
    [
        ({"permutations": 20}, {"permutations": 20}),
        ({"tolerance": 0.05, "max_permutations": 2000}, {"tolerance": 0.05, "max_permutations": 2000}),
        ({"tolerance": 0.05, "permutations": 500}, {"tolerance": 0.05, "permutations": 500}),  # one rule | another
        ({"largest_stderr": 0.01}, {"largest_stderr": 0.01}),
        (
            {"permutations": None, "max_permutations": 2000, "tolerance": 0.05, "max_seconds": None},
            {"max_permutations": 2000, "tolerance": 0.05},
        ),
        (
            {"permutations": 20, "max_permutations": 2000, "tolerance": 0.05, "max_seconds": 9.0},
            {"permutations": 20, "max_seconds": 9.0},
        ),
        ({}, {}),
    ],
)
def test_limits_of_new_and_old_runs(run: Run, stop: dict[str, Any], wanted: dict[str, float]) -> None:
    changed = with_story(run, stop=stop)
    assert limits(changed) == wanted
    words = Elements(report.page(changed)).words()
    for name in OPTIONS:
        assert (f"limit: {name.replace('_', ' ')}" in words) == (name in wanted)


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
