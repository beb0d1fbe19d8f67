"""Correct predictions of a rank-one step, counted in single precision with a second look in double precision."""

from typing import Any

import numpy as np
import pytest

from pcwinter.game.metrics import ACCURACY, ANSWERS, TIE, class_ends, measure
from pcwinter.heads.ridge.counting import KEPT, add_row, make_scores, score
from pcwinter.heads.ridge.course import Row, Scoring

RNG = np.random.default_rng(0)
TARGETS = np.sort(RNG.integers(0, 4, 150))
SCORES = RNG.normal(size=(4, 150))
ENDS = class_ends(TARGETS, 4)


def count(a: np.ndarray, b: np.ndarray, error: float, scores: np.ndarray = SCORES, ends: np.ndarray = ENDS) -> float:
    """By the fast path; the row is one slot of weight 1 whose products are `a`, so that it can be looked up again."""
    n_classes, n = scores.shape
    single: Any = a.astype(np.float32) if error else a
    known = make_scores(ends, single)
    for c in range(n_classes):
        add_row(known, ends, np.eye(n_classes)[c], scores[c])
    products = np.stack([a, np.zeros(n)])
    row = Row(
        np.ones(1),
        np.ones(1),
        np.zeros(1, dtype=np.int64),
        products,
        np.empty(0),
        products,
        np.empty((KEPT, 1)),
        np.full(KEPT, -1),
    )
    scoring = Scoring(ACCURACY, ends, 1.0, TIE, 0.0, np.full(n, error, dtype=single.dtype))
    return float(score(scoring, known, single, b, row, np.empty(0)))


@pytest.mark.parametrize("error", [0.0, 1e-5, 1e3], ids=["double", "single", "all looked up again"])
@pytest.mark.parametrize("size", [0.0, 1e-3, 0.1, 1.0, 10.0])
def test_the_fused_count_equals_the_plain_one(size: float, error: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = size * rng.normal(size=150), rng.normal(size=4)
        expected = np.sum((SCORES + np.outer(b, a)).argmax(axis=0) == TARGETS)
        assert count(a, b, error) == expected


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5, 8])
def test_any_number_of_classes(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    targets = np.sort(rng.integers(0, n_classes, 40))
    scores, a, b = rng.normal(size=(n_classes, 40)), rng.normal(size=40), rng.normal(size=n_classes)
    expected = np.sum((scores + np.outer(b, a)).argmax(axis=0) == targets)
    for error in (0.0, 1e-5):
        assert count(a, b, error, scores, class_ends(targets, n_classes)) == expected


def test_nodes_are_looked_at_again_while_the_row_moves_and_others_take_their_places() -> None:
    rng, n = np.random.default_rng(1), 3 * KEPT + 7
    targets = np.sort(rng.integers(0, 3, n))
    nodes, products, finished = np.array([2, 0]), rng.normal(size=(4, n)), rng.normal(size=(2, n))
    kept, whose, b = np.empty((KEPT, 5)), np.full(KEPT, -1), rng.normal(size=3)
    known = make_scores(class_ends(targets, 3), np.empty(0, dtype=np.float32))
    for weight, white, scale in zip(rng.normal(size=(5, 2)), rng.normal(size=(5, 1)), rng.random(5), strict=True):
        row = Row(np.full(1, scale), weight, nodes, products, white, finished, kept, whose)
        scoring = Scoring(ACCURACY, class_ends(targets, 3), 1.0, TIE, 0.0, np.full(n, 1e9, dtype=np.float32))
        a = products[3] + scale * weight @ products[nodes] - white @ finished[:1]
        expected = np.sum(np.outer(b, a).argmax(axis=0) == targets)
        assert score(scoring, known, np.zeros(n, dtype=np.float32), b, row, np.empty(0)) == expected


@pytest.mark.parametrize("error", [0.0, 1e-5])
def test_ties_go_to_the_lowest_class_also_after_rounding(error: float) -> None:
    noise = np.array([[0.0, 1e-13, -1e-13, 0.5], [1e-13, 0.0, 0.0, 0.5 + 1e-12], [0.0, 0.0, 1e-13, 0.5]])
    ends = class_ends(np.array([0, 0, 1, 2]), 3)
    assert count(np.zeros(4), np.zeros(3), error, noise, ends) == 2
    assert count(np.full(4, 1e-12), np.array([-1.0, 1.0, 1.0]), error, noise, ends) == 2


@pytest.mark.parametrize("error", [0.0, 1e-5, 1e3], ids=["double", "single", "all looked up again"])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 1.0])
def test_chains_of_near_ties_are_counted_as_measured(size: float, error: float) -> None:
    """Scores that differ by multiples of 0.6 ties, of rows that are added to all classes alike or nearly so."""
    for seed in range(60):
        rng, n_classes, n = np.random.default_rng(seed), 2 + seed % 5, 300
        ends = class_ends(np.sort(rng.integers(0, n_classes, n)), n_classes)
        a = rng.normal(size=n) if seed % 2 else rng.integers(-3, 4, n) / 4
        b = size * (0.6 * TIE * rng.integers(0, 4, n_classes) + rng.integers(-4, 5))
        scores = rng.normal(size=n) + 0.6 * TIE * rng.integers(0, 9, (n_classes, n))
        whole = np.stack([scores[c] + b[c] * a for c in range(n_classes)])
        assert count(a, b, error, scores, ends) == measure(ACCURACY, whole, ends, ANSWERS, 1.0, TIE, np.empty(0))


@pytest.mark.parametrize("error", [0.0, 1e-5])
def test_what_is_not_a_number_stays_so(error: float) -> None:
    assert np.isnan(count(np.full(150, np.nan), np.ones(4), error))
    assert np.isnan(count(np.ones(150), np.full(4, np.nan), error))
