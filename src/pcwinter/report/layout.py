"""Edges -> positions of the nodes: each component is drawn alone, then all are packed; the result is deterministic."""

import random
from typing import Any

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray

MARGIN = 1.0  # between components, in mean edge lengths
ASPECT = 1.4  # width of the drawing over its height
CELL = 0.5  # size of a cell of the grid on which components are packed


def layout(n: int, ends: IntArray) -> FloatArray:
    """(n, 2) positions of nodes 0..n-1, with y pointing down and edges about 1 long; igraph computes them."""
    import igraph  # only a report needs it

    igraph.set_random_number_generator(random.Random(0))
    try:
        graph = igraph.Graph(n=n, edges=ends.tolist())
        members = sorted(graph.connected_components(), key=lambda part: (-len(part), part[0]))
        drawn = [_draw(graph.induced_subgraph(part)) for part in members]
    finally:
        igraph.set_random_number_generator(random)  # igraph's own default
    at = np.zeros((n, 2))
    for part, corner, positions in zip(members, _pack(drawn), drawn, strict=True):
        at[part] = positions + corner
    return at


def _draw(component: Any) -> FloatArray:  # igraph has no types
    """Positions of one component, with its corner at the origin and a mean edge length of 1."""
    if component.vcount() == 1:
        return np.zeros((1, 2))
    positions = np.array(component.layout("kk").coords)  # Kamada-Kawai: about one second for 1,000 nodes
    ends = np.array(component.get_edgelist())
    length = float(np.linalg.norm(positions[ends[:, 0]] - positions[ends[:, 1]], axis=1).mean())
    positions /= length or 1.0
    return np.asarray(positions - positions.min(axis=0))


def _pack(drawn: list[FloatArray]) -> list[FloatArray]:
    """Corners of the boxes: try several total widths, and keep the one whose shape is closest to that of the view."""
    sizes = [np.ceil((positions.max(axis=0) + MARGIN) / CELL).astype(int) for positions in drawn]
    area = sum(float(size.prod()) for size in sizes)
    least = max((int(size[0]) for size in sizes), default=1)
    widths = {max(least, int(np.sqrt(area * ASPECT) * factor)) for factor in np.linspace(0.9, 1.8, 10)}
    packed = [_fill(sizes, width) for width in sorted(widths)]
    return min(packed, key=lambda way: way[1])[0]


def _fill(sizes: list[IntArray], width: int) -> tuple[list[FloatArray], float]:
    """Place boxes, large ones first, each as high and then as far left as possible; also the size of the view."""
    corners = [np.zeros(2)] * len(sizes)
    depth = np.zeros(width, dtype=np.int64)  # how many cells of each column are taken, from the top
    for k in sorted(range(len(sizes)), key=lambda k: -int(sizes[k].prod())):
        across, down = sizes[k].tolist()
        top = np.lib.stride_tricks.sliding_window_view(depth, across).max(axis=1)
        x = int(top.argmin())
        corners[k] = np.array([x, top[x]]) * CELL
        depth[x : x + across] = top[x] + down
    taken = int((depth > 0).sum())
    return corners, max(taken / ASPECT, float(depth.max()))
