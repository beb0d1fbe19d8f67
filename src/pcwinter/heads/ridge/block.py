"""Kernels of a block of evaluations -> how each changes the scores: the small algebra of `interleaved`.

Let N be the rows in use that the block does not change. Let Q be the versions of all other rows: first those at the
beginning of the block, then one per evaluation. Conditioned on N, the versions have the kernel S and the labels e,

    S = k(Q, Q) - k(Q, N) P k(N, Q),   e = E_Q - k(Q, N) P E_N,   P = (k(N, N) + lambda I)^-1.

Let M be the inverse of S + lambda I over the versions in use, alpha = M e and g = M[:, r] / M_rr. A rank-two update
replaces the last version of row r by a new version h:

    without r:  M' = M - g g^T M_rr,  alpha' = alpha - g alpha_r^T,  scores' = scores - a alpha_r^T
    with h:     beta = M' S[:, h],  v = e_r - beta,  M' + v v^T / s,  alpha' + v b^T,  scores' + (a + c) b^T

where s = S_hh + lambda - S[h, :] beta, b = (e_h - S[h, :] alpha') / s, a = k_c(Z, last version) and
c = k_c(Z, h) - a, all conditioned on the other rows. So the scores change by c b^T + a (b - alpha_r)^T, and both terms
are as small as the step.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled


class Changes(NamedTuple):
    """How b evaluations change the scores.

    A line is a combination of the lines k(Z, .) - bias^2 of the t rows at the beginning of the block, and of the
    change that each evaluation makes to the line of its row. Its multiple of bias^2 is stored separately.
    """

    weights: FloatArray  # (2 b + c, t + b) for `a` and `c` of every evaluation, then for the scores at the beginning
    sums: FloatArray  # (2 b + c,) multiples of bias^2
    slopes: FloatArray  # (2 b, c) factors with which `a` and `c` are added to the scores


@compiled
def changes(
    roots: IntArray,
    used: BoolArray,
    outcome: FloatArray,
    kernel: FloatArray,
    new: FloatArray,
    penalty: FloatArray,
) -> Changes:
    """Solve a block that changes the rows `roots`, (b,), one after the other.

    `kernel`, (t, t), is the kernel of the rows at the beginning. `new`, (b, t + b), is the kernel of the new versions
    with these rows and with each other. Entries of rows that are not in use are 0. `outcome`, (t, c), is E, and
    `penalty`, (t,), is lambda of each row.
    """
    t, b, n_classes = len(used), len(roots), outcome.shape[1]
    place, changing = np.full(t, -1), np.empty(b, dtype=np.int64)
    m = 0
    for r in roots:
        if place[r] < 0:
            place[r], changing[m] = m, r
            m += 1
    fixed = np.flatnonzero(used & (place < 0))
    given, solution = _condition(fixed, changing[:m], outcome, kernel, new, penalty)
    q = m + b
    inner = np.dot(given, solution.T)
    between, target = -inner[:q, :q], -inner[:q, q:]
    for i in range(q):
        i_root = changing[i] if i < m else roots[i - m]
        target[i] += outcome[i_root]
        for k in range(q):
            if i >= m:
                between[i, k] += new[i - m, changing[k] if k < m else t + k - m]
            else:
                between[i, k] += kernel[i_root, changing[k]] if k < m else new[k - m, i_root]

    state = _State(np.arange(m), used[changing[:m]], np.zeros((m, m)), np.zeros((m, n_classes)))
    mine = penalty[changing[:m]]
    _start(state, between, target, mine)
    weights, slopes = np.zeros((2 * b + n_classes, t + b)), np.zeros((2 * b, n_classes))
    along = np.zeros((2 * b + n_classes, q))
    for c in range(n_classes):
        for k in range(m):
            weights[2 * b + c, changing[k]] = along[2 * b + c, k] = state.alpha[k, c]
    old, both = np.empty(m), np.empty(m)
    for j in range(b):
        r, before = place[roots[j]], state.version.copy()
        _replace(state, r, m + j, between, target, mine[r], old, both, slopes[2 * j], slopes[2 * j + 1])
        for k in range(m):
            weights[2 * j, changing[k]], weights[2 * j + 1, changing[k]] = old[k], both[k]
            along[2 * j, before[k]] = old[k]
            along[2 * j + 1, before[k]] = both[k]
        along[2 * j + 1, before[r]] = -old[r]
        along[2 * j + 1, m + j] = weights[2 * j + 1, t + j] = 1.0
        for i in range(j):
            k = place[roots[i]]
            weights[2 * j, t + i], weights[2 * j + 1, t + i] = old[k], both[k]

    through = -np.dot(along, solution[:q])
    sums = np.zeros(len(along))
    for i in range(len(along)):
        for k in range(len(fixed)):
            if i >= 2 * b:
                through[i, k] += solution[q + i - 2 * b, k]
            weights[i, fixed[k]] = through[i, k]
            sums[i] += through[i, k]
        for k in range(q):
            sums[i] += along[i, k]
    return Changes(weights, sums, slopes)


@compiled
def _condition(
    fixed: IntArray,
    changing: IntArray,
    outcome: FloatArray,
    kernel: FloatArray,
    new: FloatArray,
    penalty: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """k(Q, N) stacked on E_N^T, and the product of this matrix with P."""
    m, b, n_classes = len(changing), len(new), outcome.shape[1]
    block, given = np.empty((len(fixed), len(fixed))), np.zeros((m + b + n_classes, len(fixed)))
    if not len(fixed):
        return given, given
    for i in range(len(fixed)):
        row, line = kernel[fixed[i]], block[i]
        for k in range(len(fixed)):
            line[k] = row[fixed[k]]
        line[i] += penalty[fixed[i]]
        given[m + b :, i] = outcome[fixed[i]]
    for i in range(m + b):
        row, line = kernel[changing[i]] if i < m else new[i - m], given[i]
        for k in range(len(fixed)):
            line[k] = row[fixed[k]]
    solved = np.empty_like(given)
    solved[:] = np.linalg.solve(block, given.T).T
    return given, solved


class _State(NamedTuple):
    """The current state of the rows that the block changes."""

    version: IntArray  # (m,) current version of each row
    alive: BoolArray  # (m,) whether the row is in use
    inverse: FloatArray  # (m, m) M; 0 for rows that are not in use
    alpha: FloatArray  # (m, c)


@compiled
def _start(state: _State, between: FloatArray, target: FloatArray, penalty: FloatArray) -> None:
    inside = np.flatnonzero(state.alive)
    block = np.empty((len(inside), len(inside)))
    for j in range(len(inside)):
        for k in range(len(inside)):
            block[j, k] = between[inside[j], inside[k]]
        block[j, j] += penalty[inside[j]]
    if not len(inside):
        return
    fresh = np.linalg.inv(block)
    for j in range(len(inside)):
        for k in range(len(inside)):
            state.inverse[inside[j], inside[k]] = fresh[j, k]
            for c in range(target.shape[1]):
                state.alpha[inside[j], c] += fresh[j, k] * target[inside[k], c]


@compiled
def _replace(
    state: _State,
    r: int,
    version: int,
    between: FloatArray,
    target: FloatArray,
    penalty: float,
    old: FloatArray,
    both: FloatArray,
    slope_old: FloatArray,
    slope_both: FloatArray,
) -> None:
    """The rank-two update from the top of this file; `old` and `both` are the combinations that make `a` and `c`."""
    inverse, alpha, alive = state.inverse, state.alpha, state.alive
    m, n_classes = alpha.shape
    share = inverse[r, r]
    known, leaving = np.zeros(m), alpha[r].copy()
    for k in range(m):
        old[k] = inverse[r, k] / share if alive[r] else 0.0
        if alive[k] and k != r:
            known[k] = between[version, state.version[k]]
    inner = share * np.dot(old, known)
    beta = np.dot(inverse, known)
    for k in range(m):
        beta[k] -= inner * old[k]
    beta[r] = 0.0
    weight = 1 / (max(between[version, version] - np.dot(known, beta), 0.0) + penalty)
    for k in range(m):
        line = alpha[k]
        for c in range(n_classes):
            line[c] -= old[k] * leaving[c]
    slope_both[:] = weight * (target[version] - np.dot(known, alpha))
    slope_old[:] = slope_both - leaving
    for k in range(m):
        both[k] = -beta[k] - old[k]
    both[r] = 0.0
    beta[r] = -1.0
    for k in range(m):
        line, down, up = inverse[k], share * old[k], weight * beta[k]
        for i in range(m):
            line[i] += up * beta[i] - down * old[i]
        line = alpha[k]
        for c in range(n_classes):
            line[c] -= beta[k] * slope_both[c]
    alive[r] = True
    state.version[r] = version
