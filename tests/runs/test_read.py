"""A run that is read back is the run that was written."""

import json
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from any_graph import any_graph
from pcwinter.runs.directory import write
from run_graphs import HEAD, named


@pytest.mark.parametrize("permutations", [1, 20])
def test_what_is_read_is_what_was_valued(tmp_path: Path, permutations: int) -> None:
    values = pw.run(named(), tmp_path / "run", head=HEAD, permutations=permutations, name="mine", notes=["well"])
    run = pw.read(str(tmp_path / "run"))
    assert run.nodes["node"].tolist() == ["NA", "007", "", "ß\n", "a\rb"]
    assert run.edges["source"].tolist() == values.edges()["source"].tolist()
    for table, known in ((run.nodes, values.nodes()), (run.edges, values.edges())):
        for column in ("value", "stderr"):
            np.testing.assert_array_equal(table[column], known[column])
    np.testing.assert_array_equal(run.stderr, values.players()["stderr"])
    np.testing.assert_array_equal(run.change, values.estimate.change)
    assert run.classes == ("<b>", "nan")
    assert run.label.tolist() == [0, 1, -1, -1, -1]
    assert run.degree.tolist() == [2, 1, 2, 2, 1]
    assert run.story["graph"] == "mine"
    assert run.story["warnings"][0] == "well"
    players = values.players()
    assert set(players["step_0"]) == {"NA", "007"}
    assert (players.loc[players["depth"] == 0, "step_1"] == "").all()


def test_results_that_do_not_belong_together_are_not_shown(values: pw.Values, tmp_path: Path) -> None:
    write(values, tmp_path)
    table = tmp_path / "nodes.csv"
    table.write_bytes(table.read_bytes().replace(b"True", b"False"))
    with pytest.raises(ValueError, match=r"nodes\.csv has changed"):
        pw.read(tmp_path)


@pytest.mark.filterwarnings("ignore:the (edges|model)", "ignore:calibration")
@pytest.mark.parametrize("hops", [1, 2])
def test_edges_within_their_class_are_those_of_the_values(tmp_path: Path, hops: int) -> None:
    values = pw.run(named(), tmp_path / "run", head=HEAD, hops=hops, metric="log-likelihood", permutations=7)
    table = values.edges(by="class")
    run = pw.read(tmp_path / "run")
    assert run.edges["source"].tolist() == table["source"].tolist()
    np.testing.assert_allclose(run.edges_within_class(), table["value"], rtol=0, atol=2e-12)  # rounded to 12 places
    assert table["value"].any()


def test_what_is_missing_is_named(values: pw.Values, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"run\.json"):
        pw.read(tmp_path / "none")
    write(values, tmp_path)
    (tmp_path / "players.npz").unlink()
    with pytest.raises(ValueError, match=r"players\.npz"):
        pw.read(tmp_path)
    story = json.loads((tmp_path / "run.json").read_text())
    del story["files"]
    (tmp_path / "run.json").write_text(json.dumps(story))
    with pytest.raises(FileNotFoundError, match="no results yet"):
        pw.read(tmp_path)


@pytest.mark.parametrize("key", ["graph", "status", "head", "utility_full", "warnings", "n_players", "fingerprint"])
def test_a_run_json_without_a_key_is_refused(key: str, values: pw.Values, tmp_path: Path) -> None:
    write(values, tmp_path)
    path = tmp_path / "run.json"
    path.write_text(path.read_text().replace(f'"{key}"', '"other"'))
    with pytest.raises(ValueError, match=rf"run\.json is damaged \({key}\)"):
        pw.read(tmp_path)


@pytest.mark.filterwarnings("ignore:the (model|edges)")
def test_edges_of_a_directed_run_compared_within_their_class(tmp_path: Path) -> None:
    graph = any_graph("directed weighted", 3, n=9, n_train=4, n_val=20, probability=0.2)
    values = pw.run(graph, tmp_path / "run", head=HEAD, permutations=10)
    run = pw.read(tmp_path / "run")
    assert run.directed
    np.testing.assert_allclose(run.edges_within_class(), values.edges_within_class(), atol=1e-12)
    ends = graph.training.toarray() > 0
    np.testing.assert_array_equal(run.degree, (ends.sum(axis=0) + ends.sum(axis=1))[run.number])
