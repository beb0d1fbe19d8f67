"""Scores of the validation nodes -> utility: larger is better.

Validation nodes are sorted by class and scores stored class-major, (classes, nodes), so that
every loop below runs over neighbouring numbers. Two scores closer than `tie` are a tie, and ties go
to the lowest class: without that, rounding would decide where a score is exactly tied. A score that is
not finite makes the utility not a number, which stops the run.
"""

from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray, UnitArray
from pcwinter._util.compiled import compiled
from pcwinter.game.protocol import Order

TIE = 1e-9  # relative to the size of the scores
ACCURACY, MACRO_F1, PROBABILITY, LOG_LIKELIHOOD = range(4)


@dataclass(frozen=True, slots=True)
class Metric:
    """A name, and how the numbers of the compiled code become utilities."""

    name: str
    code: int

    def unit(self, n_nodes: int) -> float:
        """What one counted unit is worth: accuracy is counted in validation nodes, exactly."""
        return 1 / n_nodes if self.code == ACCURACY else 1.0

    def empty(self, n_classes: int) -> float:
        """Utility of the empty coalition."""
        return -float(np.log(n_classes)) if self.code == LOG_LIKELIHOOD else 0.0

    @property
    def additive(self) -> bool:
        """Whether the utility is a mean over validation nodes, as the bootstrap needs it."""
        return self.code != MACRO_F1

    @property
    def tempered(self) -> bool:
        """Whether scores become probabilities, so that a ridge head needs a temperature."""
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
    """The metric of that name."""
    if not isinstance(name, str) or name not in METRICS:
        raise ValueError(f"metric is {name!r}, expected one of {', '.join(METRICS)}")
    return METRICS[name]


def whole(metric: Metric, utility: FloatArray, order: Order) -> UnitArray:
    """Utilities of a walk in units: whole numbers for accuracy, after checking that all are numbers."""
    if not np.isfinite(utility).all():
        step = int(np.flatnonzero(~np.isfinite(utility))[0])
        player = int(order.players[order.steps()[step]])
        raise FloatingPointError(f"the utility is not a finite number when player {player} joins")
    return utility.astype(np.int64) if metric.code == ACCURACY else utility


def class_ends(targets: IntArray, n_classes: int) -> IntArray:
    """(c + 1,) where each class begins among validation nodes that are sorted by class."""
    return np.searchsorted(targets, np.arange(n_classes + 1))


@compiled
def measure(code: int, scores: FloatArray, ends: IntArray, temperature: float, tie: float, detail: FloatArray) -> float:
    """Utility of class-major scores; accuracy as a count of nodes.

    `detail`, (v,) or empty, receives the part of each validation node (not for macro-F1).
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
    """The class with the largest score, the lowest one among ties."""
    best = 0
    for c in range(1, scores.shape[0]):
        if scores[c, i] > scores[best, i] + tie:
            best = c
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
    """Mean over the classes that occur among the validation nodes of 2 tp / (predicted + true)."""
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
