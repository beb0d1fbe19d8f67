"""Values <-> a directory: run.json, nodes.csv, edges.csv, players.npz, two checkpoints.

Plain formats, exact floats, no pickle. A file is complete or absent at any moment, and a run goes on to the same bits
after it was interrupted, in whatever way.
"""

import csv
import json
import os
import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib import metadata
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pcwinter.checkpoints import NAMES, Checkpoints, digest, lock, replace_file, temporary_name
from pcwinter.graph import Graph
from pcwinter.results import read_story
from pcwinter.tree import LEVELS
from pcwinter.valuation import Values, value
from pcwinter.values import BLOCK, State

if TYPE_CHECKING:
    import pandas as pd

PACKAGES = ("pcwinter", "numpy", "scipy", "numba", "pandas")
BITS = ("pcwinter", "numpy", "scipy", "numba")  # another version of these may lead to other bits
RESULTS = ("nodes.csv", "edges.csv", "players.npz")
SHARE = 0.05  # of the time that may go into checkpoints,
LONGEST = 10.0  # unless so many seconds have passed


class CheckpointWarning(UserWarning):
    """A checkpoint could not be used."""


class Directory:
    """A place for one run, held by one process; use it in a `with` statement.

    It keeps the states of the run, and saves each of them unless that would take more than a small share of the time.
    """

    def __init__(
        self, out: Path, graph: Graph, *, name: str = "", notes: Sequence[str] = (), resume: bool = False
    ) -> None:
        self.out, self.graph, self.name, self.notes, self.resume = out, graph, name, notes, resume
        self.latest: State | None = None  # not saved yet
        self.saved_at, self.cost = -np.inf, 0.0
        self.made: list[Path] = []
        self.handle, self.mine = -1, False
        self.done = 0  # orders behind the results that are there

    def __enter__(self) -> "Directory":
        check_directory(self.out, resume=self.resume)
        self.made = [place for place in (self.out, *self.out.absolute().parents) if not place.exists()]
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            self.handle = os.open(self.out, os.O_RDONLY)
            self.mine = lock(self.handle, self.out)
            check_directory(self.out, resume=self.resume)  # another process may have been here meanwhile
        except BaseException as error:
            self._leave()
            if isinstance(error, OSError) and error.strerror:
                raise OSError(f"{self.out} cannot be made ({error.strerror}): name another place") from error
            raise
        return self

    def begin(self, asked: Mapping[str, object]) -> State | None:
        """The state to go on from; refuses another run than this."""
        for name in ("run.json", *RESULTS, *NAMES):
            temporary_name(self.out / name).unlink(missing_ok=True)  # of a process that was killed
        self.asked, self.data = asked, fingerprint(self.graph)
        here = _identity(asked, self.data, _versions())
        self.checkpoints = Checkpoints(self.out, sha256(_json(here)).hexdigest())
        if not (self.out / "run.json").exists():
            return None
        story = read_story(self.out)
        there = _identity(story["asked"], story["data"], story["versions"])
        differences = [
            f"{name} {_word(there.get(name))} there and {_word(here.get(name))} here"
            for name in {**there, **here}
            if there.get(name) != here.get(name)
        ]
        if differences:
            raise ValueError(f"{self.out} holds another run ({'; '.join(differences)}): name another directory")
        state, complaints = self.checkpoints.load()
        if state is not None and state.total.levels.keys() != {"player", *LEVELS}:
            raise ValueError(f"{self.out} holds a run of another version, with other sums: name another directory")
        self.done = int(story.get("permutations", 0))
        limit = cast("Mapping[str, int | None]", asked.get("stop", {})).get("permutations")
        if limit is not None and limit < self.done:
            raise ValueError(
                f"{self.out} holds the results of {self.done:,} orders, more than the {limit:,} that are asked for "
                "now: ask for more, or name another directory"
            )
        if not (state or complaints) and self.done >= BLOCK:
            complaints = ["The checkpoints are gone."]
        after = f"{state.total.orders:,} orders" if state else "the beginning"
        notes = [f"{complaint} The run goes on from {after}." for complaint in complaints]
        for note in notes:
            warnings.warn(note, CheckpointWarning, stacklevel=3)
        self.notes = [*self.notes, *notes]
        return state

    def keep(self, state: State) -> None:
        """Save the state, now or when there is time."""
        self.latest = state
        if time.perf_counter() - self.saved_at >= min(self.cost / SHARE, LONGEST):
            self.save()

    def save(self) -> None:
        """Write the latest state to the disk, if it is not there."""
        if self.latest is None:
            return
        state, self.latest = self.latest, None
        began = time.perf_counter()
        if not (self.out / "run.json").exists():
            self._write_story({"status": "Not finished: go on with --resume.", "permutations": 0})
        self.checkpoints.save(state)
        self.saved_at = time.perf_counter()
        self.cost = self.saved_at - began

    def finish(self, values: Values) -> None:
        """Write the results; run.json comes last, and names the others by their hashes."""
        self.save()
        if values.permutations < self.done:
            raise ValueError(
                f"{self.out} holds the results of {self.done:,} orders, more than the {values.permutations:,} of this "
                "run: they were left as they are; go on with --resume"
            )
        contents = dict(zip(RESULTS, (_csv(values.nodes()), _csv(values.edges()), _players(values)), strict=True))
        for name, content in contents.items():
            replace_file(self.out / name, content)
        self._write_story(
            {
                **_tell(values),
                "warnings": [*self.notes, *values.warnings],
                "files": {name: sha256(content).hexdigest() for name, content in contents.items()},
            }
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.save()
        finally:
            self._leave()

    def _write_story(self, story: Mapping[str, object]) -> None:
        graph = self.graph
        asked = dict(self.asked)
        stop = asked.pop("stop", {})
        told = {
            "graph": self.name,
            "status": story["status"],
            "asked": asked,
            "stop": stop,
            **story,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "training_edges": graph.training.nnz // 2,
            "cut_edges": graph.n_cut_edges,
            "labelled": len(graph.train),
            "validation": len(graph.val),
            "fingerprint": sha256(_json(self.data)).hexdigest(),
            "data": self.data,
            "versions": _versions(),
        }
        replace_file(self.out / "run.json", _json(told))

    def _leave(self) -> None:
        """Give the place free; what was made for nothing goes."""
        for place in self.made if self.mine else ():
            if not place.is_dir() or any(place.iterdir()):
                break
            place.rmdir()
        if self.handle >= 0:
            os.close(self.handle)


def run(
    graph: Graph,
    out: str | PathLike[str],
    *,
    name: str = "",
    notes: Sequence[str] = (),
    resume: bool = False,
    **options: Any,  # those of `value`
) -> Values:
    """Value a graph in a directory: as `value` with the same `options`, but checkpoints are kept, and results written.

    With `resume` a run that is there already goes on, to the same bits as if it had never stopped. `name` and `notes`
    are what the reader of the results is told about the graph.
    """
    with Directory(Path(out), graph, name=name, notes=notes, resume=resume) as directory:
        values = value(graph, keeper=directory, **options)
        directory.finish(values)
    return values


def write(values: Values, out: str | PathLike[str], *, name: str = "") -> None:
    """Write values that were found without a directory; a run that is there already is not written over."""
    with Directory(Path(out), values.graph, name=name) as directory:
        directory.begin(values.asked)
        directory.finish(values)


def check_directory(out: Path, *, resume: bool = False) -> None:
    """Refuse a place that is not ours to write to: a file, a directory with something else in it, or another run."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file, but the output needs a directory: name another place")
    ours = {temporary_name(out / "run.json")}
    if out.is_dir() and not (out / "run.json").is_file() and set(out.iterdir()) - ours:
        raise FileExistsError(
            f"{out} is not empty and holds no run.json, so its files may be yours: name an empty or a new directory"
        )
    if (out / "run.json").is_file() and not resume:
        raise FileExistsError(f"{out} holds a run already: go on with it by --resume, or name another directory")
    existing = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise PermissionError(f"{out} cannot be written, since {existing} does not allow it: name another place")


def _tell(values: Values) -> dict[str, Any]:
    """What run.json says of a run that has ended."""
    done = values.estimate.tally
    return {
        "status": values.status,
        "head": values.head,
        "calibration": asdict(values.calibration) if values.calibration else None,
        "n_players": values.tree.n_players,
        "permutations": done.orders,
        "visited": done.visited,
        "evaluations": done.evaluations,
        "baselines": done.baselines,
        "seconds": values.estimate.seconds,
        "setup_seconds": values.setup_seconds,
        "utility_full": values.utility_full,
        "utility_roots": values.utility_roots,
        "utility_empty": values.utility_empty,
    }


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, default=float) + "\n").encode()  # float: numbers of NumPy


def _csv(table: "pd.DataFrame") -> bytes:
    text = table.to_csv(index=False, lineterminator="\n")
    if "\r" in text:  # in an id; only if all words are quoted, this is
        text = table.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text.encode()


def _players(values: Values) -> bytes:
    graph, tree = values.graph, values.tree
    arrays = BytesIO()
    np.savez_compressed(
        arrays,
        paths=tree.paths(),
        null=tree.null,
        value=values.estimate.mean(),
        stderr=values.estimate.stderr(),
        number=tree.nodes,
        label=graph.labels[tree.nodes],
        degree=np.diff(graph.training.indptr)[tree.nodes],
        classes=np.array(graph.classes),
        change=values.estimate.change,
    )
    return arrays.getvalue()


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}}


def _identity(
    asked: Mapping[str, object], data: Mapping[str, object], versions: Mapping[str, object]
) -> dict[str, object]:
    """All that the numbers depend on; when to stop is not among it."""
    return {
        **{name: value for name, value in asked.items() if name != "stop"},
        **{f"data: {name}": value for name, value in data.items()},
        **{f"version of {name}": versions.get(name) for name in BITS},
    }


def fingerprint(graph: Graph) -> dict[str, str]:
    """Hashes of the parts of a graph, all together all that it holds."""
    edges, features = graph.adjacency, graph.features
    parts: dict[str, dict[str, NDArray[Any]]] = {
        "edges": {"indptr": edges.indptr, "indices": edges.indices},
        "features": {"indptr": features.indptr, "indices": features.indices, "data": features.data},
        "labels": {"labels": graph.labels, "classes": np.array(graph.classes)},
        "split": {"train": graph.train, "val": graph.val, "test": graph.test},
        "ids": {"ids": graph.ids},
        "recipe": {name: np.array(number) for name, number in asdict(graph.recipe).items()},
    }
    return {name: digest(arrays) for name, arrays in parts.items()}


def _word(value: object) -> str:
    """A setting in a sentence; of a hash the beginning will do."""
    text = "not given" if value is None else str(value)
    return f"{text[:8]}..." if len(text) == 64 else text
