"""State <-> two files that are written alternately, so that one of them is always intact.

A checkpoint is an npz file of plain arrays. One of them is the hash of all others, another the hash that identifies
the run.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.files import AGAIN, digest, replace_file
from pcwinter.estimation.estimator import State
from pcwinter.estimation.moments import Moments, Tally

NAMES = ("checkpoint.0.npz", "checkpoint.1.npz")
Arrays: TypeAlias = dict[str, NDArray[Any]]


class Checkpoints:
    """The checkpoints of one run in its directory."""

    def __init__(self, directory: Path, about: str) -> None:
        self.paths, self.about = [directory / name for name in NAMES], about

    def load(self, *also: str) -> tuple[State | None, list[str]]:
        """The latest intact state, and a sentence for each damaged checkpoint; `also` identifies the same run."""
        states, complaints = {}, []
        for path in self.paths:
            try:
                states[path] = unpack(path.read_bytes(), self.about, *also)
            except FileNotFoundError:
                continue
            except Exception as error:  # a damaged file may raise anything
                complaints.append(f"{path} is damaged ({error}) and was not used.")
        if not states:
            return None, complaints
        best = max(states, key=lambda path: states[path].total.orders)
        self.paths.sort(key=lambda path: path == best)  # the best one is overwritten last
        return states[best], complaints

    def save(self, state: State) -> None:
        """Overwrite the older checkpoint. A state inside a block is not saved: a run cannot continue from it."""
        if not state.whole:
            return
        replace_file(self.paths[0], pack(state, self.about), AGAIN)
        self.paths.reverse()


def pack(state: State, about: str) -> bytes:
    """The bytes of a checkpoint."""
    total = state.total
    arrays: Arrays = {
        "counts": np.array([total.orders, total.visited, total.evaluations, total.baselines]),
        "recent": np.array(state.recent),
        "change": np.array(state.change),
        "seconds": np.array(state.seconds),
        "about": np.array(about),
        "levels": np.array(list(total.levels)),
    }
    moments = {f"level {name}": moments for name, moments in total.levels.items()}
    for name, one in {**moments, "even": state.halves[0], "odd": state.halves[1]}.items():
        if one is not None:
            arrays |= {f"{name} n": np.array(one.n), f"{name} total": one.total, f"{name} squares": one.squares}
            arrays |= {} if one.visits is None else {f"{name} visits": one.visits}
    arrays |= {f"detail {name}": sums for name, sums in total.detail.items()}
    arrays |= {f"squares {name}": squares for name, squares in total.squares.items()}
    file = BytesIO()
    np.savez(file, allow_pickle=False, sha256=np.array(digest(arrays)), **arrays)
    return file.getvalue()


def unpack(content: bytes, *about: str) -> State:
    """The state in a checkpoint, after checking that it is intact and belongs to this run."""
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if str(arrays.pop("sha256")) != digest(arrays):
        raise ValueError("its checksum is wrong")
    if str(arrays["about"]) not in about:
        raise ValueError("it belongs to another run")

    def moments(name: str) -> Moments:
        n, visits = int(arrays[f"{name} n"]), arrays.get(f"{name} visits")
        return Moments(n, arrays[f"{name} total"], arrays[f"{name} squares"], visits)

    _, visited, evaluations, baselines = arrays["counts"].tolist()
    levels = {name: moments(f"level {name}") for name in arrays["levels"].tolist()}

    def by_level(kind: str) -> Arrays:
        return {name: arrays[f"{kind} {name}"] for name in levels if f"{kind} {name}" in arrays}

    return State(
        Tally(levels, by_level("detail"), visited, evaluations, baselines, by_level("squares")),
        (moments("even"), moments("odd") if "odd n" in arrays else None),
        tuple(arrays["recent"]),
        tuple(arrays["change"].tolist()),
        float(arrays["seconds"]),
    )
