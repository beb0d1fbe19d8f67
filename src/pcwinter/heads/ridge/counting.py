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

SINGLE = 2e-5  # error of `a` in single precision, relative to the sizes below: ten times what tests observe
SHARED = 0.1  # the size for a validation node is its largest product plus this share of the largest of all
ROUNDED = 1e-6  # the same for the constant feature, which is computed in double precision and then rounded
STORED = 2.0**-21  # four roundings of a number in single precision, relative to it
KEPT = 256  # validation nodes whose kernels with the open tree are cached for double precision
MOST = 4096  # with more slots in a tree, or labelled nodes, SINGLE does not hold, and double precision is used


def errors(products: FloatArray) -> FloatArray:
    """Bounds of the rounding errors of `a` in single precision, by entry; the constant feature is the last line."""
    nodes, constant = products[:-1], products[-1]
    sizes = np.maximum(nodes.max(axis=0), -nodes.min(axis=0))
    bounds: FloatArray = SINGLE * (sizes + SHARED * sizes.max()) + ROUNDED * constant
    return bounds.astype(np.float32)


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
        np.zeros(n_classes, dtype=np.bool_),
        np.zeros(1),
    )


@compiled
def add_row(scores: Scores, ends: IntArray, b: FloatArray, a: FloatArray) -> None:
    """Add `b a^T` to the scores."""
    for c in range(len(b)):
        exact, others, slope = scores.exact[c], scores.others[c], b[c]
        for i in range(len(a)):
            exact[i] += slope * a[i]
        _raise(scores.largest, exact)
        others[: ends[c]] = exact[: ends[c]]
        others[ends[c + 1] :] = exact[ends[c + 1] :]
        scores.mine[ends[c] : ends[c + 1]] = exact[ends[c] : ends[c + 1]]


@inlined
def _raise(largest: FloatArray, x: FloatArray) -> None:
    """Raise `largest[0]` to the largest absolute entry; positive floats are in the order of their bits."""
    top, bits = largest.view(np.int64), x.view(np.int64)
    most = top[0]
    for i in range(len(x)):
        now = bits[i] & 0x7FFFFFFFFFFFFFFF
        most = now if now > most else most
    top[0] = most


@inlined
def score(scoring: Scoring, scores: Scores, a: FloatArray, b: FloatArray, row: Row, detail: FloatArray) -> float:
    """Utility of `scores + b a^T`."""
    if scoring.code == ACCURACY and not len(detail):
        return _count(scoring, scores, a, b, row)
    for c in range(len(b)):
        before, after, slope = scores.exact[c], scores.whole[c], b[c]
        for i in range(len(a)):
            after[i] = before[i] + slope * a[i]
    return measure(scoring.code, scores.whole, scoring.ends, scoring.answers, scoring.temperature, scoring.tie, detail)


@inlined
def _count(scoring: Scoring, scores: Scores, a: FloatArray, b: FloatArray, row: Row) -> float:
    """Number of validation nodes whose true class leads; NaN if a score is not finite."""
    base, rate = doubt(scoring.tie, scores.largest[0], b, a)
    found = leads(
        scores.others, scores.mine, scores.best, scores.doubtful, scoring.ends, a, b, scoring.error, base, rate
    )
    return found + unclear(scoring, scores, a, b, row) if scores.doubtful.any() else float(found)


@inlined
def doubt(tie: float, largest: float, b: FloatArray, a: FloatArray) -> tuple[float, float]:
    """A lead is unclear up to the first number plus the second times the error of `a`; in the precision of `a`."""
    lowest = highest = b[0]
    for c in range(1, len(b)):
        lowest, highest = min(lowest, b[c]), max(highest, b[c])
    base, rate = 2 * tie, 0.0  # twice, so that no rounding of a lead or of the limit matters
    if a.itemsize == 4:
        base += STORED * largest
        rate = highest - lowest + STORED / SINGLE * max(abs(lowest), abs(highest))
    return a.dtype.type(base), a.dtype.type(rate)


@compiled
def unclear(scoring: Scoring, scores: Scores, a: FloatArray, b: FloatArray, row: Row) -> float:
    """Number of validation nodes with unclear leads whose true class leads, in double precision."""
    correct = 0
    for y in range(len(b)):
        if scores.doubtful[y]:
            for i in range(scoring.ends[y], scoring.ends[y + 1]):
                if not scores.best[i] > 0:
                    hit = _hit(scores.exact, b, _entry(row, i) if a.itemsize == 4 else a[i], y, i, scoring.tie)
                    if hit < 0:
                        return np.nan
                    correct += hit
    return float(correct)


@compiled
def leads(
    others: FloatArray,
    mine: FloatArray,
    best: FloatArray,
    doubtful: BoolArray,
    ends: IntArray,
    a: FloatArray,
    b: FloatArray,
    error: FloatArray,
    base: float,
    rate: float,
) -> int:
    """How many leads are above their limits `base + rate * error`.

    By how much sizes of leads exceed the limits is put into `best`, and classes with unclear leads into `doubtful`.
    Not inlined: its loops are vectorised only where the compiler sees few arrays.
    """
    last, correct = len(b) - 1, 0
    for k in range(0, len(b), 4):  # four classes at a time; the last one may be repeated
        _best(others, best, a, b, k, min(k + 1, last), min(k + 2, last), min(k + 3, last))
    for y in range(len(b)):
        here = slice(ends[y], ends[y + 1])
        now, true, slope, off, lead = a[here], mine[here], a.dtype.type(b[y]), error[here], best[here]
        ahead, clear = np.int32(0), np.int32(0)  # as wide as the numbers compared; otherwise the loop is slow
        for i in range(len(lead)):
            ours, limit = true[i] + slope * now[i] - lead[i], base + rate * off[i]
            lead[i] = abs(ours) - limit
            ahead = np.int32(ahead + np.int32(ours > limit))
            clear = np.int32(clear + np.int32(lead[i] > 0))
        correct += int(ahead)
        doubtful[y] = clear < len(lead)
    return correct


@loose
def _best(others: FloatArray, best: FloatArray, a: FloatArray, b: FloatArray, p: int, q: int, r: int, s: int) -> None:
    """Best scores of the wrong classes p, q, r, s, and of those before p."""
    f = a.dtype.type
    w, x, y, z = f(b[p]), f(b[q]), f(b[r]), f(b[s])
    first, second, third, fourth = others[p], others[q], others[r], others[s]
    if p:
        for i in range(len(best)):
            now = _most(a[i], w, x, y, z, first[i], second[i], third[i], fourth[i])
            best[i] = now if now > best[i] else best[i]
    else:
        for i in range(len(best)):
            best[i] = _most(a[i], w, x, y, z, first[i], second[i], third[i], fourth[i])


@loose
def _most(
    a: float, w: float, x: float, y: float, z: float, first: float, second: float, third: float, fourth: float
) -> float:
    k, m, n, o = first + w * a, second + x * a, third + y * a, fourth + z * a
    k, n = (k if k > m else m), (n if n > o else o)
    return k if k > n else n


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
