"""Utilities of scores, against plain NumPy."""

import numpy as np
import pytest

from pcwinter.game.metrics import METRICS, TIE, class_ends, find_metric, measure, predictions

RNG = np.random.default_rng(0)
TARGETS = np.sort(RNG.integers(0, 4, 50))
SCORES = RNG.normal(size=(4, 50))
ENDS = class_ends(TARGETS, 4)


def utility(name: str, scores: np.ndarray = SCORES, temperature: float = 1.0) -> float:
    return float(measure(METRICS[name].code, scores, ENDS, temperature, TIE, np.empty(0)))


def probabilities(temperature: float) -> np.ndarray:
    mass = np.exp(SCORES / temperature)
    return np.asarray((mass / mass.sum(axis=0))[TARGETS, np.arange(50)])


def test_accuracy_counts_nodes() -> None:
    assert utility("accuracy") == np.sum(SCORES.argmax(axis=0) == TARGETS)
    assert METRICS["accuracy"].unit(50) == 1 / 50


@pytest.mark.parametrize("temperature", [0.1, 1.0, 3.0])
def test_probability_and_log_likelihood(temperature: float) -> None:
    assert utility("probability", temperature=temperature) == pytest.approx(probabilities(temperature).mean())
    assert utility("log-likelihood", temperature=temperature) == pytest.approx(
        np.log(probabilities(temperature)).mean()
    )


def test_log_likelihood_of_huge_scores_is_finite() -> None:
    assert np.isfinite(utility("log-likelihood", SCORES * 1e5))


def test_macro_f1() -> None:
    named = SCORES.argmax(axis=0)
    per_class = [
        2 * np.sum((named == c) & (c == TARGETS)) / (np.sum(named == c) + np.sum(c == TARGETS)) for c in range(4)
    ]
    assert utility("macro-f1") == pytest.approx(np.mean(per_class))


def test_macro_f1_leaves_out_classes_that_no_validation_node_has() -> None:
    targets = np.array([0, 0, 2])
    scores = np.eye(3)[:, [0, 1, 2]]
    assert measure(METRICS["macro-f1"].code, scores, class_ends(targets, 3), 1.0, TIE, np.empty(0)) == pytest.approx(
        (2 / 3 + 1) / 2
    )


@pytest.mark.parametrize("name", ["accuracy", "probability", "log-likelihood"])
def test_the_parts_of_the_nodes_add_up(name: str) -> None:
    parts = np.empty(50)
    total = measure(METRICS[name].code, SCORES, ENDS, 1.0, TIE, parts)
    assert parts.sum() * (1 if name == "accuracy" else 1 / 50) == pytest.approx(total)


def test_ties_go_to_the_lowest_class_also_after_rounding() -> None:
    noise = np.array([[0.0, 1e-13, -1e-13, 0.5], [1e-13, 0.0, 0.0, 0.5 + 1e-12], [0.0, 0.0, 1e-13, 0.5]])
    assert predictions(noise).tolist() == [0, 0, 0, 0]
    ends = class_ends(np.array([0, 0, 1, 2]), 3)
    assert measure(0, noise, ends, 1.0, TIE, np.empty(0)) == 2


def test_the_lowest_class_within_a_tie_of_the_largest_score_is_predicted() -> None:
    """In a chain u, 2u, 3u with u < tie < 2u, the first class is not tied with the last one, but the second is."""
    u = 0.6 * TIE
    chains = 1 + u * np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3], [1, 3, 2], [2, 3, 1], [3, 1, 2]]).T
    assert predictions(chains).tolist() == [1, 0, 0, 1, 0, 0]
    for seed in range(20):
        scores = 1 + u * np.random.default_rng(seed).integers(0, 9, (5, 200)).astype(np.float64)
        tie = TIE * scores.max()
        assert predictions(scores).tolist() == (scores + tie >= scores.max(axis=0)).argmax(axis=0).tolist()


@pytest.mark.parametrize("name", METRICS)
def test_what_is_not_a_number_stays_so(name: str) -> None:
    for bad in (np.nan, np.inf):
        scores = SCORES.copy()
        scores[2, 7] = bad
        assert np.isnan(utility(name, scores))


def test_empty_coalitions() -> None:
    assert [METRICS[name].empty(7) for name in ("accuracy", "macro-f1", "probability")] == [0, 0, 0]
    assert METRICS["log-likelihood"].empty(7) == pytest.approx(-np.log(7))


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValueError, match=r"metric is 'auc'.* accuracy, macro-f1"):
        find_metric("auc")
