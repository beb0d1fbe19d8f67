"""Changes of a block, lines of its rows -> utility of every evaluation.

"""

from typing import NamedTuple

import numpy as np

from pcwinter._jit import compiled
from pcwinter._types import FloatArray, IntArray
from pcwinter.heads.ridge_block import Changes
from pcwinter.heads.ridge_trees import Course
from pcwinter.metrics import credit, measure


class Lines(NamedTuple):
    """Lines k(Z, .) - bias^2 of the rows at the beginning of a block, below them their changes in it, and scratch."""

    exact: FloatArray  # (t + size, v)
    combined: FloatArray  # (2 size + c, v)


@compiled
def make_lines(t: int, size: int, n_classes: int, n: int, single: bool) -> Lines:
    """Lines of rows that are not in use."""
    return Lines(np.zeros((t + size, n)), np.zeros((2 * size + n_classes, n)))


@compiled
def score_block(
    course: Course, players: IntArray, lines: Lines, block: Changes, constant: float, single: bool
) -> FloatArray:
    """Utility of every evaluation of a block; each is that of a player."""
    scoring, walked = course.scoring, course.walked
    b, n_classes = len(players), block.slopes.shape[1]
    combined = lines.combined[: len(block.weights)]
    np.dot(block.weights, lines.exact[: block.weights.shape[1]], combined)
    for k in range(len(combined)):
        combined[k] += constant * block.sums[k]
    scores = combined[2 * b :]
    utility = np.empty(b)
    for j in range(b):
        old, both = combined[2 * j], combined[2 * j + 1]
        for c in range(n_classes):
            line, x, y = scores[c], block.slopes[2 * j, c], block.slopes[2 * j + 1, c]
            for i in range(len(line)):
                line[i] += x * old[i] + y * both[i]
        fresh = walked.parts.fresh
        utility[j] = measure(scoring.code, scores, scoring.ends, scoring.temperature, scoring.tie, fresh)
        credit(walked.parts, players[j])
        walked.counts[0] += 1
    return utility
