"""Tables in the terminal: numbers with known answers, and words that cannot break them."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import pcwinter as pw
from oracles import random_graph
from pcwinter.cli.tables import comparison, plain, summary, text

pytestmark = pytest.mark.filterwarnings("ignore:the edges harm the model")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> pw.Run:
    out = tmp_path_factory.mktemp("runs") / "run"
    pw.run(random_graph(3), out, head=pw.Ridge(penalty=0.3, bias=1.0), permutations=20, name="small")
    return pw.read(out)


def other(run: pw.Run, nodes: list[float], stderr: float = 1.0) -> pw.Run:
    return replace(run, nodes=run.nodes.assign(value=nodes, stderr=stderr))


def test_both_ends_of_the_ranking(run: pw.Run) -> None:
    shown = summary(run, 2)
    ranked = run.nodes.sort_values("value", ascending=False)
    most, least = (
        re.search(rf"The 2 {end} valuable of {len(ranked)} nodes\n.*\n(.*)\n(.*)\n", shown) for end in ("most", "least")
    )
    assert most is not None
    assert least is not None
    assert [line.split()[0] for line in most.groups()] == ranked["node"].head(2).tolist()
    assert [line.split()[0] for line in least.groups()] == ranked["node"].tail(2).tolist()[::-1]
    assert f"{ranked['value'].iloc[0]:+.4f}" in most.group(1)
    assert summary(run, 2, "path") != shown
    assert "The 12 most valuable of" in summary(run, 1000) or f"The {len(ranked)} most valuable of" in summary(
        run, 1000
    )


def test_groups_add_up_to_all(run: pw.Run) -> None:
    shown = summary(run)
    total = run.nodes["value"].sum()
    for title in ("Nodes by class", "Nodes by degree in the training graph"):
        block = shown.split(f"{title}\n")[1].split("\n\n")[0].splitlines()
        assert block[0].split()[1:] == ["nodes", "labelled", "sum", "mean"]
        rows = [line.split() for line in block[1:]]
        assert sum(int(row[1]) for row in rows) == len(run.nodes)
        assert sum(int(row[2]) for row in rows) == int(run.nodes["labelled"].sum())
        assert sum(float(row[3]) for row in rows) == pytest.approx(total, abs=1e-4 * len(rows))
    degrees = [row.split()[0] for row in shown.split("training graph\n")[1].split("\n\n")[0].splitlines()[1:]]
    assert [int(name.split("-")[0]) for name in degrees] == sorted(int(name.split("-")[0]) for name in degrees)
    assert "unknown" in shown.split("Nodes by class")[1]


def test_a_run_agrees_with_itself(run: pw.Run) -> None:
    shown = comparison(run, run)
    n = len(run.nodes)
    assert "The settings are the same." in shown
    assert re.search(rf"in both +{n} +{len(run.edges)}\n", shown)
    assert re.search(r"Spearman rank correlation +1\.000 +1\.000\n", shown)
    assert re.search(r"differ by over 2 standard errors +0\.0% ", shown)
    assert "stderr of A - B" not in shown  # nothing differs


def test_known_differences(run: pw.Run) -> None:
    n = len(run.nodes)
    a = np.arange(n, dtype=np.float64)
    b = a.copy()
    b[:2] = b[1::-1]  # the last two places change
    b[n - 1] += 10.0
    shown = comparison(other(run, a.tolist(), 3.0), other(run, b.tolist(), 4.0), top=1)
    assert re.search(rf"Spearman rank correlation +{spearmanr(a, b).statistic:.3f} ", shown)
    assert re.search(r"in both best 25% +(\d+) of \1 ", shown)
    assert re.search(rf"root mean square difference +{np.sqrt(102 / n):.5f} ", shown)
    assert re.search(rf"root mean square difference, in standard errors +{np.sqrt(102 / n) / 5:.2f} ", shown)
    assert re.search(r"differ by over 2 standard errors +0\.0% ", shown)
    line = shown.split("The 1 node that differs most")[1].splitlines()[2].split()
    assert line == [run.nodes["node"].iloc[-1], f"{a[-1]:+.4f}", f"{b[-1]:+.4f}", "-10.0000", "5.0000", "-2.0"]
    assert "stderr of A - B" in shown
    assert "the same seed" in shown


def test_edges_are_the_same_in_either_direction(run: pw.Run) -> None:
    turned = replace(run, edges=run.edges.rename(columns={"source": "target", "target": "source"}))
    assert re.search(rf"in both +{len(run.nodes)} +{len(run.edges)}\n", comparison(run, turned))


def test_different_settings_and_graphs_are_named(run: pw.Run) -> None:
    story = {**run.story, "asked": {**run.story["asked"], "hops": 3}, "fingerprint": "other"}
    shown = comparison(run, replace(run, story=story))
    assert "  hops: 2 in A, 3 in B" in shown
    truncated = {**run.story["asked"], "truncation": [0.5, 0.7], "remainder": "silent"}
    lines = comparison(run, replace(run, story={**run.story, "asked": truncated})).splitlines()
    assert "  truncation: none in A, 0.5, 0.7 in B" in lines
    assert "  remainder: none in A, silent in B" in lines
    game = {**run.story["asked"], "coalition": "messages", "theta": [0.5, 0, 0.5], "empty": "constant"}
    lines = comparison(run, replace(run, story={**run.story, "asked": game})).splitlines()
    assert "  theta: the last power alone in A, 0.5, 0, 0.5 in B" in lines
    assert "  empty: nothing in A, constant in B" in lines
    assert "message game with theta 0.5, 0, 0.5" in lines[4]
    assert "The graphs differ" in shown
    strangers = replace(
        run,
        nodes=run.nodes.assign(node=run.nodes["node"] + "x"),
        edges=run.edges.assign(source=run.edges["source"] + "x"),
    )
    with pytest.raises(ValueError, match="no node and no edge"):
        comparison(run, strangers)


def test_a_single_order_has_no_error_bars(tmp_path: Path) -> None:
    pw.run(random_graph(3), tmp_path / "one", head=pw.Ridge(penalty=0.3, bias=1.0), permutations=1)
    one = pw.read(tmp_path / "one")
    assert "unknown" in summary(one)
    assert "nan" not in summary(one)
    pw.run(random_graph(3), tmp_path / "two", head=pw.Ridge(penalty=0.3, bias=1.0), permutations=1, seed=1)
    shown = comparison(one, pw.read(tmp_path / "two"), 1)
    assert "standard errors  " not in shown
    line = shown.split("node that differs most, without error bars")[1].splitlines()[2].split()
    far = (one.nodes["value"] - pw.read(tmp_path / "two").nodes["value"]).abs().max()
    assert abs(float(line[3])) == pytest.approx(far, abs=1e-4)


def test_certain_differences_count(run: pw.Run) -> None:
    n = len(run.nodes)
    shown = comparison(other(run, [1.0] * n, 0.0), other(run, [2.0] + [1.0] * (n - 1), 0.0))
    assert re.search(rf"differ by over 2 standard errors +{1 / n:.1%} ", shown)


def test_a_class_may_be_called_unknown(run: pw.Run) -> None:
    shown = summary(replace(run, classes=("unknown", "known")))
    block = shown.split("Nodes by class\n")[1].split("\n\n")[0].splitlines()
    counts = [int(line.split()[1]) for line in block[1:]]
    assert counts == [int((run.label == c).sum()) for c in (0, 1, -1)]


def test_words_cannot_break_a_table() -> None:
    table = pd.DataFrame({"node": ["\033[31mred\n", "x" * 99, "ok"], "value": [0.1, -0.25, 0.0]})
    lines = text(table).splitlines()
    assert len(lines) == 4
    assert "\033" not in text(table)
    assert len({len(line) for line in lines}) == 1
    assert plain("ß中") == "ß中"
