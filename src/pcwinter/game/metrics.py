"""Scores of the validation nodes -> utility. Larger is better.

Validation nodes are sorted by class and scores are stored class-major, (classes, nodes), so that every loop below
reads adjacent memory. The predicted class is the lowest class whose score is within `tie` of the largest; otherwise
rounding would decide exact ties. A score that is not finite makes the utility NaN, which stops the run.
"""

from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray, UnitArray
from pcwinter._util.checks import one_of
from pcwinter._util.compiled import compiled
from pcwinter.game.protocol import Order

TIE = 1e-9  # relative to the largest score
ACCURACY, MACRO_F1, PROBABILITY, LOG_LIKELIHOOD = range(4)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name, and how the numbers from compiled code become utilities."""

    name: str
    code: int

    def unit(self, n_nodes: int) -> float:
        """Utility of one counted unit. Accuracy is counted in whole validation nodes, so it is exact."""
        return 1 / n_nodes if self.code == ACCURACY else 1.0

    def empty(self, n_classes: int) -> float:
        """Utility of the empty coalition."""
        return -float(np.log(n_classes)) if self.code == LOG_LIKELIHOOD else 0.0

    @property
    def additive(self) -> bool:
        """Whether the utility is a mean over validation nodes, which the bootstrap needs."""
        return self.code != MACRO_F1

    @property
    def tempered(self) -> bool:
        """Whether the metric uses probabilities, so that the ridge head needs a temperature."""
        return self.code in (PROBABILITY, LOG_LIKELIHOOD)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", ACCURACY),
        Metric("macro-f1", MACRO_F1),
        Metric("probability", PROBABILITY),
        Metric("log-likelihood", LOG_LIKELIHOOD),
    )
}


def find_metric(name: str) -> Metric:
    """The metric called `name`."""
    return METRICS[one_of("metric", name, METRICS)]


def whole(metric: Metric, utility: FloatArray, order: Order) -> UnitArray:
    """Utilities of a walk in units, as integers for accuracy, after checking that all are finite."""
    if not np.isfinite(utility).all():
        step = int(np.flatnonzero(~np.isfinite(utility))[0])
        player = int(order.players[order.steps()[step]])
        raise FloatingPointError(f"the utility is not a finite number when player {player} joins")
    return utility.astype(np.int64) if metric.code == ACCURACY else utility


def class_ends(targets: IntArray, n_classes: int) -> IntArray:
    """(c + 1,) where each class begins among the validation nodes, which are sorted by class."""
    return np.searchsorted(targets, np.arange(n_classes + 1))


@compiled
def measure(code: int, scores: FloatArray, ends: IntArray, temperature: float, tie: float, detail: FloatArray) -> float:
    """Utility of class-major scores; accuracy is a count of nodes.

    `detail`, (v,) or empty, receives the share of each validation node (except for macro-F1).
    """
    n_classes, n = scores.shape
    if not np.isfinite(scores.sum()):
        return np.nan
    if code == MACRO_F1:
        return _macro_f1(scores, ends, tie)
    total = 0.0
    for y in range(n_classes):
        for i in range(ends[y], ends[y + 1]):
            if code == ACCURACY:
                part = 1.0 if predict(scores, i, tie) == y else 0.0
            else:
                top = scores[0, i]
                for c in range(1, n_classes):
                    top = max(top, scores[c, i])
                mass = 0.0
                for c in range(n_classes):
                    mass += np.exp((scores[c, i] - top) / temperature)
                log_p = (scores[y, i] - top) / temperature - np.log(mass)
                part = log_p if code == LOG_LIKELIHOOD else np.exp(log_p)
            total += part
            if len(detail):
                detail[i] = part
    return total if code == ACCURACY else total / n


@compiled
def predict(scores: FloatArray, i: int, tie: float) -> int:
    """The lowest class whose score is within `tie` of the largest score."""
    top = scores[0, i]
    for c in range(1, scores.shape[0]):
        top = max(top, scores[c, i])
    best = 0
    while scores[best, i] + tie < top:
        best += 1
    return best


@compiled
def predictions(scores: FloatArray) -> IntArray:
    """(v,) predicted classes of class-major scores."""
    tie = TIE * np.abs(scores).max()
    classes = np.empty(scores.shape[1], dtype=np.int64)
    for i in range(len(classes)):
        classes[i] = predict(scores, i, tie)
    return classes


@compiled
def _macro_f1(scores: FloatArray, ends: IntArray, tie: float) -> float:
    """Mean of 2 tp / (predicted + true) over the classes that occur among the validation nodes.

    scikit-learn's `average="macro"` also counts classes that are only predicted, with 0. They would make the
    denominator depend on the coalition, so they are left out here; pass it `labels=np.unique(y_true)` to compare.
    """
    n_classes = scores.shape[0]
    hits = np.zeros(n_classes)
    predicted = np.zeros(n_classes)
    for y in range(n_classes):
        for i in range(ends[y], ends[y + 1]):
            c = predict(scores, i, tie)
            predicted[c] += 1
            if c == y:
                hits[y] += 1
    total, classes = 0.0, 0
    for y in range(n_classes):
        true = ends[y + 1] - ends[y]
        if true:
            classes += 1
            total += 2 * hits[y] / (predicted[y] + true)
    return total / classes
