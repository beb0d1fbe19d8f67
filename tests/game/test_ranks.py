"""Ranking metrics against scikit-learn, also with ties and near-ties."""

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from pcwinter.game.metrics import TIE, class_ends
from pcwinter.game.ranks import CROWDED, ascending, ranked

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def ranking(scores: Floats, c: int) -> Floats:
    """What nodes are ranked by when class c is positive; whole numbers stay whole, so ties stay exact."""
    return np.asarray(scores[1] - scores[0] if len(scores) == 2 else len(scores) * scores[c] - scores.sum(axis=0))


def expected(scores: Floats, targets: Ints, *, area: bool) -> float:
    """By scikit-learn, class by class."""
    score = roc_auc_score if area else average_precision_score
    positive = [1] if len(scores) == 2 else np.unique(targets).tolist()
    return float(np.mean([score(targets == c, ranking(scores, c)) for c in positive]))


@pytest.mark.parametrize("area", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("levels", [0, 3, 40])
def test_random_scores_and_ties(n_classes: int, area: bool, levels: int) -> None:
    """With `levels`, scores are small whole numbers, so that many nodes are tied exactly."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 200))
        targets = np.sort(np.r_[0, 1, rng.integers(0, n_classes, n)])
        scores = rng.normal(size=(n_classes, len(targets)))
        if levels:
            scores = np.round(scores * levels / 3)
        found = ranked(scores, class_ends(targets, n_classes), TIE, area)
        assert found == pytest.approx(expected(scores, targets, area=area), abs=1e-12)


@pytest.mark.parametrize("area", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_rounding_does_not_separate_ties(area: bool, n_classes: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        targets = np.sort(np.r_[np.arange(n_classes), rng.integers(0, n_classes, 60)])
        ends = class_ends(targets, n_classes)
        scores = rng.integers(0, 4, (n_classes, len(targets))).astype(np.float64)
        exact = ranked(scores, ends, TIE, area)
        for _ in range(3):
            noise = rng.uniform(-1e-12, 1e-12, scores.shape)
            assert ranked(scores + noise, ends, TIE, area) == pytest.approx(exact, abs=1e-15)


def test_near_ties_pass_on_from_neighbour_to_neighbour() -> None:
    """Gaps of 0.6 ties: all four nodes are tied, although the first and the last are 1.8 ties apart."""
    chain = np.array([np.zeros(4), 0.6 * TIE * np.arange(4)])
    ends = np.array([0, 2, 4])
    assert ranked(chain, ends, TIE, True) == 0.5
    assert ranked(chain, ends, TIE, False) == 0.5
    assert ranked(3 * chain, ends, TIE, True) == 1.0


@pytest.mark.parametrize("area", [True, False])
def test_a_constant_score_is_worth_nothing(area: bool) -> None:
    ends = np.array([0, 3, 10])
    assert ranked(np.ones((2, 10)), ends, TIE, area) == (0.5 if area else 0.7)
    assert ranked(np.zeros((2, 10)), ends, 0.0, area) == (0.5 if area else 0.7)


@pytest.mark.parametrize("area", [True, False])
def test_classes_without_nodes_do_not_count(area: bool) -> None:
    rng = np.random.default_rng(0)
    targets = np.sort(rng.choice([0, 2], 30))
    scores = rng.normal(size=(3, 30))
    assert ranked(scores, class_ends(targets, 3), TIE, area) == pytest.approx(expected(scores, targets, area=area))


def test_shifting_all_scores_of_a_node_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    targets, scores = np.sort(rng.integers(0, 3, 40)), rng.normal(size=(3, 40))
    ends, shift = class_ends(targets, 3), rng.normal(size=40)
    for area in (True, False):
        assert ranked(scores, ends, TIE, area) == pytest.approx(ranked(scores + shift, ends, TIE, area))


def test_sorting() -> None:
    rng = np.random.default_rng(0)
    cases = [rng.normal(size=n) for n in (1, 2, 3, 500)]
    cases += [np.zeros(5), np.r_[rng.normal(size=300), 1e9], np.r_[0.0, 5e-324], np.full(CROWDED + 2, 1.0)]
    cases += [rng.integers(0, 3, 400).astype(np.float64), np.sort(cases[3])[::-1].copy(), np.r_[-1e308, 0.5, 1e308]]
    for x in cases:
        place = ascending(x)
        assert np.sort(place).tolist() == list(range(len(x)))
        assert (x[place] == np.sort(x)).all()
