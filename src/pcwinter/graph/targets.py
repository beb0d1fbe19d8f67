"""Numeric targets of a user -> a checked (n, k) array, for regression."""

import numpy as np
from numpy.typing import ArrayLike

from pcwinter._util.arrays import FloatArray
from pcwinter.graph.features import as_array

LARGEST = 1e100  # squares of larger targets could overflow


def check_targets(targets: ArrayLike, n: int) -> FloatArray:
    """(n,) or (n, k) numbers -> new (n, k) floats; a node that lacks a target in one column lacks all of them, NaN."""
    given = as_array(targets, "targets", "an array of n numbers, or (n, k)")
    if given.dtype.kind not in "iuf":
        raise TypeError(f"targets has entries of type {given.dtype}, but must hold numbers: pass classes as labels")
    if given.ndim not in (1, 2) or given.shape[0] != n or 0 in given.shape:
        raise ValueError(
            f"targets has shape {given.shape}, but must be ({n},) or ({n}, k), one row for each row of features"
        )
    result = given.astype(np.float64).reshape(n, -1)
    wrong = np.argwhere(np.abs(result) > LARGEST)
    if wrong.size:
        node, column = wrong[0]
        raise ValueError(
            f"node {node} has the target {result[node, column]:g}, but targets must be numbers of at most {LARGEST:g} "
            "in size, or NaN if unknown: correct it, or use another unit"
        )
    result[np.isnan(result).any(axis=1)] = np.nan
    return result
