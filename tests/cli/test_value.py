"""pcwinter value: what it prints and writes, options, interruptions, resumption, a full disk."""

import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from command import FAST, PCWINTER, RESULTS, call, files, refused
from pcwinter._util.files import temporary_name

SLOW = ["--head", "softmax", "--epochs", "200"]  # an order takes seconds


def test_a_run_is_not_begun_twice(run: Path, folder: Path) -> None:
    before = files(run)
    refused(call("value", folder, "--out", run, *FAST), "--resume")
    refused(
        call("value", folder, "--out", run, "--resume", "--seed", 1, *FAST),
        "seed is 0 there and 1 here",
    )
    refused(
        call("value", folder, "--out", run, "--resume", "--permutations", 10, *FAST),
        "--permutations 10",
    )
    assert files(run) == before


def begin(out: Path, *arguments: object) -> "subprocess.Popen[str]":
    """An endless run of the demo that has saved its first block."""
    command = [PCWINTER, "value", "demo", "--out", str(out), "--permutations", "1000000", *FAST, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (out / "checkpoint.0.npz").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_once_saves_and_says_how_to_go_on(workers: int, tmp_path: Path) -> None:
    process = begin(tmp_path / "run", "--workers", workers)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Ctrl-C again" in err
    assert out.splitlines()[-1].startswith(f"Continue with: pcwinter value demo --out {tmp_path / 'run'} ")
    assert out.splitlines()[-1].endswith(" --resume")
    story = json.loads((tmp_path / "run" / "run.json").read_text())
    done = story["permutations"]
    assert f"Interrupted after {done} orders" in story["status"]
    assert story["setup_seconds"] > 0

    more = ["--permutations", done + 15, *FAST]
    assert call("value", "demo", "--out", tmp_path / "run", "--resume", *more).returncode == 0
    assert call("value", "demo", "--out", tmp_path / "peace", *more).returncode == 0
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def begin_slow(out: Path, *arguments: object) -> "subprocess.Popen[str]":
    """A run whose first order takes seconds; it already listens for signals."""
    sign = temporary_name(out / "run.json")  # a run removes it when it begins
    out.mkdir(exist_ok=True)
    sign.touch()
    command = [PCWINTER, "value", "demo", "--out", str(out), "--permutations", "1000000", *SLOW, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while sign.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return process


def test_ctrl_c_twice_stops_at_once_and_loses_nothing_saved(tmp_path: Path) -> None:
    assert call("value", "demo", "--out", tmp_path / "run", "--max-seconds", 0.001, *SLOW).stderr == ""
    before = files(tmp_path / "run")
    process = begin_slow(tmp_path / "run", "--resume")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("Stopping" in line for line in process.stderr)  # after a line of progress, if compiling took long
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in err
    assert files(tmp_path / "run") == before
    assert call("value", "demo", "--out", tmp_path / "run", "--resume", "--permutations", 2, *SLOW).stderr == ""
    assert call("value", "demo", "--out", tmp_path / "peace", "--permutations", 2, *SLOW).stderr == ""
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_ctrl_c_is_heard_when_nobody_reads_what_is_said(tmp_path: Path) -> None:
    process = begin_slow(tmp_path / "run")
    assert process.stderr is not None
    process.stderr.close()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)  # less than an order takes
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 130
    assert "nodes.csv" not in os.listdir(tmp_path / "run")


def test_a_damaged_checkpoint_is_told_at_once_and_in_the_results(folder: Path, run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    (tmp_path / "run" / "checkpoint.0.npz").write_bytes(b"rubbish")
    done = call("value", folder, "--out", tmp_path / "run", "--resume", "--permutations", 40, *FAST)
    assert done.returncode == 0
    assert re.search(r"^warning: \S+ is damaged \(.*\) and was not used. .* from .0 orders.$", done.stderr)
    assert "is damaged" in (tmp_path / "run" / "run.json").read_text()


def test_killed_and_resumed(tmp_path: Path) -> None:
    process = begin(tmp_path / "run")
    process.kill()
    process.communicate()
    refused(call("show", tmp_path / "run"), "no results yet")
    resumed = call("value", "demo", "--out", tmp_path / "run", "--resume", "--permutations", 400, *FAST)
    assert resumed.returncode == 0, resumed.stderr
    assert call("value", "demo", "--out", tmp_path / "peace", "--permutations", 400, *FAST).returncode == 0
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_two_processes_on_one_directory(tmp_path: Path) -> None:
    process = begin(tmp_path / "run")
    refused(call("value", "demo", "--out", tmp_path / "run", "--resume", *FAST), "another process is using")
    assert process.poll() is None
    process.kill()
    process.communicate()


def test_a_full_disk_is_one_sentence_and_harms_nothing(folder: Path, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(run, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))  # bytes a file may have

    done = call("value", folder, "--out", out, "--resume", "--permutations", 60, *FAST, preexec_fn=little_room)
    refused(done, "could not write")
    assert "unchanged" in done.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert call("value", folder, "--out", out, "--resume", "--permutations", 60, *FAST).returncode == 0


def test_progress_on_a_terminal(folder: Path, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    command = [PCWINTER, "value", "demo", "--out", str(tmp_path / "run"), "--permutations", "300", *FAST]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=slave, env={**os.environ, "COLUMNS": "120"})
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    assert process.wait() == 0
    assert b" of 300 orders \xc2\xb7 values moved by " in text
    assert b"left" in text
    assert b"\n" not in text


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
        "scale": 1.0,
        "hops": 1,
        "metric": "log-likelihood",
        "orders": "dfs",
        "coalition": "messages",
        "truncation": [0.5],
        "remainder": "silent",
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


def test_a_message_run_goes_on_as_one(folder: Path, tmp_path: Path) -> None:
    common = ["value", folder, *FAST, "--theta", "0.2,0.3,0.5", "--empty", "constant", "--truncation", "0.5,0.7"]
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    for out, permutations in ((whole, 20), (halves, 10)):
        done = call(*common, "--coalition", "messages", "--out", out, "--permutations", permutations)
        assert done.returncode == 0, done.stderr
    done = call(*common, "--out", halves, "--permutations", 20, "--resume")
    assert done.returncode == 0, done.stderr
    assert "message game with theta 0.2, 0.3, 0.5" in done.stdout
    assert files(halves) == files(whole)
    refused(
        call(*common, "--out", halves, "--permutations", 20, "--resume", "--coalition", "induced"),
        "--theta needs --coalition messages",
    )
    refused(
        call(*common, "--out", halves, "--permutations", 20, "--resume", "--remainder", "nobody"),
        "(--remainder is silent there and nobody here)",
    )


def test_a_filter_is_recorded_and_shown(folder: Path, tmp_path: Path) -> None:
    common = ["value", folder, *FAST, "--coalition", "messages", "--permutations", 10]
    done = call(*common, "--filter", "appnp:0.10", "--out", tmp_path / "appnp")
    assert done.returncode == 0, done.stderr
    assert "message game with filter appnp:0.1, ridge" in done.stdout
    assert json.loads((tmp_path / "appnp" / "run.json").read_text())["asked"]["filter"] == "appnp:0.1"
    assert call(*common, "--theta", "0.1,0.09,0.81", "--out", tmp_path / "theta").returncode == 0
    weights = files(tmp_path / "theta")
    assert files(tmp_path / "appnp")["nodes.csv"] == weights["nodes.csv"]
    again = call(*common, "--filter", "appnp:0.1", "--out", tmp_path / "appnp", "--resume")
    assert again.returncode == 0, again.stderr
    refused(call(*common, "--out", tmp_path / "appnp", "--resume"), "--filter is appnp:0.1 there and not given here")
    shown = call("compare", tmp_path / "appnp", tmp_path / "theta").stdout
    assert "filter: appnp:0.1 in A, sgc in B" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--hops 0", "hops is 0"),
        ("--hops two", "Invalid value for '--hops': 'two' is not a valid integer."),
        ("--head tree", "Invalid value for '--head': 'tree' is not one of 'ridge', 'softmax'."),
        ("--metric loss", "Invalid value for '--metric'"),
        ("--orders bfs", "Invalid value for '--orders'"),
        ("--truncation 0.5,x", "'0.5,x' is not a list of numbers such as 0.5,0.7."),
        ("--truncation 0.5", "truncation"),
        ("--truncation 0.5,0.7 --orders free", "truncation"),
        ("--truncation 1.5,0.7", "truncation"),
        ("--permutations 0", "permutations is 0"),
        ("--permutations 1.5", "Invalid value for '--permutations': '1.5' is not a valid integer."),
        ("--max-permutations -1", "--max-permutations is -1"),
        ("--tolerance 0", "tolerance is 0.0"),
        ("--tolerance nan", "tolerance is nan"),
        ("--max-seconds -1", "--max-seconds is -1.0"),
        ("--seed -1", "seed is -1"),
        ("--bootstrap 1", "bootstrap is 1"),
        ("--bootstrap 5 --metric macro-f1", "the bootstrap needs a metric"),
        ("--workers 0", "workers is 0"),
        ("--memory 0", "--memory is 0"),
        ("--penalty 0", "--penalty is 0.0"),
        ("--bias -1", "--bias is -1.0"),
        ("--penalty 1e-6 --bias 3", "--penalty is 1e-06 and --bias is 3, expected a penalty of at least 0.0001"),
        ("--temperature 0 --metric probability", "--temperature is 0.0"),
        ("--epochs 5", "--epochs belongs to the softmax head"),
        ("--head softmax --bias 1", "--bias belongs to the ridge head"),
        ("--head softmax --epochs 0", "epochs is 0"),
        ("--head softmax --learning-rate 0", "--learning-rate is 0.0"),
        ("--head softmax --weight-decay -1", "--weight-decay is -1.0"),
        ("--features rows", "Invalid value for '--features'"),
        ("--max-players 10", "more than --max-players 10"),
        ("--permutations 10 --tolerance 0.01", "--tolerance 0.01 would have no effect"),
        ("--permutations 10 --max-permutations 20", "--max-permutations 20 would have no effect"),
        ("--permutation 5", "No such option '--permutation'."),
        ("--remainder nobody", "--remainder has no effect without --truncation"),
        (
            "--coalition induced --theta 0,1,1",
            "--theta needs --coalition messages, but --coalition is 'induced': leave out --theta",
        ),
        ("--coalition messages --theta abc", "'abc' is not a list of numbers such as 0,0.5,0.5."),
        ("--coalition messages --theta 1,1", "--theta has 2 weights, expected 3"),
        (
            "--coalition messages --theta 1e308,0,1",
            "--theta is [1e+308, 0.0, 1.0], expected weights that are 0 or from",
        ),
        ("--filter gcn", "--filter is 'gcn', expected sgc, appnp:ALPHA, mean or hops"),
        ("--filter appnp:2", "--filter is 'appnp:2', expected appnp:ALPHA with ALPHA between 0 and 1"),
        ("--filter mean --coalition induced", "--filter mean needs --coalition messages"),
        ("--filter mean --preset paper", "--filter mean needs --coalition messages, but --coalition is 'induced'"),
        ("--filter mean --coalition messages --theta 0,0.5,0.5", "leave one of them out"),
        ("--preset paper --head ridge", "--preset paper means --head softmax, but --head is 'ridge'"),
        ("--preset paper --epochs 5", "--epochs contradicts --preset paper: leave one of them out"),
        ("--preset paper --penalty 3", "--penalty contradicts --preset paper: leave one of them out"),
        ("too many", "Got unexpected extra arguments (too many)"),
    ],
)
def test_wrong_options(arguments: str, sentence: str, folder: Path, tmp_path: Path) -> None:
    refused(call("value", folder, "--out", tmp_path / "new", *arguments.split()), sentence)
    assert list(tmp_path.iterdir()) == []


def test_somebodys_data_stay_when_out_is_the_graph_itself(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(call("value", folder, "--out", folder), "so its files may be yours")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_help_says_which_classes_macro_f1_averages_over() -> None:
    shown = " ".join(call("value", "--help").stdout.split())
    assert "Averages over classes are over those that occur among the scored nodes" in shown


def test_any_metric_and_class_weights(folder: Path, tmp_path: Path) -> None:
    classes = pw.read_graph(folder).classes
    for metric in ("balanced-accuracy", "roc-auc", "average-precision", f"f1:{classes[1]}"):
        out = tmp_path / metric.replace(":", "-")
        options = ("--metric", metric, "--class-weight", "balanced", "--permutations", 5, *FAST)
        assert call("value", folder, "--out", out, *options).returncode == 0
        story = pw.read(out).story
        assert story["asked"]["metric"] == metric
        assert story["asked"]["class_weight"] == "balanced"
        assert "balanced class weights" in story["head"]
        again = call("value", folder, "--out", out, *options, "--resume")
        assert again.returncode == 0
        for command in (("show", out), ("compare", out, out), ("report", out)):
            assert call(*command).returncode == 0
    wrong = call("value", folder, "--out", tmp_path / "x", "--metric", "f1:nobody", *FAST)
    assert wrong.returncode == 2
    assert f"--metric is 'f1:nobody', but the classes of the graph are {', '.join(classes)}" in wrong.stderr
    for bad in ("f1:", "auc"):
        wrong = call("value", folder, "--out", tmp_path / "x", "--metric", bad)
        assert wrong.returncode == 2
        assert "f1:CLASS" in wrong.stderr
    wrong = call("value", folder, "--out", tmp_path / "x", "--preset", "paper", "--class-weight", "balanced")
    assert "--class-weight contradicts --preset paper" in wrong.stderr


def test_numeric_targets(tmp_path: Path) -> None:
    """From the tables to the report, with one command each."""
    folder, out = tmp_path / "prices", tmp_path / "run"
    folder.mkdir()
    rng = np.random.default_rng(0)
    sets = ["train"] * 8 + ["val"] * 10 + ["test"] * 10 + [""] * 12
    lines = ["id,split,Target,size,age"]
    for node, split in enumerate(sets):
        size, age = rng.random(2).round(3)
        price = round(2 * size - age + 10 + rng.normal() / 10, 3) if split or node % 2 else ""
        lines.append(f"h{node},{split},{price},{size},{age}")
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    ends = [f"h{u},h{v}" for u in range(40) for v in range(u) if rng.random() < 0.1]
    (folder / "edges.csv").write_text("\n".join(["source,target", *ends]) + "\n")
    done = call("value", folder, "--out", out, "--features", "none", "--permutations", 20)
    assert done.returncode == 0, done.stderr
    assert "regression on 1 target" in done.stdout
    assert "validation r2: " in done.stdout
    run = pw.read(out)
    assert run.story["asked"]["metric"] == "r2"
    assert run.story["calibration"].keys() == {"penalty", "bias", "explained"}
    gain = run.story["utility_full"] - run.story["utility_empty"]
    assert run.nodes["value"].sum() == pytest.approx(gain, abs=1e-12)
    shown = call("show", out)
    assert "A value is a share of R2" in shown.stdout
    assert "class" not in shown.stdout
    assert call("report", out).returncode == 0
    assert "R²" in (out / "report.html").read_text(encoding="utf-8")
    assert call("compare", out, out).returncode == 0
    judged = call("judge", out / "nodes.csv", "--graph", folder, "--features", "none", "--which", "mixed", "--seeds", 1)
    assert judged.returncode == 0, judged.stderr
    assert "| degree |" in judged.stdout
    assert "--head" in call("value", folder, "--out", tmp_path / "x", "--features", "none", "--head", "softmax").stderr
