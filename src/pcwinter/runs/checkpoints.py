"""Checkpoint <-> two files that are written alternately, so that one of them is always intact.

Each is an npz file of plain arrays. One of them is the hash of all others, another the hash that identifies
the run.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.files import AGAIN, digest, replace_file
from pcwinter.estimation.estimator import Checkpoint, State
from pcwinter.estimation.moments import Moments, Tally

NAMES = ("checkpoint.0.npz", "checkpoint.1.npz")
Arrays: TypeAlias = dict[str, NDArray[Any]]


class Checkpoints:
    """The checkpoints of one run in its directory."""

    def __init__(self, directory: Path, about: str) -> None:
        self.paths, self.about = [directory / name for name in NAMES], about

    def load(self, *also: str) -> tuple[Checkpoint | None, list[str]]:
        """The latest intact checkpoint, and a sentence for each damaged checkpoint; `also` identifies the same run."""
        found, complaints = {}, []
        for path in self.paths:
            try:
                found[path] = unpack(path.read_bytes(), self.about, *also)
            except FileNotFoundError:
                continue
            except Exception as error:  # a damaged file may raise anything
                complaints.append(f"{path} is damaged ({error}) and was not used.")
        if not found:
            return None, complaints
        best = max(found, key=lambda path: found[path].orders)
        self.paths.sort(key=lambda path: path == best)  # the best one is overwritten last
        return found[best], complaints

    def save(self, checkpoint: Checkpoint) -> None:
        """Overwrite the older checkpoint."""
        replace_file(self.paths[0], pack(checkpoint, self.about), AGAIN)
        self.paths.reverse()


def pack(checkpoint: Checkpoint, about: str) -> bytes:
    """The bytes of a checkpoint."""
    state, part = checkpoint.state, checkpoint.part
    arrays: Arrays = {
        "seconds": np.array(checkpoint.seconds),
        "setup": np.array(checkpoint.setup),
        "about": np.array(about),
        "levels": np.array(list(checkpoint.tallies[0].levels)),
    }
    if state is not None:
        arrays |= {**_of_tally("", state.total), "recent": np.array(state.recent), "change": np.array(state.change)}
        for name, half in zip(("even", "odd"), state.halves, strict=True):
            arrays |= _of_moments(name, half) if half is not None else {}
    if part is not None:
        arrays |= _of_tally("part ", part)
    file = BytesIO()
    np.savez(file, allow_pickle=False, sha256=np.array(digest(arrays)), **arrays)
    return file.getvalue()


def unpack(content: bytes, *about: str) -> Checkpoint:
    """The checkpoint, after checking that it is intact and belongs to this run."""
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if str(arrays.pop("sha256")) != digest(arrays):
        raise ValueError("its checksum is wrong")
    if str(arrays["about"]) not in about:
        raise ValueError("it belongs to another run")
    seconds, setup = (float(arrays.get(name, np.array(0.0))) for name in ("seconds", "setup"))  # 0.2.0 has no setup
    total, part = _tally(arrays, ""), _tally(arrays, "part ")
    if total is None:
        return Checkpoint(None, part, seconds, setup)
    state = State(
        total,
        (_moments(arrays, "even"), _moments(arrays, "odd") if "odd n" in arrays else None),
        tuple(arrays["recent"]),
        tuple(arrays["change"].tolist()),
        seconds,
        setup,
    )
    return Checkpoint(state, part, seconds, setup)


def _of_tally(prefix: str, tally: Tally) -> Arrays:
    arrays: Arrays = {
        f"{prefix}counts": np.array([tally.orders, tally.visited, tally.evaluations, tally.baselines]),
        **{f"{prefix}detail {name}": sums for name, sums in tally.detail.items()},
        **{f"{prefix}squares {name}": squares for name, squares in tally.squares.items()},
    }
    for name, moments in tally.levels.items():
        arrays |= _of_moments(f"{prefix}level {name}", moments)
    return arrays


def _tally(arrays: Arrays, prefix: str) -> Tally | None:
    if f"{prefix}counts" not in arrays:
        return None
    _, visited, evaluations, baselines = arrays[f"{prefix}counts"].tolist()
    levels = {name: _moments(arrays, f"{prefix}level {name}") for name in arrays["levels"].tolist()}
    detail, squares = (
        {name: arrays[key] for name in levels if (key := f"{prefix}{kind} {name}") in arrays}
        for kind in ("detail", "squares")
    )
    return Tally(levels, detail, visited, evaluations, baselines, squares)


def _of_moments(name: str, moments: Moments) -> Arrays:
    arrays = {f"{name} n": np.array(moments.n), f"{name} total": moments.total, f"{name} squares": moments.squares}
    return arrays if moments.visits is None else {**arrays, f"{name} visits": moments.visits}


def _moments(arrays: Arrays, name: str) -> Moments:
    n, visits = int(arrays[f"{name} n"]), arrays.get(f"{name} visits")
    return Moments(n, arrays[f"{name} total"], arrays[f"{name} squares"], visits)
