"""Changes of a block, lines of its rows -> utility of every evaluation.

To count correct predictions, only the sign of every lead is needed: the score of the true class minus the best other
score. Lines and scores are computed in single precision, with a bound on the rounding error. A sum of k products, added
in any sequence, is off by at most (k + 3) u times the sum of the absolute terms, where u is the rounding unit. Where a
lead is within the bound, the block is computed again in double precision for that node, so the count is the same as in
double precision. Scores pass from block to block until the bound is too large; then they are computed again in double
precision. Anything other than a plain count is computed in double precision in every block.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.detail import credit
from pcwinter.game.metrics import measure, predict
from pcwinter.heads.ridge.block import Changes
from pcwinter.heads.ridge.course import Course, Scoring

UNIT = 2.0**-24  # u for single precision
LANES = 32  # numbers that are compared at the same time
STRIP = 128  # nodes that are computed again at a time
FAR, NEAR = 1e8, 1e-15  # within these sizes, single precision neither overflows nor underflows
RENEW = 2e-5  # the scores are computed again when the bound, relative to them, is above this


class Lines(NamedTuple):
    """Lines k(Z, .) - bias^2 of the t rows at the beginning of a block, then their changes in the block; and scratch.

    Arrays of the precision that is not in use have no rows.
    """

    exact: FloatArray  # (t + size, v)
    combined: FloatArray  # (2 size + c, v)
    largest: FloatArray  # (t + size,) largest absolute entry of each line of `exact`
    rounded: FloatArray  # (t + size, v) in single precision
    followed: FloatArray  # (2 size, v) in single precision
    scores: FloatArray  # (c, v) in single precision, after the last evaluation
    best: FloatArray  # (v,) in single precision
    trust: FloatArray  # (2,) bound on the error of these scores, and bound on the scores themselves


@compiled
def make_lines(t: int, size: int, n_classes: int, n: int, single: bool) -> Lines:
    """Empty lines, with no rows in use."""
    known, made = (t + size, 2 * size) if single else (0, 0)
    return Lines(
        np.zeros((t + size, n)),
        np.zeros((n_classes if single else 2 * size + n_classes, n)),
        np.zeros(t + size),
        np.zeros((known, n), dtype=np.float32),
        np.zeros((made, n), dtype=np.float32),
        np.zeros((n_classes, n if single else 0), dtype=np.float32),
        np.zeros(n if single else 0, dtype=np.float32),
        np.array([np.inf, 0.0]),
    )


@compiled
def note_line(lines: Lines, k: int) -> None:
    """Update `rounded` and `largest` after line k of `exact` has changed."""
    if not len(lines.rounded):
        return
    exact, rounded = lines.exact[k], lines.rounded[k]
    most = np.zeros(LANES)
    whole = len(exact) // LANES * LANES
    for begin in range(0, whole, LANES):
        part = exact[begin : begin + LANES]
        for i in range(LANES):
            size = abs(part[i])
            most[i] = size if size > most[i] else most[i]
    top = most.max()
    for i in range(whole, len(exact)):
        top = max(top, abs(exact[i]))
    for i in range(len(exact)):
        rounded[i] = exact[i]
    lines.largest[k] = top


@compiled
def score_block(course: Course, players: IntArray, lines: Lines, block: Changes, constant: float) -> FloatArray:
    """Utility of every evaluation of a block; `players` holds the player of each evaluation."""
    course.walked.counts[0] += len(players)
    if len(lines.rounded):
        return _count(course.scoring, lines, block, constant)
    scoring, parts = course.scoring, course.walked.parts
    b = len(players)
    combined, utility = lines.combined[: len(block.weights)], np.empty(b)
    np.dot(block.weights, lines.exact[: block.weights.shape[1]], combined)
    for k in range(len(combined)):
        combined[k] += constant * block.sums[k]
    scores = combined[2 * b :]
    for j in range(b):
        _follow(scores, block, j, combined[2 * j], combined[2 * j + 1])
        ends, answers = scoring.ends, scoring.answers
        utility[j] = measure(scoring.code, scores, ends, answers, scoring.temperature, scoring.tie, parts.fresh)
        credit(parts, players[j : j + 1], course.credited)
    return utility


@inlined
def _follow(scores: FloatArray, block: Changes, j: int, a: FloatArray, c: FloatArray) -> None:
    """Turn the scores before evaluation j into the scores after it."""
    f = scores.dtype.type
    for k in range(len(scores)):
        line, x, y = scores[k], f(block.slopes[2 * j, k]), f(block.slopes[2 * j + 1, k])
        for i in range(len(line)):
            line[i] += x * a[i] + y * c[i]


@compiled
def _count(scoring: Scoring, lines: Lines, block: Changes, constant: float) -> FloatArray:
    """(b,) number of validation nodes whose true class leads; NaN if a score is not finite."""
    n_classes, n = lines.scores.shape
    b, wide = len(block.slopes) // 2, block.weights.shape[1]
    if not lines.trust[0] <= RENEW * lines.trust[1]:
        np.dot(block.weights[2 * b :], lines.exact[:wide], lines.combined)
        for c in range(n_classes):
            lines.combined[c] += constant * block.sums[2 * b + c]
            lines.scores[c] = lines.combined[c]
        lines.trust[1] = np.abs(lines.combined).max()
        lines.trust[0] = UNIT * lines.trust[1]
    followed = lines.followed[: 2 * b]
    np.dot(block.weights[: 2 * b].astype(np.float32), lines.rounded[:wide], followed)
    weights, largest = np.abs(block.weights[: 2 * b]), lines.largest[:wide]
    safe = max(weights.max(), np.abs(block.slopes).max(), largest.max()) <= FAR
    sizes = np.dot(weights, largest)
    for k in range(2 * b):
        part = np.float32(constant * block.sums[k])
        sizes[k] += abs(part)
        for i in range(n):
            followed[k, i] += part
    utility, doubt = np.zeros(b), np.zeros((b, n), dtype=np.bool_)
    for j in range(b):
        change = 0.0
        for c in range(n_classes):
            x, y = abs(block.slopes[2 * j, c]), abs(block.slopes[2 * j + 1, c])
            change = max(change, x * sizes[2 * j] + y * sizes[2 * j + 1])
        lines.trust[1] += change
        lines.trust[0] += UNIT * ((wide + 8) * change + lines.trust[1])
        _follow(lines.scores, block, j, followed[2 * j], followed[2 * j + 1])
        if not safe or not NEAR < lines.trust[1] < FAR:
            lines.trust[0] = np.inf
        utility[j] = _ahead(scoring, lines, scoring.tie + 2 * lines.trust[0], doubt[j])
    _look_again(scoring, lines, block, constant, doubt, utility)
    return utility


@inlined
def _ahead(scoring: Scoring, lines: Lines, limit: float, doubt: BoolArray) -> int:
    """Number of nodes whose true class leads by more than the limit; marks nodes within the limit in `doubt`."""
    scores, ends, n_classes, most = lines.scores, scoring.ends, len(lines.scores), np.float32(limit)
    lines.best[:] = -np.inf
    correct = 0
    for y in range(n_classes):
        begin, end = ends[y], ends[y + 1]
        mine, best = scores[y, begin:end], lines.best[begin:end]
        for k in range(1, n_classes, 3):  # the other classes, three at a time; the last ones may be repeated
            first = scores[(y + k) % n_classes, begin:end]
            second = scores[(y + min(k + 1, n_classes - 1)) % n_classes, begin:end]
            third = scores[(y + min(k + 2, n_classes - 1)) % n_classes, begin:end]
            for i in range(len(best)):
                s, t, u, v = first[i], second[i], third[i], best[i]
                s, u = (s if s > t else t), (u if u > v else v)
                best[i] = s if s > u else u
        ahead, clear = np.int32(0), np.int32(0)  # as wide as the numbers compared; otherwise the loop is slow
        for i in range(len(mine)):
            lead = mine[i] - best[i]
            ahead = np.int32(ahead + np.int32(lead > most))
            clear = np.int32(clear + np.int32(abs(lead) > most))
        correct += int(ahead)
        if clear < end - begin:
            for i in range(len(mine)):
                doubt[begin + i] = not abs(mine[i] - best[i]) > most
    return correct


@compiled
def _look_again(
    scoring: Scoring, lines: Lines, block: Changes, constant: float, doubt: BoolArray, utility: FloatArray
) -> None:
    """Add the nodes in doubt whose prediction is correct in double precision."""
    b, n = doubt.shape
    wide = block.weights.shape[1]
    doubtful = np.zeros(n, dtype=np.bool_)
    for j in range(b):
        doubtful |= doubt[j]
    nodes = np.flatnonzero(doubtful)
    for begin in range(0, len(nodes), STRIP):
        some = nodes[begin : begin + STRIP]
        here = np.empty((wide, len(some)))
        for k in range(wide):
            for i in range(len(some)):
                here[k, i] = lines.exact[k, some[i]]
        combined = np.dot(block.weights, here)
        for k in range(len(combined)):
            combined[k] += constant * block.sums[k]
        scores = combined[2 * b :]
        targets = np.searchsorted(scoring.ends, some, side="right") - 1
        for j in range(b):
            _follow(scores, block, j, combined[2 * j], combined[2 * j + 1])
            for i in range(len(some)):
                if doubt[j, some[i]]:
                    if not np.isfinite(scores[:, i].sum()):
                        utility[j] = np.nan
                    utility[j] += predict(scores, i, scoring.tie) == targets[i]
