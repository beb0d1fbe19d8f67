"""Any order -> utilities: compiled ridge walks in which a player may change a row that is in use.

In precedence-only and free orders several trees are open at once. A step changes one row r, so the
model changes by a rank-two update: take row r out, put it back with its new representation. With A
the inverse of k(H, H) + lambda I over the rows in use, alpha = A E and g = A[:, r],

    without r:  A - g g^T / g_r,    alpha - g alpha_r^T / g_r,    scores - a alpha_r^T,   a = k(Z, H) g / g_r
    with r:     beta = A' k(H, h), v = e_r - beta,   A' + v v^T / s,   alpha' + v b^T,   scores' + k(Z, H) v b^T

and s = k(h, h) + lambda - k(h, H) beta, b = (e - k(h, H) alpha') / s. Cost per evaluation: 2 t v + 3 t^2
multiply-adds and t times the nonzeros of the change of h. Rounding adds up, so A is rebuilt now and then.
"""

import numpy as np

from pcwinter._jit import compiled
from pcwinter._types import BoolArray, FloatArray, IntArray
from pcwinter.heads.ridge_trees import Scoring, Walked, axpy, score
from pcwinter.propagation import LocalGraphs, State, begin_step, join

REBUILD = 256  # evaluations; the t^3 of a rebuild is then small beside them


@compiled
def walk_rows(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    labels: IntArray,
    basis: IntArray,
    to_validation: FloatArray,
    indptr: IntArray,
    indices: IntArray,
    data: FloatArray,
    n_features: int,
    constant: float,
    penalty: float,
    scoring: Scoring,
    walked: Walked,
) -> int:
    """Walk a whole order of single players; the CSR arrays are the scaled features of the graph nodes."""
    n_classes, n = scoring.scores.shape
    t = len(labels)
    used = np.zeros(t, dtype=np.bool_)
    rows = np.zeros((n_features, t))  # feature-major: a sparse change meets all rows at once
    kernel = np.zeros((t, t))
    kz = np.zeros((t, n))
    inverse = np.zeros((t, t))
    alpha = np.zeros((t, n_classes))
    scores = np.zeros((n_classes, n))
    change = np.zeros(n_features)
    seen = np.zeros(n_features, dtype=np.bool_)
    touched = np.empty(n_features, dtype=np.int64)
    old, new = np.empty(n), np.empty(n)
    nothing = np.zeros(n_classes)
    utility = scoring.empty
    for step in range(len(players)):
        begin_step(state)
        join(local, state, players[step])
        if step:
            walked.detail[step] = walked.detail[step - 1]
        if state.counter[0]:
            r = local.tree[players[step]]
            n_touched = 0
            before = kz[r].copy()
            if not used[r]:
                kz[r] = constant
                kernel[r, r] = constant
                for j in range(t):
                    if used[j]:
                        kernel[r, j] = kernel[j, r] = constant
            for k in range(state.counter[0]):
                u = state.changed[k]
                delta = state.coefficient[u] - state.before[u]
                x = basis[u]
                axpy(delta, to_validation[x], kz[r])
                for q in range(indptr[x], indptr[x + 1]):
                    if not seen[indices[q]]:
                        seen[indices[q]] = True
                        touched[n_touched] = indices[q]
                        n_touched += 1
                    change[indices[q]] += delta * data[q]
            _spread(kernel, rows, used, r, change, touched[:n_touched])
            for k in range(n_touched):
                seen[touched[k]] = False
                change[touched[k]] = 0.0
            _replace(r, labels[r], used, kernel, kz, before, inverse, alpha, penalty, scores, old, new)
            used[r] = True
            walked.counts[0] += 1
            if walked.counts[0] % REBUILD == 0:
                _rebuild(labels, used, kernel, kz, inverse, alpha, penalty, scores)
            utility = score(scoring, scores, new, nothing, walked.detail[step])
        walked.utility[step] = utility
    return len(players)


@compiled
def _spread(
    kernel: FloatArray,
    rows: FloatArray,
    used: BoolArray,
    r: int,
    change: FloatArray,
    touched: IntArray,
) -> None:
    """Bring row r, and the kernel between it and the rows in use, up to date with the change of h_r."""
    t = len(used)
    dots = np.zeros(t)
    square = 0.0
    for f in touched:
        axpy(change[f], rows[f], dots)
        square += change[f] * change[f]
    for j in range(t):
        if used[j] and j != r:
            kernel[r, j] += dots[j]
            kernel[j, r] = kernel[r, j]
    kernel[r, r] += 2 * dots[r] + square
    for f in touched:
        rows[f, r] += change[f]


@compiled
def _replace(
    r: int,
    label: int,
    used: BoolArray,
    kernel: FloatArray,
    kz: FloatArray,
    before: FloatArray,
    inverse: FloatArray,
    alpha: FloatArray,
    penalty: float,
    scores: FloatArray,
    old: FloatArray,
    new: FloatArray,
) -> None:
    """The rank-two update of the head of this file, in place."""
    t, n_classes = alpha.shape
    g = np.zeros(t)
    if used[r]:
        for j in range(t):
            g[j] = inverse[j, r] / inverse[r, r]
    share = inverse[r, r]
    known = kernel[r].copy()
    known[r] = 0.0
    inner = 0.0
    for j in range(t):
        inner += g[j] * known[j]
    beta = np.dot(inverse, known)
    for j in range(t):
        beta[j] -= share * g[j] * inner
    beta[r] = 0.0
    rest = kernel[r, r]
    for j in range(t):
        rest -= known[j] * beta[j]
    weight = 1 / (max(rest, 0.0) + penalty)

    leaving = alpha[r].copy()
    for j in range(t):
        for c in range(n_classes):
            alpha[j, c] -= g[j] * leaving[c]
    b = -np.dot(known, alpha)
    b[label] += 1.0
    b *= weight

    old[:] = before * g[r]
    new[:] = kz[r]
    for j in range(t):
        if used[j] and j != r:
            row, leave, enter = kz[j], g[j], beta[j]
            for i in range(len(row)):
                old[i] += leave * row[i]
                new[i] -= enter * row[i]
    for c in range(n_classes):
        line = scores[c]
        for i in range(len(line)):
            line[i] += b[c] * new[i] - leaving[c] * old[i]
    beta[r] = -1.0
    for j in range(t):
        for c in range(n_classes):
            alpha[j, c] -= beta[j] * b[c]
        line, down, up = inverse[j], share * g[j], weight * beta[j]
        for k in range(t):
            line[k] += up * beta[k] - down * g[k]


@compiled
def _rebuild(
    labels: IntArray,
    used: BoolArray,
    kernel: FloatArray,
    kz: FloatArray,
    inverse: FloatArray,
    alpha: FloatArray,
    penalty: float,
    scores: FloatArray,
) -> None:
    """Inverse, dual weights and scores from the kernel itself."""
    inside = np.flatnonzero(used)
    block = np.empty((len(inside), len(inside)))
    for j in range(len(inside)):
        for k in range(len(inside)):
            block[j, k] = kernel[inside[j], inside[k]]
        block[j, j] += penalty
    fresh = np.linalg.inv(block)
    alpha[:] = 0.0
    for j in range(len(inside)):
        for k in range(len(inside)):
            inverse[inside[j], inside[k]] = fresh[j, k]
            alpha[inside[j], labels[inside[k]]] += fresh[j, k]
    scores[:] = np.dot(alpha.T.copy(), kz)
