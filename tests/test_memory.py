"""The memory that walks may take: asked for, found, and kept to."""

from pathlib import Path
from typing import cast

import pytest

import pcwinter as pw
from pcwinter import _memory
from pcwinter._memory import MEGABYTE, available, budget
from pcwinter.heads.ridge import RidgeWalker


def test_a_number_of_megabytes_is_taken_as_it_is() -> None:
    assert budget(300) == 300 * MEGABYTE
    for bad in (0, -1, cast("int", 1.5), cast("int", "much")):
        with pytest.raises(ValueError, match="memory, in megabytes, is"):
            budget(bad)


def test_the_default_is_half_of_what_is_free_shared_by_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < budget(None) <= available() / 2 * 1.1
    monkeypatch.setattr(_memory, "available", lambda: 1000)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    assert budget(None) == 125


def test_a_container_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:  7 kB\n", "memory.max": "5000", "memory.current": "1000"}
    monkeypatch.setattr(Path, "read_text", lambda path, **_: files.get(str(path)) or files[path.name])
    assert available() == 4000
    files["memory.max"] = "max"
    assert available() == 7 * 1024


def test_values_do_not_depend_on_the_memory() -> None:
    graph = pw.load("demo")
    ridge = pw.Ridge(penalty=1.0, bias=1.0)
    plenty = pw.value(graph, head=ridge, permutations=10)
    walker = pw.graph_game(graph, pw.contribution_tree(graph), ridge)[0].walker
    assert isinstance(walker, RidgeWalker)
    each, fixed = walker.footprint(interleaved=False, single=True)
    least = -(-(fixed + each) // MEGABYTE)
    assert fixed + len(graph.val) * each > least * MEGABYTE  # so that there are tiles
    little = pw.value(graph, head=ridge, permutations=10, memory=least)
    assert little.nodes().equals(plenty.nodes())
