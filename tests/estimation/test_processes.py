"""However a run with workers ends, nothing is left behind: scripts in processes of their own, none with a guard."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SCRIPT = """
import os, signal, sys, time
import pcwinter as pw
from pcwinter.estimation.pools import open_pool

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in a script's background ignores it
how = sys.argv[1]
features, labels = [[1.0]] * 6, [0, 0, 0, 1, 1, 1]
graph = pw.Graph(adjacency=[(0, 1), (0, 2), (3, 4)], features=features, labels=labels, train=[0, 3], val=[5])
tree = pw.contribution_tree(graph, hops=1)


def function(coalition):
    print("a game may talk")
    time.sleep(0.002)
    return float(coalition.sum())


def progress(now):
    if now.orders == 20:
        if how == "worker killed":
            pool.workers[0].process.kill()
        if how in ("kill", "interrupt"):
            print("running", flush=True)


try:
    with open_pool(2) as pool:
        print(*(worker.process.pid for worker in pool.workers), flush=True)
        if how == "kill at once":
            time.sleep(60)
        limit = 100 if how in ("end", "worker killed") else 1_000_000
        game, stop = pw.SetGame(tree.n_players, function), pw.stopping.permutations(limit)
        result = pw.estimate(game, pw.sampler(tree), stop, workers=pool, progress=progress)
    print(result.mean().sum())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts the script as the leader of a group, as a shell would, with a place of its own for temporary files."""
    processes: list[subprocess.Popen[str]] = []

    def begin(how: str) -> subprocess.Popen[str]:
        script = tmp_path / "script.py"
        script.write_text(SCRIPT)
        (tmp_path / "temporary").mkdir()
        process = subprocess.Popen(
            [sys.executable, str(script), how],
            env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def alive(pid: int) -> bool:
    """A process that has ended keeps its number until its parent has asked, but no command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def nothing_is_left(folder: Path, workers: list[int], patience: float) -> bool:
    end = time.monotonic() + patience
    while any(map(alive, workers)) or list((folder / "temporary").iterdir()):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def read_workers(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    workers = [int(word) for word in process.stdout.readline().split()]
    assert len(workers) == 2
    return workers


@pytest.mark.parametrize("how", ["end", "worker killed"])
def test_a_script_ends_in_silence(how: str, tmp_path: Path, start: Callable[[str], subprocess.Popen[str]]) -> None:
    process = start(how)
    workers = read_workers(process)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "5.0\n", "")
    assert nothing_is_left(tmp_path, workers, 0.0)


@pytest.mark.parametrize("how", ["kill", "kill at once"])
def test_nothing_is_left_after_a_kill(how: str, tmp_path: Path, start: Callable[[str], subprocess.Popen[str]]) -> None:
    process = start(how)
    workers = read_workers(process)
    assert process.stdout is not None
    if how == "kill":
        assert process.stdout.readline() == "running\n"
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    assert all(map(alive, workers))
    process.kill()
    _, err = process.communicate()
    assert err == ""
    assert nothing_is_left(
        tmp_path, workers, 2.0 if how == "kill" else 15.0
    )  # a worker hears of it once it has started


def test_nothing_is_left_after_an_interrupt(tmp_path: Path, start: Callable[[str], subprocess.Popen[str]]) -> None:
    process = start("interrupt")
    workers = read_workers(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    assert nothing_is_left(tmp_path, workers, 0.0)


INTERRUPTS = """
import os, sys, threading, time
from itertools import count
from pathlib import Path
from pcwinter.estimation import processes

class Quick(processes.Worker):
    def _start(self):  # no process: only the near side is tried
        return None
    def ask(self, block):
        return block
    def end(self):
        self.ended = True

class Nothing:
    def prepare(self): pass

processes.Worker, processes.share = Quick, lambda job, folder: None

def interrupted(step):
    "Whether there were so many steps of bytecode; an interrupt came after them."
    left = step
    def trace(frame, event, arg):
        nonlocal left
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    pool = processes.Processes(2, Path())
    answers = pool.run(Nothing(), ((n, n + 1) for n in count()))
    try:
        assert next(answers) == (0, 1)
        sys.settrace(trace)
        for _ in range(2):
            next(answers)
        answers.close()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
        pool.end()  # as `open_pool` does
    return left <= 0

steps = 0
while interrupted(steps + 1):
    steps += 1
end = time.monotonic() + 20
while threading.active_count() > 1 and time.monotonic() < end:
    time.sleep(0.01)
print(steps > 50, threading.active_count())
"""


def test_an_interrupt_after_any_step_of_a_run_or_its_end_ends_the_pool() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTS], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True 1\n", done.stderr  # Python complains of interrupts in its own callbacks
