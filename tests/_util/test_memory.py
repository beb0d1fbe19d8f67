"""The memory that walks may take: asked for, found, and kept to."""

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import pcwinter as pw
from pcwinter._util import memory
from pcwinter._util.memory import MEGABYTE, available, budget
from pcwinter.heads.ridge.head import RidgeWalker


def test_a_number_of_megabytes_is_taken_as_it_is() -> None:
    assert budget(300) == 300 * MEGABYTE
    for bad in (0, -1, cast("int", 1.5), cast("int", "much")):
        with pytest.raises(ValueError, match="memory is"):
            budget(bad)


def test_the_default_is_half_of_what_is_free_shared_by_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < budget(None) <= available() / 2 * 1.1
    monkeypatch.setattr(memory, "available", lambda: 1000)
    assert budget(None, processes=4) == 125


def test_a_container_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:  7 kB\n", "memory.max": "5000", "memory.current": "1000"}
    monkeypatch.setattr(Path, "read_text", lambda path, **_: files.get(str(path)) or files[path.name])
    assert available() == 4000
    files["memory.max"] = "max"
    assert available() == 7 * 1024


PEAK = """
import sys, numpy as np, pcwinter as pw
from pcwinter.game.problem import make_problem
from pcwinter.heads.ridge.head import RidgeWalker
from pcwinter.game.metrics import METRICS

def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) // 1024

name, memory = sys.argv[1], int(sys.argv[2])
graph = pw.load("demo")  # compiled code and libraries are loaded before the measurement
pw.value(graph, head=pw.Ridge(penalty=1.0, bias=1.0), coalition="induced", permutations=1)
graph = pw.load(name)
tree = pw.contribution_tree(graph)
problem, order = make_problem(graph, tree), pw.sampler(tree, "dfs", (0.7, 0.9))(np.random.default_rng(0))
open("/proc/self/clear_refs", "w").write("5")  # the peak starts again from what is in use now
before = peak()
walker = RidgeWalker(problem, 1.0, 1.0, METRICS["accuracy"], memory=memory * 2**20)
walker.walk(order)
each, fixed = walker.footprint(False, True)
print(peak() - before, (fixed + each * len(graph.val)) // 2**20)
"""


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "memory"), [("coauthor-physics", 2000), ("coauthor-physics", 200), ("amazon-photo", 180)]
)
def test_the_bound_is_kept(name: str, memory: int, data_dir: Path) -> None:
    """Peak of a fresh process: what was predicted, or, where that is too much, what was permitted."""
    environment = {**os.environ, "PCWINTER_DATA": str(data_dir)}
    command = [sys.executable, "-c", PEAK, name, str(memory)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    taken, predicted = map(int, run.stdout.split())
    print(f"{name}: {taken} MB taken, {predicted} MB predicted without a bound, {memory} MB permitted")
    assert taken <= 1.1 * min(predicted, memory) + 10
    assert taken >= 0.4 * min(predicted, memory)


def test_values_do_not_depend_on_the_memory() -> None:
    graph = pw.load("demo")
    ridge = pw.Ridge(penalty=1.0, bias=1.0)
    plenty = pw.value(graph, head=ridge, permutations=10)
    walker = pw.graph_game(graph, pw.contribution_tree(graph), ridge)[0].walker
    assert isinstance(walker, RidgeWalker)
    each, fixed = walker.footprint(interleaved=False, single=True)
    least = -(-(fixed + 64 * each) // MEGABYTE)
    assert fixed + len(graph.val) * each > least * MEGABYTE  # so that there are tiles
    little = pw.value(graph, head=ridge, permutations=10, memory=least)
    assert little.nodes().equals(plenty.nodes())
