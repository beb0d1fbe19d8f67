"""Order whose trees are contiguous (dfs, level) -> utilities: compiled ridge walks, one tree at a time.

While the tree of root r is open, all other rows H are finished, and a row h = sum c_u x_u adds

    b a^T,   a = k_c(Z, h),   b = (e - f(h)) / (k_c(h, h) + lambda)

to the scores, where k_c is the kernel conditioned on H and f the prediction from H. Both are
linear (a, f) or quadratic (k_c(h, h)) in c, so they follow the few coefficients that a step changes.

The finished rows of an order are known before it is walked. The dual form takes the Cholesky
factor L of their kernel in the order's sequence once; then the first i entries of L^-1 k(H, x)
condition x on the first i rows, and nothing is ever inverted or downdated. The primal form keeps
the conditional covariance of the weights, and serves when there are more rows than features.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._jit import compiled
from pcwinter._types import BoolArray, FloatArray, IntArray
from pcwinter.metrics import ACCURACY, count_correct, measure
from pcwinter.propagation import LocalGraphs, State, begin_step, join


class Scoring(NamedTuple):
    """What the validation nodes are, and how their scores become a utility."""

    code: int
    ends: IntArray  # (c + 1,) where each class begins
    temperature: float
    empty: float  # utility of the empty coalition
    lead: FloatArray  # (v,) scratch
    scores: FloatArray  # (c, v) scratch


class Opened(NamedTuple):
    """The conditional quantities of one tree's slots, and their sums over the current coefficients."""

    kz: FloatArray  # (m, v) k_c(Z, x_u)
    whitened: FloatArray  # (m, i) L^-1 k(H, x_u); no columns in the primal
    f: FloatArray  # (m, c) prediction at x_u
    gram: FloatArray  # (m, m) kernel between slots, or (m, d) features when that is narrower
    a: FloatArray  # (v,) the sums begin with the constant feature
    y: FloatArray  # (i,)
    at: FloatArray  # (c,)
    w: FloatArray  # (m,) or (d,)
    norm: float  # of the constant feature
    square: bool  # whether `gram` holds kernel values


class Walked(NamedTuple):
    """Outcome of a compiled walk, by step."""

    utility: FloatArray  # (s,)
    detail: FloatArray  # (s, v) part of every validation node, or (s, 0)
    counts: IntArray  # (2,) evaluations, baselines


@compiled
def axpy(scale: float, x: FloatArray, y: FloatArray) -> None:
    """Add scale times x to y, in place; NumPy's own form would allocate."""
    for i in range(len(y)):
        y[i] += scale * x[i]


@compiled
def score(scoring: Scoring, scores: FloatArray, a: FloatArray, b: FloatArray, detail: FloatArray) -> float:
    """Utility of `scores + b a^T`."""
    if scoring.code == ACCURACY and not len(detail):
        return float(count_correct(scores, a, b, scoring.ends, scoring.lead))
    for c in range(len(b)):
        for i in range(len(a)):
            scoring.scores[c, i] = scores[c, i] + b[c] * a[i]
    return measure(scoring.code, scoring.scores, scoring.ends, scoring.temperature, detail)


@compiled
def walk_tree(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    visited: BoolArray,
    begin: int,
    step: int,
    opened: Opened,
    label: int,
    penalty: float,
    scoring: Scoring,
    scores: FloatArray,
    walked: Walked,
) -> tuple[int, int]:
    """Walk the tree that starts at position `begin`; returns the next position and step."""
    tree = local.tree[players[begin]]
    first = local.begin[tree]
    utility = walked.utility[step - 1] if step else scoring.empty
    n_classes = len(scores)
    b = np.empty(n_classes)
    position = begin
    while position < len(players) and local.tree[players[position]] == tree:
        begin_step(state)
        credited = visited[position]
        join(local, state, players[position])
        position += 1
        while (
            not credited and position < len(players) and not visited[position] and local.tree[players[position]] == tree
        ):
            join(local, state, players[position])
            position += 1
        if step:
            walked.detail[step] = walked.detail[step - 1]
        if state.counter[0]:
            for k in range(state.counter[0]):
                u = state.changed[k]
                delta = state.coefficient[u] - state.before[u]
                axpy(delta, opened.kz[u - first], opened.a)
                axpy(delta, opened.whitened[u - first], opened.y)
                axpy(delta, opened.f[u - first], opened.at)
                axpy(delta, opened.gram[u - first], opened.w)
            norm = opened.norm
            if opened.square:
                for u in range(len(opened.w)):
                    norm += state.coefficient[first + u] * opened.w[u]
            else:
                for u in range(len(opened.w)):
                    norm += opened.w[u] * opened.w[u]
            for j in range(len(opened.y)):
                norm -= opened.y[j] * opened.y[j]
            weight = 1 / (max(norm, 0.0) + penalty)  # rounding may take a norm of 0 below it
            for c in range(n_classes):
                b[c] = ((1.0 if c == label else 0.0) - opened.at[c]) * weight
            utility = score(scoring, scores, opened.a, b, walked.detail[step])
            walked.counts[0 if credited else 1] += 1
        walked.utility[step] = utility
        step += 1
    return position, step


@compiled
def walk_dual(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    visited: BoolArray,
    labels: IntArray,
    basis: IntArray,
    to_validation: FloatArray,
    white_nodes: FloatArray,
    white_validation: FloatArray,
    white_labels: FloatArray,
    grams: FloatArray,
    gram_begin: IntArray,
    coordinates: FloatArray,
    norm: float,
    penalty: float,
    scoring: Scoring,
    walked: Walked,
) -> int:
    """Walk a whole order; `white_*` are L^-1 times the kernels and labels, rows in the order's sequence.

    `white_nodes` is (b + 1, t), one line per graph node and a last one for the constant feature.
    """
    n_classes, n = scoring.scores.shape
    scores = np.zeros((n_classes, n))
    position = step = i = 0
    while position < len(players):
        tree = local.tree[players[position]]
        nodes = basis[local.begin[tree] : local.begin[tree + 1]]
        m = len(nodes)
        whitened = np.empty((m + 1, i))
        for u in range(m):
            whitened[u] = white_nodes[nodes[u], :i]
        whitened[m] = white_nodes[-1, :i]
        kz = np.dot(whitened, white_validation[:i])
        for u in range(m):
            line, raw = kz[u], to_validation[nodes[u]]
            for j in range(n):
                line[j] = raw[j] - line[j]
        kz[m] = norm - kz[m]
        f = np.dot(whitened, white_labels[:i])
        if gram_begin[tree] >= 0:
            square = True
            gram = grams[gram_begin[tree] : gram_begin[tree] + m * m].reshape((m, m))
        else:
            square = False
            gram = np.empty((m, coordinates.shape[1]))
            for u in range(m):
                gram[u] = coordinates[nodes[u]]
        opened = Opened(
            kz,
            whitened,
            f,
            gram,
            kz[m].copy(),
            whitened[m].copy(),
            f[m].copy(),
            np.zeros(gram.shape[1]),
            norm,
            square,
        )
        position, step = walk_tree(
            local,
            state,
            players,
            visited,
            position,
            step,
            opened,
            labels[tree],
            penalty,
            scoring,
            scores,
            walked,
        )
        for c in range(n_classes):
            axpy(white_labels[i, c], white_validation[i], scores[c])
        i += 1
    return step


@compiled
def walk_primal(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    visited: BoolArray,
    labels: IntArray,
    basis: IntArray,
    coordinates: FloatArray,
    finished: FloatArray,
    validation: FloatArray,
    penalty: float,
    scoring: Scoring,
    walked: Walked,
) -> int:
    """Walk a whole order with the (d + 1, d + 1) conditional covariance of the weights.

    `coordinates` (b, d + 1) scaled features of the graph nodes, `finished` (t, d + 1) complete rows
    and `validation` (d + 1, v); the last feature is the constant one, 0 for graph nodes.
    """
    n_classes, n = scoring.scores.shape
    width = coordinates.shape[1]
    scores = np.zeros((n_classes, n))
    covariance = np.eye(width)
    weights = np.zeros((width, n_classes))
    constant = finished[0, width - 1]
    to_validation = validation.copy()  # covariance @ validation
    position = step = 0
    while position < len(players):
        tree = local.tree[players[position]]
        nodes = basis[local.begin[tree] : local.begin[tree + 1]]
        m = len(nodes)
        x = np.zeros((m + 1, width))
        for u in range(m):
            x[u] = coordinates[nodes[u]]
        x[m, width - 1] = constant
        kz = np.dot(x, to_validation)
        f = np.dot(x, weights)
        gram = np.dot(np.dot(x, covariance), x.T)
        opened = Opened(
            kz,
            np.empty((m + 1, 0)),
            f,
            gram[:m, :m].copy(),
            kz[m].copy(),
            np.empty(0),
            f[m].copy(),
            2 * gram[:m, m],
            gram[m, m],
            True,
        )
        position, step = walk_tree(
            local,
            state,
            players,
            visited,
            position,
            step,
            opened,
            labels[tree],
            penalty,
            scoring,
            scores,
            walked,
        )
        row = finished[tree]
        gain = np.dot(covariance, row)
        a = np.dot(row, to_validation)
        weight = 1 / (np.dot(row, gain) + penalty)
        b = np.dot(row, weights)
        for c in range(n_classes):
            b[c] = ((1.0 if c == labels[tree] else 0.0) - b[c]) * weight
            axpy(b[c], a, scores[c])
        for j in range(width):
            axpy(gain[j], b, weights[j])
            axpy(-weight * gain[j], gain, covariance[j])
            axpy(-weight * gain[j], a, to_validation[j])
    return step
