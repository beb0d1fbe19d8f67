"""pcwinter show, compare, report, datasets and completion, as a user calls them."""

import os
import subprocess
from pathlib import Path

import pytest

import pcwinter as pw
from command import PCWINTER, call, refused
from pcwinter.cli.tables import comparison
from pcwinter.report import page


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_PCWINTER_COMPLETE" in call("completion", shell).stdout
    words = {"COMP_WORDS": "pcwinter value amazon", "COMP_CWORD": "2", "_PCWINTER_COMPLETE": "bash_complete"}
    done = call(env={**os.environ, **words})
    assert "plain,amazon-photo\nplain,amazon-computers" in done.stdout


@pytest.mark.parametrize("command", [["show"], ["compare", "{run}"]])
def test_wrong_top(command: list[str], run: Path) -> None:
    arguments = [word.format(run=run) for word in command]
    refused(call(*arguments, run, "--top", 0), "top is 0")


def test_show(run: Path) -> None:
    done = call("show", run, "--top", 3)
    assert done.returncode == 0
    for title in (
        "The 3 most valuable of 20 nodes",
        "The 3 least valuable of 20 nodes",
        "The 3 most valuable of",
        "Nodes by class",
        "Nodes by degree in the training graph",
    ):
        assert title in done.stdout
    own, path = (call("show", run, "--by", by).stdout for by in ("own", "path"))
    assert path == call("show", run, "--aggregate", "path").stdout
    for things in ("nodes", "edges"):  # both follow the option
        tables = [
            next(part for part in text.split("\n\n") if "most valuable of" in part and things in part)
            for text in (own, path)
        ]
        assert tables[0] != tables[1]


def test_show_into_a_closed_pipe(run: Path) -> None:
    command = f"'{PCWINTER}' show '{run}' | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_datasets(tmp_path: Path) -> None:
    done = call("datasets", "--data", tmp_path, env={**os.environ, "PCWINTER_CACHE": str(tmp_path)})
    for name in pw.DATASETS:
        assert f"\n{name} " in f"\n{done.stdout}"
    assert done.stdout.count("downloaded on first use") == len(pw.DATASETS) - 1


def test_compare(run: Path) -> None:
    done = call("compare", run, run)
    assert (done.returncode, done.stderr) == (0, "")
    first = pw.read(run)
    assert f"{comparison(first, first)}\n" == done.stdout


def test_report(run: Path) -> None:
    done = call("report", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(run / "report.html") in done.stdout
    assert (run / "report.html").read_text(encoding="utf-8") == page(pw.read(run))
