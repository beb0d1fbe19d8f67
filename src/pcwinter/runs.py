"""Values -> a directory: run.json, nodes.csv, edges.csv, players.npz; plain formats, exact floats, no pickle."""

import json
import os
import platform
from dataclasses import asdict
from importlib import metadata
from io import BytesIO
from pathlib import Path

import numpy as np

from pcwinter.valuation import Values

PACKAGES = ("pcwinter", "numpy", "scipy", "numba", "pandas")


def check_directory(out: Path) -> None:
    """Refuse a place that is not ours to write to: a file, or a directory with something else in it."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file, but the output needs a directory: name another place")
    if out.is_dir() and any(out.iterdir()) and not (out / "run.json").is_file():
        raise FileExistsError(
            f"{out} is not empty and holds no run.json, so its files may be yours: name an empty or a new directory"
        )
    existing = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise PermissionError(f"{out} cannot be written, since {existing} does not allow it: name another place")


def write(values: Values, out: Path) -> None:
    """Write a run; each file is complete or absent, and run.json comes last."""
    check_directory(out)
    out.mkdir(parents=True, exist_ok=True)
    tree, done = values.tree, values.estimate.tally
    arrays = BytesIO()
    np.savez_compressed(
        arrays,
        paths=tree.paths(),
        null=tree.null,
        value=values.estimate.mean(),
        stderr=values.estimate.stderr(),
    )
    calibration = asdict(values.calibration) if values.calibration else None
    story = {
        "status": values.status,
        **values.asked,
        "head": values.head,
        "calibration": calibration,
        "hops": tree.hops,
        "n_players": tree.n_players,
        "permutations": done.orders,
        "visited": done.visited,
        "evaluations": done.evaluations,
        "baselines": done.baselines,
        "seconds": values.estimate.seconds,
        "setup_seconds": values.setup_seconds,
        "utility_full": values.utility_full,
        "utility_roots": values.utility_roots,
        "utility_empty": values.utility_empty,
        "warnings": list(values.warnings),
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in PACKAGES},
        },
    }
    _replace(out / "nodes.csv", values.nodes().to_csv(index=False, lineterminator="\n").encode())
    _replace(out / "edges.csv", values.edges().to_csv(index=False, lineterminator="\n").encode())
    _replace(out / "players.npz", arrays.getvalue())
    _replace(out / "run.json", (json.dumps(story, indent=2) + "\n").encode())


def _replace(path: Path, content: bytes) -> None:
    """Write to a temporary file, flush it to the disk, rename: only that survives a loss of power."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
