"""Scores of a block, counted in single precision with a bound on its error."""

import numpy as np
import pytest

from pcwinter.game.metrics import ACCURACY, ANSWERS, TIE, class_ends, measure
from pcwinter.heads.ridge import block_scores
from pcwinter.heads.ridge.block import Changes
from pcwinter.heads.ridge.block_scores import make_lines, note_line
from pcwinter.heads.ridge.course import Scoring


@pytest.mark.parametrize("size", [1e-40, 1e-3, 1.0, 30.0, 1e38])
def test_counts_in_single_precision_are_those_of_double(size: float) -> None:
    """Lines and weights of any size: the error of single precision stays within its bound, and beyond its range all is
    in doubt."""
    rng = np.random.default_rng(0)
    t, b, n_classes, v = 40, 20, 4, 300
    targets = np.sort(rng.integers(0, n_classes, v))
    scoring = Scoring(ACCURACY, class_ends(targets, n_classes), 1.0, 1e-12 * size, 0.0, np.zeros(len(targets)))
    lines = make_lines(t, b, n_classes, v, True)
    lines.exact[:] = np.repeat(rng.normal(size=(t + b, v // 2)), 2, axis=1)
    for k in range(t + b):
        note_line(lines, k)
        assert lines.largest[k] == np.abs(lines.exact[k]).max()
    block = Changes(
        size * rng.normal(size=(2 * b + n_classes, t + b)),
        size * rng.normal(size=2 * b + n_classes),
        rng.normal(size=(2 * b, n_classes)),
    )
    found = block_scores._count(scoring, lines, block, 2.0)
    combined = block.weights @ lines.exact + 2.0 * block.sums[:, None]
    scores = combined[2 * b :]
    for j in range(b):
        for k in (2 * j, 2 * j + 1):
            scores += np.outer(block.slopes[k], combined[k])
        assert found[j] == np.sum(scores.argmax(axis=0) == targets)
        if j == b - 1 and 1e-4 < size < 1e3:
            error = np.abs(lines.scores - scores).max()
            assert 0 < error < 0.1 * lines.trust[0]
            assert np.abs(scores).max() <= lines.trust[1]


def test_chains_of_near_ties_are_counted_as_measured() -> None:
    """The scores of a block differ by multiples of 0.6 ties, and its evaluations move them along."""
    for seed in range(20):
        rng, b, n_classes, n = np.random.default_rng(seed), 6, 2 + seed % 4, 200
        ends = class_ends(np.sort(rng.integers(0, n_classes, n)), n_classes)
        scoring = Scoring(ACCURACY, ends, 1.0, TIE, 0.0, np.zeros(ends[-1]))
        lines = make_lines(n_classes, b, n_classes, n, True)
        lines.exact[:n_classes] = 1 + 0.6 * TIE * rng.integers(0, 9, (n_classes, n))
        lines.exact[n_classes:] = rng.integers(-3, 4, (b, n))
        for k in range(n_classes + b):
            note_line(lines, k)
        weights = np.zeros((2 * b + n_classes, n_classes + b))
        weights[np.arange(b) * 2, n_classes + np.arange(b)] = 1.0
        weights[2 * b :, :n_classes] = np.eye(n_classes)
        slopes = 0.6 * TIE * rng.integers(-2, 3, (2 * b, n_classes)).astype(np.float64)
        found = block_scores._count(scoring, lines, Changes(weights, np.zeros(len(weights)), slopes), 0.0)
        scores = lines.exact[:n_classes].copy()
        for j in range(b):
            scores += np.outer(slopes[2 * j], lines.exact[n_classes + j])
            assert found[j] == measure(ACCURACY, scores, ends, ANSWERS, 1.0, TIE, np.empty(0))
