"""The command line through its real entry point: what it prints, writes and refuses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pcwinter as pw
from command import FAST, PCWINTER, call, refused
from pcwinter.cli.main import as_options

# ---- help


def test_help_is_quick_because_it_imports_nothing() -> None:
    code = "import sys; from pcwinter.cli.main import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.splitlines()[-1].split())
    assert not {"numpy", "scipy", "numba", "pandas", "igraph", "networkx"} & imported


@pytest.mark.parametrize(
    "command", ["", "value", "show", "compare", "report", "reproduce", "judge", "datasets", "completion"]
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = call(*command.split(), "--help")
    assert done.returncode == 0
    assert "pcwinter" in done.stdout.split("Options:")[0].split("\n\n", 1)[1] or command == "datasets"
    assert max(map(len, done.stdout.splitlines())) <= 110


def test_version_and_no_arguments() -> None:
    assert call("--version").stdout == f"pcwinter {pw.__version__}\n"
    done = call()
    assert done.returncode == 0
    assert "Usage: pcwinter" in done.stdout
    as_module = subprocess.run([sys.executable, "-m", "pcwinter", "--version"], capture_output=True, text=True)
    assert as_module.stdout == f"pcwinter {pw.__version__}\n"


def test_streams_may_be_closed(folder: Path, tmp_path: Path) -> None:
    command = f"'{PCWINTER}' value '{folder}' --out '{tmp_path}/run' --permutations 5 --penalty 1 --bias 1 >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0
    assert (tmp_path / "run" / "run.json").is_file()


def test_warnings_are_told_once_and_kept(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "loops")
    with (tmp_path / "loops" / "edges.csv").open("a") as file:
        file.write("node-00,node-00\n")
    done = call("value", tmp_path / "loops", "--out", tmp_path / "run", "--permutations", 10, *FAST)
    assert done.stdout.count("dropped 1 self-loop ") == 1
    assert "dropped 1 self-loop " in json.loads((tmp_path / "run" / "run.json").read_text())["warnings"][0]


# ---- wrong usage: one sentence, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["valu"], "No such command 'valu'."),
        (["--verbose"], "No such option '--verbose'."),
        (["value", "demo"], "Missing option '--out'."),
        (["value", "--out", "new"], "Missing argument 'GRAPH'."),
        (["value", "coral", "--out", "new"], "did you mean cora?"),
        (["value", "nothing", "--out", "new"], "demo, cora"),
        (["value", "mine.txt", "--out", "new"], "mine.txt"),
        (["value", "cora", "--out", "new", "--data", "nowhere"], "the data folder nowhere"),
        (["value", "demo", "--out", "."], "holds no run.json"),
        (["value", "demo", "--out", "mine.txt"], "mine.txt is a file"),
        (["value", "demo", "--out", "mine.txt/new"], "mine.txt is read-only"),
        (["value", "demo", "--out", "/proc/pcwinter"], "/proc/pcwinter cannot be "),
        (["show", "nowhere"], "nowhere holds no run.json"),
        (["show", "."], ". holds no run.json"),
        (["show"], "Missing argument 'RUN'."),
        (["show", ".", "--by", "all"], "Invalid value for '--by'"),
        (["compare", "nowhere", "."], "nowhere holds no run.json"),
        (["compare", "."], "Missing argument 'B'."),
        (["report", "nowhere"], "nowhere holds no run.json"),
        (["datasets", "--data", "nowhere"], "the data folder nowhere"),
        (["datasets", "--data", "mine.txt"], "mine.txt is not a folder"),
        (["judge", ".", "--dataset", "demo"], "is a directory, expected a CSV file"),
        (["reproduce", "counts", "--dataset", "demo", "--out", "mine.txt"], "expected a directory"),
        (["completion", "tcsh"], "Invalid value for '{bash|zsh|fish}': 'tcsh' is not one of"),
    ],
)
def test_wrong_usage(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    refused(call(*arguments, cwd=tmp_path), sentence)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("permutations=10 is", "--permutations 10 is"),
        ("max_permutations is 0", "--max-permutations is 0"),
        ("seed is -1, expected a whole number", "--seed is -1, expected a whole number"),
        ("truncation has 1 ratio", "--truncation has 1 ratio"),
        ("but orders is 'free': leave out truncation", "but --orders is 'free': leave out --truncation"),
        ("use less, or raise memory", "use less, or raise --memory"),
        ("runs/max_seconds/learning_rate.npz is damaged", "runs/max_seconds/learning_rate.npz is damaged"),
        ("there is no graph 'max_players'", "there is no graph 'max_players'"),
        ("max_seconds=1e-05:", "--max-seconds 1e-05:"),
        ("which='mixed' applies", "--which mixed applies"),
        ("finish it with resume=True", "finish it with --resume"),
        ("the head is ridge, and orders are dfs", "the head is ridge, and orders are dfs"),  # ordinary words
        ("max_orders=3, my_seed=4", "max_orders=3, my_seed=4"),  # no options of the command line
    ],
)
def test_options_are_said_as_they_are_typed(said: str, expected: str) -> None:
    assert as_options(said) == expected
