"""Rows and labels -> trained linear softmax models, many at a time.

A model is a linear layer with bias, started at zero and trained by full-batch Adam on the mean
negative log-likelihood of its rows. The models of a chunk lie side by side: parameters are stored as
(column, class, model), so that the inner loops run over neighbouring numbers and no operation mixes
two models. Every epoch sweeps the columns once: gradient, Adam step, and at once what the column
adds to the next logits, while its parameters are in the cache.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._jit import compiled
from pcwinter._types import FloatArray, IntArray, Sparse
from pcwinter.graph import Recipe

CHUNK = 16  # models side by side: enough to fill vectors, few enough to stay in the cache
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Models(NamedTuple):
    """Trained models: model `e` gives row `x` the scores `x weights[e] + bias[e]`."""

    weights: FloatArray  # (e, d, c) exactly zero in columns that no row of the model uses
    bias: FloatArray  # (e, c)


class Columns(NamedTuple):
    """The nonzeros of some rows, column by column."""

    begin: IntArray  # (columns + 1,)
    row: IntArray
    value: FloatArray


def train(
    rows: Sparse,
    labels: IntArray,
    shared: IntArray,
    own_ptr: IntArray,
    own: IntArray,
    n_classes: int,
    recipe: Recipe,
) -> Models:
    """Train model `e` on the rows `shared` and `own[own_ptr[e]:own_ptr[e + 1]]` of the table `rows` (R, d).

    Each minimises the mean of -log softmax(x W + b)[label] over its rows as `torch.optim.Adam` does from
    W = 0, b = 0, with `weight_decay` times the parameter added to the gradient of weights and bias. A model
    without rows stays at zero. Only columns that occur in the batch are trained; the others would stay at zero.
    Rows that all models have cost least when they are `shared`.
    """
    n_models = len(own_ptr) - 1
    active = np.unique(rows[np.union1d(shared, own)].indices)
    table = sp.csr_array(rows[:, active])
    together = _columns(table[shared])
    weights, bias = np.zeros((n_models, rows.shape[1], n_classes)), np.zeros((n_models, n_classes))
    for first in range(0, n_models, CHUNK):
        last = min(first + CHUNK, n_models)
        mine = own[own_ptr[first] : own_ptr[last]]
        model = np.repeat(np.arange(last - first), np.diff(own_ptr[first : last + 1]))
        w, b = _fit(
            together,
            labels[shared],
            _columns(table[mine]),
            labels[mine],
            model,
            last - first,
            n_classes,
            recipe.learning_rate,
            recipe.epochs,
            recipe.weight_decay,
        )
        weights[first:last, active] = w.transpose(2, 0, 1)
        bias[first:last] = b.T
    return Models(weights, bias)


def scores(models: Models, z: Sparse) -> FloatArray:
    """Scores of every model on the rows `z` (v, d), class-major: (e, c, v)."""
    result = np.empty((len(models.bias), models.bias.shape[1], z.shape[0]))
    for out, weights, bias in zip(result, models.weights, models.bias, strict=True):
        out[:] = (z @ weights + bias).T
    return result


def _columns(table: Sparse) -> Columns:
    by_column = sp.csc_array(table)
    return Columns(by_column.indptr.astype(np.int64), by_column.indices.astype(np.int64), by_column.data)


@compiled
def _fit(
    together: Columns,
    together_label: IntArray,
    apart: Columns,
    apart_label: IntArray,
    model: IntArray,
    n_models: int,
    n_classes: int,
    learning_rate: float,
    epochs: int,
    weight_decay: float,
) -> tuple[FloatArray, FloatArray]:
    """Weights (columns, c, e) and biases (c, e); `model` says to which model each own row belongs.

    Cost per epoch: two multiply-adds per nonzero, class and model, and one root and two divisions per parameter.
    """
    n_columns, n_together, n_apart = len(together.begin) - 1, len(together_label), len(apart_label)
    lanes = n_classes * n_models
    weights = np.zeros((n_columns, lanes))
    first, second = np.zeros((n_columns, lanes)), np.zeros((n_columns, lanes))
    bias, bias_first, bias_second = np.zeros(lanes), np.zeros(lanes), np.zeros(lanes)
    logits, own_logits = np.zeros((n_together, lanes)), np.zeros((n_apart, n_classes))
    share = np.full(n_models, float(n_together))
    for e in model:
        share[e] += 1
    for e in range(n_models):
        share[e] = 1 / share[e] if share[e] else 0.0
    gradient = np.empty(lanes)
    for epoch in range(1, epochs + 1):
        rate = learning_rate / (1 - BETA1**epoch)
        root = 1 / np.sqrt(1 - BETA2**epoch)
        gradient[:] = 0.0
        for r in range(n_together):  # logits become residuals, in place
            _residuals(logits[r].reshape((n_classes, n_models)), together_label[r], share)
            for i in range(lanes):
                gradient[i] += logits[r, i]
        for r in range(n_apart):
            e = model[r]
            _residuals(own_logits[r].reshape((n_classes, 1)), apart_label[r], share[e : e + 1])
            for c in range(n_classes):
                gradient[c * n_models + e] += own_logits[r, c]
        residuals, own_residuals = logits.copy(), own_logits.copy()
        _adam(bias, bias_first, bias_second, gradient, rate, root, weight_decay)
        logits[:] = bias
        for r in range(n_apart):
            own_logits[r] = bias[model[r] :: n_models]
        for f in range(n_columns):
            w = weights[f]
            gradient[:] = 0.0
            for k in range(together.begin[f], together.begin[f + 1]):
                x, residual = together.value[k], residuals[together.row[k]]
                for i in range(lanes):
                    gradient[i] += x * residual[i]
            for k in range(apart.begin[f], apart.begin[f + 1]):
                x, r = apart.value[k], apart.row[k]
                for c in range(n_classes):
                    gradient[c * n_models + model[r]] += x * own_residuals[r, c]
            _adam(w, first[f], second[f], gradient, rate, root, weight_decay)
            for k in range(together.begin[f], together.begin[f + 1]):
                x, logit = together.value[k], logits[together.row[k]]
                for i in range(lanes):
                    logit[i] += x * w[i]
            for k in range(apart.begin[f], apart.begin[f + 1]):
                x, r = apart.value[k], apart.row[k]
                for c in range(n_classes):
                    own_logits[r, c] += x * w[c * n_models + model[r]]
    return weights.reshape((n_columns, n_classes, n_models)), bias.reshape((n_classes, n_models))


@compiled
def _residuals(logits: FloatArray, label: int, share: FloatArray) -> None:
    """(softmax - one-hot) times the row's share in the mean, over (c, e) logits, in place."""
    n_classes, n_models = logits.shape
    for e in range(n_models):
        top = logits[0, e]
        for c in range(1, n_classes):
            top = max(top, logits[c, e])
        mass = 0.0
        for c in range(n_classes):
            logits[c, e] = np.exp(logits[c, e] - top)
            mass += logits[c, e]
        for c in range(n_classes):
            logits[c, e] *= share[e] / mass
        logits[label, e] -= share[e]


@compiled
def _adam(
    w: FloatArray,
    first: FloatArray,
    second: FloatArray,
    gradient: FloatArray,
    rate: float,
    root: float,
    weight_decay: float,
) -> None:
    for i in range(len(w)):
        g = gradient[i] + weight_decay * w[i]
        first[i] = BETA1 * first[i] + (1 - BETA1) * g
        second[i] = BETA2 * second[i] + (1 - BETA2) * (g * g)
        w[i] -= rate * first[i] / (np.sqrt(second[i]) * root + EPSILON)
