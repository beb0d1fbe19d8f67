"""Utilities of scores, against plain NumPy and scikit-learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, mean_squared_error, r2_score

from pcwinter.game import metrics
from pcwinter.game.metrics import (
    METRICS,
    TIE,
    class_ends,
    find_metric,
    metric_for,
    predictions,
    training_mean,
    usual_metric,
)
from pcwinter.graph.graph import Graph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RNG = np.random.default_rng(0)
TARGETS = np.sort(RNG.integers(0, 4, 50))
SCORES = RNG.normal(size=(4, 50))
ENDS = class_ends(TARGETS, 4)
OF_CLASSES = [name for name, metric in METRICS.items() if not metric.regression]
OF_NUMBERS = [name for name, metric in METRICS.items() if metric.regression]


def measure(code: int, scores: Floats, ends: Ints, temperature: float, tie: float, parts: Floats) -> float:
    return float(metrics.measure(code, scores, ends, metrics.ANSWERS, temperature, tie, parts))


def utility(name: str, scores: Floats = SCORES, temperature: float = 1.0) -> float:
    return measure(find_metric(name).code, scores, ENDS, temperature, TIE, np.empty(0))


def probabilities(temperature: float) -> Floats:
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
    """Class 1 is predicted once; scikit-learn's default would count it with 0: (2 / 3 + 0 + 1) / 3."""
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


@pytest.mark.parametrize("name", [*OF_CLASSES, "f1:x"])
def test_what_is_not_a_number_stays_so(name: str) -> None:
    for bad in (np.nan, np.inf):
        scores = SCORES.copy()
        scores[2, 7] = bad
        assert np.isnan(utility(name, scores))


def test_empty_coalitions() -> None:
    counts = np.bincount(TARGETS, minlength=4)
    found = {name: find_metric(name).empty(ENDS)[0] for name in (*OF_CLASSES, "f1:x")}
    zero = ("accuracy", "macro-f1", "probability", "balanced-accuracy", "f1:x")
    expected = dict.fromkeys(zero, 0.0) | {"log-likelihood": -np.log(4), "roc-auc": 0.5}
    assert found == pytest.approx(expected | {"average-precision": counts.mean() / 50})
    for name in OF_CLASSES:
        if METRICS[name].additive:
            assert METRICS[name].empty(ENDS)[1] == pytest.approx(np.full(50, found[name]))


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"metric is 'auc'.* accuracy, .*macro-f1, .*or f1:CLASS: did you mean roc-auc"
    ):
        find_metric("auc")
    for wrong in ("f1:", 3, None):
        with pytest.raises(ValueError, match=f"metric is {wrong!r}, expected accuracy"):
            find_metric(wrong)


def test_balanced_accuracy_and_the_f1_score_of_a_class_equal_scikit_learn() -> None:
    names = predictions(SCORES)
    assert utility("balanced-accuracy") == pytest.approx(balanced_accuracy_score(TARGETS, names), abs=1e-15)
    each = f1_score(TARGETS, names, average=None)
    for c in range(4):
        found = measure(find_metric("f1:x").code + c, SCORES, ENDS, 1.0, TIE, np.empty(0))
        assert found == pytest.approx(each[c], abs=1e-15)
    assert utility("macro-f1") == pytest.approx(np.mean(each), abs=1e-15)


def test_classes_without_validation_nodes_do_not_count() -> None:
    """Class 1 is missing; half of class 0 and all of class 2 are right."""
    targets, scores = np.array([0, 0, 2]), np.eye(3)[:, [0, 1, 2]]
    ends = class_ends(targets, 3)
    assert measure(METRICS["balanced-accuracy"].code, scores, ends, 1.0, TIE, np.empty(0)) == 0.75
    assert measure(metrics.F1 + 0, scores, ends, 1.0, TIE, np.empty(0)) == pytest.approx(2 / 3)
    assert measure(metrics.F1 + 2, np.zeros((3, 3)), ends, 1.0, TIE, np.empty(0)) == 0  # never predicted


@pytest.mark.parametrize("columns", [1, 3])
def test_numeric_targets_against_scikit_learn(columns: int) -> None:
    rng = np.random.default_rng(columns)
    answers, scores = rng.normal(1, 2, (columns, 40)), rng.normal(size=(columns, 40))
    ends, nothing = class_ends(np.zeros(40, dtype=np.int64), columns), np.empty(0)
    code = METRICS["neg-mse"].code
    expected = -mean_squared_error(answers.T, scores.T)
    assert metrics.measure(code, scores, ends, answers, 1.0, TIE, nothing) == pytest.approx(expected)
    parts = np.empty(40)
    metrics.measure(code, scores, ends, answers, 1.0, TIE, parts)
    assert parts.mean() == pytest.approx(expected)
    # with an equal number of answers of opposite sign, scikit-learn's mean of the answers is 0, as in training
    answers, scores = np.hstack([answers, -answers]), np.hstack([scores, scores])
    ends = class_ends(np.zeros(80, dtype=np.int64), columns)
    found = metrics.measure(METRICS["r2"].code, scores, ends, answers, 1.0, TIE, nothing)
    assert found == pytest.approx(r2_score(answers.T, scores.T))
    for name in OF_NUMBERS:
        assert np.isnan(metrics.measure(METRICS[name].code, scores * np.nan, ends, answers, 1.0, TIE, nothing))
    assert METRICS["r2"].empty(ends, answers)[0] == 0
    empty, parts = METRICS["neg-mse"].empty(ends, answers)
    assert empty == pytest.approx(-np.mean(answers**2)) == pytest.approx(parts.mean())


def numbers(targets: Any = (1.0, 3.0, 5.0, np.nan, 2.0), val: Sequence[int] = (2, 4)) -> Graph:
    return Graph([(0, 3), (1, 3)], np.ones((5, 1)), targets=targets, train=[0, 1], val=val)


def classes(val: Sequence[int] = (2, 3)) -> Graph:
    return Graph([(0, 4)], np.ones((5, 1)), [0, 1, 0, 1, -1], train=[0, 1], val=val, classes=["ham", "spam"])


def test_a_metric_fits_its_graph() -> None:
    assert usual_metric(classes()) == metric_for(None, classes()).name == "accuracy"
    assert usual_metric(numbers()) == metric_for(None, numbers()).name == "r2"
    assert metric_for("f1:spam", classes()).code == metrics.F1 + 1
    assert training_mean(numbers()) == [2.0]
    for graph, name, sentence in (
        (numbers(), "roc-auc", "metric is 'roc-auc', but the graph has numeric targets: choose .* r2 or neg-mse"),
        (classes(), "r2", "metric is 'r2', but the graph has classes: choose .* accuracy or roc-auc"),
        (classes(), "f1:spma", "metric is 'f1:spma', but the classes .* are ham, spam: name one of them: did you mean"),
        (classes([2]), "f1:spam", "metric is 'f1:spam', but val holds no node of class 'spam': add some"),
        (classes([2]), "roc-auc", "all nodes of val are of class 'ham': add nodes of other classes"),
        (classes([3]), "average-precision", "all nodes of val are of class 'spam'"),
        (numbers(val=[4]), "r2", "targets of val are all equal to the mean of the training nodes"),
    ):
        with pytest.raises(ValueError, match=sentence):
            metric_for(name, graph)
