"""Run -> Facts: its tables and players as arrays, with nodes numbered by their rows in `nodes`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.report.escape import visible
from pcwinter.runs.read import Run

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "unknown"  # the class of a node whose label is -1
OPTIONS = {"permutations", "max_permutations", "tolerance", "max_seconds"}


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Arrays over n nodes, m edges and p players; a node is identified by its row in `nodes`."""

    ids: list[str]  # (n,)
    classes: list[str]  # names of the classes, the last one for nodes of unknown class
    kind: IntArray  # (n,) position in `classes`
    labelled: BoolArray  # (n,)
    degree: IntArray  # (n,) edges in the training graph, in either direction
    distance: IntArray  # (n,) fewest steps from a labelled node
    value: FloatArray  # (n,)
    reach: FloatArray  # (n,) half the width of the 95% interval around the value; NaN if unknown
    unclear: BoolArray  # (n,) the interval contains zero or is unknown
    ends: IntArray  # (m, 2)
    edge_value: FloatArray  # (m,)
    edge_reach: FloatArray  # (m,)
    edge_unclear: BoolArray  # (m,)
    within_class: FloatArray  # (m,) compared with the average edge of its class
    root: IntArray  # (p,) the labelled node where the player's path begins
    own: IntArray  # (p,) the node where it ends
    depth: IntArray  # (p,) steps on the path
    steps: IntArray  # (p, hops + 1) the path, padded with -1
    player_unclear: BoolArray  # (p,)
    decimals: int  # digits after the point in the values of nodes and edges


def by_rows(run: Run) -> Facts:
    """Facts of a run."""
    n = len(run.number)
    ids = [str(name) for name in run.nodes["node"]]
    row = {name: k for k, name in enumerate(ids)}
    ends = [[row[str(a)], row[str(b)]] for a, b in zip(run.edges["source"], run.edges["target"], strict=True)]
    steps = np.where(run.paths >= 0, np.searchsorted(run.number, run.paths), -1)
    depth = (run.paths >= 0).sum(axis=1) - 1
    own = steps[np.arange(len(steps)), depth]
    distance = np.full(n, run.paths.shape[1])
    np.minimum.at(distance, own, depth)
    value, edge_value = column(run.nodes, "value"), column(run.edges, "value")
    reach = _reach(run, column(run.nodes, "stderr"), run.node_visits)
    edge_reach = _reach(run, column(run.edges, "stderr"), run.edge_visits)
    known = (run.label >= 0) & (run.label < len(run.classes))
    return Facts(
        ids=[visible(name) for name in ids],
        classes=[*map(visible, run.classes), f"({UNKNOWN})" if UNKNOWN in run.classes else UNKNOWN],
        kind=np.where(known, run.label, len(run.classes)),
        labelled=distance == 0,
        degree=run.degree,
        distance=distance,
        value=value,
        reach=reach,
        unclear=_unclear(run, value, reach),
        ends=np.array(ends, dtype=np.int64).reshape(-1, 2),
        edge_value=edge_value,
        edge_reach=edge_reach,
        edge_unclear=_unclear(run, edge_value, edge_reach),
        within_class=run.edges_within_class(),
        root=steps[:, 0],
        own=own,
        depth=depth,
        steps=steps,
        player_unclear=_unclear(run, run.value, _reach(run, run.stderr, run.visits)),
        decimals=_decimals(run),
    )


def exact(run: Run) -> bool:
    """Whether all orders were enumerated; such a run has no seed."""
    return "seed" not in run.story["asked"]


def limits(run: Run) -> dict[str, float]:
    """The limits that could end the run, by name.

    Runs up to version 0.2.0 recorded all of `OPTIONS`, None among them. With `permutations` given, the tolerance and
    the largest number of orders had no effect there, so they are left out.
    """
    recorded = run.story["stop"]
    stop = {name: limit for name, limit in recorded.items() if limit is not None}
    if recorded.keys() >= OPTIONS and "permutations" in stop:
        stop = {name: stop[name] for name in stop if name in ("permutations", "max_seconds")}
    return stop


def column(table: "pd.DataFrame", name: str) -> FloatArray:
    """A column as floats, also that of an empty table, which pandas gives no numeric type."""
    return table[name].to_numpy(dtype=np.float64)


def _reach(run: Run, stderr: FloatArray, visits: IntArray | None) -> FloatArray:
    """Half the width of 95% intervals: the standard error times a quantile of Student's t.

    An order counts as an observation if it visited the players, or gave them a share; `visits` is None if all did.
    """
    observed = np.asarray(run.story["permutations"] if visits is None else visits)
    return np.asarray(stdtrit(np.maximum(observed - 1, 1), 0.975) * stderr)


def _unclear(run: Run, value: FloatArray, reach: FloatArray) -> BoolArray:
    """Rows whose interval contains zero or is unknown; none if the run has one order and no errors at all."""
    unknown = np.isnan(reach) & (run.story["permutations"] > 1)
    return np.asarray(unknown | ((reach > 0) & (np.abs(value) <= reach)))


def _decimals(run: Run) -> int:
    """Enough for two digits of a typical standard error, or of a typical value if there are no errors."""
    for name in ("stderr", "value"):
        sizes = np.abs(np.concatenate([column(run.nodes, name), column(run.edges, name)]))
        sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
        if len(sizes):
            return int(np.clip(1 - np.floor(np.log10(np.median(sizes))), 3, 9))
    return 3
