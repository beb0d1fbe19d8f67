"""Rows and labels -> trained linear softmax models.

A model is a linear layer with bias, started at zero and trained by full-batch Adam on the mean
negative log-likelihood of its rows. Eight classes lie side by side in a line of the cache, so that each
nonzero of the rows multiplies a whole line: an epoch is two such products of a sparse matrix, X weights and
X^T residuals, and one sweep over the parameters. Nothing mixes two models.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from pcwinter._jit import compiled, packing
from pcwinter._types import FloatArray, IntArray, Sparse
from pcwinter.graph import Recipe

LINE = 8  # doubles in a line of the cache
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
LOG2 = math.log(2)
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is log 2
SHIFT = 1.5 * 2.0**52  # a number of this size has no fraction: its last bits are an integer
TAYLOR = tuple((1 / math.factorial(k), 1 / math.factorial(k + 1)) for k in range(12, -1, -2))

Line: TypeAlias = tuple[float, float, float, float, float, float, float, float]


class Models(NamedTuple):
    """Trained models: model `e` gives row `x` the scores `x weights[e] + bias[e]`."""

    weights: FloatArray  # (e, d, c) exactly zero in columns that no row of the model uses
    bias: FloatArray  # (e, c)


class Lists(NamedTuple):
    """A sparse matrix as one list of nonzeros per row; unsigned, so that no index is tested for its sign."""

    begin: IntArray  # (rows + 1,)
    at: IntArray  # column
    value: FloatArray


def train(rows: Sparse, labels: IntArray, members: Sequence[IntArray], n_classes: int, recipe: Recipe) -> Models:
    """Train model `e` on the rows `members[e]` of the table `rows` (R, d).

    Each minimises the mean of -log softmax(x W + b)[label] over its rows as `torch.optim.Adam` does from
    W = 0, b = 0, with `weight_decay` times the parameter added to the gradient of weights and bias. A model
    without rows stays at zero. Only columns that occur in its rows are trained; the others would stay at zero.
    """
    weights, bias = np.zeros((len(members), rows.shape[1], n_classes)), np.zeros((len(members), n_classes))
    table = Lists(rows.indptr, rows.indices, rows.data)
    with packing():
        for e, mine in enumerate(members):
            if len(mine):
                by_column, active = _columns(table, mine, rows.shape[1])
                panel = _fit(by_column, labels[mine], n_classes, recipe.learning_rate, recipe.epochs, recipe.weight_decay)
                trained = panel.transpose(1, 0, 2).reshape(len(active) + 1, -1)[:, :n_classes]
                weights[e, active], bias[e] = trained[:-1], trained[-1]
    return Models(weights, bias)


def scores(models: Models, z: Sparse) -> FloatArray:
    """Scores of every model on the rows `z` (v, d), class-major: (e, c, v)."""
    result = np.empty((len(models.bias), models.bias.shape[1], z.shape[0]))
    for out, weights, bias in zip(result, models.weights, models.bias, strict=True):
        out[:] = (z @ weights + bias).T
    return result


@compiled
def _columns(table: Lists, mine: IntArray, n_columns: int) -> tuple[Lists, IntArray]:
    """The rows `mine` column by column, with a column of ones for the bias at the end, and which columns occur."""
    count = np.zeros(n_columns, np.int64)
    for r in mine:
        for k in range(table.begin[r], table.begin[r + 1]):
            count[table.at[k]] += 1
    active = np.flatnonzero(count)
    begin = np.zeros(len(active) + 2, np.uint32)
    place = np.empty(n_columns, np.int64)
    for j, column in enumerate(active):
        place[column] = begin[j]
        begin[j + 1] = begin[j] + count[column]
    end = np.int64(begin[len(active)])
    begin[len(active) + 1] = end + len(mine)
    at, value = np.empty(end + len(mine), np.uint32), np.ones(end + len(mine))
    for i, r in enumerate(mine):
        for k in range(table.begin[r], table.begin[r + 1]):
            column = table.at[k]
            at[place[column]], value[place[column]] = i, table.value[k]
            place[column] += 1
        at[end + i] = i
    return Lists(begin, at, value), active


@compiled
def _turned(lists: Lists, n_columns: int) -> Lists:
    """The transposed matrix."""
    begin = np.zeros(n_columns + 1, np.uint32)
    for i in lists.at:
        begin[i + 1] += 1
    begin = np.cumsum(begin).astype(np.uint32)
    place = begin.copy()
    at, value = np.empty_like(lists.at), np.empty_like(lists.value)
    for j in range(len(lists.begin) - 1):
        for k in range(lists.begin[j], lists.begin[j + 1]):
            i = lists.at[k]
            at[place[i]], value[place[i]] = j, lists.value[k]
            place[i] += 1
    return Lists(begin, at, value)


@compiled
def _fit(
    by_column: Lists, labels: IntArray, n_classes: int, learning_rate: float, epochs: int, weight_decay: float
) -> FloatArray:
    """Weights (groups of eight classes, columns, LINE), the bias being the last column.

    Cost per epoch: two multiply-adds per nonzero and class, and one root and one division per parameter.
    """
    n_rows, n_columns, n_groups = len(labels), len(by_column.begin) - 1, (n_classes + LINE - 1) // LINE
    by_row = _turned(by_column, n_rows)
    weights, gradient = _panels(n_groups, n_columns), _panels(n_groups, n_columns)
    first, second = np.zeros(weights.size), np.zeros(weights.size)
    logits, residuals = np.zeros((n_groups * LINE, n_rows)), _panels(n_groups, n_rows)
    for epoch in range(1, epochs + 1):
        _residuals(logits[:n_classes], labels, residuals)
        for g in range(n_groups):
            _product(by_column, residuals[g], gradient[g])
        root = math.sqrt(1 - BETA2**epoch)
        rate = learning_rate / (1 - BETA1**epoch) * root
        _adam(weights.reshape(-1), first, second, gradient.reshape(-1), rate, EPSILON * root, weight_decay)
        for g in range(n_groups):
            _product(by_row, weights[g], logits[g * LINE : (g + 1) * LINE].T)
    return weights


@compiled
def _panels(n_groups: int, n_rows: int) -> FloatArray:
    """Zeros (groups, rows, LINE), each row in one line of the cache."""
    size = n_groups * n_rows * LINE
    space = np.zeros(size + LINE)
    begin = -(space.ctypes.data // 8) % LINE
    return space[begin : begin + size].reshape((n_groups, n_rows, LINE))


@compiled
def _product(lists: Lists, right: FloatArray, out: FloatArray) -> None:
    """out = matrix right, line by line; the eight sums of a line stay in registers."""
    for i in range(len(lists.begin) - 1):
        total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k in range(lists.begin[i], lists.begin[i + 1]):
            total = _add(total, lists.value[k], right[lists.at[k]])
        line = out[i]
        for c in range(LINE):
            line[c] = total[c]


@compiled
def _add(a: Line, x: float, b: FloatArray) -> Line:
    return (
        a[0] + x * b[0],
        a[1] + x * b[1],
        a[2] + x * b[2],
        a[3] + x * b[3],
        a[4] + x * b[4],
        a[5] + x * b[5],
        a[6] + x * b[6],
        a[7] + x * b[7],
    )


@compiled
def _residuals(logits: FloatArray, labels: IntArray, out: FloatArray) -> None:
    """out = (softmax(logits) - one-hot) / rows; `logits` (c, rows) is spent."""
    n_classes, n_rows = logits.shape
    top, scale = logits[0].copy(), np.zeros(n_rows)
    for c in range(1, n_classes):
        logit = logits[c]
        for r in range(n_rows):
            top[r] = max(top[r], logit[r])
    for c in range(n_classes):
        logit = logits[c]
        for r in range(n_rows):
            logit[r] -= top[r]
        _exponentiate(logit)
        for r in range(n_rows):
            scale[r] += logit[r]
    for r in range(n_rows):
        scale[r] = 1 / (n_rows * scale[r])
    for c in range(n_classes):
        logit, residual = logits[c], out[c // LINE, :, c % LINE]
        for r in range(n_rows):
            residual[r] = logit[r] * scale[r]
    for r in range(n_rows):
        out[labels[r] // LINE, r, labels[r] % LINE] -= 1 / n_rows


@compiled
def _exponentiate(x: FloatArray) -> None:
    """x = exp(x) for x <= 0, in place, never below 1e-304; four at a time, which libm is not.

    exp(x) = 2^n exp(y) with integer n, and the Taylor series of exp(y), |y| <= log(2) / 2, in two halves.
    """
    shifted = np.empty(len(x))
    for i in range(len(x)):
        power = max(x[i], -700.0)
        shifted[i] = power / LOG2 + SHIFT
        n = shifted[i] - SHIFT
        y = power - n * LOG2_HIGH - n * LOG2_LOW
        even = odd = 0.0
        for a, b in TAYLOR:
            even = even * (y * y) + a
            odd = odd * (y * y) + b
        x[i] = even + y * odd
    bits, exponent = x.view(np.int64), shifted.view(np.int64)
    for i in range(len(x)):
        bits[i] += exponent[i] << 52


@compiled
def _adam(
    w: FloatArray,
    first: FloatArray,
    second: FloatArray,
    gradient: FloatArray,
    rate: float,
    epsilon: float,
    weight_decay: float,
) -> None:
    for i in range(len(w)):
        g = gradient[i] + weight_decay * w[i]
        first[i] = BETA1 * first[i] + (1 - BETA1) * g
        second[i] = BETA2 * second[i] + (1 - BETA2) * (g * g)
        w[i] -= rate * first[i] / (np.sqrt(second[i]) + epsilon)
