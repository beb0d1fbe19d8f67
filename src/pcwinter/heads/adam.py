"""Rows and labels -> trained linear softmax models.

A model is a linear layer with bias. Training starts at zero and minimises the mean negative log-likelihood of the
rows X by full-batch Adam; the bias is the weight of a last column of ones. The weights of eight classes share one
cache line, and every nonzero of X multiplies a whole line. An epoch consists of two such products, X^T residuals
(which updates every parameter on the way) and X weights. All of it fits in the cache.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter._util.compiled import compiled, inlined, packing

LINE = 8  # doubles in a cache line
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
ROUNDING = 1e-15  # a gradient below this, times the largest entry of X, is 0: Adam would make steps of its rounding

Line: TypeAlias = tuple[float, float, float, float, float, float, float, float]
X = TypeVar("X")
Unsigned: TypeAlias = npt.NDArray[np.uint32]  # an index that needs no test for a negative value


class Models(NamedTuple):
    """Trained models: the scores of row `x` under model `e` are `x weights[e] + bias[e]`."""

    weights: FloatArray  # (e, d, c) exactly zero in columns that no row of the model uses
    bias: FloatArray  # (e, c)


class Matrix(NamedTuple):
    """A sparse matrix in CSR format."""

    begin: Unsigned  # (rows + 1,)
    column: Unsigned
    value: FloatArray


def train(
    rows: Sparse,
    labels: IntArray,
    members: Sequence[IntArray],
    n_classes: int,
    learning_rate: float,
    epochs: int,
    weight_decay: float,
    weights_of_rows: FloatArray | None = None,
) -> Models:
    """Train model `e` on the rows `members[e]` of the table `rows` (R, d).

    Each model minimises the mean of -log softmax(x W + b)[label] over its rows, weighted with `weights_of_rows`, as
    `torch.optim.Adam` does from W = 0, b = 0. `weight_decay` times the parameter is added to the gradient, for weights
    and bias. A model without rows stays at zero. Only columns that occur in the rows are trained; the others would stay
    at zero. A gradient of the size of rounding errors counts as 0, because Adam would make a step of it.
    """
    weights, bias = np.zeros((len(members), rows.shape[1], n_classes)), np.zeros((len(members), n_classes))
    begin, column = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    share = np.ones(len(labels)) if weights_of_rows is None else weights_of_rows
    for e, mine in enumerate(members):
        if len(mine):
            turned, active = _turned_rows(begin, column, rows.data, mine, rows.shape[1])
            with packing():
                lines = _fit(turned, labels[mine], share[mine], n_classes, learning_rate, epochs, weight_decay)
            trained = lines.transpose(1, 0, 2).reshape(len(active) + 1, -1)[:, :n_classes]
            weights[e, active], bias[e] = trained[:-1], trained[-1]
    return Models(weights, bias)


def scores(models: Models, z: Sparse) -> FloatArray:
    """Scores of every model on the rows `z` (v, d), class-major: (e, c, v)."""
    n_models, n_columns, n_classes = models.weights.shape
    matrix = Matrix(z.indptr.astype(np.uint32), z.indices.astype(np.uint32), z.data)
    result = np.empty((n_models, n_classes, z.shape[0]))
    lines, product = np.zeros((n_columns, LINE)), np.empty((z.shape[0], LINE))
    for e in range(n_models):
        for c in range(0, n_classes, LINE):
            some = models.weights[e, :, c : c + LINE]
            lines[:, : some.shape[1]] = some
            with packing():
                _multiply(matrix, lines, product)
            result[e, c : c + LINE] = product.T[: some.shape[1]]
    result += models.bias[:, :, None]
    return result


@compiled
def _turned_rows(
    begin: IntArray, column: IntArray, value: FloatArray, mine: IntArray, n_columns: int
) -> tuple[Matrix, IntArray]:
    """X^T of the rows `mine`, with a last row of ones, and the table columns that its other rows correspond to."""
    count = np.zeros(n_columns, np.int64)
    for r in mine:
        for k in range(begin[r], begin[r + 1]):
            count[column[k]] += 1
    active = np.flatnonzero(count)
    place = np.empty(n_columns, np.int64)
    ends = np.zeros(len(active) + 2, np.uint32)
    total = 0
    for j, f in enumerate(active):
        place[f] = total
        total += count[f]
        ends[j + 1] = total
    ends[-1] = total + len(mine)
    row, entry = np.empty(total + len(mine), np.uint32), np.ones(total + len(mine))
    for i, r in enumerate(mine):
        for k in range(begin[r], begin[r + 1]):
            f = column[k]
            row[place[f]], entry[place[f]] = i, value[k]
            place[f] += 1
        row[total + i] = i
    return Matrix(ends, row, entry), active


@compiled
def _turned(matrix: Matrix, n_columns: int) -> Matrix:
    """The transposed matrix."""
    place = np.zeros(n_columns + 1, np.int64)
    for j in matrix.column:
        place[j + 1] += 1
    place = np.cumsum(place)
    begin = place.astype(np.uint32)
    column, value = np.empty_like(matrix.column), np.empty_like(matrix.value)
    for i in range(len(matrix.begin) - 1):
        for k in range(matrix.begin[i], matrix.begin[i + 1]):
            j = matrix.column[k]
            column[place[j]], value[place[j]] = i, matrix.value[k]
            place[j] += 1
    return Matrix(begin, column, value)


@compiled
def _fit(
    turned: Matrix,
    labels: IntArray,
    share: FloatArray,
    n_classes: int,
    learning_rate: float,
    epochs: int,
    weight_decay: float,
) -> FloatArray:
    """Weights (groups of eight classes, columns, LINE) after training on X = `turned`^T.

    Cost per epoch: two multiply-adds per nonzero and class, one square root and one division per parameter.
    """
    n_rows, n_columns, n_groups = len(labels), len(turned.begin) - 1, (n_classes + LINE - 1) // LINE
    rows = _turned(turned, n_rows)
    weights, first, second = _lines(n_groups, n_columns), _lines(n_groups, n_columns), _lines(n_groups, n_columns)
    logits, residuals = np.zeros((n_groups * LINE, n_rows)), _lines(n_groups, n_rows)
    share = share * (n_rows / share.sum())  # exactly 1 if all are 1
    floor = ROUNDING * np.abs(turned.value).max()  # at least 1, the constant column
    for epoch in range(1, epochs + 1):
        _residuals(logits[:n_classes], labels, share, residuals)
        root = math.sqrt(1 - BETA2**epoch)
        pace = learning_rate / (1 - BETA1**epoch) * root, EPSILON * root  # corrects for moments that start at zero
        for g in range(n_groups):
            _step(turned, residuals[g], weights[g], first[g], second[g], weight_decay, floor, pace)
            _multiply(rows, weights[g], logits[g * LINE : (g + 1) * LINE].T)
    return weights


@compiled
def _lines(n_groups: int, n: int) -> FloatArray:
    """Zeros (groups, n, LINE), aligned to cache lines."""
    size = n_groups * n * LINE
    space = np.zeros(size + LINE)
    begin = -(space.ctypes.data // space.itemsize) % LINE
    return space[begin : begin + size].reshape((n_groups, n, LINE))


@compiled
def _multiply(matrix: Matrix, lines: FloatArray, out: FloatArray) -> None:
    """Set out (rows, LINE) = matrix lines."""
    for i in range(len(matrix.begin) - 1):
        _put(out[i], _product(matrix, i, lines))


@compiled
def _step(
    turned: Matrix,
    residuals: FloatArray,
    weights: FloatArray,
    first: FloatArray,
    second: FloatArray,
    weight_decay: float,
    floor: float,
    pace: tuple[float, float],
) -> None:
    """One Adam step along `turned` residuals, line by line: sums of the next line overlap with roots of this one."""
    for j in range(len(turned.begin) - 1):
        w, m, v = _get(weights[j]), _get(first[j]), _get(second[j])
        product = _product(turned, j, residuals)
        gradient = _each(_add_times, _each(_cut, product, product, floor), w, weight_decay)
        m = _each(_blend, m, gradient, BETA1)
        v = _each(_blend_square, v, gradient, BETA2)
        _put(first[j], m)
        _put(second[j], v)
        _put(weights[j], _each(_add_times, w, _each(_quotient, m, v, pace), -1.0))


@inlined
def _product(matrix: Matrix, i: int, lines: FloatArray) -> Line:
    """Row i of matrix lines."""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(matrix.begin[i], matrix.begin[i + 1]):
        total = _each(_add_times, total, lines[matrix.column[k]], matrix.value[k])
    return total


@inlined
def _add_times(a: float, b: float, x: float) -> float:
    return a + x * b


@inlined
def _cut(a: float, _: float, floor: float) -> float:
    return a if abs(a) > floor else 0.0


@inlined
def _blend(a: float, b: float, beta: float) -> float:
    return beta * a + (1 - beta) * b


@inlined
def _blend_square(a: float, b: float, beta: float) -> float:
    return beta * a + (1 - beta) * (b * b)


@inlined
def _quotient(m: float, v: float, pace: tuple[float, float]) -> float:
    rate, epsilon = pace
    return rate * m / (math.sqrt(v) + epsilon)


@inlined
def _each(f: Callable[[float, float, X], float], a: Line | FloatArray, b: Line | FloatArray, x: X) -> Line:
    """Apply f to every lane. Written out, because a tuple stays in registers, eight lanes to a vector."""
    return (
        f(a[0], b[0], x),
        f(a[1], b[1], x),
        f(a[2], b[2], x),
        f(a[3], b[3], x),
        f(a[4], b[4], x),
        f(a[5], b[5], x),
        f(a[6], b[6], x),
        f(a[7], b[7], x),
    )


@inlined
def _get(line: FloatArray) -> Line:
    return line[0], line[1], line[2], line[3], line[4], line[5], line[6], line[7]


@inlined
def _put(line: FloatArray, lanes: Line) -> None:
    line[0], line[1], line[2], line[3] = lanes[0], lanes[1], lanes[2], lanes[3]
    line[4], line[5], line[6], line[7] = lanes[4], lanes[5], lanes[6], lanes[7]


@compiled
def _residuals(logits: FloatArray, labels: IntArray, share: FloatArray, out: FloatArray) -> None:
    """Set out (groups, rows, LINE) = share (softmax(logits) - one-hot) / rows; overwrites `logits` (c, rows)."""
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
        scale[r] = share[r] / (n_rows * scale[r])
    for c in range(n_classes):
        logit, residual = logits[c], out[c // LINE, :, c % LINE]
        for r in range(n_rows):
            residual[r] = logit[r] * scale[r]
    for r in range(n_rows):
        out[labels[r] // LINE, r, labels[r] % LINE] -= share[r] / n_rows


LOG2, LOG2_HIGH, LOG2_LOW = math.log(2), 6.93147180369123816490e-01, 1.90821492927058770002e-10  # LOG2 = HIGH + LOW
SHIFT = 1.5 * 2.0**52  # adding it rounds to an integer, which ends up in the last bits
TAYLOR = tuple((1 / math.factorial(k), 1 / math.factorial(k + 1)) for k in range(12, -1, -2))


@compiled
def _exponentiate(x: FloatArray) -> None:
    """Set x = exp(max(x, -700)) for x <= 0, with a relative error of 4e-16; libm would not vectorise.

    exp(x) = 2^n exp(y) with |y| <= log(2) / 2: sum the even and the odd terms of exp(y), then add n to the exponent.
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
