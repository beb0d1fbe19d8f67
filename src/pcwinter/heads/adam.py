"""Rows and labels -> trained linear softmax models, many at a time.

A model is a linear layer with bias, started at zero and trained by full-batch Adam on the mean negative
log-likelihood of its rows. The softmax head trains thousands of them that share most of their rows, so
sixteen (class, model) pairs at a time lie side by side in the lanes of a vector. Every operation is the same
for all lanes and none crosses them: the bits of a model depend on nothing but its own rows and their order.

In every epoch each group of lanes is swept once. For a block of columns: gradient, Adam step, and at once
what these columns add to the next logits, while their weights are still in the innermost cache.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numba
import numpy as np
import scipy.sparse as sp

from pcwinter._jit import compiled
from pcwinter._types import FloatArray, IntArray, Sparse

WIDTH = 16  # lanes: four AVX2 registers; 4, 8 and 32 measured slower
BLOCK = 160  # columns whose weights stay in the innermost cache; 100 to 250 measured alike
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

Pace: TypeAlias = tuple[float, float, float]  # rate and epsilon corrected for the bias of m and v; decay
Lanes: TypeAlias = object  # WIDTH doubles in registers; exists in compiled code only


@dataclass(frozen=True, slots=True)
class Models:
    """Trained models: model `e` gives row `x` the scores `x weights[e] + bias[e]`."""

    weights: FloatArray  # (e, d, c) exactly zero in columns that no row of the model uses
    bias: FloatArray  # (e, c)


class Entries(NamedTuple):
    """The nonzeros of some rows in two orders; `row` and `column` are offsets of vectors, not indices.

    A value is one number for rows that all lanes have, and WIDTH numbers for rows that differ between lanes.
    """

    start: IntArray  # (columns + 1,) entries of each column
    row: IntArray  # (k,) ascending within a column
    value: FloatArray  # (k,) or (k * WIDTH,)
    piece: IntArray  # (blocks * rows + 1,) entries of each row inside each block of columns
    column: IntArray  # (k,) ascending within a piece
    turned: FloatArray  # the values once more, in the order of `column`


def train(
    rows: Sparse,
    labels: IntArray,
    shared: IntArray,
    own_ptr: IntArray,
    own: IntArray,
    n_classes: int,
    *,
    learning_rate: float,
    epochs: int,
    weight_decay: float,
) -> Models:
    """Train model `e` on the rows `shared` and `own[own_ptr[e]:own_ptr[e + 1]]` of the table `rows` (R, d).

    Each minimises the mean of `-log softmax(x W + b)[label]` over its rows as `torch.optim.Adam` does from
    `W = 0`, `b = 0`, with `weight_decay` times the parameter added to the gradient of weights and bias.
    A model without rows stays at zero. Many models may name the same own row; one model may not name it twice.

    The bits of a model are a function of its rows in this order: `shared`, then its own by position in the
    table. Neither the other models nor the place where `shared` ends matter. Time, however, gains from rows
    in `shared`, from an own row that many models name, and from neighbouring models with similar own rows.
    """
    n_models = len(own_ptr) - 1
    model = np.repeat(np.arange(n_models), np.diff(own_ptr))
    if len(np.unique(model * len(labels) + own)) < len(own):
        raise ValueError("a model names one of its own rows twice: own rows must be distinct")
    # own rows that begin the list of every model are shared: same order, less work
    distinct, count = np.unique(own, return_counts=True)
    leading = distinct[: np.argmin(np.append(count == n_models, False))]
    shared = np.concatenate([shared, leading])
    rest = ~np.isin(own, leading)
    own, model = own[rest], model[rest]

    used = np.union1d(shared, own)
    table, active = _compact(rows, used)
    together = _shared_entries(table, np.searchsorted(used, shared))
    weights, bias = np.zeros((n_models, rows.shape[1], n_classes)), np.zeros((n_models, n_classes))
    first = 0
    while first < n_models:
        size = min(WIDTH, 1 << (n_models - first).bit_length() - 1)  # divides WIDTH
        here = np.flatnonzero((model >= first) & (model < first + size))
        here = here[np.argsort(own[here], kind="stable")]
        row, member = own[here], model[here] - first
        slot, n_slots = _slots(row, member)
        label = np.zeros((len(shared) + n_slots, size), dtype=np.int64)
        label[: len(shared)] = labels[shared, None]
        label[len(shared) + slot, member] = labels[row]
        share = np.zeros((len(label), WIDTH))
        share[: len(shared), :size] = 1
        share[len(shared) + slot, member] = 1
        share /= np.maximum(share.sum(axis=0), 1)
        apart = _own_entries(table, np.searchsorted(used, row), member, size, slot, n_slots, len(shared))
        w, b = _fit(together, apart, label, share, n_classes, learning_rate, epochs, weight_decay)
        last = first + size
        weights[first:last, active] = _by_model(w, n_classes, size)
        bias[first:last] = _by_model(b, n_classes, size)[:, 0]
        first = last
    return Models(weights, bias)


def scores(fitted: Models, z: Sparse) -> FloatArray:
    """Scores `z weights[e] + bias[e]` of every model on the rows `z` (v, d); (e, v, c)."""
    result = np.empty((len(fitted.bias), z.shape[0], fitted.bias.shape[1]))
    for out, weights, bias in zip(result, fitted.weights, fitted.bias, strict=True):
        np.add(z @ weights, bias, out=out)
    return result


def _compact(rows: Sparse, used: IntArray) -> tuple[Sparse, IntArray]:
    """Only the used rows, and of them only the columns that occur: a table (u, a), and which columns (a,)."""
    table = sp.csr_array(rows[used])
    table.sum_duplicates()
    active = np.unique(table.indices).astype(np.int64)
    column = np.searchsorted(active, table.indices)
    return sp.csr_array((table.data, column, table.indptr), shape=(len(used), len(active))), active


def _by_model(parameters: FloatArray, n_classes: int, size: int) -> FloatArray:
    """(groups, a, WIDTH) -> (size, a, c): the lanes of all groups in a row are (c, size)."""
    n_groups, n_columns, _ = parameters.shape
    lanes = parameters.transpose(1, 0, 2).reshape(n_columns, n_groups * WIDTH)[:, : n_classes * size]
    return lanes.reshape(n_columns, n_classes, size).transpose(2, 0, 1)


def _shared_entries(table: Sparse, shared: IntArray) -> Entries:
    """Entries of the rows that all models have, one number each."""
    by_column = sp.csc_array(table[shared])
    start, row = by_column.indptr.astype(np.int64), by_column.indices.astype(np.int64)
    piece, column, entry = _pieces(start, row, len(shared))
    return Entries(start, row * WIDTH, by_column.data, piece, column, by_column.data[entry])


def _own_entries(
    table: Sparse, row: IntArray, member: IntArray, size: int, slot: IntArray, n_slots: int, n_shared: int
) -> Entries:
    """Entries of the slots, a number for every lane each; slots come after the shared rows."""
    picked = table[row]
    count = np.diff(picked.indptr)
    cells = picked.indices.astype(np.int64) * n_slots + np.repeat(slot, count)
    cell, entry = np.unique(cells, return_inverse=True)
    value = np.zeros((len(cell), WIDTH // size, size))
    value[entry, :, np.repeat(member, count)] = picked.data[:, None]
    start, at = np.searchsorted(cell, np.arange(table.shape[1] + 1) * n_slots), cell % n_slots
    piece, column, order = _pieces(start, at, n_slots)
    return Entries(start, (n_shared + at) * WIDTH, value.ravel(), piece, column, value[order].ravel())


@compiled
def _slots(row: IntArray, member: IntArray) -> tuple[IntArray, int]:
    """Give each (row, model) pair, sorted by row, the first slot after the earlier rows of its model.

    A row has one slot for all its models; rows that no model has together may share one.
    """
    slot, free = np.empty(len(row), np.int64), np.zeros(WIDTH, np.int64)
    begin = 0
    while begin < len(row):
        end, first = begin, 0
        while end < len(row) and row[end] == row[begin]:
            first = max(first, free[member[end]])
            end += 1
        for i in range(begin, end):
            slot[i] = first
            free[member[i]] = first + 1
        begin = end
    return slot, free.max()


@compiled
def _pieces(start: IntArray, row: IntArray, n_rows: int) -> tuple[IntArray, IntArray, IntArray]:
    """Entries by block, row and column instead of by column; `entry` says where each was."""
    n_columns = len(start) - 1
    piece = np.zeros((n_columns + BLOCK - 1) // BLOCK * n_rows + 1, np.int64)
    for j in range(n_columns):
        for k in range(start[j], start[j + 1]):
            piece[j // BLOCK * n_rows + row[k] + 1] += 1
    piece = np.cumsum(piece)
    column, entry, free = np.empty_like(row), np.empty_like(row), piece[:-1].copy()
    for j in range(n_columns):
        for k in range(start[j], start[j + 1]):
            p = j // BLOCK * n_rows + row[k]
            column[free[p]], entry[free[p]] = 3 * j * WIDTH, k
            free[p] += 1
    return piece, column, entry


@compiled
def _fit(
    together: Entries,
    apart: Entries,
    label: IntArray,
    share: FloatArray,
    n_classes: int,
    learning_rate: float,
    epochs: int,
    weight_decay: float,
) -> tuple[FloatArray, FloatArray]:
    """Weights (groups, a, WIDTH) and biases (groups, 1, WIDTH) of a few models.

    `label` (n, size) is the class of every shared row and slot, `share` (n, WIDTH) its share in the mean of each
    model, 0 where the model does not have it. Cost per epoch and group: two multiply-adds of vectors per
    entry, and one root and one division per column.
    """
    n_rows, size = label.shape
    n_groups, n_columns = (n_classes * size + WIDTH - 1) // WIDTH, len(together.start) - 1
    state, bias = np.zeros((n_groups, n_columns, 3, WIDTH)), np.zeros((n_groups, 1, 3, WIDTH))
    logits, residual = np.zeros((n_groups, n_rows, WIDTH)), np.zeros((n_groups, n_rows, WIDTH))
    for epoch in range(1, epochs + 1):
        _residuals(logits, residual, label, share, n_classes)
        correction = math.sqrt(1 - BETA2**epoch)
        pace = learning_rate / (1 - BETA1**epoch) * correction, EPSILON * correction, weight_decay
        for g in range(n_groups):
            gradient = splat(0.0)
            for r in range(n_rows):
                gradient = add(gradient, load(residual[g], r * WIDTH))
            level = _step(bias[g], 0, gradient, pace)
            for r in range(n_rows):
                store(logits[g], r * WIDTH, level)
            _sweep(state[g], residual[g], logits[g], together, apart, pace)
    return state[:, :, 0], bias[:, :, 0]


@compiled
def _residuals(logits: FloatArray, residual: FloatArray, label: IntArray, share: FloatArray, n_classes: int) -> None:
    """Gradient of the loss in the logits: `share (softmax(logits) - one_hot(label))`."""
    n_rows, size = label.shape
    line = np.zeros((n_classes, WIDTH))  # one row, a vector per class
    for r in range(n_rows):
        for k in range(n_classes):
            g, lane = divmod(k * size, WIDTH)
            for e in range(size):
                line[k, e] = logits[g, r, lane + e]
        top = splat(-math.inf)
        for k in range(n_classes):
            top = larger(load(line, k * WIDTH), top)
        total = splat(0.0)
        for k in range(n_classes):
            power = _exp(subtract(load(line, k * WIDTH), top))
            total = add(total, power)
            store(line, k * WIDTH, power)
        factor = divide(load(share, r * WIDTH), total)
        for k in range(n_classes):
            store(line, k * WIDTH, multiply(load(line, k * WIDTH), factor))
        for e in range(size):
            line[label[r, e], e] -= share[r, e]
        for k in range(n_classes):
            g, lane = divmod(k * size, WIDTH)
            for e in range(size):
                residual[g, r, lane + e] = line[k, e]


@compiled
def _sweep(
    state: FloatArray, residual: FloatArray, logits: FloatArray, together: Entries, apart: Entries, pace: Pace
) -> None:
    """One step of all weights of a group, and `logits += rows weight` with the new ones."""
    n_columns, n_rows = len(state), len(logits)
    n_blocks = (n_columns + BLOCK - 1) // BLOCK
    for b in range(n_blocks):
        for j in range(b * BLOCK, min(n_columns, (b + 1) * BLOCK)):
            gradient = splat(0.0)
            for k in range(item(together.start, j), item(together.start, j + 1)):
                x = splat(item(together.value, k))
                gradient = fma(x, load(residual, item(together.row, k)), gradient)
            for k in range(item(apart.start, j), item(apart.start, j + 1)):
                gradient = fma(load(apart.value, k * WIDTH), load(residual, item(apart.row, k)), gradient)
            _step(state, j, gradient, pace)
        n_shared = (len(together.piece) - 1) // n_blocks
        for r in range(n_shared):
            p, logit = b * n_shared + r, load(logits, r * WIDTH)
            for k in range(item(together.piece, p), item(together.piece, p + 1)):
                x = splat(item(together.turned, k))
                logit = fma(x, load(state, item(together.column, k)), logit)
            store(logits, r * WIDTH, logit)
        for r in range(n_shared, n_rows):
            p, logit = b * (n_rows - n_shared) + r - n_shared, load(logits, r * WIDTH)
            for k in range(item(apart.piece, p), item(apart.piece, p + 1)):
                logit = fma(load(apart.turned, k * WIDTH), load(state, item(apart.column, k)), logit)
            store(logits, r * WIDTH, logit)


@compiled
def _step(state: FloatArray, j: int, gradient: Lanes, pace: Pace) -> Lanes:
    """`m += (1 - beta1) (g - m)`, `v = beta2 v + (1 - beta2) g^2`, `w -= rate m / (sqrt(v) + guard)`."""
    rate, guard, weight_decay = pace
    at_w, at_m, at_v = 3 * j * WIDTH, (3 * j + 1) * WIDTH, (3 * j + 2) * WIDTH
    w, m, v = load(state, at_w), load(state, at_m), load(state, at_v)
    g = fma(splat(weight_decay), w, gradient)
    m = fma(splat(1 - BETA1), subtract(g, m), m)
    v = fma(splat(BETA2), v, multiply(multiply(splat(1 - BETA2), g), g))
    w = subtract(w, divide(multiply(splat(rate), m), add(root(v), splat(guard))))
    store(state, at_w, w)
    store(state, at_m, m)
    store(state, at_v, v)
    return w


@compiled
def _exp(x: Lanes) -> Lanes:
    """`exp(x)` for `x <= 0`, never below 1e-304; libm's would take the lanes one by one, four times slower."""
    x = larger(x, splat(-700.0))
    shifted = fma(x, splat(1 / math.log(2)), splat(1.5 * 2.0**52))  # its last bits are the n of 2^n
    n = subtract(shifted, splat(1.5 * 2.0**52))
    x = fma(n, splat(-6.93147180369123816490e-01), x)  # log 2 in two parts: n times the first is exact
    x = fma(n, splat(-1.90821492927058770002e-10), x)
    factorial = 479001600.0  # of 12
    result = splat(1 / factorial)
    for degree in range(12, 0, -1):
        factorial /= degree
        result = fma(result, x, splat(1 / factorial))
    return times_power(result, shifted)


# What compiled code can do with lanes. Each is one instruction of LLVM, for all lanes and across none.

Untyped: TypeAlias = Any
nb: Untyped = numba  # the parts from which a type for its compiler is made have no annotations
ir: Untyped = nb.core.cgutils.ir
_VECTOR, _WORDS = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.IntType(64), WIDTH)
_LanesType: Untyped = type("_LanesType", (nb.types.Type,), {})
_LANES = _LanesType("lanes")
nb.extending.register_model(_LanesType)(
    lambda manager, kind: nb.extending.models.PrimitiveModel(manager, kind, _VECTOR)
)


def _operation(arity: int, emit: Callable[..., Any], result: Callable[..., Any] = _LANES) -> Callable[..., Any]:
    """Let compiled code call `emit(builder, *values)`; an array comes as the pointer to its first number."""

    def generate(context: Untyped, builder: Untyped, signature: Untyped, values: list[Untyped]) -> Untyped:
        pointers = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, nb.types.Array) else value
            for kind, value in zip(signature.args, values, strict=True)
        ]
        emitted = emit(builder, *pointers)
        return context.get_dummy_value() if signature.return_type == nb.types.void else emitted

    forms: list[Callable[..., Any]] = [  # the compiler wants to see every argument
        lambda _, x: (result(x), generate),
        lambda _, x, y: (result(x, y), generate),
        lambda _, x, y, z: (result(x, y, z), generate),
    ]
    operation: Callable[..., Any] = nb.extending.intrinsic(forms[arity - 1])
    return operation


def _vector_at(builder: Untyped, array: Untyped, offset: Untyped) -> Untyped:
    return builder.bitcast(builder.gep(array, [offset]), _VECTOR.as_pointer())


def _call(builder: Untyped, name: str, *values: Untyped) -> Untyped:
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(values))
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}.v{WIDTH}f64", (), kind), values)


def _splat(builder: Untyped, x: Untyped) -> Untyped:
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), x, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _times_power(builder: Untyped, x: Untyped, shifted: Untyped) -> Untyped:
    """Add the integer in the last bits of `shifted` to the exponent of `x`."""
    exponent = builder.shl(builder.bitcast(shifted, _WORDS), ir.Constant(_WORDS, [52] * WIDTH))
    return builder.bitcast(builder.add(builder.bitcast(x, _WORDS), exponent), _VECTOR)


item = _operation(2, lambda b, array, i: b.load(b.gep(array, [i])), lambda array, i: array.dtype(array, i))
load = _operation(2, lambda b, array, i: b.load(_vector_at(b, array, i), align=8))
store = _operation(3, lambda b, array, i, x: b.store(x, _vector_at(b, array, i), align=8), nb.types.void)
splat = _operation(1, _splat)
add = _operation(2, lambda b, x, y: b.fadd(x, y))
subtract = _operation(2, lambda b, x, y: b.fsub(x, y))
multiply = _operation(2, lambda b, x, y: b.fmul(x, y))
divide = _operation(2, lambda b, x, y: b.fdiv(x, y))
larger = _operation(2, lambda b, x, y: b.select(b.fcmp_ordered(">", x, y), x, y))
fma = _operation(3, lambda b, x, y, z: _call(b, "fma", x, y, z))  # x y + z, rounded once
root = _operation(1, lambda b, x: _call(b, "sqrt", x))
times_power = _operation(2, _times_power)
