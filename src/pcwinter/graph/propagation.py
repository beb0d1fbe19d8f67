"""Adjacency and features -> rows: K steps of symmetrically normalised propagation on a whole graph."""

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import IntArray, Sparse


def propagate(adjacency: Sparse, features: Sparse, hops: int) -> Sparse:
    """(D^-1/2 (A + I) D^-1/2)^hops X on a whole graph; (n, d)."""
    step = normalized(adjacency)
    for _ in range(hops):
        features = sp.csr_array(step @ features)
    return features


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
