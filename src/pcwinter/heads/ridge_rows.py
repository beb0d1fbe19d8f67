"""Any order -> utilities: compiled ridge walks in which a player may change a row that is in use.

In precedence-only and free orders several trees are open at once. A step changes one row r, so the
model changes by a rank-two update: take row r out, put it back with its new representation. With A
the inverse of k(H, H) + lambda I over the rows in use, alpha = A E and g = A[:, r],

    without r:  A - g g^T / g_r,    alpha - g alpha_r^T / g_r,    scores - a alpha_r^T,   a = k(Z, H) g / g_r
    with r:     beta = A' k(H, h), v = e_r - beta,   A' + v v^T / s,   alpha' + v b^T,   scores' + k(Z, H) v b^T

and s = k(h, h) + lambda - k(h, H) beta, b = (e - k(h, H) alpha') / s. Cost per evaluation: 2 t v + 3 t^2 + t d
multiply-adds. Rounding adds up, so A is rebuilt now and then, and whenever A (k(H, H) + lambda I) e_r is not e_r.
"""

import numpy as np

from pcwinter._jit import compiled
from pcwinter._types import BoolArray, FloatArray, IntArray
from pcwinter.heads.ridge_trees import Course
from pcwinter.metrics import credit, measure
from pcwinter.moves import apply, plan
from pcwinter.propagation import begin_step, join

REBUILD = 256  # evaluations; the t^3 of a rebuild is then small beside them
SMALL = 0.03  # penalty below which it comes more often: what has added up in the scores is divided by the penalty
DRIFT = 1e-11  # error of the inverse that calls for one before that; small penalties need it often


@compiled
def walk_rows(course: Course, lines: FloatArray, constant: float) -> None:
    """Walk a whole order of single players.

    `lines` holds, for every graph node, its inner products with the validation rows and its features; below these
    there is room for the T_w of all inner slots and for the g of all rows.
    """
    local, state, moves, players = course.local, course.state, course.moves, course.players
    labels, penalty, scoring, walked = course.labels, course.penalty, course.scoring, course.walked
    n_classes, n = len(scoring.ends) - 1, int(scoring.ends[-1])
    t, width = len(labels), lines.shape[1]
    used = np.zeros(t, dtype=np.bool_)
    first = len(lines) - t
    sums, g = first - local.inner_begin[t], lines[first:]
    kz, rows = np.zeros((t, n)), np.zeros((t, width - n))
    kernel, inverse = np.zeros((t, t)), np.zeros((t, t))
    alpha = np.zeros((t, n_classes))
    scores = np.zeros((n_classes, n))
    before, old, new = np.empty(n), np.empty(n), np.empty(n)
    utility = scoring.empty
    every = max(1, int(REBUILD * min(1.0, penalty / SMALL)))
    for step in range(len(players)):
        begin_step(state)
        join(local, state, players[step])
        if state.changes[0] or state.changes[1]:
            r = local.tree[players[step]]
            plan(local, state, r, moves, False)
            apply(moves, course.basis, lines, sums + local.inner_begin[r], first + r, width)
            before[:] = kz[r]
            scale = state.scale[local.root[r]]
            for i in range(n):
                kz[r, i] = scale * g[r, i] + constant
            for f in range(width - n):
                rows[r, f] = scale * g[r, n + f]
            known = np.dot(rows, rows[r])
            for j in range(t):
                if used[j] or j == r:
                    kernel[r, j] = kernel[j, r] = known[j] + constant
            _replace(r, labels[r], used, kernel, kz, before, inverse, alpha, penalty, scores, old, new)
            used[r] = True
            walked.counts[0] += 1
            if walked.counts[0] % every == 0 or _error(r, kernel, inverse, penalty) > DRIFT:
                _rebuild(labels, used, kernel, kz, inverse, alpha, penalty, scores)
            fresh = walked.parts.fresh
            utility = measure(scoring.code, scores, scoring.ends, scoring.temperature, scoring.tie, fresh)
            credit(walked.parts, players[step])
        walked.utility[step] = utility


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
def _error(r: int, kernel: FloatArray, inverse: FloatArray, penalty: float) -> float:
    """Largest entry of A (k(H, H) + lambda I) e_r - e_r; rows and columns of A that are not in use are 0."""
    product = np.dot(inverse, kernel[r])
    error = 0.0
    for j in range(len(product)):
        error = max(error, abs(product[j] + penalty * inverse[j, r] - (1.0 if j == r else 0.0)))
    return error


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
