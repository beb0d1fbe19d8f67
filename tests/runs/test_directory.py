"""Runs on disk: what is written, resumed and refused, and what is never harmed."""

import csv
import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from command import write_graph
from pcwinter.runs import directory as module
from pcwinter.runs.checkpoints import NAMES
from pcwinter.runs.directory import Directory, write
from run_graphs import HEAD, graph, named

FILES = ["edges.csv", "nodes.csv", "players.npz", "run.json"]


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in FILES[:3]}


def test_the_files_hold_the_same_bits(values: pw.Values, tmp_path: Path) -> None:
    out = tmp_path / "new" / "run"
    write(values, out)
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
    assert story["asked"]["penalty"] == 0.3
    assert story["stop"]["permutations"] == 20
    assert sorted(path.name for path in out.iterdir()) == FILES


def test_a_finished_run_can_be_resumed_and_extended(tmp_path: Path) -> None:
    pw.run(graph(), tmp_path / "one", head=HEAD, permutations=25)
    before = contents(tmp_path / "one")
    pw.run(graph(), tmp_path / "one", head=HEAD, permutations=25, resume=True)
    assert contents(tmp_path / "one") == before
    pw.run(graph(), tmp_path / "one", head=HEAD, permutations=47, resume=True)
    pw.run(graph(), tmp_path / "two", head=HEAD, permutations=47)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") != before


def test_resume_where_nothing_is_begins(tmp_path: Path) -> None:
    pw.run(graph(), tmp_path / "new", head=HEAD, permutations=5, resume=True)
    assert pw.read(tmp_path / "new").story["permutations"] == 5


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"hops": 1}, r"hops is 2 there and 1 here"),
        ({"seed": 1}, r"seed is 0 there and 1 here"),
        ({"metric": "probability"}, r"metric is accuracy there and probability here"),
        ({"orders": "level"}, r"orders is dfs there and level here"),
        ({"truncation": (0.5, 0.5)}, r"truncation is \[\] there and \[0.5, 0.5\] here"),
        ({"head": "ridge"}, r"penalty is 0.3 there and not given here; bias is 1.0 there and not given here"),
        (
            {"head": pw.Softmax(epochs=3)},
            r"head is ridge there and softmax here; .*; epochs is not given there",
        ),
        ({"bootstrap": 5}, r"bootstrap is 0 there and 5 here"),
    ],
)
def test_other_settings_are_refused_by_name(options: dict[str, object], difference: str, tmp_path: Path) -> None:
    pw.run(graph(), tmp_path / "run", head=HEAD, permutations=10)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    asked: dict[str, Any] = {"head": HEAD, "permutations": 20, **options}
    with pytest.raises(ValueError, match=rf"another run \({difference}"):
        pw.run(graph(), tmp_path / "run", resume=True, **asked)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_other_data_are_refused_by_name(tmp_path: Path) -> None:
    pw.run(graph(), tmp_path / "run", head=HEAD, permutations=10)
    with pytest.raises(ValueError, match=r"\(data: features is \w{8}\.\.\. there and \w{8}\.\.\. here\)"):
        pw.run(graph(seed=1), tmp_path / "run", head=HEAD, permutations=20, resume=True)
    with pytest.raises(ValueError, match=r"\(data: labels .* here; data: ids .* here\)"):
        pw.run(named(), tmp_path / "run", head=HEAD, permutations=20, resume=True)


def test_another_version_is_refused_by_name(tmp_path: Path) -> None:
    pw.run(graph(), tmp_path / "run", head=HEAD, permutations=10)
    path = tmp_path / "run" / "run.json"
    story = json.loads(path.read_text())
    story["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(story))
    with pytest.raises(ValueError, match=r"\(version of numpy is 1\.0 there and \S+ here\)"):
        pw.run(graph(), tmp_path / "run", head=HEAD, permutations=20, resume=True)


# run.json and a checkpoint after 20 orders, written by version 0.1.0 with "1" as the version of every other package
OLD = Path(__file__).parent / "version-0.1.0"


@pytest.mark.filterwarnings("ignore::UserWarning")  # three epochs are not enough
@pytest.mark.parametrize(
    ("name", "options"),
    [("ridge", {"truncation": (0.5, 0.5)}), ("softmax", {"head": pw.Softmax(epochs=3)})],
)
def test_a_run_of_version_0_1_0_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(metadata, "version", lambda package: "0.4.0" if package == "pcwinter" else "1")
    write_graph(tmp_path)
    mine, out, whole = pw.read_graph(tmp_path), tmp_path / "run", tmp_path / "whole"
    shutil.copytree(OLD / name, out)
    orders: list[int] = []
    for limit in (30, 40):
        pw.run(mine, out, permutations=limit, resume=True, progress=lambda now: orders.append(now.orders), **options)
    assert orders == [20, 30, 30, 40]
    found = pw.read(out).story["calibration"]  # of 0.1.0, like the game: the run has adopted them
    head = options.get("head") or pw.Ridge(found["penalty"], found["bias"])
    pw.run(mine, whole, **{**options, "head": head}, permutations=40, coalition="induced", remainder="nobody")
    for file in ("nodes.csv", "edges.csv"):
        assert (out / file).read_bytes() == (whole / file).read_bytes()
    monkeypatch.setattr(metadata, "version", lambda package: "0.0.9" if package == "pcwinter" else "1")
    with pytest.raises(ValueError, match=r"version of pcwinter is 0\.1\.0 there and 0\.0\.9 here"):
        pw.run(mine, out, permutations=50, resume=True, **options)


def test_names_and_notes_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="name is 3"):
        pw.run(graph(), tmp_path / "run", name=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="notes is 'abc'"):
        pw.run(graph(), tmp_path / "run", notes="abc")
    assert not list(tmp_path.iterdir())


def test_a_damaged_checkpoint_is_reported_and_the_one_before_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pw.run(graph(), tmp_path / "whole", head=HEAD, permutations=40)
    out = tmp_path / "run"
    monkeypatch.setattr(module, "LONGEST", 0.0)  # a checkpoint after every block

    def fail(now: pw.Progress) -> None:
        if now.orders == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pw.run(graph(), out, head=HEAD, permutations=40, progress=fail)
    newest = max((out / name for name in NAMES), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(b"PK rubbish")
    with pytest.warns(UserWarning, match=r"is damaged .* 20 orders"):
        pw.run(graph(), out, head=HEAD, permutations=40, resume=True)
    assert contents(out) == contents(tmp_path / "whole")


def test_both_checkpoints_damaged_begins_anew(tmp_path: Path) -> None:
    pw.run(graph(), tmp_path / "run", head=HEAD, permutations=30)
    before = contents(tmp_path / "run")
    for name in NAMES:
        (tmp_path / "run" / name).write_bytes(b"")
    with pytest.warns(UserWarning, match="from the beginning"):
        pw.run(graph(), tmp_path / "run", head=HEAD, permutations=30, resume=True)
    assert contents(tmp_path / "run") == before


def test_an_error_in_the_middle_keeps_what_was_done(tmp_path: Path) -> None:
    def fail(now: pw.Progress) -> None:
        if now.orders == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pw.run(graph(), tmp_path / "run", head=HEAD, permutations=50, progress=fail)
    with pytest.raises(FileNotFoundError, match="has no results yet"):
        pw.read(tmp_path / "run")
    orders: list[int] = []
    pw.run(
        graph(),
        tmp_path / "run",
        head=HEAD,
        permutations=50,
        resume=True,
        progress=lambda now: orders.append(now.orders),
    )
    assert orders == [30, 40, 50]  # where it continues, then every block


def test_a_bad_request_leaves_no_directory(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="permutations is 0"):
        pw.run(graph(), tmp_path / "a" / "b", permutations=0)
    assert list(tmp_path.iterdir()) == []


def test_somebody_elses_directory_is_refused_and_kept(values: pw.Values, tmp_path: Path) -> None:
    mine = tmp_path / "nodes.csv"
    mine.write_text("precious")
    with pytest.raises(FileExistsError, match=r"no run\.json"):
        write(values, tmp_path)
    with pytest.raises(FileExistsError, match="is a file"):
        write(values, mine)
    with pytest.raises(PermissionError, match=r"because .*nodes\.csv is"):
        write(values, mine / "below")
    assert mine.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [mine]


def test_a_run_is_not_written_over(values: pw.Values, tmp_path: Path) -> None:
    write(values, tmp_path)
    with pytest.raises(FileExistsError, match="already holds a run") as caught:
        write(values, tmp_path)
    assert "resume" not in str(caught.value)
    with pytest.raises(ValueError, match="values is 3"):
        write(3, tmp_path)  # type: ignore[arg-type]
    with pytest.raises(FileExistsError, match="resume=True"):
        pw.run(graph(), tmp_path, head=HEAD, permutations=10)


@pytest.mark.parametrize("content", ["", "{}", "[1]", "null", '{"asked": 1, "data": 2, "versions": 3}', '{"a": '])
def test_a_run_json_of_somebody_else_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"run\.json is damaged"):
        pw.run(graph(), tmp_path, head=HEAD, permutations=10, resume=True)
    with pytest.raises(ValueError, match=r"run\.json is damaged"):
        pw.read(tmp_path)
    assert (tmp_path / "run.json").read_text() == content


def test_fewer_orders_never_replace_more(tmp_path: Path) -> None:
    out = tmp_path / "run"
    pw.run(graph(), out, head=HEAD, permutations=45)
    before = contents(out)
    with pytest.raises(ValueError, match=r"45 orders.*41 "):
        pw.run(graph(), out, head=HEAD, permutations=41, resume=True)
    for name in NAMES:
        (out / name).unlink()
    with (
        pytest.warns(UserWarning, match="checkpoints are missing"),
        pytest.raises(ValueError, match=r"45 orders.*20"),
    ):
        pw.run(graph(), out, head=HEAD, resume=True, max_permutations=20, tolerance=1e-9)
    assert contents(out) == before
    pw.run(graph(), out, head=HEAD, permutations=45, resume=True)
    assert contents(out) == before


def test_two_processes_do_not_share_a_directory(tmp_path: Path) -> None:
    with Directory(tmp_path / "run", graph()) as directory:
        code = "import sys; from pathlib import Path; import pcwinter as pw\n"
        code += "from pcwinter.runs.directory import Directory\n"
        code += "Directory(Path(sys.argv[1]), pw.load('demo')).__enter__()"
        path = os.pathsep.join(sys.path)
        command = [sys.executable, "-c", code, str(tmp_path / "run")]
        other = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        assert "another process is using" in other.stderr
        assert (tmp_path / "run").is_dir()  # empty as yet, and not the other's to remove
        values = pw.value(graph(), head=HEAD, permutations=10)
        directory.begin(values.request, values.stop)
        directory.finish(values)
    assert pw.read(tmp_path / "run").story["permutations"] == 10
