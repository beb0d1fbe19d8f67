"""A folder with nodes.csv and edges.csv -> Graph.

pandas reads the numbers; Python's own csv module, which counts lines, finds the place of whatever is wrong.
"""

import csv
import math
import reprlib
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pcwinter._names import Named, assemble, split_sets
from pcwinter._types import IntArray
from pcwinter.graph import Graph

if TYPE_CHECKING:
    import pandas as pd

NODES, EDGES = "nodes.csv", "edges.csv"
_NODE_COLUMNS = ("id", "label", "split")  # all others are features
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_tables(folder: Path, normalize: str) -> Graph:
    """The graph of a folder; ids are strings, exactly as written; columns beside id, label and split are features."""
    for name in (NODES, EDGES):
        if not (folder / name).is_file():
            held = ", ".join(sorted(path.name for path in folder.iterdir())[:5]) or "nothing"
            raise FileNotFoundError(
                f"the folder {folder} holds no {name} ({held}): put {NODES} and {EDGES} there, or name a file "
                "that ends in .npz, .graphml or .gml"
            )
    named = _read_nodes(folder / NODES)
    assert named.ids is not None
    return assemble(named._replace(edges=_read_edges(folder / EDGES, named.ids)), normalize)


def _read_nodes(path: Path) -> Named:
    """Everything but the edges."""
    columns = _columns(path, _NODE_COLUMNS, ())
    features = [name for name in columns if name not in _NODE_COLUMNS]
    if not features:
        raise ValueError(f"{path} has no feature: add a column of numbers beside id, label and split")
    table = _read(path, columns, set(features))
    if table.empty:
        raise ValueError(f"{path} has a header, but no nodes: add a line for each node")
    repeated = np.flatnonzero(table["id"].duplicated())
    if repeated.size:
        word = table["id"].iloc[repeated[0]]
        first = int(np.flatnonzero(table["id"] == word)[0])
        raise ValueError(
            f"lines {_line(path, first)} and {_line(path, int(repeated[0]))} of {path} both have the id {word!r}: "
            "give every node an id of its own"
        )

    def where(node: int) -> str:
        return f"line {_line(path, node)} of {path}"

    return Named(
        source=str(path),
        where=where,
        ids=table["id"].to_numpy(dtype=object),
        labels=table["label"].str.strip().to_numpy(dtype=object),
        sets=split_sets(table["split"].to_numpy(dtype=object), where),
        features=table[features].to_numpy(),
        edges=np.empty((0, 2), dtype=np.int64),
    )


def _read_edges(path: Path, ids: Any) -> IntArray:  # an array of strings
    """(m, 2) node numbers, loops and repeats still among them."""
    import pandas as pd

    columns = _columns(path, ("source", "target"), ("weight",))
    table = _read(path, columns, {"weight"} & set(columns))
    if "weight" in columns and (table["weight"] != 1).any():
        row = int(np.flatnonzero(table["weight"] != 1)[0])
        raise ValueError(
            f"line {_line(path, row)} of {path} has weight {table['weight'].iloc[row]:g}, but this version values "
            "unweighted graphs: remove the column weight"
        )
    ignored = [name for name in columns if name not in ("source", "target", "weight")]
    if ignored:
        message = f"{path} has columns beside source and target, which are ignored: {', '.join(ignored)}"
        warnings.warn(message, UserWarning, stacklevel=4)
    index = pd.Index(ids)
    ends = np.stack([index.get_indexer(pd.Index(table[end])) for end in ("source", "target")], axis=1)
    unknown = np.argwhere(ends < 0)
    if unknown.size:
        row, end = unknown[0].tolist()
        raise ValueError(
            f"line {_line(path, row)} of {path} names the {('source', 'target')[end]} "
            f"{table[('source', 'target')[end]].iloc[row]!r}, an id that {NODES} does not have: "
            "add the node there, or correct the edge (ids must agree to the letter)"
        )
    return ends.astype(np.int64)


def _columns(path: Path, required: tuple[str, ...], optional: tuple[str, ...]) -> list[str]:
    """The names in the header, without spaces around them, and those that we know in lower case."""
    header = next(records(path), None)
    if header is None:
        raise ValueError(f"{path} is empty: begin it with a header that names the columns {', '.join(required)}")
    if any("\0" in name for name in header[1]):
        raise ValueError(f"line {header[0]} of {path} is not UTF-8: save the file as UTF-8")
    stripped = [name.strip() for name in header[1]]
    names = [name.lower() if name.lower() in required + optional else name for name in stripped]
    missing = [name for name in required if name not in names]
    if missing:
        for separator, word in _SEPARATORS.items():
            if any(separator in name for name in names):
                raise ValueError(f"{path} is separated by {word}: save it with commas instead")
        found = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise ValueError(f"{path} has no column {missing[0]!r} (its header is {found}): add or rename it")
    if "" in names:
        raise ValueError(
            f"column {names.index('') + 1} of {path} has no name: name it if it is data, remove it if it counts rows"
        )
    repeated = [name for place, name in enumerate(names) if name in names[:place]]
    if repeated:
        raise ValueError(f"{path} has two columns {repeated[0]!r}: remove or rename one")
    return names


def _read(path: Path, columns: list[str], numbers: set[str]) -> "pd.DataFrame":
    """The rows below the header; the columns `numbers` as finite floats, all others as the text that stands there."""
    import pandas as pd

    options: dict[str, Any] = {}
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # later versions always are exact, and warn of this option
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # a first row that is longer than the header
            table: pd.DataFrame = pd.read_csv(
                path,
                header=0,
                names=columns,
                index_col=False,
                dtype={name: np.float64 if name in numbers else str for name in columns},
                na_filter=False,
                encoding="utf-8-sig",
                **options,
            )
    except (ValueError, OverflowError, pd.errors.ParserWarning) as error:
        find_fault(path, columns, numbers)
        raise ValueError(f"{path} is not CSV: check its commas, and that every quote is closed") from error
    # pandas fills up short rows, which an empty last field gives away
    if columns[-1] not in numbers and (table[columns[-1]] == "").any():
        find_fault(path, columns, numbers)
    if any(not np.isfinite(table[name].to_numpy()).all() for name in numbers):
        find_fault(path, columns, numbers)
    return table


def find_fault(path: Path, columns: list[str], numbers: set[str]) -> None:
    """Raise a sentence about the first row that is too short or too long, or has a word in place of a number."""
    for line, fields in islice(records(path), 1, None):
        if len(fields) != len(columns):
            raise ValueError(
                f"line {line} of {path} has {len(fields)} fields, but the header names {len(columns)} columns: "
                "check its commas and quotes"
            )
        for name, field in zip(columns, fields, strict=True):
            if name in numbers and not _is_number(field):
                came = reprlib.repr(field) if field.strip() else "nothing"
                raise ValueError(
                    f"line {line} of {path} has {came} in the column {name!r}, where a finite number is expected: "
                    "correct it, or remove the column"
                )


def _is_number(field: str) -> bool:
    try:
        return math.isfinite(float(field)) and field.isascii() and "_" not in field
    except ValueError:
        return False


def _line(path: Path, row: int) -> int:
    """Where row `row` below the header begins; a quoted field may hold line ends, and empty lines do not count."""
    return next(islice(records(path), row + 1, None))[0]


def records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every record, the header among them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        line = 1
        try:
            for fields in reader:
                if len(fields) > 1 or (fields and fields[0].strip()):
                    yield line, fields
                line = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise ValueError(f"line {_first_undecoded(path)} of {path} is not UTF-8: save the file as UTF-8") from error
        except csv.Error as error:
            raise ValueError(f"line {line} of {path} is not CSV ({error}): check its commas and quotes") from error


def _first_undecoded(path: Path) -> int:
    content = path.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return content[: error.start].count(b"\n") + 1
    return 1
