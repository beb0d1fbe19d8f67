"""Problem -> Calibration: the parameters with which the ridge head best imitates the softmax head.

The best penalty and bias depend on the data. Both heads are trained on random prefixes of DFS orders, of log-uniform
length. From a small fixed grid, we choose the point at which both heads predict the same class for the largest share
of validation nodes. (Comparing accuracies works less well: it chooses parameters that rank badly.) The test graph is
not used.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter.game.class_weights import class_weights
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.metrics import predictions
from pcwinter.game.orders import dfs
from pcwinter.game.problem import Problem
from pcwinter.heads.ridge.head import Ridge, inverse_norm, largest_norm, solve
from pcwinter.heads.softmax import Softmax, fit_scores

TEMPERATURES = tuple(float(t) for t in np.geomspace(0.01, 10, 31))
PREFIXES = 36
SEED = 2402  # fixed, so that the choice depends on the data and not on the run


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen parameters and how well they imitate the softmax head."""

    penalty: float
    bias: float
    temperature: float
    agreement: float  # share of validation nodes for which both heads predict the same class


def calibrate(problem: Problem, like: Softmax, fixed: Ridge) -> Calibration:
    """Choose the parameters that are None in `fixed` so that the head imitates `like`. Ties go to the first point."""
    complete = problem.complete
    table, labels, members = _prefixes(problem, complete)
    weights = class_weights(problem.labels, problem.n_classes, fixed.class_weight)[labels]
    z, n_classes = problem.rows, problem.n_classes
    wanted = fit_scores(table, labels, members, n_classes, like, z, weights)
    named = [predictions(score) for score in wanted]
    scale = inverse_norm(complete)
    kernel, cross = (table @ table.T).toarray() * scale, (table @ z.T).toarray() * scale

    def ridge(prefix: int, penalty: float, bias: float) -> FloatArray:
        rows = members[prefix]
        penalties = penalty / weights[rows]
        return solve(kernel[np.ix_(rows, rows)] + bias**2, cross[rows] + bias**2, labels[rows], n_classes, penalties)

    best = (-1.0, 0.0, 0.0)
    norm = scale * largest_norm(problem.features[np.unique(problem.local.node)])
    for penalty, bias in fixed.points(norm, float(weights.max())):
        shares = [
            float(np.mean(predictions(ridge(prefix, penalty, bias)) == names)) for prefix, names in enumerate(named)
        ]
        best = max(best, (float(np.mean(shares)), penalty, bias), key=lambda choice: choice[0])
    agreement, penalty, bias = best
    scores = np.array([ridge(prefix, penalty, bias) for prefix in range(len(members))])
    scores -= scores.max(axis=1, keepdims=True)  # does not change the softmax, and exp cannot overflow
    expected = np.sum(softmax(wanted, axis=1) * scores, axis=1)

    def surprise(temperature: float) -> float:
        """Mean of -sum over classes of p log q, where q = softmax(score / temperature)."""
        return float(np.mean(np.log(np.exp(scores / temperature).sum(axis=1)) - expected / temperature))

    temperature = min(TEMPERATURES, key=surprise) if fixed.temperature is None else fixed.temperature
    return Calibration(penalty, bias, temperature, agreement)


def _prefixes(problem: Problem, complete: Sparse) -> tuple[Sparse, IntArray, list[IntArray]]:
    """A table of rows, their labels, and the rows of each prefix.

    All rows of a prefix are complete, except perhaps the last. Complete rows come first in the table.
    """
    rng = np.random.default_rng(SEED)
    tree, local = problem.tree, problem.local
    last, unfinished, members = [], [], []
    for k in range(PREFIXES):
        length = round(tree.n_players ** rng.random())
        players = dfs(tree, rng).players[:length]
        last.append(int(local.tree[players[-1]]))
        coalition = np.zeros(tree.n_players, dtype=np.bool_)
        coalition[players[local.tree[players] == last[k]]] = True
        unfinished.append(coefficients(local, coalition)[local.begin[last[k]] : local.begin[last[k] + 1]])
        used = np.unique(local.tree[players])
        members.append(np.where(used == last[k], len(problem.labels) + k, used))
    table = sp.csr_array(sp.vstack([complete, problem.some_rows(np.array(last), unfinished)]))
    return table, np.concatenate([problem.labels, problem.labels[last]]), members
