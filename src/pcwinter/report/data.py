"""Facts -> the JSON that the script of the page reads: tables, players and a drawing, all bounded in size.

Nodes are sorted: first the labelled ones, then the others by |value|. The table and the drawing each take as many as
they can hold, from the start. After the nodes of the table come those that occur only in an edge or a path. Floats are
rounded to the digits that the page shows.
"""

import json
from typing import Any

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.report.facts import Facts, column
from pcwinter.report.layout import layout
from pcwinter.runs.read import Run

NODES = 5_000  # in the table
EDGES = 5_000
DRAWN = 1_000  # nodes in the graph view
LINES = 3_000  # edges in it
PATHS = 40_000  # players of all nodes together
PER_ROOT = 4  # paths from one labelled node to one node, if not all players fit
UNSAFE: dict[str, str | int | None] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def as_json(data: dict[str, Any]) -> str:
    """JSON that is safe inside a script element: no character in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(str.maketrans(UNSAFE))


def page_data(run: Run, known: Facts) -> dict[str, Any]:
    """The data of the tables, the panel and the graph view."""
    n, m = len(known.ids), len(known.edge_value)
    listed, ahead = _listed(known)
    edges = _strongest(known.edge_value, EDGES)
    groups, mentioned = _players(run, known, listed)
    others = np.setdiff1d(np.concatenate([mentioned, known.ends[edges].ravel()]), listed)
    rows = np.concatenate([listed, others])
    local = np.full(n + 1, -1)  # the last entry is for the padding of paths
    local[rows] = np.arange(len(rows))

    nodes: dict[str, Any] = {
        "of": n,
        "listed": len(listed),
        "ahead": ahead,
        "id": [known.ids[k] for k in rows],
        "kind": known.kind[rows].tolist(),
        "labelled": known.labelled[rows].astype(int).tolist(),
        "unclear": known.unclear[rows].astype(int).tolist(),
        "degree": known.degree[rows].tolist(),
        "distance": known.distance[rows].tolist(),
        "players": run.nodes["players"].to_numpy()[rows].tolist(),
    }
    for name in ("value", "stderr", "value_path", "stderr_path", "stderr_validation", "stderr_total"):
        if name in run.nodes:
            nodes[name] = rounded(column(run.nodes, name)[rows], known.decimals)
    between = " \N{RIGHTWARDS ARROW} " if run.directed else " \N{EN DASH} "
    table: dict[str, Any] = {"of": m, "between": between, **_ends(local[known.ends[edges]])}
    for name in ("value", "stderr", "stderr_validation", "stderr_total"):
        if name in run.edges:
            table[name] = rounded(column(run.edges, name)[edges], known.decimals)
    nodes["reach"] = rounded(known.reach[rows], known.decimals)
    table["reach"] = rounded(known.edge_reach[edges], known.decimals)
    table["within_class"] = rounded(known.within_class[edges], known.decimals)
    table["unclear"] = known.edge_unclear[edges].astype(int).tolist()
    for name in ("root", "inner"):
        groups[name] = local[groups[name]].tolist()
    return {
        "decimals": known.decimals,
        "classes": known.classes,
        "nodes": nodes,
        "edges": table,
        "groups": groups,
        "drawing": _drawing(known, listed, local),
    }


def rounded(x: FloatArray, decimals: int) -> list[float | None]:
    """Floats rounded to `decimals` digits after the point; None for NaN and infinity."""
    short = np.round(x, decimals) + 0.0  # no negative zero
    return [number if np.isfinite(number) else None for number in short.tolist()]


def _strongest(value: FloatArray, limit: int) -> IntArray:
    return np.argsort(-np.abs(value), kind="stable")[:limit]


def _listed(known: Facts) -> tuple[IntArray, int]:
    """Nodes of the table, and how many labelled ones come first: all of them, or none if there are too many."""
    strongest = np.argsort(-np.abs(known.value), kind="stable")
    roots = strongest[known.labelled[strongest]]
    if len(roots) > DRAWN // 2:
        return strongest[:NODES], 0
    return np.concatenate([roots, strongest[~known.labelled[strongest]]])[:NODES], len(roots)


def _ends(ends: IntArray) -> dict[str, list[int]]:
    return {"source": ends[:, 0].tolist(), "target": ends[:, 1].tolist()}


def _drawing(known: Facts, listed: IntArray, local: IntArray) -> dict[str, Any]:
    """Positions of the strongest nodes, and the strongest edges between them."""
    drawn = min(DRAWN, len(listed))
    ends = local[known.ends]
    inside = np.flatnonzero(((ends >= 0) & (ends < drawn)).all(axis=1))
    lines = inside[_strongest(known.edge_value[inside], LINES)]
    at = layout(drawn, ends[lines])
    return {
        "x": rounded(at[:, 0], 2),
        "y": rounded(at[:, 1], 2),
        **_ends(ends[lines]),
        "between": len(inside),
    }


def _players(run: Run, known: Facts, listed: IntArray) -> tuple[dict[str, Any], IntArray]:
    """Players of the listed nodes, grouped by labelled node; and the nodes on their paths.

    Group g belongs to the listed node i with begin[i] <= g < begin[i + 1] and holds the paths with
    first[g] <= path < first[g + 1]. The inner nodes of a path are `width` entries of `inner`, padded with -1.
    Groups and paths are sorted by |value|. If there are too many, weak groups of a node are left out and
    counted in `left_*`; weak paths of a group are left out and counted in `rest` and `paths`.
    """
    place = np.full(len(known.ids), -1)
    place[listed] = np.arange(len(listed))
    players = np.flatnonzero(~run.null & (place[known.own] >= 0))
    players = players[np.lexsort((-np.abs(run.value[players]), known.root[players], place[known.own[players]]))]
    owner, root = place[known.own[players]], known.root[players]
    first = np.flatnonzero(np.diff(owner, prepend=-1) | np.diff(root, prepend=-1))
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(players)))
    position = np.arange(len(players)) - first[group]  # among the paths of its group
    total = np.add.reduceat(run.value[players], first) if len(first) else np.zeros(0)

    by_size = np.lexsort((-np.abs(total), owner[first]))  # groups of a node, the strongest first
    begin = np.searchsorted(owner[first][by_size], np.arange(len(listed) + 1))
    rank = np.empty(len(first), dtype=np.int64)
    rank[by_size] = np.arange(len(first)) - begin[owner[first][by_size]]
    kept = _within(PATHS, rank[group], position)

    here = np.flatnonzero(kept)
    here = here[np.lexsort((position[here], rank[group[here]], owner[here]))]
    chosen = group[here[position[here] == 0]]  # groups in the order of the page
    steps = known.steps[players[here]]
    inner = np.where(np.arange(steps.shape[1]) < known.depth[players[here], None], steps, -1)[:, 1:-1]
    left = np.setdiff1d(np.arange(len(first)), chosen)
    digits = known.decimals + 1
    size = np.bincount(group, minlength=len(first))
    shown = np.bincount(group[here], minlength=len(first))
    left_total = np.bincount(owner[first[left]], weights=total[left], minlength=len(listed))
    rest = total - np.bincount(group[here], weights=run.value[players[here]], minlength=len(first))
    count = len(listed)
    return {
        "begin": np.searchsorted(owner[first[chosen]], np.arange(count + 1)).tolist(),
        "root": root[first[chosen]],
        "total": rounded(total[chosen], digits),
        "paths": size[chosen].tolist(),
        "rest": rounded(np.where(shown == size, 0.0, rest)[chosen], digits),
        "first": np.concatenate([[0], np.cumsum(shown[chosen])]).tolist(),
        "width": inner.shape[1],
        "inner": inner.ravel(),
        "value": rounded(run.value[players[here]], digits),
        "stderr": rounded(run.stderr[players[here]], digits),
        "unclear": known.player_unclear[players[here]].astype(int).tolist(),
        "null": np.bincount(place[known.own[run.null]] + 1, minlength=count + 1)[1:].tolist(),
        "left_roots": np.bincount(owner[first[left]], minlength=count).tolist(),
        "left_paths": np.bincount(owner[first[left]], weights=size[left], minlength=count).astype(int).tolist(),
        "left_total": rounded(left_total.astype(np.float64), digits),
    }, np.concatenate([root[first[chosen]], inner[inner >= 0]])


def _within(limit: int, rank: IntArray, position: IntArray) -> BoolArray:
    """Which players to keep: all, or the strongest paths of as many groups of each node as the limit allows."""
    if len(rank) <= limit:
        return np.ones(len(rank), dtype=bool)
    few = position < PER_ROOT
    groups = np.cumsum(np.bincount(rank[few]))  # players if this many groups of each node are kept
    return few & (rank < max(1, int(np.searchsorted(groups, limit, side="right"))))
