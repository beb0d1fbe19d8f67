"""The data in the page: tables and players of the run, bounded in size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pcwinter import report
from pcwinter.report import data
from pcwinter.runs.read import Run
from small_runs import embedded, node_sums, nonnull, small_run


def paths_of(shown: dict[str, Any], node: int) -> list[tuple[list[int], float]]:
    """What the page's script makes of the players of a listed node: paths by rows, with values."""
    groups, width, found = shown["groups"], shown["groups"]["width"], []
    for group in range(groups["begin"][node], groups["begin"][node + 1]):
        for path in range(groups["first"][group], groups["first"][group + 1]):
            inner = [step for step in groups["inner"][path * width : (path + 1) * width] if step >= 0]
            root = groups["root"][group]
            found.append(([node] if root == node and not inner else [root, *inner, node], groups["value"][path]))
    return found


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


@pytest.mark.parametrize("coalition", ["induced", "messages"])  # walks back to the root count in the message game
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_the_players_of_all_nodes_are_those_of_the_run(tmp_path: Path, hops: int, coalition: str) -> None:
    run = small_run(tmp_path, hops=hops, coalition=coalition)
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
    np.testing.assert_allclose(np.abs(edges["value"]), strongest, atol=0.51 * 10 ** -shown["decimals"])
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
