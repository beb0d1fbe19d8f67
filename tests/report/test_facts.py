"""Facts: a run by rows, against its own tables and breadth-first distances."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from oracles import distances
from pcwinter import report
from pcwinter.report.facts import OPTIONS, by_rows, limits
from pcwinter.runs.read import Run
from small_runs import HEAD, Elements, embedded, named_graph, small_run, with_story


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


def test_values_whose_interval_contains_zero_are_unclear(run: Run) -> None:
    """Of 20 orders, so that the quantile of Student's t has 19 degrees of freedom."""
    nodes = run.nodes.assign(value=1.0, stderr=0.1)
    nodes.loc[:5, "value"] = [0.2093, -0.2093, 0.2094, -0.2094, 0.0, 0.0]
    nodes.loc[5, "stderr"] = 0.0  # exactly 0, which is clear
    nodes.loc[6, "stderr"] = np.nan
    shown = embedded(report.page(replace(run, nodes=nodes)))["nodes"]
    marked = {name for name, unclear in zip(shown["id"], shown["unclear"], strict=True) if unclear}
    assert marked == {str(nodes["node"][k]) for k in (0, 1, 4, 6)}  # the last is unknown
    assert shown["reach"][shown["id"].index(str(nodes["node"][0]))] == pytest.approx(0.2093, abs=1e-3)
    edges = embedded(report.page(run))["edges"]
    assert sum(edges["unclear"]) == int((run.edges["value"].abs() <= 2.093024 * run.edges["stderr"]).sum())


def test_intervals_of_players_that_are_often_left_out_are_wider(run: Run) -> None:
    """Two, three and twenty visits have 1, 2 and 19 degrees of freedom."""
    nodes = run.nodes.assign(value=0.5, stderr=0.1)
    visits = np.full(len(nodes), 20)
    visits[:3] = [2, 3, 4]
    shown = by_rows(replace(run, nodes=nodes, node_visits=visits))
    np.testing.assert_allclose(shown.reach[:4], [1.27062, 0.430265, 0.318245, 0.209302], rtol=1e-5)
    assert shown.unclear[:4].tolist() == [True, False, False, False]


def test_distance_is_the_fewest_steps_from_a_labelled_node(tmp_path: Path) -> None:
    graph = named_graph()
    shown = embedded(report.page(small_run(tmp_path, graph)))["nodes"]
    full = graph.training.toarray()
    nearest = np.min([distances(full, int(root)) for root in graph.train], axis=0)
    rows = [graph.ids.tolist().index(name) for name in shown["id"]]
    assert shown["distance"] == nearest[rows].tolist()
    assert shown["degree"] == full.sum(axis=1)[rows].tolist()


def test_nodes_of_unknown_class(run: Run) -> None:
    shown = embedded(report.page(run))
    assert shown["classes"] == ["red", "blue", "unknown"]
    assert {
        kind for kind, labelled in zip(shown["nodes"]["kind"], shown["nodes"]["labelled"], strict=True) if not labelled
    } == {2}
    assert "unknown" in Elements(report.page(run)).words()
    named = replace(run, classes=("unknown", "blue"))
    assert embedded(report.page(named))["classes"] == ["unknown", "blue", "(unknown)"]


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
