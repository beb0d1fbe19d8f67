"""Values <-> a directory: run.json, nodes.csv, edges.csv, players.npz; plain formats, exact floats, no pickle."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from pcwinter._types import BoolArray, FloatArray, IntArray
from pcwinter.graph import Graph
from pcwinter.valuation import Values

if TYPE_CHECKING:
    import pandas as pd

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


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run as its directory holds it; row i of every array over nodes belongs to row i of `nodes`."""

    directory: Path
    story: dict[str, Any]  # run.json
    nodes: "pd.DataFrame"  # nodes.csv, with ids as strings
    edges: "pd.DataFrame"  # edges.csv, with ids as strings
    number: IntArray  # (n,) node numbers, ascending
    label: IntArray  # (n,) class of the node, -1 where unknown
    degree: IntArray  # (n,) neighbours in the training graph
    classes: tuple[str, ...]  # names of the classes
    paths: IntArray  # (p, hops + 1) node numbers from the labelled node to the player's own, padded with -1
    null: BoolArray  # (p,) players whose value is exactly 0 by definition
    value: FloatArray  # (p,) values of the players
    stderr: FloatArray  # (p,)
    change: FloatArray  # (blocks,) the convergence measure after each block of orders, infinite at first


def write(values: Values, out: Path, name: str = "") -> None:
    """Write a run; each file is complete or absent, and run.json comes last."""
    check_directory(out)
    out.mkdir(parents=True, exist_ok=True)
    graph, tree, done = values.graph, values.tree, values.estimate.tally
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
    story = {
        "graph": name,
        "status": values.status,
        "asked": dict(values.asked),
        "fingerprint": fingerprint(graph),
        "head": values.head,
        "calibration": asdict(values.calibration) if values.calibration else None,
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
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "training_edges": graph.training.nnz // 2,
        "cut_edges": graph.n_cut_edges,
        "labelled": len(graph.train),
        "validation": len(graph.val),
    }
    _replace(out / "nodes.csv", values.nodes().to_csv(index=False, lineterminator="\n").encode())
    _replace(out / "edges.csv", values.edges().to_csv(index=False, lineterminator="\n").encode())
    _replace(out / "players.npz", arrays.getvalue())
    _replace(out / "run.json", (json.dumps(story, indent=2) + "\n").encode())


def read(directory: Path) -> Run:
    """What `write` wrote; the floats have the same bits."""
    if not (directory / "run.json").is_file():
        raise FileNotFoundError(f"{directory} holds no run.json: name the directory that `pcwinter value --out` wrote")
    missing = [name for name in ("nodes.csv", "edges.csv", "players.npz") if not (directory / name).is_file()]
    if missing:
        raise FileNotFoundError(f"the run in {directory} has no {missing[0]} yet: finish it with --resume")
    try:
        story = json.loads((directory / "run.json").read_text(encoding="utf-8"))
        nodes, edges = (
            _read_csv(directory / "nodes.csv", "node"),
            _read_csv(directory / "edges.csv", "source", "target"),
        )
        with np.load(directory / "players.npz", allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        classes = tuple(arrays.pop("classes").tolist())
        return Run(directory, story, nodes, edges, classes=classes, **arrays)
    except (ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
        raise ValueError(f"the files of the run in {directory} are damaged ({error}): value the graph again") from error


def _read_csv(path: Path, *ids: str) -> "pd.DataFrame":
    """A table with exact floats, and ids as they were written, "NA" and "007" among them."""
    import pandas as pd

    columns = pd.read_csv(path, nrows=0).columns.difference(list(ids))
    return pd.read_csv(
        path,
        dtype=dict.fromkeys(ids, str),
        keep_default_na=False,
        na_values={column: [""] for column in columns},
        float_precision="round_trip",
    )


def fingerprint(graph: Graph) -> str:
    """Hash of all that a graph holds."""
    arrays: list[NDArray[Any]] = [graph.labels, graph.train, graph.val, graph.test, graph.ids]
    for matrix in (graph.adjacency, graph.features):
        arrays += [matrix.indptr, matrix.indices, matrix.data]
    digest = sha256(repr((graph.recipe, graph.classes, graph.features.shape)).encode())
    for array in arrays:
        digest.update(repr((array.dtype, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


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
