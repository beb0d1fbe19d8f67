"""Complete rows and numeric targets -> the penalty and bias with the smallest leave-one-out error.

With G = (k(H, H) + lambda I)^-1, ridge regression without row i misses its target by (G E)_i / G_ii. So one
factorisation per bias gives the errors of all rows for every penalty. The targets keep their mean over all rows.
"""

from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import FloatArray, Sparse
from pcwinter.heads.ridge.closed_form import inverse_norm
from pcwinter.heads.ridge.head import Ridge

PENALTIES = tuple(float(f"{p:.3g}") for p in np.geomspace(1e-3, 1e3, 25))
BIASES = (0.0, 0.3, 1.0, 3.0)


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The chosen parameters, and how well they predict a training node from the others."""

    penalty: float
    bias: float
    r2: float  # mean over the columns of 1 - squared leave-one-out error / squared distance from the mean


def leave_one_out_error(kernel: FloatArray, outcome: FloatArray, penalties: FloatArray) -> FloatArray:
    """(p, c) mean squared leave-one-out errors, from k(H, H), (t, t), for every one of the `penalties`, (p,)."""
    size, axes = np.linalg.eigh(kernel)
    turned = axes.T @ outcome
    found = np.empty((len(penalties), outcome.shape[1]))
    for k, penalty in enumerate(penalties):
        inverse = 1 / (np.maximum(size, 0.0) + penalty)  # rounding may make an eigenvalue of 0 negative
        missed = axes @ (inverse[:, None] * turned) / (axes**2 @ inverse)[:, None]
        found[k] = np.mean(missed**2, axis=0)
    return found


def choose_by_leave_one_out(complete: Sparse, outcome: FloatArray, fixed: Ridge, norm: float = 1.0) -> LeaveOneOut:
    """Choose the parameters that are None in `fixed`. Every column counts the same; ties go to the larger penalty.

    `complete`, (t, d), are the rows, `outcome`, (t, c), the targets minus their means, and `norm` is as in `points`.
    """
    gram = (complete @ complete.T).toarray() * inverse_norm(complete)
    spread = np.mean(outcome**2, axis=0)
    points = np.array(fixed.points(norm, penalties=PENALTIES, biases=BIASES))
    best = LeaveOneOut(np.nan, np.nan, -np.inf)
    for bias in np.unique(points[:, 1]).tolist():
        penalties = np.sort(points[points[:, 1] == bias, 0])[::-1]
        errors = leave_one_out_error(gram + bias**2, outcome, penalties)
        r2 = np.mean(1 - errors / np.where(spread > 0, spread, 1.0), axis=1)
        k = int(r2.argmax())
        if r2[k] > best.r2:
            best = LeaveOneOut(float(penalties[k]), float(bias), float(r2[k]))
    return best
