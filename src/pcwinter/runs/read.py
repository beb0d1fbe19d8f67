"""A directory -> Run: reads the files of a run and checks them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.csv_files import records
from pcwinter.game.metrics import find_metric
from pcwinter.values import within_class

if TYPE_CHECKING:
    import pandas as pd

STORY = {  # entries that run.json must have
    "graph": str,
    "status": str,
    "asked": dict,
    "stop": dict,
    "head": str,
    "calibration": dict | None,
    **dict.fromkeys(("n_players", "permutations", "visited", "evaluations", "baselines"), int),
    **dict.fromkeys(("nodes", "edges", "training_edges", "cut_edges", "labelled", "validation"), int),
    **dict.fromkeys(("utility_full", "utility_roots", "utility_empty", "seconds", "setup_seconds"), float),
    "warnings": list,
    "files": dict,
    "fingerprint": str,
    "versions": dict,
}
ASKED = {"metric": str, "hops": int, "orders": str, "truncation": list}  # and entries that `asked` must have in it


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run, read from its directory; entry i of every (n,) array belongs to row i of `nodes`."""

    directory: Path
    story: dict[str, Any]  # run.json
    nodes: "pd.DataFrame"  # nodes.csv, with ids as strings
    edges: "pd.DataFrame"  # edges.csv, with ids as strings
    number: IntArray  # (n,) node numbers, ascending
    label: IntArray  # (n,) class of the node, -1 where unknown
    degree: IntArray  # (n,) edges in the training graph, in either direction
    classes: tuple[str, ...]  # names of the classes
    paths: IntArray  # (p, hops + 1) node numbers from the labelled node to the player's own, padded with -1
    null: BoolArray  # (p,) players whose value is exactly 0 by definition
    value: FloatArray  # (p,) values of the players
    stderr: FloatArray  # (p,)
    change: FloatArray  # (blocks,) the convergence measure after each block of orders, infinite at first
    visits: IntArray | None = None  # (p,) orders that visited the player; None if all orders count
    node_visits: IntArray | None = None  # (n,)
    edge_visits: IntArray | None = None  # (m,)

    @property
    def directed(self) -> bool:
        """Whether the graph is directed."""
        return bool(self.story["asked"].get("directed", False))

    def edges_within_class(self) -> FloatArray:
        """(m,) what every edge is worth compared with the average of its class; see `values.within_class`."""
        depth = (self.paths >= 0).sum(axis=1) - 1
        labels = self.label[np.searchsorted(self.number, self.paths[:, 0])]
        row = {name: k for k, name in enumerate(self.nodes["node"])}
        ends = [(row[a], row[b]) for a, b in zip(self.edges["source"], self.edges["target"], strict=True)]
        known = self.number[np.array(ends, dtype=np.int64).reshape(-1, 2)]
        inner, players = depth > 0, np.arange(len(depth))
        steps = np.stack([self.paths[players, depth], self.paths[players, depth - 1]], axis=1)
        if not self.directed:
            known, steps = np.sort(known, axis=1), np.sort(steps, axis=1)
        key = [int(self.number.max()) + 1, 1]
        place = np.searchsorted(known @ key, steps @ key)
        return within_class(self.value, labels, depth, self.null, np.where(inner, place, -1), len(known))


def read(out: str | PathLike[str]) -> Run:
    """Read the directory `out` that `run` or `write` wrote; floats come back with the same bits."""
    directory = Path(out)
    story = read_story(directory)
    if "files" not in story:
        raise FileNotFoundError(f"the run in {directory} has no results yet: finish it with resume=True")
    wrong = [name for name, kind in STORY.items() if not isinstance(story.get(name, ...), kind)]
    wrong += [f"asked: {name}" for name, kind in ASKED.items() if not isinstance(story["asked"].get(name), kind)]
    if not wrong:
        try:
            find_metric(story["asked"]["metric"])
        except ValueError:
            wrong = ["asked: metric"]
    if wrong:
        raise ValueError(f"{directory / 'run.json'} is damaged ({wrong[0]}): value the graph again")
    story["asked"] = {**unsaid(story["asked"]), **story["asked"]}
    for name, digest in story["files"].items():
        if not (directory / name).is_file() or sha256((directory / name).read_bytes()).hexdigest() != digest:
            raise ValueError(f"{directory / name} has changed since the run wrote it: run it again with resume=True")
    try:
        nodes, edges = (
            _read_csv(directory / "nodes.csv", "node"),
            _read_csv(directory / "edges.csv", "source", "target"),
        )
        with np.load(directory / "players.npz", allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        classes = tuple(arrays.pop("classes").tolist())
        return Run(directory, story, nodes, edges, classes=classes, **arrays)
    except Exception as error:  # a file of another version may raise anything
        raise ValueError(f"the files of the run in {directory} are damaged ({error}): value the graph again") from error


def unsaid(asked: Mapping[str, Any]) -> dict[str, str]:
    """The game of a run that does not record it: version 0.1.0 knew only one."""
    return {"coalition": "induced", **({"remainder": "nobody"} if asked["truncation"] else {})}


def recorded_game(directory: Path, *, resume: bool, preset: str | None) -> dict[str, str]:
    """Coalition and remainder that a resumed run has by default; nothing if there is no run, or a preset names them."""
    if not resume or preset is not None or not (directory / "run.json").is_file():
        return {}
    asked = read_story(directory)["asked"]
    return {name: asked.get(name, known) for name, known in unsaid(asked).items()}


def read_story(directory: Path) -> dict[str, Any]:
    """The contents of run.json, whether the run has ended or not."""
    path = directory / "run.json"
    if not path.is_file():
        raise FileNotFoundError(f"{directory} holds no run.json: pass the directory of a run")
    try:
        story: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        whole = all(isinstance(story[part], dict) for part in ("asked", "data", "versions"))
    except (ValueError, LookupError, TypeError):
        whole = False
    if not whole:
        raise ValueError(f"{path} is damaged or was written by another program: choose another directory")
    return story


def _read_csv(path: Path, *ids: str) -> "pd.DataFrame":
    """A table with exact floats, and with ids as they were written, including "NA" and "007"."""
    import pandas as pd

    names, *rows = (fields for _, fields in records(path))
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    kinds: dict[str, Callable[[str], object]] = {**dict.fromkeys(ids, str), "labelled": "True".__eq__, "players": int}
    return pd.DataFrame(
        {
            name: [kinds.get(name, _float)(entry) for entry in column]
            for name, column in zip(names, columns, strict=True)
        }
    )


def _float(entry: str) -> float:
    return float(entry or "nan")
