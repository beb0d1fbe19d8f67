"""Kernels of rows -> scores of validation nodes by one solve, and the scale of the features."""

import numpy as np
import scipy.linalg

from pcwinter._util.arrays import FloatArray, IntArray, Sparse


def inverse_norm(rows: Sparse) -> float:
    """s^2, the inverse mean squared norm of the complete rows."""
    with np.errstate(over="ignore", under="ignore"):
        norm = float(np.mean(rows.multiply(rows).sum(axis=1)))
    if not 1e-200 < norm < 1e200:
        raise ValueError(
            f"the mean squared norm of the labelled nodes' representations is {norm:g}, so the model cannot scale "
            "them: give labelled nodes or their neighbours features that are not all zero and not extreme"
        )
    return 1 / norm


def largest_norm(rows: Sparse) -> float:
    """The largest squared norm of a row."""
    return float(rows.multiply(rows).sum(axis=1).max())


def solve(
    kernel: FloatArray, cross: FloatArray, labels: IntArray, n_classes: int, penalty: float | FloatArray
) -> FloatArray:
    """(c, v) class-major scores from k(H, H), (t, t), and k(H, Z), (t, v); zero if there are no rows."""
    return solve_for(kernel, cross, np.eye(n_classes)[labels], penalty)


def solve_for(kernel: FloatArray, cross: FloatArray, outcome: FloatArray, penalty: float | FloatArray) -> FloatArray:
    """The same for any `outcome`, (t, c); `penalty` may be (t,), one for each row."""
    factor = scipy.linalg.cho_factor(kernel + penalty * np.eye(len(kernel)), lower=True)
    weights: FloatArray = scipy.linalg.cho_solve(factor, outcome)
    return np.ascontiguousarray(weights.T) @ cross


def kernels_of_trees(features: Sparse, basis: IntArray, begin: IntArray, stored: IntArray) -> FloatArray:
    """Kernels between the slots of each tree, one after the other, with `stored` numbers per tree.

    Row `basis[slot]` of `features` belongs to a slot. `stored` is 0 for a tree with many slots, where it is cheaper to
    follow the features themselves.
    """
    kernels, at = np.empty(int(stored.sum())), np.cumsum(stored) - stored
    for tree in np.flatnonzero(stored):
        x = features[basis[begin[tree] : begin[tree + 1]]]
        kernels[at[tree] : at[tree] + stored[tree]] = (x @ x.T).toarray().ravel()
    return kernels
