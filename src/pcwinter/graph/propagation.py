"""Adjacency and features -> rows: K steps of symmetrically normalised propagation on a whole graph."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import IntArray, Sparse


def propagate(adjacency: Sparse, features: Sparse, hops: int, theta: Sequence[float] = ()) -> Sparse:
    """Sum over j of theta_j S^j X on a whole graph, (n, d), with S as in `normalized`; S^hops X without `theta`."""
    step = normalized(adjacency)
    rows = sp.csr_array(features * theta[-1]) if theta else features
    for weight in reversed(theta[:-1] or [0.0] * hops):
        rows = sp.csr_array(step @ rows)
        if weight:
            rows = sp.csr_array(rows + features * weight)
    return rows


def propagate_to(rows: IntArray, adjacency: Sparse, features: Sparse, hops: int) -> Sparse:
    """(r, d) the rows `rows` of `propagate`. This is much faster than `propagate` when there are few of them."""
    step = normalized(adjacency)
    reached = step[rows]
    for _ in range(hops - 1):
        reached = reached @ step
    return sp.csr_array(reached @ features)


def normalized(adjacency: Sparse) -> Sparse:
    """D^-1/2 (A + I) D^-1/2, with D the row sums of A + I."""
    looped = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    scale = sp.diags_array(1 / np.sqrt(looped.sum(axis=1)))
    return sp.csr_array(scale @ looped @ scale)
