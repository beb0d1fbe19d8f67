"""A folder with nodes.csv and edges.csv -> Graph."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.csv_files import is_number, line_of, read_table, records
from pcwinter.graph.graph import Graph
from pcwinter.graph.io.assemble import Named, assemble, split_sets

NODES, EDGES = "nodes.csv", "edges.csv"
_NODE_COLUMNS = ("id", "label", "split")  # all others are features; without "label", there may be "target"
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_tables(folder: Path, normalize: str, given: Mapping[str, Any]) -> Graph:
    """The graph in a folder. Ids are strings. All columns but id, split, and label or target are features."""
    for name in (NODES, EDGES):
        if not (folder / name).is_file():
            held = ", ".join(sorted(path.name for path in folder.iterdir())[:5]) or "nothing"
            raise FileNotFoundError(
                f"the folder {folder} holds no {name} ({held}): put {NODES} and {EDGES} there, or pass a file "
                "that ends in .npz, .graphml or .gml"
            )
    named = _read_nodes(folder / NODES)
    assert named.ids is not None
    edges, weights = _read_edges(folder / EDGES, named.ids)
    return assemble(named._replace(edges=edges, weights=weights), normalize, given)


def _read_nodes(path: Path) -> Named:
    """Everything except the edges."""
    columns = _columns(path, _NODE_COLUMNS, ())
    numeric = "label" not in columns
    known = ("id", "target" if numeric else "label", "split")
    features = [name for name in columns if name not in known]
    if not features:
        raise ValueError(f"{path} has no features: add columns of numbers next to id, label and split")
    table = read_table(path, columns, set(features))
    if table.empty:
        raise ValueError(f"{path} has a header, but no nodes: add one line per node")
    repeated = np.flatnonzero(table["id"].duplicated())
    if repeated.size:
        word = table["id"].iloc[repeated[0]]
        first = int(np.flatnonzero(table["id"] == word)[0])
        raise ValueError(
            f"lines {line_of(path, first)} and {line_of(path, int(repeated[0]))} of {path} both have the id {word!r}: "
            "give every node a unique id"
        )

    def where(node: int) -> str:
        return f"line {line_of(path, node)} of {path}"

    return Named(
        source=str(path),
        where=where,
        ids=table["id"].to_numpy(dtype=object),
        labels=np.array([], dtype=object) if numeric else table["label"].str.strip().to_numpy(dtype=object),
        sets=split_sets(table["split"].to_numpy(dtype=object), where),
        features=table[features].to_numpy(),
        edges=np.empty((0, 2), dtype=np.int64),
        called="target" if numeric else "label",
        targets=_targets(path, table["target"].tolist()) if numeric else None,
    )


def _targets(path: Path, words: list[str]) -> FloatArray:
    """(n, 1) numbers; an empty field is unknown."""
    targets = np.full((len(words), 1), np.nan)
    for node, word in enumerate(words):
        if word.strip():
            if not is_number(word):
                raise ValueError(
                    f"line {line_of(path, node)} of {path} has the target {word!r}, but targets must be numbers, or "
                    "empty if unknown: correct it, or rename the column to label if it holds classes"
                )
            targets[node] = float(word)
    return targets


def _read_edges(path: Path, ids: Any) -> tuple[IntArray, FloatArray | None]:  # an array of strings
    """(m, 2) node numbers, including loops and repeats, and (m,) weights, if there is a column with them."""
    import pandas as pd

    columns = _columns(path, ("source", "target"), ("weight",))
    table = read_table(path, columns, {"weight"} & set(columns))
    weights = table["weight"].to_numpy(dtype=np.float64) if "weight" in columns else None
    if weights is not None and (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(
            f"line {line_of(path, row)} of {path} has weight {weights[row]:g}, but weights must not be negative: "
            "remove the edge, or correct its weight"
        )
    ignored = [name for name in columns if name not in ("source", "target", "weight")]
    if ignored:
        message = f"{path} has columns other than source, target and weight, and they are ignored: {', '.join(ignored)}"
        warnings.warn(message, UserWarning, stacklevel=4)
    index = pd.Index(ids)
    ends = np.stack([index.get_indexer(pd.Index(table[end])) for end in ("source", "target")], axis=1)
    unknown = np.argwhere(ends < 0)
    if unknown.size:
        row, end = unknown[0].tolist()
        raise ValueError(
            f"line {line_of(path, row)} of {path} names the {('source', 'target')[end]} "
            f"{table[('source', 'target')[end]].iloc[row]!r}, which is not an id in {NODES}: "
            "add the node there, or correct the edge (ids must match exactly)"
        )
    return ends.astype(np.int64), weights


def _columns(path: Path, required: tuple[str, ...], optional: tuple[str, ...]) -> list[str]:
    """Column names from the header, without surrounding spaces; the names we know are put in lower case."""
    header = next(records(path), None)
    if header is None:
        raise ValueError(f"{path} is empty: start it with a header that names the columns {', '.join(required)}")
    if any("\0" in name for name in header[1]):
        raise ValueError(f"line {header[0]} of {path} is not UTF-8: save the file as UTF-8")
    stripped = [name.strip() for name in header[1]]
    names = [name.lower() if name.lower() in required + optional else name for name in stripped]
    if "label" in required and "target" in (lower := [name.lower() for name in names]) and "label" not in names:
        names[lower.index("target")] = "target"
        required = tuple(name for name in required if name != "label")
    missing = [name for name in required if name not in names]
    if missing:
        for separator, word in _SEPARATORS.items():
            if any(separator in name for name in names):
                raise ValueError(f"{path} is separated by {word}: save it with commas")
        found = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise ValueError(f"{path} has no column {missing[0]!r} (its header is {found}): add or rename it")
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} of {path} has no name: name it, or remove it if it is an index")
    repeated = [name for place, name in enumerate(names) if name in names[:place]]
    if repeated:
        raise ValueError(f"{path} has two columns named {repeated[0]!r}: remove or rename one")
    return names
