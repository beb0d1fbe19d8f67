"""Scores of the finished rows and one more row -> utility.

While a tree is open, the scores are F + b a^T. To count correct predictions, only the sign of every lead is needed:
the score of the true class minus the best other score. Leads are computed in single precision. Where rounding could
change the sign, the lead is computed again in double precision, so the count is the same as in double precision.
"""

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.metrics import ACCURACY, measure
from pcwinter.heads.ridge.course import Row, Scores, Scoring

SINGLE = 2e-5  # error of `a` in single precision, relative to the largest product: ten times what tests observe
ROUNDED = 1e-6  # the same for the constant feature, which is computed in double precision and then rounded
STORED = 2.0**-21  # four roundings of a number in single precision, relative to it
KEPT = 256  # validation nodes whose kernels with the open tree are cached for double precision
MOST = 4096  # with more slots in a tree, or labelled nodes, SINGLE does not hold, and double precision is used


def largest_error(products: FloatArray) -> float:
    """Largest rounding error of an entry of `a` in single precision; the constant feature is the last line."""
    nodes, constant = products[:-1], products[-1]
    return SINGLE * max(float(nodes.max()), -float(nodes.min())) + ROUNDED * float(constant.max())


@compiled
def make_scores(ends: IntArray, like: FloatArray) -> Scores:
    """Scores without any rows; validation nodes are sorted by class, and `like` has the precision of `a`."""
    n_classes, n = len(ends) - 1, ends[-1]
    others = np.zeros((n_classes, n), dtype=like.dtype)
    for y in range(n_classes):
        others[y, ends[y] : ends[y + 1]] = -np.inf
    return Scores(
        np.zeros((n_classes, n)),
        others,
        np.zeros(n, dtype=like.dtype),
        np.empty((n_classes, n)),
        np.empty(n, dtype=like.dtype),
        np.empty(n, dtype=like.dtype),
        np.zeros(1),
    )


@compiled
def add_row(scores: Scores, ends: IntArray, c: int, b: float, a: FloatArray) -> None:
    """Add `b a` to the scores of class c."""
    exact, others = scores.exact[c], scores.others[c]
    top = 0.0
    for i in range(len(a)):
        exact[i] += b * a[i]
        size = abs(exact[i])
        top = size if size > top else top
    scores.largest[0] = max(scores.largest[0], top)
    others[: ends[c]] = exact[: ends[c]]
    others[ends[c + 1] :] = exact[ends[c + 1] :]
    scores.mine[ends[c] : ends[c + 1]] = exact[ends[c] : ends[c + 1]]


@inlined
def score(scoring: Scoring, scores: Scores, a: FloatArray, b: FloatArray, row: Row, detail: FloatArray) -> float:
    """Utility of `scores + b a^T`."""
    if scoring.code == ACCURACY and not len(detail):
        return _count(scoring, scores, a, b, row)
    for c in range(len(b)):
        before, after, slope = scores.exact[c], scores.whole[c], b[c]
        for i in range(len(a)):
            after[i] = before[i] + slope * a[i]
    return measure(scoring.code, scores.whole, scoring.ends, scoring.temperature, scoring.tie, detail)


@inlined
def _count(scoring: Scoring, scores: Scores, a: FloatArray, b: FloatArray, row: Row) -> float:
    """Number of validation nodes whose true class leads; NaN if a score is not finite."""
    n_classes = len(b)
    lowest = highest = b[0]
    for c in range(1, n_classes):
        lowest, highest = min(lowest, b[c]), max(highest, b[c])
    doubt = 2 * scoring.tie  # twice, so that no rounding of a lead or of the limit matters
    if scoring.error:
        size = max(abs(lowest), abs(highest))
        doubt += scoring.error * (highest - lowest + STORED / SINGLE * size) + STORED * scores.largest[0]
    limit = a.dtype.type(doubt)
    last = n_classes - 1
    scores.best[:] = -np.inf
    for k in range(0, n_classes, 4):  # four classes at a time; the last one may be repeated
        _best(scores, a, b, k, min(k + 1, last), min(k + 2, last), min(k + 3, last))
    for y in range(n_classes):
        scores.slope[scoring.ends[y] : scoring.ends[y + 1]] = b[y]
    mine, slope, best = scores.mine, scores.slope, scores.best
    ahead, clear = np.int32(0), np.int32(0)  # as wide as the numbers compared; otherwise the loop is slow
    for i in range(len(a)):
        lead = mine[i] + slope[i] * a[i] - best[i]
        ahead = np.int32(ahead + np.int32(lead > limit))
        clear = np.int32(clear + np.int32(abs(lead) > limit))
    correct = int(ahead)
    if clear < len(a):
        for y in range(n_classes):
            for i in range(scoring.ends[y], scoring.ends[y + 1]):
                if not abs(mine[i] + slope[i] * a[i] - best[i]) > limit:
                    hit = _hit(scores.exact, b, _entry(row, i) if scoring.error else a[i], y, i, scoring.tie)
                    if hit < 0:
                        return np.nan
                    correct += hit
    return float(correct)


@inlined
def _best(scores: Scores, a: FloatArray, b: FloatArray, p: int, q: int, r: int, s: int) -> None:
    """Update the best scores of the wrong classes with four more classes."""
    f = a.dtype.type
    w, x, y, z = f(b[p]), f(b[q]), f(b[r]), f(b[s])
    first, second, third, fourth = scores.others[p], scores.others[q], scores.others[r], scores.others[s]
    best = scores.best
    for i in range(len(best)):
        k, m = first[i] + w * a[i], second[i] + x * a[i]
        n, o = third[i] + y * a[i], fourth[i] + z * a[i]
        k, n = (k if k > m else m), (n if n > o else o)
        k = k if k > n else n
        best[i] = k if k > best[i] else best[i]


@compiled
def _hit(scores: FloatArray, b: FloatArray, a: float, y: int, i: int, tie: float) -> int:
    """1 if node i is predicted to be of class y, with ties as in `predict`, else 0; -1 if a score is not finite."""
    mine = scores[y, i] + b[y] * a
    top, lower = mine, -np.inf  # the largest score, and the largest of a lower class
    for c in range(len(b)):
        other = scores[c, i] + b[c] * a
        if not np.isfinite(other):
            return -1
        top = max(top, other)
        if c < y:
            lower = max(lower, other)
    return int(lower + tie < top <= mine + tie)


@compiled
def _entry(row: Row, i: int) -> float:
    """Entry i of a = k_c(Z, h). The same nodes are in doubt again and again, so their columns are cached per tree."""
    m, place = len(row.node), i % KEPT
    column = row.kept[place, : m + len(row.white)]
    if row.whose[place] != i:
        row.whose[place] = i
        for u in range(m):
            column[u] = row.products[row.node[u], i]
        for k in range(len(row.white)):
            column[m + k] = row.finished[k, i]
    inner = row.scale[0] * np.dot(row.weight, column[:m]) - np.dot(row.white, column[m:])
    return float(row.products[-1, i] + inner)
