"""State <-> two files that are written in turn: whatever happens to one of them, the other is whole.

A checkpoint is an npz of plain arrays with the hash of the others among them, and the hash of what the run is about.
"""

import errno
import fcntl
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pcwinter.values import Moments, State, Tally

NAMES = ("checkpoint.0.npz", "checkpoint.1.npz")
Arrays: TypeAlias = dict[str, NDArray[Any]]


def replace_file(path: Path, content: bytes) -> None:
    """Write to a temporary file, flush it to the disk, rename: only that survives a loss of power."""
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _flush_directory(path.parent)
    except OSError as error:
        raise OSError(
            f"could not write {path} ({error.strerror or error}); what was there before is as it was: make room or "
            "choose another place, and try again (value goes on with --resume, reproduce by itself)"
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def lock(handle: int, directory: Path) -> bool:
    """Keep other processes out of a directory that is open as `handle`; False where its file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(
            f"another process is at work on {directory}: wait for it, or name another directory"
        ) from None
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        return False
    return True


def temporary_name(path: Path) -> Path:
    """What `replace_file` calls a file until it is complete."""
    return path.with_name(f".{path.name}.tmp")


class Checkpoints:
    """The checkpoints of one run in its directory."""

    def __init__(self, directory: Path, about: str) -> None:
        self.paths, self.about = [directory / name for name in NAMES], about

    def load(self) -> tuple[State | None, list[str]]:
        """The latest good state, and a sentence for each checkpoint that is not good."""
        states, complaints = {}, []
        for path in self.paths:
            try:
                states[path] = unpack(path.read_bytes(), self.about)
            except FileNotFoundError:
                continue
            except Exception as error:  # a damaged file may raise anything
                complaints.append(f"{path} is damaged ({error}) and was not used.")
        if not states:
            return None, complaints
        best = max(states, key=lambda path: states[path].total.orders)
        self.paths.sort(key=lambda path: path == best)  # the good one is written over last
        return states[best], complaints

    def save(self, state: State) -> None:
        """Write over the checkpoint before the last."""
        replace_file(self.paths[0], pack(state, self.about))
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
    arrays |= {f"detail {name}": sums for name, sums in total.detail.items()}
    file = BytesIO()
    np.savez(file, allow_pickle=False, sha256=np.array(digest(arrays)), **arrays)
    return file.getvalue()


def unpack(content: bytes, about: str) -> State:
    """The state in a checkpoint that is whole and of this run."""
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if str(arrays.pop("sha256")) != digest(arrays):
        raise ValueError("its checksum is wrong")
    if str(arrays["about"]) != about:
        raise ValueError("it belongs to another run")

    def moments(name: str) -> Moments:
        return Moments(int(arrays[f"{name} n"]), arrays[f"{name} total"], arrays[f"{name} squares"])

    _, visited, evaluations, baselines = arrays["counts"].tolist()
    levels = {name: moments(f"level {name}") for name in arrays["levels"].tolist()}
    detail = {name: arrays[f"detail {name}"] for name in levels if f"detail {name}" in arrays}
    return State(
        Tally(levels, detail, visited, evaluations, baselines),
        (moments("even"), moments("odd") if "odd n" in arrays else None),
        tuple(arrays["recent"]),
        tuple(arrays["change"].tolist()),
        float(arrays["seconds"]),
    )


def digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Hash of arrays: their names, types, shapes and contents."""
    found = sha256()
    for name, array in sorted(arrays.items()):
        found.update(repr((name, array.dtype.str, array.shape)).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _flush_directory(directory: Path) -> None:
    """Let the new name reach the disk, too."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
