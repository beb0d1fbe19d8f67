"""The command line as a user calls it."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PCWINTER = shutil.which("pcwinter", path=str(Path(sys.executable).parent)) or "pcwinter"
FAST = ["--penalty", "1", "--bias", "1"]  # no calibration
RESULTS = ["edges.csv", "nodes.csv", "players.npz"]

Call = Callable[..., "subprocess.CompletedProcess[str]"]


def call(*arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
    command = [PCWINTER, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)  # type: ignore[call-overload, no-any-return]


def files(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in RESULTS}


def refused(done: "subprocess.CompletedProcess[str]", sentence: str) -> None:
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def write_graph(place: Path) -> None:
    """A small graph: two classes, strings as ids."""
    lines = ["id,label,split,x,y"]
    for k in range(30):
        label = "cat" if k % 2 else "dog"
        split = ("train", "val", "")[k % 3]
        x, y = (1.0, 0.1 * k) if label == "cat" else (0.3, 1.0 + 0.05 * k)
        lines.append(f"node-{k:02},{label},{split},{x},{y}")
    (place / "nodes.csv").write_text("\n".join(lines) + "\n")
    edges = [f"node-{k:02},node-{(k + step) % 30:02}" for k in range(30) for step in (2, 3, 6)]
    (place / "edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
