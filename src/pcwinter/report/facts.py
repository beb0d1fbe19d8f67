"""Run -> facts: its tables and players as arrays over the rows of `nodes`, checked nowhere and bounded nowhere."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.report.text import visible
from pcwinter.runs.read import Run

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "unknown"  # the class of a node whose label is -1


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """n nodes, m edges and p players; a node is its row in `nodes`."""

    ids: list[str]  # (n,)
    classes: list[str]  # names of the classes, the last one for nodes of unknown class
    kind: IntArray  # (n,) position in `classes`
    labelled: BoolArray  # (n,)
    degree: IntArray  # (n,) neighbours in the training graph
    distance: IntArray  # (n,) fewest steps from a labelled node
    value: FloatArray  # (n,)
    ends: IntArray  # (m, 2)
    edge_value: FloatArray  # (m,)
    root: IntArray  # (p,) the labelled node where the player's path begins
    own: IntArray  # (p,) the node where it ends
    depth: IntArray  # (p,) its steps
    steps: IntArray  # (p, hops + 1) the path, padded with -1
    decimals: int  # digits that the values of nodes and edges are shown with


def by_rows(run: Run) -> Facts:
    """The run by rows."""
    n = len(run.number)
    ids = [str(name) for name in run.nodes["node"]]
    row = {name: k for k, name in enumerate(ids)}
    ends = [[row[str(a)], row[str(b)]] for a, b in zip(run.edges["source"], run.edges["target"], strict=True)]
    steps = np.where(run.paths >= 0, np.searchsorted(run.number, run.paths), -1)
    depth = (run.paths >= 0).sum(axis=1) - 1
    own = steps[np.arange(len(steps)), depth]
    distance = np.full(n, run.paths.shape[1])
    np.minimum.at(distance, own, depth)
    known = (run.label >= 0) & (run.label < len(run.classes))
    return Facts(
        ids=[visible(name) for name in ids],
        classes=[*map(visible, run.classes), f"({UNKNOWN})" if UNKNOWN in run.classes else UNKNOWN],
        kind=np.where(known, run.label, len(run.classes)),
        labelled=distance == 0,
        degree=run.degree,
        distance=distance,
        value=column(run.nodes, "value"),
        ends=np.array(ends, dtype=np.int64).reshape(-1, 2),
        edge_value=column(run.edges, "value"),
        root=steps[:, 0],
        own=own,
        depth=depth,
        steps=steps,
        decimals=_decimals(run),
    )


def exact(run: Run) -> bool:
    """Whether all orders were enumerated: then there was nothing to seed."""
    return "seed" not in run.story["asked"]


def limits(run: Run) -> dict[str, float]:
    """What could end the run; with a number of orders that was asked for, convergence could not."""
    stop = {name: limit for name, limit in (run.story.get("stop") or {}).items() if limit is not None}
    return {name: stop[name] for name in stop if "permutations" not in stop or name in ("permutations", "max_seconds")}


def column(table: "pd.DataFrame", name: str) -> FloatArray:
    """A column as floats; one of an empty table has no type of its own."""
    return table[name].to_numpy(dtype=np.float64)


def _decimals(run: Run) -> int:
    """Two digits of a typical standard error, or of a typical value where there is none."""
    for name in ("stderr", "value"):
        sizes = np.abs(np.concatenate([column(run.nodes, name), column(run.edges, name)]))
        sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
        if len(sizes):
            return int(np.clip(1 - np.floor(np.log10(np.median(sizes))), 3, 9))
    return 3
