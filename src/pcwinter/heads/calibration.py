"""Problem -> parameters of the ridge head: those that predict what the softmax head predicts.

The right penalty and bias depend on the data. On random prefixes of DFS orders, of log-uniform
length, both heads are trained; the point of a small fixed grid wins at which they name the same class on
the largest share of validation nodes. (Closeness of the accuracies is a worse guide: it picks
parameters that rank badly.) The test graph plays no part in it.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax, softmax

from pcwinter._types import FloatArray, IntArray, Sparse
from pcwinter.graph import Recipe
from pcwinter.heads.ridge import Ridge, inverse_norm, solve
from pcwinter.heads.softmax import fit_scores
from pcwinter.metrics import predictions
from pcwinter.orders import dfs
from pcwinter.propagation import Problem, coefficients

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
BIASES = (0.3, 1.0, 3.0)
TEMPERATURES = tuple(float(t) for t in np.geomspace(0.01, 10, 31))
PREFIXES = 36
SEED = 2402  # fixed: the choice belongs to the data, not to the run


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen parameters and how well they imitate the softmax head."""

    penalty: float
    bias: float
    temperature: float
    agreement: float  # share of validation nodes on which both heads name the same class


def calibrate(problem: Problem, recipe: Recipe, fixed: Ridge) -> Calibration:
    """Choose what `fixed` leaves open; ties go to the first point of the grid."""
    table, labels, members = _prefixes(problem)
    z, n_classes = problem.rows, problem.n_classes
    wanted = fit_scores(table, labels, members, n_classes, recipe, z)
    named = [predictions(score) for score in wanted]
    scale = inverse_norm(problem.training_rows(coefficients(problem.local, np.ones_like(problem.tree.null))))
    kernels = [(table[rows] @ table[rows].T).toarray() * scale for rows in members]
    crosses = [(table[rows] @ z.T).toarray() * scale for rows in members]

    def ridge(prefix: int, penalty: float, bias: float) -> FloatArray:
        kernel, cross = kernels[prefix] + bias**2, crosses[prefix] + bias**2
        return solve(kernel, cross, labels[members[prefix]], n_classes, penalty)

    best = (-1.0, 0.0, 0.0)
    for penalty in PENALTIES if fixed.penalty is None else (fixed.penalty,):
        for bias in BIASES if fixed.bias is None else (fixed.bias,):
            shares = [
                float(np.mean(predictions(ridge(prefix, penalty, bias)) == names)) for prefix, names in enumerate(named)
            ]
            best = max(best, (float(np.mean(shares)), penalty, bias), key=lambda choice: choice[0])
    agreement, penalty, bias = best
    scores = [ridge(prefix, penalty, bias) for prefix in range(len(members))]

    def surprise(temperature: float) -> float:
        pairs = zip(wanted, scores, strict=True)
        return float(np.mean([-softmax(w, axis=0) * log_softmax(s / temperature, axis=0) for w, s in pairs]))

    temperature = min(TEMPERATURES, key=surprise) if fixed.temperature is None else fixed.temperature
    return Calibration(penalty, bias, temperature, agreement)


def _prefixes(problem: Problem) -> tuple[Sparse, IntArray, list[IntArray]]:
    """Rows of all prefixes in one table, their labels, and which rows each prefix has."""
    rng = np.random.default_rng(SEED)
    p = problem.tree.n_players
    rows, labels, members = [], [], []
    n = 0
    for _ in range(PREFIXES):
        coalition = np.zeros(p, dtype=np.bool_)
        length = round(p ** rng.random())
        coalition[dfs(problem.tree, rng).players[:length]] = True
        used = np.flatnonzero(coalition[problem.tree.roots])
        rows.append(problem.training_rows(coefficients(problem.local, coalition))[used])
        labels.append(problem.labels[used])
        members.append(np.arange(n, n + len(used)))
        n += len(used)
    return sp.csr_array(sp.vstack(rows)), np.concatenate(labels), members
