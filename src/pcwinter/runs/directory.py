"""Values -> a directory: run.json, nodes.csv, edges.csv, players.npz, two checkpoints.

Plain formats, exact floats, no pickle. At any moment, a file is either complete or absent. However a run is
interrupted, it can be resumed and ends with the same bits.
"""

import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from importlib import metadata
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.arrays import IntArray
from pcwinter._util.checks import count, function, instance, number
from pcwinter._util.csv_files import table_csv
from pcwinter._util.files import AGAIN, lock, replace_file, temporary_name
from pcwinter._util.memory import budget
from pcwinter._util.threads import one_thread
from pcwinter.estimation.estimator import BLOCK, NOT_MET, Checkpoint, State
from pcwinter.estimation.jobs import Pool
from pcwinter.estimation.pools import open_pool
from pcwinter.estimation.stopping import Progress, Rule, choose, stages
from pcwinter.game.metrics import find_metric
from pcwinter.game.orders import Truncation
from pcwinter.game.tree import LEVELS
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.graph_game import check_head, complete
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax, softmax_for
from pcwinter.runs.checkpoints import NAMES, Checkpoints
from pcwinter.runs.fingerprint import fingerprint
from pcwinter.runs.read import read_story, recorded_game, unsaid
from pcwinter.valuation import MAX_PLAYERS, prepare
from pcwinter.values import Request, Values, metric_of

PACKAGES = ("pcwinter", "numpy", "scipy", "numba", "pandas")
BITS = ("pcwinter", "numpy", "scipy", "numba")  # other versions of these may give different bits
RESULTS = ("nodes.csv", "edges.csv", "players.npz")
OLD = ("0.1.0", "0.2.0", "0.3.0")  # versions that calibrated heads in another way, if at all
SAME_BITS = (*OLD, "0.4.0")  # versions whose runs go on in this one, in the game and with the head that they began
SHARE = 0.05  # share of the time that checkpoints may take
LONGEST = 10.0  # seconds after which a checkpoint is saved regardless of SHARE


class CheckpointWarning(UserWarning):
    """A checkpoint could not be used."""


class Directory:
    """The directory of one run, locked by one process; use it in a `with` statement.

    A checkpoint is saved after every block of orders, or less often if saving would take too much of the time.
    """

    def __init__(
        self, out: Path, graph: Graph, *, name: str = "", notes: Sequence[str] = (), resume: bool = False
    ) -> None:
        self.out, self.graph, self.name, self.notes, self.resume = out, graph, name, notes, resume
        self.loaded = 0  # number of orders in the checkpoints
        self.latest: State | None = None  # not saved yet
        self.saved_at, self.cost = -np.inf, 0.0
        self.made: list[Path] = []
        self.handle, self.mine = -1, False
        self.done = 0  # number of orders in the results that the directory holds
        self.calibration: Calibration | None = None  # of the run that the directory holds, and then of this one

    def __enter__(self) -> "Directory":
        check_directory(self.out, resume=self.resume)
        self.made = [place for place in (self.out, *self.out.absolute().parents) if not place.exists()]
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            self.handle = os.open(self.out, os.O_RDONLY)
            self.mine = lock(self.handle, self.out)
            check_directory(self.out, resume=self.resume)  # another process may have written here in the meantime
        except BaseException as error:
            self._leave()
            if isinstance(error, OSError) and error.strerror:
                raise OSError(f"{self.out} cannot be created ({error.strerror}): choose another directory") from error
            raise
        return self

    def begin(self, request: Request, stop: Mapping[str, float]) -> Checkpoint | None:
        """The checkpoint to continue from, or None to start; raises an error if the directory holds another run."""
        for name in ("run.json", *RESULTS, *NAMES):
            temporary_name(self.out / name).unlink(missing_ok=True)  # left by a process that was killed
        self.request, self.stop, self.data = request, stop, fingerprint(self.graph)
        here = _identity(self._asked, self.data, _versions())
        self.checkpoints = Checkpoints(self.out, _hash(here))
        if not (self.out / "run.json").exists():
            return None
        record = read_story(self.out)
        there = _identity(record["asked"], record["data"], record["versions"])
        old = record["versions"].get("pcwinter") in OLD
        recipe = asdict(softmax_for(self.graph)) if old and there["head"] == "softmax" else {}
        ours, theirs = ({**unsaid(one), **recipe, **one} for one in (here, there))
        differences = [
            f"{name} is {_word(theirs.get(name))} there and {_word(ours.get(name))} here"
            for name in {**theirs, **ours}
            if theirs.get(name) != ours.get(name)
        ]
        if differences:
            raise ValueError(f"{self.out} holds another run ({'; '.join(differences)}): choose another directory")
        self.done = int(record.get("permutations", 0))
        self.calibration = self._calibration(record, old)
        found, complaints = self.checkpoints.load(_hash(there))
        if any(one.levels.keys() != {"player", *LEVELS} for one in (found.tallies if found else ())):
            raise ValueError(f"{self.out} holds a run of another version of pcwinter: choose another directory")
        if any(one.detail.keys() != one.squares.keys() for one in (found.tallies if found else ())):
            found, complaints = None, ["The checkpoints are of an older version and lack sums of the bootstrap."]
        if (limit := stop.get("permutations", self.done)) < self.done:
            raise ValueError(
                f"{self.out} already holds the results of {count(self.done, 'order')}, "
                f"but permutations={limit} is less: raise it, or choose another directory"
            )
        if not (found or complaints) and self.done >= BLOCK:
            complaints = ["The checkpoints are missing."]
        self.loaded = found.orders if found else 0
        after = count(self.loaded, "order") if found else "the beginning"
        notes = [f"{complaint} The run continues from {after}." for complaint in complaints]
        for note in notes:
            warnings.warn(note, CheckpointWarning, stacklevel=3)
        self.notes = [*self.notes, *notes]
        return found

    @property
    def _asked(self) -> dict[str, Any]:
        """The request, and how the graph is read, where that is not as usual."""
        return {**self.request.record(), **self.graph.settings}

    def _calibration(self, record: Mapping[str, Any], old: bool) -> Calibration | None:
        """The calibration of the run in the directory, so that it goes on with the same head."""
        if record.get("calibration"):
            return Calibration.read(record["calibration"])
        if old and record["asked"]["head"] == "softmax":
            return Calibration(softmax_for(self.graph))
        if old and self.done == 0 and not complete(check_head(self.request.head), find_metric(self.request.metric)):
            raise ValueError(
                f"{self.out} holds an unfinished run of version {record['versions']['pcwinter']}, which did not record "
                "how it calibrated the head: finish it with that version, or choose another directory"
            )
        return None

    def keep(self, state: State) -> None:
        """Save the state now, or leave it to a later block."""
        if state.total.orders <= self.loaded:
            return
        self.latest = state
        if time.perf_counter() - self.saved_at >= min(self.cost / SHARE, LONGEST):
            self.save()

    def save(self) -> None:
        """Write the latest state to disk, unless it is there already."""
        if self.latest is None:
            return
        state, self.latest = self.latest, None
        began = time.perf_counter()
        if not (self.out / "run.json").exists():
            found = self.calibration
            begun = {"status": "Not finished.", "permutations": 0, "calibration": found.record() if found else None}
            self._write_record(begun)
        self.checkpoints.save(state.checkpoint)
        self.saved_at = time.perf_counter()
        self.cost = self.saved_at - began

    def finish(self, values: Values) -> None:
        """Write the results; run.json comes last, and holds the hashes of the other files."""
        self.save()
        if values.permutations < self.done:
            raise ValueError(
                f"{self.out} already holds the results of {count(self.done, 'order')}, but this run has only "
                f"{values.permutations:,}, so they were not overwritten: continue with resume=True"
            )
        contents = dict(
            zip(RESULTS, (table_csv(values.nodes()), table_csv(values.edges()), _players(values)), strict=True)
        )
        for name, content in contents.items():
            replace_file(self.out / name, content, AGAIN)
        self._write_record(
            {
                **_results(values),
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

    def _write_record(self, results: Mapping[str, object]) -> None:
        graph = self.graph
        record = {
            "graph": self.name,
            "status": results["status"],
            "asked": self._asked,
            "stop": dict(self.stop),
            **results,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "training_edges": graph.count_edges(graph.training),
            "cut_edges": graph.n_cut_edges,
            "labelled": len(graph.train),
            "validation": len(graph.val),
            "fingerprint": sha256(_json(self.data)).hexdigest(),
            "data": self.data,
            "versions": _versions(),
        }
        replace_file(self.out / "run.json", _json(record), AGAIN)

    def _leave(self) -> None:
        """Release the lock, and remove directories that were created but are still empty."""
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
    name: str | None = None,
    notes: Sequence[str] = (),
    loading: float = 0.0,
    resume: bool = False,
    hops: int = 2,
    preset: str | None = None,
    head: str | Ridge | Softmax | None = None,
    metric: str | None = None,
    coalition: str | None = None,
    filter: str = "sgc",
    theta: Sequence[float] = (),
    orders: str = "dfs",
    truncation: Truncation = (),
    remainder: str | None = None,
    empty: str = "nothing",
    permutations: int | None = None,
    max_permutations: int | None = None,
    tolerance: float | None = None,
    max_seconds: float | None = None,
    stop: Rule | None = None,
    seed: int = 0,
    bootstrap: int = 0,
    max_players: int = MAX_PLAYERS,
    workers: int | Pool = 1,
    memory: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Values:
    """Value a graph as `value` does, with checkpoints and results in the directory `out`.

    - `graph`: the graph.
    - `out`: a new or empty directory, or with `resume` the directory of this run.
    - `resume`: continue the run in `out`, with the same bits as if it had never stopped; start it if there is none.
    - `name`: the name of the graph in the results; by default `graph.name`.
    - `notes`: sentences for the reader of the results, listed with the warnings.
    - `loading`: seconds spent on loading the graph; they count as preparation.

    All other arguments are those of `value`. `read` reads the results back.
    """
    began = time.perf_counter() - number("loading", loading, zero=True)
    rule = choose(stop, permutations, max_permutations, tolerance, max_seconds)
    before = recorded_game(Path(out), resume=resume, preset=preset)
    check_graph(graph)
    request = Request(
        hops=hops,
        preset=preset,
        head=head,
        metric=metric_of(graph, metric, preset),
        coalition=coalition or before.get("coalition"),
        filter=filter,
        theta=theta,
        orders=orders,
        truncation=truncation,
        remainder=remainder or before.get("remainder"),
        empty=empty,
        seed=seed,
        bootstrap=bootstrap,
    )
    request = request.of(graph)
    function("progress", progress, "progress(now)")
    room = budget(memory, workers if isinstance(workers, int) and workers > 0 else 1)
    called = _name(graph.name if name is None else name, notes)
    with Directory(Path(out), graph, name=called, notes=notes, resume=resume) as directory:
        begin = directory.begin(request, rule.settings)
        with one_thread(), open_pool(workers) as pool:  # processes start while the game is prepared
            stage = stages(progress)
            valuation = prepare(
                graph,
                request,
                max_players=max_players,
                memory=room,
                calibration=directory.calibration,
                began=began,
                stage=stage,
            )
            directory.calibration = valuation.calibration
            with closing(valuation.states(rule, pool, begin)) as found:
                for state in found:
                    directory.keep(state)
                    now = valuation.sample.progress(state)
                    if progress:
                        progress(now)
                    if status := rule.check(now):
                        values = valuation.values(state, status, rule)
                        directory.finish(values)
                        return values
    raise ValueError(NOT_MET)


def write(values: Values, out: str | PathLike[str], *, name: str | None = None) -> None:
    """Write `values`, the result of `value`, into the directory `out`, which must be new or empty.

    `name` is the name of the graph in the results; by default `graph.name`.
    """
    instance("values", values, Values, "the result of pcwinter.value")
    if (Path(out) / "run.json").is_file():
        raise FileExistsError(f"{Path(out)} already holds a run: choose another directory")
    called = _name(values.graph.name if name is None else name)
    with Directory(Path(out), values.graph, name=called) as directory:
        directory.begin(values.request, values.stop)
        directory.finish(values)


def check_directory(out: Path, *, resume: bool = False) -> None:
    """Raise an error if `out` is a file, a directory with other files in it, or holds a run and `resume` is False."""
    if out.exists() and not out.is_dir():
        raise FileExistsError(f"{out} is a file, expected a directory: choose another path")
    ours = {temporary_name(out / "run.json")}
    if out.is_dir() and not (out / "run.json").is_file() and set(out.iterdir()) - ours:
        raise FileExistsError(
            f"{out} is not empty and holds no run.json, so its files may be yours: choose an empty or a new directory"
        )
    if (out / "run.json").is_file() and not resume:
        raise FileExistsError(f"{out} already holds a run: continue it with resume=True, or choose another directory")
    existing = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise PermissionError(f"{out} cannot be written, because {existing} is read-only: choose another directory")


def _results(values: Values) -> dict[str, Any]:
    """The entries of run.json for a run that has ended."""
    done = values.estimate.tally
    return {
        "status": values.status,
        "head": values.head,
        "calibration": values.calibration.record() if values.calibration else None,
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


def _players(values: Values) -> bytes:
    graph, tree, done = values.graph, values.tree, values.estimate
    arrays: dict[str, NDArray[Any]] = {
        "paths": tree.paths(),
        "null": values.null,
        "value": done.mean(),
        "stderr": done.stderr(),
        "number": tree.nodes,
        "label": graph.labels[tree.nodes],
        "degree": _degree(graph)[tree.nodes],
        "classes": np.array(graph.classes),
        "change": done.change,
    }
    if done.tally.levels["player"].visits is not None:
        levels = {"visits": "player", "node_visits": "own", "edge_visits": "edge"}
        arrays |= {name: done.visits(level) for name, level in levels.items()}
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _degree(graph: Graph) -> IntArray:
    """(n,) edges of every node in the training graph, in either direction."""
    ends = np.diff(graph.training.indptr)
    return ends + np.bincount(graph.training.indices, minlength=graph.n_nodes) if graph.directed else ends


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in PACKAGES}}


def _identity(
    asked: Mapping[str, object], data: Mapping[str, object], versions: Mapping[str, object]
) -> dict[str, object]:
    """Everything that the numbers depend on, except the stopping rule."""
    return {
        **asked,
        **{f"data: {name}": value for name, value in data.items()},
        **{f"version of {name}": _same_bits(name, versions.get(name)) for name in BITS},
    }


def _name(name: object, notes: object = ()) -> str:
    """The name, after checking that it and the notes can be written."""
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}, expected a string")
    if isinstance(notes, str) or not isinstance(notes, Sequence) or not all(isinstance(note, str) for note in notes):
        raise TypeError(f"notes is {notes!r}, expected a list of strings")
    return name


def _hash(identity: Mapping[str, object]) -> str:
    return sha256(_json(identity)).hexdigest()


def _same_bits(name: str, version: object) -> object:
    """The version; for pcwinter, the first version that gives the same bits."""
    return SAME_BITS[0] if name == "pcwinter" and version in SAME_BITS else version


def _word(value: object) -> str:
    """A setting for a message; a hash is cut short."""
    text = "not given" if value is None else str(value)
    return f"{text[:8]}..." if len(text) == 64 else text
