"""Scores of the finished rows and one more row -> utility.

While a tree is open, the scores are F + b a^T. To count correct predictions, only the sign of every lead is needed:
the score of the true class minus the best other score. Leads are computed in single precision. Where rounding could
change the sign, the lead is computed again in double precision, so the count is the same as in double precision.
"""

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined, loose
from pcwinter.game.metrics import ACCURACY, measure
from pcwinter.heads.ridge.course import Row, Scores, Scoring

SINGLE = 2e-5  # error of `a` in single precision, relative to the largest product: ten times what tests observe
ROUNDED = 1e-6  # the same for the constant feature, which is computed in double precision and then rounded
STORED = 2.0**-21  # four roundings of a number in single precision, relative to it
PART = 128  # validation nodes whose leads are looked at again if one of them is unclear
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
        np.zeros(-(-n // PART), dtype=np.bool_),
        np.zeros(1),
    )


@compiled
def add_row(scores: Scores, ends: IntArray, b: FloatArray, a: FloatArray) -> None:
    """Add `b a^T` to the scores."""
    for c in range(len(b)):
        exact, others, slope = scores.exact[c], scores.others[c], b[c]
        for i in range(len(a)):
            exact[i] += slope * a[i]
        scores.largest[0] = max(scores.largest[0], _largest(exact))
        others[: ends[c]] = exact[: ends[c]]
        others[ends[c + 1] :] = exact[ends[c + 1] :]
        scores.mine[ends[c] : ends[c + 1]] = exact[ends[c] : ends[c + 1]]


@inlined
def _largest(x: FloatArray) -> float:
    """Largest absolute entry, found in four parts, which the processor compares in parallel."""
    a = b = c = d = 0.0
    n = len(x) // 4 * 4
    for i in range(0, n, 4):
        a = max(a, abs(x[i]))
        b = max(b, abs(x[i + 1]))
        c = max(c, abs(x[i + 2]))
        d = max(d, abs(x[i + 3]))
    for i in range(n, len(x)):
        a = max(a, abs(x[i]))
    return max(max(a, b), max(c, d))


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
    limit = doubt(scoring.tie, scoring.error, scores.largest[0], b, a)
    found = leads(scores.others, scores.mine, scores.slope, scores.best, scores.doubtful, scoring.ends, a, b, limit)
    return found + unclear(scoring, scores, a, b, row, limit) if scores.doubtful.any() else float(found)


@inlined
def doubt(tie: float, error: float, largest: float, b: FloatArray, a: FloatArray) -> float:
    """The size up to which a lead is unclear, in the precision of `a`."""
    lowest = highest = b[0]
    for c in range(1, len(b)):
        lowest, highest = min(lowest, b[c]), max(highest, b[c])
    limit = 2 * tie  # twice, so that no rounding of a lead or of the limit matters
    if error:
        size = max(abs(lowest), abs(highest))
        limit += error * (highest - lowest + STORED / SINGLE * size) + STORED * largest
    return a.dtype.type(limit)


@compiled
def unclear(scoring: Scoring, scores: Scores, a: FloatArray, b: FloatArray, row: Row, limit: float) -> float:
    """Number of validation nodes with unclear leads whose true class leads, in double precision."""
    correct, y = 0, 0
    for part in range(len(scores.doubtful)):
        if scores.doubtful[part]:
            for i in range(part * PART, min((part + 1) * PART, len(a))):
                if not abs(scores.best[i]) > limit:
                    while i >= scoring.ends[y + 1]:
                        y += 1
                    hit = _hit(scores.exact, b, _entry(row, i) if scoring.error else a[i], y, i, scoring.tie)
                    if hit < 0:
                        return np.nan
                    correct += hit
    return float(correct)


@compiled
def leads(
    others: FloatArray,
    mine: FloatArray,
    slope: FloatArray,
    best: FloatArray,
    doubtful: BoolArray,
    ends: IntArray,
    a: FloatArray,
    b: FloatArray,
    limit: float,
) -> int:
    """How many leads are above the limit; leads are put into `best`, and parts with unclear ones into `doubtful`.

    Not inlined: its loops are vectorised only where the compiler sees few arrays.
    """
    last = len(b) - 1
    best[:] = -np.inf
    for k in range(0, len(b), 4):  # four classes at a time; the last one may be repeated
        _best(others, best, a, b, k, min(k + 1, last), min(k + 2, last), min(k + 3, last))
    for y in range(len(b)):
        slope[ends[y] : ends[y + 1]] = b[y]
    correct = 0
    for part in range(len(doubtful)):
        begin, end = part * PART, min((part + 1) * PART, len(a))
        now, true, rate, lead = a[begin:end], mine[begin:end], slope[begin:end], best[begin:end]
        ahead, clear = np.int32(0), np.int32(0)  # as wide as the numbers compared; otherwise the loop is slow
        for i in range(len(lead)):
            lead[i] = true[i] + rate[i] * now[i] - lead[i]
            ahead = np.int32(ahead + np.int32(lead[i] > limit))
            clear = np.int32(clear + np.int32(abs(lead[i]) > limit))
        correct += int(ahead)
        doubtful[part] = clear < end - begin
    return correct


@loose
def _best(others: FloatArray, best: FloatArray, a: FloatArray, b: FloatArray, p: int, q: int, r: int, s: int) -> None:
    """Update the best scores of the wrong classes with four more classes."""
    f = a.dtype.type
    w, x, y, z = f(b[p]), f(b[q]), f(b[r]), f(b[s])
    first, second, third, fourth = others[p], others[q], others[r], others[s]
    for i in range(len(best)):
        now = a[i]
        k, m, n, o = first[i] + w * now, second[i] + x * now, third[i] + y * now, fourth[i] + z * now
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
