"""Adjacency and features -> rows: K steps of normalised propagation on a whole graph."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter.graph.filters import Blocks, filter_weights

NORMALISATIONS = ("symmetric", "row")


class Scaling(NamedTuple):
    """How an adjacency A becomes the operator S of the propagation, with self-loops of weight s.

    S = D^-1/2 (A + s I) D^-1/2 if `normalisation` is "symmetric", and D^-1 (A + s I) if it is "row", where D has the
    row sums of A + s I.
    """

    normalisation: str = "symmetric"
    self_loop: float = 1.0


USUAL = Scaling()
PLAIN = Scaling("row", 0.0)


def propagate(
    adjacency: Sparse, features: Sparse, hops: int, theta: Sequence[float] = (), scaling: Scaling = USUAL
) -> Sparse:
    """Sum over j of theta_j S^j X on a whole graph, (n, d), with S as in `normalized`; S^hops X without `theta`.

    With `Blocks` it is the blocks side by side, (n, (hops + 1) d), each times its scale.
    """
    if isinstance(theta, Blocks):
        return side_by_side(powers(adjacency, features, hops), theta)
    step = normalized(adjacency, scaling)
    rows = sp.csr_array(features * theta[-1]) if theta else features
    for weight in reversed(theta[:-1] or [0.0] * hops):
        rows = sp.csr_array(step @ rows)
        if weight:
            rows = sp.csr_array(rows + features * weight)
    return rows


def propagate_to(
    rows: IntArray,
    adjacency: Sparse,
    features: Sparse,
    hops: int,
    theta: Sequence[float] = (),
    scaling: Scaling = USUAL,
) -> Sparse:
    """(r, d) the rows `rows` of `propagate`. This is much faster than `propagate` when there are few of them."""
    step = normalized(adjacency, PLAIN if isinstance(theta, Blocks) else scaling)
    if isinstance(theta, Blocks):
        reached = sp.csr_array(sp.eye_array(adjacency.shape[0], format="csr")[rows])
        found = [sp.csr_array(reached @ features)]
        for _ in range(hops):
            reached = sp.csr_array(reached @ step)
            found.append(sp.csr_array(reached @ features))
        return side_by_side(found, theta)
    if theta:
        start = sp.eye_array(adjacency.shape[0], format="csr")[rows]
        reached = start * theta[-1]
        for weight in reversed(theta[:-1]):
            reached = reached @ step + start * weight
        return sp.csr_array(reached @ features)
    reached = step[rows]
    for _ in range(hops - 1):
        reached = reached @ step
    return sp.csr_array(reached @ features)


def powers(adjacency: Sparse, features: Sparse, hops: int) -> list[Sparse]:
    """X, A X, ..., A^hops X, each (n, d), where the rows of A sum to 1, or to 0, and A has no self-loops."""
    step, rows = normalized(adjacency, PLAIN), [features]
    for _ in range(hops):
        rows.append(sp.csr_array(step @ rows[-1]))
    return rows


def side_by_side(blocks: Sequence[Sparse], scales: Sequence[float]) -> Sparse:
    """(n, sum of d) blocks next to each other, each times its scale."""
    return sp.csr_array(sp.hstack([block * scale for block, scale in zip(blocks, scales, strict=True)]))


def block_scales(complete: Sequence[Sparse]) -> Blocks:
    """The inverse root mean square norm of the complete rows of each block; 1 for an empty block."""
    norms = [float(np.sqrt(rows.multiply(rows).sum() / rows.shape[0])) for rows in complete]
    return Blocks(1 / norm if norm > 0 else 1.0 for norm in norms)


def filter_of(
    filter: str | Sequence[float], hops: int, adjacency: Sparse, features: Sparse, labelled: IntArray
) -> tuple[float, ...]:
    """The weights of a filter; for "hops" the scales of its blocks, from the complete rows of the `labelled` nodes."""
    if isinstance(filter, str) and filter == "hops":
        return block_scales([rows[labelled] for rows in powers(adjacency, features, hops)])
    return filter_weights(filter, hops)


def normalized(adjacency: Sparse, scaling: Scaling = USUAL) -> Sparse:
    """S, see `Scaling`. Row v of `adjacency` has the weights of the edges that end in v; a row of zeros stays zero."""
    loops = sp.eye_array(adjacency.shape[0], format="csr")
    looped = sp.csr_array(adjacency + (loops if scaling.self_loop == 1 else loops * scaling.self_loop))
    degree: FloatArray = np.asarray(looped.sum(axis=1))
    degree[degree == 0] = np.inf
    if scaling.normalisation == "row":
        return sp.csr_array(sp.diags_array(1 / degree) @ looped)
    scale = sp.diags_array(1 / np.sqrt(degree))
    return sp.csr_array(scale @ looped @ scale)
