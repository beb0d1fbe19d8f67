"""Array or sparse matrix -> features: a checked, canonical CSR array, scaled in one of three ways."""

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pcwinter._util.arrays import Sparse
from pcwinter._util.checks import one_of

SparseLike: TypeAlias = "sp.sparray[Any, Any] | sp.spmatrix[Any]"
NORMALIZATIONS = ("row", "standard", "none")


def normalize_features(features: ArrayLike | SparseLike, how: str) -> Sparse:
    """Scale (n, d) features. The result is a CSR array, but "standard" fills nearly every entry of it.

    `features` is (n, d), dense or sparse. `how` is one of three names. "row" makes every row sum to 1; a row of zeros
    stays as it is. "standard" gives every column mean 0 and variance 1; a constant column becomes 0. "none" changes
    nothing.

    >>> normalize_features([[1.0, 3.0], [0.0, 0.0]], "row").toarray()
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    one_of("how", how, NORMALIZATIONS)
    x = check_features(features)
    if how == "row":
        if x.nnz and x.data.min() < 0:
            raise ValueError(
                f"features has negative entries, the first in row {_row_of(x, x.data < 0)}, but rows can be scaled to "
                'sum to 1 only if they are not negative: use "standard" instead of "row"'
            )
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        sums = np.bincount(rows, weights=x.data)
        if not np.isfinite(sums).all():
            raise ValueError(
                f"row {np.flatnonzero(~np.isfinite(sums))[0]} of features has an infinite sum: scale it down"
            )
        x.data /= sums[rows]
    elif how == "standard":
        dense = x.toarray()
        constant = np.ptp(dense, axis=0) == 0  # not std: rounding can make the std of a constant column positive
        spread = np.where(constant, 1.0, dense.std(axis=0))
        return sp.csr_array(np.where(constant, 0.0, (dense - dense.mean(axis=0)) / spread))
    return x


def check_features(features: ArrayLike | SparseLike) -> Sparse:
    """(n, d) array or sparse matrix -> a new canonical CSR array of finite numbers."""
    if isinstance(features, np.ma.MaskedArray):
        raise TypeError("features is a masked array, but every feature needs a value: fill in the masked entries first")
    sparse = sp.issparse(features)
    given: Any = features if sparse else as_array(features, "features", "an (n, d) array of numbers")
    if given.dtype.kind not in "biufO":
        raise TypeError(f"features has entries of type {given.dtype}, but must hold real numbers: encode them first")
    if given.ndim != 2 or given.shape[0] == 0:
        raise ValueError(f"features has shape {given.shape}, but must be (n, d) with one row for each of n > 0 nodes")
    try:
        coo = sp.coo_array(given if sparse else given.astype(np.float64), dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            "features has entries that are not numbers: encode text and categories as numbers first"
        ) from None
    ends = coo.row.astype(np.int64), coo.col.astype(np.int64)
    result = sp.csr_array((coo.data, ends), shape=coo.shape)  # copies, and sums repeated entries
    if not np.isfinite(result.data).all():
        row = _row_of(result, ~np.isfinite(result.data))
        raise ValueError(f"row {row} of features is not finite: replace NaN and infinity before building the graph")
    result.eliminate_zeros()
    return result


def as_array(value: object, name: str, expected: str) -> NDArray[Any]:
    """Array-like -> array; the error says what `name` should be when NumPy cannot make an array of it."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a sequence with parts of different lengths, but must be {expected}") from None
    if array.ndim == 0:
        raise TypeError(f"{name} is of type {type(value).__name__}, but must be {expected}")
    return array


def _row_of(x: Sparse, entries: NDArray[np.bool_]) -> int:
    """The row of the first marked entry."""
    return int(np.searchsorted(x.indptr, np.flatnonzero(entries)[0], side="right")) - 1
