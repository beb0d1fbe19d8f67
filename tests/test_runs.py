"""Runs on disk and the demo: what is written, what is refused, what is printed."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pcwinter as pw
from oracles import make_graph
from pcwinter import demo, runs


@pytest.fixture(scope="module")
def values() -> pw.Values:
    graph = make_graph([(0, 2), (1, 3), (2, 3), (0, 4)], [0, 1], n_val=40)
    return pw.value(graph, head=pw.Ridge(penalty=0.3, bias=1.0), permutations=20)


def test_reading_gives_the_same_bits(values: pw.Values, tmp_path: Path) -> None:
    runs.write(values, tmp_path / "new" / "run")
    out = tmp_path / "new" / "run"
    for name, table in (("nodes", values.nodes()), ("edges", values.edges())):
        with (out / f"{name}.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert list(lines[0]) == table.columns.tolist()
        for column in ("value", "stderr"):
            assert [float(line[column]) for line in lines] == table[column].tolist()
    with np.load(out / "players.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["value"], values.players()["value"])
        np.testing.assert_array_equal(arrays["paths"], values.tree.paths())
    story = json.loads((out / "run.json").read_text())
    assert story["n_players"] == values.tree.n_players
    assert story["permutations"] == 20
    assert story["visited"] == 20 * values.tree.n_players
    assert story["utility_full"] == values.utility_full
    assert sorted(path.name for path in out.iterdir()) == ["edges.csv", "nodes.csv", "players.npz", "run.json"]


def test_a_run_may_be_written_over_another_run(values: pw.Values, tmp_path: Path) -> None:
    runs.write(values, tmp_path)
    runs.write(values, tmp_path)


def test_somebody_elses_directory_is_refused_and_kept(values: pw.Values, tmp_path: Path) -> None:
    mine = tmp_path / "nodes.csv"
    mine.write_text("precious")
    with pytest.raises(FileExistsError, match=r"holds no run\.json, so its files may be yours"):
        runs.write(values, tmp_path)
    with pytest.raises(FileExistsError, match="is a file"):
        runs.write(values, mine)
    with pytest.raises(PermissionError, match=r"nodes\.csv does not allow it: name another place"):
        runs.write(values, mine / "below")
    assert mine.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [mine]


def test_the_demo_prints_tables_and_names_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--out", str(tmp_path / "demo"), "--permutations", "3"]) == 0
    text = capsys.readouterr().out
    for end in ("most", "least"):
        for things in ("nodes", "edges"):
            assert f"The 10 {end} valuable {things}" in text
    assert "cuts 3271 of the 5278 edges" in text
    assert str(tmp_path / "demo" / "nodes.csv") in text
    assert len(pd.read_csv(tmp_path / "demo" / "nodes.csv")) == 567
    assert max(map(len, text.splitlines())) <= 160


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "."], "holds no run.json"),
        (["--out", "new", "--permutations", "0"], "permutations is 0"),
        (["--out", "new", "--seed", "-1"], "seed is -1"),
        (["--out", "new", "--seed", "x"], "invalid int value"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    done = subprocess.run(
        [sys.executable, "-m", "pcwinter.demo", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
