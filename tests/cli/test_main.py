"""The command line through its real entry point: what it prints, writes and refuses."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pcwinter as pw
from command import FAST, PCWINTER, RESULTS, call, files, refused
from pcwinter.cli import choices
from pcwinter.experiments import EXPERIMENTS
from pcwinter.experiments.curves import WHICH
from pcwinter.experiments.judge import ON
from pcwinter.game import orders
from pcwinter.graph.features import NORMALIZATIONS

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


def test_the_lists_of_the_command_line_are_those_of_the_library() -> None:
    assert set(choices.DATASETS) == set(pw.DATASETS)
    assert set(choices.METRICS) == set(pw.METRICS)
    assert set(choices.FEATURES) == set(NORMALIZATIONS)
    assert set(choices.ORDERS) == set(orders.FAMILIES)
    assert choices.WHICH == WHICH
    assert choices.ON == ON
    assert set(choices.EXPERIMENTS) == {name.split()[0] for name in EXPERIMENTS} | {"all"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert "_PCWINTER_COMPLETE" in call("completion", shell).stdout
    words = {"COMP_WORDS": "pcwinter value amazon", "COMP_CWORD": "2", "_PCWINTER_COMPLETE": "bash_complete"}
    done = call(env={**os.environ, **words})
    assert "plain,amazon-photo\nplain,amazon-computers" in done.stdout


# ---- value


def test_a_graph_of_ones_own(run: Path, folder: Path) -> None:
    story = json.loads((run / "run.json").read_text())
    assert story["graph"] == str(folder)
    assert story["permutations"] == 30
    assert sorted(path.name for path in run.iterdir()) == ["checkpoint.0.npz", "checkpoint.1.npz", *RESULTS, "run.json"]
    nodes = (run / "nodes.csv").read_text().splitlines()
    assert nodes[0] == "node,value,stderr,value_path,stderr_path,labelled,players"
    assert nodes[1].startswith("node-00,")


def test_what_is_printed(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a run"
    done = call("value", folder, "--out", out, "--permutations", 20, *FAST)
    assert done.stderr == ""
    assert f"{folder}: 30 nodes, 90 edges, 2 classes, 2 features" in done.stdout
    assert "All 20 requested orders were drawn." in done.stdout
    assert f"pcwinter show '{out}'" in done.stdout
    quiet = call("value", folder, "--out", tmp_path / "quiet", "--permutations", 20, "--quiet", *FAST)
    assert (quiet.stdout, quiet.stderr, quiet.returncode) == ("", "", 0)
    assert files(tmp_path / "quiet") == files(out)


@pytest.mark.filterwarnings("ignore:the edges harm the model")
def test_options_reach_the_library(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    given = "--head softmax --epochs 5 --learning-rate 0.1 --weight-decay 0 --hops 1 --metric log-likelihood --seed 4"
    more = "--truncation 0.5 --bootstrap 3 --max-seconds 1000 --tolerance 0.5 --max-permutations 40 --features standard"
    done = call("value", folder, "--out", out, "--workers", 2, *given.split(), *more.split())
    assert done.returncode == 0, done.stderr
    story = json.loads((out / "run.json").read_text())
    assert story["asked"] == {
        "head": "softmax",
        "learning_rate": 0.1,
        "epochs": 5,
        "weight_decay": 0.0,
        "hops": 1,
        "metric": "log-likelihood",
        "orders": "dfs",
        "truncation": [0.5],
        "seed": 4,
        "bootstrap": 3,
    }
    assert story["stop"] == {"max_permutations": 40, "tolerance": 0.5, "max_seconds": 1000.0}
    graph = pw.read_graph(folder, features="standard")
    same = pw.value(
        graph,
        head=pw.Softmax(learning_rate=0.1, epochs=5, weight_decay=0.0),
        hops=1,
        metric="log-likelihood",
        truncation=(0.5,),
        seed=4,
        bootstrap=3,
        tolerance=0.5,
        max_permutations=40,
    )
    pw.write(same, tmp_path / "same")
    assert files(tmp_path / "same") == files(out)


def test_a_leading_tilde_is_home(folder: Path, tmp_path: Path) -> None:
    done = call("value", folder, "--out=~/run", "--permutations", 5, *FAST, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0
    assert (tmp_path / "run" / "run.json").is_file()


def test_streams_may_be_closed(folder: Path, tmp_path: Path) -> None:
    command = f"'{PCWINTER}' value '{folder}' --out '{tmp_path}/run' --permutations 5 --penalty 1 --bias 1 >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0
    assert (tmp_path / "run" / "run.json").is_file()


def test_warnings_are_told_once_and_kept(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "loops")
    with (tmp_path / "loops" / "edges.csv").open("a") as file:
        file.write("node-00,node-00\n")
    done = call("value", tmp_path / "loops", "--out", tmp_path / "run", "--permutations", 10, *FAST)
    assert done.stdout.count("dropped 1 self-loops") == 1
    assert "dropped 1 self-loops" in json.loads((tmp_path / "run" / "run.json").read_text())["warnings"][0]


# ---- wrong usage: one sentence, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--hops 0", "hops is 0, expected a whole number of at least 1"),
        ("--hops two", "Invalid value for '--hops': 'two' is not a valid integer."),
        ("--head tree", "Invalid value for '--head': 'tree' is not one of 'ridge', 'softmax'."),
        ("--metric loss", "Invalid value for '--metric'"),
        ("--orders bfs", "Invalid value for '--orders'"),
        ("--truncation 0.5,x", "'0.5,x' is not a list of numbers such as 0.5,0.7."),
        ("--truncation 0.5", "truncation"),
        ("--truncation 0.5,0.7 --orders free", "truncation"),
        ("--truncation 1.5,0.7", "truncation"),
        ("--permutations 0", "permutations is 0, expected a whole number of at least 1"),
        ("--permutations 1.5", "Invalid value for '--permutations': '1.5' is not a valid integer."),
        ("--max-permutations -1", "--max-permutations is -1, expected a whole number of at least 1"),
        ("--tolerance 0", "tolerance is 0.0, expected a positive number"),
        ("--tolerance nan", "tolerance is nan, expected a positive number"),
        ("--max-seconds -1", "--max-seconds is -1.0, expected a positive number"),
        ("--seed -1", "seed is -1, expected a whole number of at least 0"),
        ("--bootstrap 1", "bootstrap is 1, expected 0 or at least 2"),
        ("--bootstrap 5 --metric macro-f1", "the bootstrap needs a metric that is a mean over validation nodes"),
        ("--workers 0", "workers is 0, expected a whole number of at least 1"),
        ("--memory 0", "memory, in megabytes, is 0, expected a whole number of at least 1"),
        ("--penalty 0", "penalty of the ridge head is 0.0, expected a positive number"),
        ("--bias -1", "bias of the ridge head is -1.0, expected 0 or a positive number"),
        ("--temperature 0", "temperature of the ridge head is 0.0, expected a positive number"),
        ("--epochs 5", "--epochs belongs to the softmax head, but the head is ridge"),
        ("--head softmax --bias 1", "--bias belongs to the ridge head, but the head is softmax"),
        ("--head softmax --epochs 0", "epochs is 0, expected a whole number of at least 1"),
        ("--head softmax --learning-rate 0", "--learning-rate is 0.0, expected a positive number"),
        ("--head softmax --weight-decay -1", "--weight-decay is -1.0, expected 0 or a positive number"),
        ("--features rows", "Invalid value for '--features'"),
        ("--max-players 10", "more than --max-players 10"),
        ("--permutations 10 --tolerance 0.01", "--tolerance 0.01 would have no effect"),
        ("--permutations 10 --max-permutations 20", "--max-permutations 20 would have no effect"),
        ("--permutation 5", "No such option '--permutation'."),
        ("too many", "Got unexpected extra arguments (too many)"),
    ],
)
def test_wrong_options(arguments: str, sentence: str, folder: Path, tmp_path: Path) -> None:
    refused(call("value", folder, "--out", tmp_path / "new", *arguments.split()), sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["valu"], "No such command 'valu'."),
        (["--verbose"], "No such option '--verbose'."),
        (["value", "demo"], "Missing option '--out'."),
        (["value", "--out", "new"], "Missing argument 'GRAPH'."),
        (["value", "coral", "--out", "new"], "there is no graph 'coral': did you mean cora?"),
        (["value", "nothing", "--out", "new"], "a folder or file, or one of demo, cora"),
        (["value", "mine.txt", "--out", "new"], "mine.txt"),
        (["value", "cora", "--out", "new", "--data", "nowhere"], "the data folder nowhere does not exist"),
        (["value", "demo", "--out", "."], "is not empty and holds no run.json, so its files may be yours"),
        (["value", "demo", "--out", "mine.txt"], "mine.txt is a file, expected a directory"),
        (["value", "demo", "--out", "mine.txt/new"], "mine.txt is read-only"),
        (["value", "demo", "--out", "/proc/pcwinter"], "/proc/pcwinter cannot be "),
        (["show", "nowhere"], "nowhere holds no run.json"),
        (["show", "."], ". holds no run.json"),
        (["show"], "Missing argument 'RUN'."),
        (["show", ".", "--by", "all"], "Invalid value for '--by'"),
        (["compare", "nowhere", "."], "nowhere holds no run.json"),
        (["compare", "."], "Missing argument 'B'."),
        (["report", "nowhere"], "nowhere holds no run.json"),
        (["datasets", "--data", "nowhere"], "the data folder nowhere does not exist"),
        (["completion", "tcsh"], "Invalid value for '{bash|zsh|fish}': 'tcsh' is not one of"),
    ],
)
def test_wrong_usage(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    refused(call(*arguments, cwd=tmp_path), sentence)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "precious"


@pytest.mark.parametrize("command", [["show"], ["compare", "{run}"]])
def test_wrong_top(command: list[str], run: Path) -> None:
    arguments = [word.format(run=run) for word in command]
    refused(call(*arguments, run, "--top", 0), "top is 0, expected a whole number of at least 1")


def test_somebodys_data_stay_when_out_is_the_graph_itself(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(call("value", folder, "--out", folder), "so its files may be yours")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# ---- show, compare, datasets


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
    assert done.stdout.count("not on this machine; downloaded") == len(pw.DATASETS) - 1
