"""Sparse matrix or edge list -> adjacency: checks what the user gives, and says what was dropped or merged.

Row u, column v of the adjacency is the weight of the edge from u to v. An undirected graph has every edge in both
directions, with the same weight.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import count
from pcwinter.graph.features import SparseLike, as_array

SAME = 1e-9  # two directions of an edge may differ by this much, relative to the larger: rounding


def check_adjacency(
    adjacency: ArrayLike | SparseLike, weights: ArrayLike | None, n: int, directed: bool
) -> tuple[Sparse, str]:
    """The adjacency of the whole graph, canonical and without loops, and what was dropped or merged, in words."""
    if sp.issparse(adjacency):
        if weights is not None:
            raise ValueError("weights belongs to an edge list, but adjacency is a sparse matrix: leave weights out")
        row, col, weight = _check_matrix(adjacency, n)
    else:
        row, col = _check_pairs(adjacency, n)
        weight = np.empty(0) if weights is None else _check_weights(weights, row.size)
    notes = []
    if len(weight):
        _refuse_strange(row, col, weight)
        ends = np.stack([row, col] if directed else [np.minimum(row, col), np.maximum(row, col)])[:, weight == 0]
        if zeros := np.unique(ends, axis=1).shape[1]:
            notes.append(f"dropped {count(zeros, 'edge')} of weight 0 from adjacency")
        row, col, weight = row[weight != 0], col[weight != 0], weight[weight != 0]
        if weights is None and (weight == 1).all():
            if not directed:
                _check_symmetric(row, col, n)
            weight = np.empty(0)
    proper = row != col
    row, col, weight, loops = row[proper], col[proper], weight[proper[: len(weight)]], row.size - int(proper.sum())
    if len(weight):
        whole, repeats, twice = _weighted(row, col, weight, n, directed, matrix=weights is None)
        if twice:
            notes.append(f"took {count(twice, 'edge')} of adjacency, listed in both directions, as one edge each")
    elif directed:
        keys = np.unique(row * n + col)
        whole, repeats = from_entries(keys // n, keys % n, np.ones(keys.size), n), row.size - keys.size
    else:
        whole, repeats = _simple_graph(row, col, n)
    if loops or repeats:
        merged = "added up" if len(weight) else "merged"
        notes.append(f"dropped {count(loops, 'self-loop')} and {merged} {count(repeats, 'repeated edge')} of adjacency")
    if not all(np.isfinite(whole.sum(axis=axis)).all() for axis in (0, 1)):
        raise ValueError("the weights of the edges of a node add up to infinity: divide all weights by a large number")
    return whole, "; ".join(notes)


def from_entries(row: IntArray, col: IntArray, weight: FloatArray, n: int) -> Sparse:
    """Entries, each once -> canonical matrix."""
    return sp.csr_array((weight, (row, col)), shape=(n, n))


def parts(whole: Sparse, sides: IntArray, n_sides: int) -> list[Sparse]:
    """The graphs of the nodes on each side, transposed: row v has the edges that end in v."""
    coo = sp.coo_array(whole)
    row, col = coo.row.astype(np.int64), coo.col.astype(np.int64)
    inside = [(sides[row] == k) & (sides[col] == k) for k in range(n_sides)]
    return [from_entries(col[keep], row[keep], coo.data[keep], len(sides)) for keep in inside]


def edge_weights(adjacency: Sparse, edges: IntArray) -> FloatArray:
    """(m,) weights of (m, 2) edges, source and target, in a matrix [target, source]; 0 for edges that it lacks."""
    source, target = edges.T
    return np.asarray(adjacency[target, source], dtype=np.float64).ravel() if len(edges) else np.empty(0)


def graph_of(adjacency: Sparse, edges: IntArray, directed: bool) -> Sparse:
    """Only these (m, 2) edges of a matrix [target, source], in both directions unless `directed`."""
    forth = sp.coo_array((edge_weights(adjacency, edges), (edges[:, 1], edges[:, 0])), shape=adjacency.shape)
    return sp.csr_array(forth if directed else forth + forth.T)


def _check_pairs(adjacency: ArrayLike | SparseLike, n: int) -> tuple[IntArray, IntArray]:
    """Edge list -> the two ends of every listed edge, including loops and repeats."""
    pairs = as_array(adjacency, "adjacency", "a SciPy sparse (n, n) array or an edge list of m pairs")
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        advice = "pass a SciPy sparse (n, n) array or an edge list (m, 2)"
        if pairs.shape == (n, n):
            advice = "pass scipy.sparse.csr_array(adjacency), or an edge list (m, 2)"
        elif pairs.ndim == 2 and pairs.shape[0] == 2:
            advice = "an edge list has one edge per row: pass adjacency.T, which is (m, 2)"
        elif pairs.ndim == 2 and pairs.shape[1] == 3:
            advice = "if the third column has weights, pass adjacency[:, :2] and weights=adjacency[:, 2]"
        raise ValueError(f"adjacency is a dense array of shape {pairs.shape}: {advice}")
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"the edge list has entries of type {pairs.dtype}, but must hold integer node numbers")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        wrong = pairs[(pairs < 0) | (pairs >= n)][0]
        raise ValueError(
            f"adjacency names node {wrong}, but features has {count(n, 'row')}: node numbers must lie in 0..{n - 1}"
        )
    row, col = pairs.astype(np.int64).T
    return row, col


def _check_weights(weights: ArrayLike, m: int) -> FloatArray:
    """(m,) weights of listed edges."""
    given = as_array(weights, "weights", "an array of numbers, one for every edge")
    if given.dtype.kind not in "biuf":
        raise TypeError(f"weights has entries of type {given.dtype}, but must hold real numbers")
    if given.shape != (m,):
        raise ValueError(f"weights has shape {given.shape}, but must be ({m},), one number for every listed edge")
    return given.astype(np.float64)


def _check_matrix(adjacency: Any, n: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Sparse (n, n) -> row, column and weight of every stored entry."""
    if adjacency.shape != (n, n):
        raise ValueError(
            f"adjacency has shape {adjacency.shape}, but features has {count(n, 'row')}: adjacency must be ({n}, {n})"
        )
    if adjacency.dtype.kind not in "biuf":
        raise TypeError(f"adjacency has entries of type {adjacency.dtype}, but must hold real numbers")
    coo: Any = sp.coo_array(adjacency)
    return coo.row.astype(np.int64), coo.col.astype(np.int64), coo.data.astype(np.float64)


def _refuse_strange(row: IntArray, col: IntArray, weight: FloatArray) -> None:
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        at = wrong[0]
        raise ValueError(
            f"adjacency has weight {weight[at]:g} on edge ({row[at]}, {col[at]}), but weights must be finite and not "
            "negative: remove the edge, or correct its weight"
        )


def _check_symmetric(row: IntArray, col: IntArray, n: int) -> None:
    """Raise an error unless each entry has one in the other direction."""
    forth, back = np.unique(row * n + col), np.unique(col * n + row)
    alone = np.setdiff1d(forth, back, assume_unique=True)
    if alone.size:
        u, v = divmod(int(alone[0]), n)
        raise ValueError(
            f"adjacency is not symmetric: entry ({u}, {v}), one of {alone.size:,}, has no counterpart in the "
            "other direction; pass directed=True, or if direction does not matter, adjacency.maximum(adjacency.T)"
        )


def _weighted(
    row: IntArray, col: IntArray, weight: FloatArray, n: int, directed: bool, *, matrix: bool
) -> tuple[Sparse, int, int]:
    """Entries -> adjacency, the number of repeats, and of listed edges that occur in both directions, if not all do."""
    keys, place, times = np.unique(row * n + col, return_inverse=True, return_counts=True)
    total: FloatArray = np.bincount(place, weight).astype(np.float64)  # repeats add up
    u, v = keys // n, keys % n
    if directed:
        return from_entries(u, v, total, n), row.size - keys.size, 0
    if matrix:
        _check_symmetric(u, v, n)
    edges, edge_of = np.unique(np.minimum(u, v) * n + np.maximum(u, v), return_inverse=True)
    up = u < v
    one, other = np.zeros(edges.size), np.zeros(edges.size)
    one[edge_of[up]], other[edge_of[~up]] = total[up], total[~up]
    both: BoolArray = (one > 0) & (other > 0)
    differ = np.flatnonzero(both & (np.abs(one - other) > SAME * np.maximum(one, other)))
    if differ.size:
        a, b = divmod(int(edges[differ[0]]), n)
        advice = "average them with (adjacency + adjacency.T) / 2" if matrix else "list every edge in one direction"
        raise ValueError(
            f"adjacency is not symmetric: edge ({a}, {b}), one of {differ.size:,}, has weight {one[differ[0]]:g}, but "
            f"({b}, {a}) has {other[differ[0]]:g}; pass directed=True, or if direction does not matter, {advice}"
        )
    most = np.zeros(edges.size, dtype=np.int64)
    np.maximum.at(most, edge_of, times)
    total, twice = np.where(one > 0, one, other), int(both.sum())
    ends = np.concatenate([edges // n, edges % n]), np.concatenate([edges % n, edges // n])
    whole = from_entries(*ends, np.concatenate([total, total]), n)
    return whole, int(most.sum()) - edges.size, 0 if matrix or twice == edges.size else twice


def _simple_graph(row: IntArray, col: IntArray, n: int) -> tuple[Sparse, int]:
    """Ends of edges, in either direction -> the simple graph, and the number of repeats, which are merged.

    An edge listed a times as (u, v) and b times as (v, u) counts as max(a, b) - 1 repeats.
    """
    keys, times = np.unique(row * n + col, return_counts=True)
    u, v = keys // n, keys % n
    edges, edge_of = np.unique(np.minimum(u, v) * n + np.maximum(u, v), return_inverse=True)
    most = np.zeros(edges.size, dtype=np.int64)
    np.maximum.at(most, edge_of, times)
    ends = np.concatenate([edges // n, edges % n]), np.concatenate([edges % n, edges // n])
    return from_entries(*ends, np.ones(2 * edges.size), n), int(most.sum()) - edges.size
