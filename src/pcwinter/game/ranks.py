"""Scores of the validation nodes -> ROC-AUC and average precision, which depend on the sequence of the scores alone.

For two classes, the second one is positive, and the nodes are ranked by the difference of their scores. For more
classes, each class is positive in turn. The nodes are ranked by its score minus the mean of all scores, and the mean
over the classes that occur among the validation nodes is taken.

Neighbours in the sorted sequence whose gap is at most `tie` are tied; ties pass on from neighbour to neighbour. So
rounding cannot separate equal scores. A tied pair counts half in ROC-AUC. In average precision, tied nodes are
retrieved together, as in scikit-learn.
"""

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.compiled import compiled

CROWDED = 64  # entries in a bucket from which sorting buckets one by one would take too long


@compiled
def ranked(scores: FloatArray, ends: IntArray, tie: float, area: bool) -> float:
    """ROC-AUC if `area`, otherwise average precision, of class-major scores of nodes sorted by class.

    Some node must be positive, and some negative. Cost: one sort per positive class, on average linear in the nodes.
    """
    n_classes = len(scores)
    if n_classes == 2:
        return _of_one(scores[1] - scores[0], ends[1], ends[2], tie, area)
    total, classes = 0.0, 0
    mean = scores.sum(axis=0) / n_classes
    for c in range(n_classes):
        if ends[c + 1] > ends[c]:
            classes += 1
            total += _of_one(scores[c] - mean, ends[c], ends[c + 1], tie, area)
    return total / classes


@compiled
def _of_one(x: FloatArray, begin: int, end: int, tie: float, area: bool) -> float:
    """The metric of the scores `x`; the nodes `begin` to `end` - 1 are positive."""
    n, positives = len(x), end - begin
    place = ascending(x)
    below = twice = 0  # negatives so far, and twice the pairs in which the positive node is ahead
    found = seen = 0  # positives and nodes so far, from the highest score down
    precision = 0.0
    first = 0
    while first < n:
        last, hits = first, 0
        while True:
            at = place[last] if area else place[n - 1 - last]
            hits += begin <= at < end
            last += 1
            if last == n:
                break
            gap = x[place[last]] - x[at] if area else x[at] - x[place[n - 1 - last]]
            if gap > tie:
                break
        others = last - first - hits
        twice += hits * (2 * below + others)
        below += others
        found += hits
        seen += last - first
        precision += hits * (found / seen)
        first = last
    return twice / (2 * positives * (n - positives)) if area else precision / positives


@compiled
def ascending(x: FloatArray) -> IntArray:
    """(n,) places of the entries in ascending order.

    Entries go to n buckets of equal width, and are then sorted by insertion, so the cost is linear unless a bucket is
    crowded. Then they are sorted by merging.
    """
    n = len(x)
    low, high = x.min(), x.max()
    rate = (n - 1) / (high - low) if high > low else 0.0
    if not 0 < rate < np.inf:
        return np.argsort(x, kind="mergesort")
    bucket, begin = np.empty(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        bucket[i] = min(int((x[i] - low) * rate), n - 1)
        begin[bucket[i] + 1] += 1
    if begin.max() > CROWDED:
        return np.argsort(x, kind="mergesort")
    begin = np.cumsum(begin)
    place, key = np.empty(n, dtype=np.int64), np.empty(n)
    for i in range(n):
        at = begin[bucket[i]]
        place[at], key[at] = i, x[i]
        begin[bucket[i]] += 1
    for i in range(1, n):
        one, mine, at = key[i], place[i], i
        while at > 0 and key[at - 1] > one:
            key[at], place[at] = key[at - 1], place[at - 1]
            at -= 1
        key[at], place[at] = one, mine
    return place
