"""Runs of the command line that are interrupted, killed, resumed, and short of room."""

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

from command import FAST, PCWINTER, call, files, refused


def test_a_run_is_not_begun_twice(run: Path, folder: Path) -> None:
    before = files(run)
    refused(call("value", folder, "--out", run, *FAST), "already holds a run: continue it with --resume")
    refused(
        call("value", folder, "--out", run, "--resume", "--seed", 1, *FAST),
        "holds another run (seed is 0 there and 1 here)",
    )
    refused(
        call("value", folder, "--out", run, "--resume", "--permutations", 10, *FAST),
        "holds the results of 30 orders, but --permutations 10 is less",
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

    more = ["--permutations", done + 15, *FAST]
    assert call("value", "demo", "--out", tmp_path / "run", "--resume", *more).returncode == 0
    assert call("value", "demo", "--out", tmp_path / "peace", *more).returncode == 0
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_ctrl_c_twice_stops_at_once_and_loses_nothing_saved(tmp_path: Path) -> None:
    free = ["--orders", "free"]  # a block of these takes seconds, so the second signal finds it under way
    process = begin(tmp_path / "run", *free)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("Stopping" in line for line in process.stderr)  # after a line of progress, if compiling took long
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped at once" in err
    assert "nodes.csv" not in os.listdir(tmp_path / "run")
    with np.load(tmp_path / "run" / "checkpoint.0.npz", allow_pickle=False) as saved:
        assert saved["counts"][0] == 10
    assert call("value", "demo", "--out", tmp_path / "run", "--resume", "--permutations", 12, *free, *FAST).stderr == ""
    assert call("value", "demo", "--out", tmp_path / "peace", "--permutations", 12, *free, *FAST).stderr == ""
    assert files(tmp_path / "run") == files(tmp_path / "peace")


def test_ctrl_c_is_heard_when_nobody_reads_what_is_said(tmp_path: Path) -> None:
    process = begin(tmp_path / "run", "--orders", "free")
    assert process.stderr is not None
    process.stderr.close()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)  # less than a block of orders takes
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
    refused(call("show", tmp_path / "run"), "has no results yet: finish it with --resume")
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
    assert "left unchanged" in done.stderr
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
