"""Scores of the validation nodes -> utility. Larger is better.

With numeric targets, the scores are predictions of the targets, both minus the mean of the training targets. With
classes, validation nodes are sorted by class and scores are stored class-major, (classes, nodes), so that every loop
below reads adjacent memory. The predicted class is the lowest class whose score is within `tie` of the largest;
otherwise rounding would decide exact ties. A score that is not finite makes the utility NaN, which stops the run.
"""

from dataclasses import dataclass, replace

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray, UnitArray
from pcwinter._util.checks import did_you_mean, one_of
from pcwinter._util.compiled import compiled
from pcwinter.game.protocol import Order
from pcwinter.game.ranks import ranked
from pcwinter.graph.graph import Graph

TIE = 1e-9  # relative to the largest score
ACCURACY, MACRO_F1, PROBABILITY, LOG_LIKELIHOOD, BALANCED, ROC_AUC, AVERAGE_PRECISION, R2, NEG_MSE, F1 = range(10)
LOPSIDED = 0.8  # share of the largest class from which accuracy says little
OF_CLASS = "f1:"  # begins the name of a metric that ends with the name of a class
ANSWERS = np.empty((0, 0))  # of a graph with classes


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its name, and how the numbers from compiled code become utilities."""

    name: str
    code: int  # of `f1:CLASS`: F1 plus the number of the class, once the graph is known
    constant: str = "always predicting the most frequent class"  # the best constant prediction, in words

    def unit(self, n_nodes: int) -> float:
        """Utility of one counted unit. Accuracy is counted in whole validation nodes, so it is exact."""
        return 1 / n_nodes if self.code == ACCURACY else 1.0

    def empty(self, ends: IntArray, answers: FloatArray = ANSWERS) -> tuple[float, FloatArray]:
        """Utility of the empty coalition, in units, and (v,) what every validation node adds to it.

        Rankings and numeric targets: that of predicting the same for all nodes. `ends` and `answers` are as in
        `measure`.
        """
        n_classes, n = len(ends) - 1, int(ends[-1])
        if self.code in (ROC_AUC, AVERAGE_PRECISION, R2, NEG_MSE):
            parts = np.zeros(n if self.additive else 0)
            return float(measure(self.code, np.zeros((n_classes, n)), ends, answers, 1.0, TIE, parts)), parts
        nothing = -float(np.log(n_classes)) if self.code == LOG_LIKELIHOOD else 0.0
        return nothing, np.full(n, nothing)

    @property
    def additive(self) -> bool:
        """Whether the utility is a mean over validation nodes, which the bootstrap needs."""
        return self.code in (ACCURACY, PROBABILITY, LOG_LIKELIHOOD, NEG_MSE)

    @property
    def regression(self) -> bool:
        """Whether the metric is one of numeric targets."""
        return self.code in (R2, NEG_MSE)

    @property
    def tempered(self) -> bool:
        """Whether the metric uses probabilities, so that the ridge head needs a temperature."""
        return self.code in (PROBABILITY, LOG_LIKELIHOOD)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", ACCURACY),
        Metric("balanced-accuracy", BALANCED, "always predicting one class"),
        Metric("macro-f1", MACRO_F1),
        Metric("roc-auc", ROC_AUC, "giving all nodes the same scores"),
        Metric("average-precision", AVERAGE_PRECISION, "giving all nodes the same scores"),
        Metric("probability", PROBABILITY),
        Metric("log-likelihood", LOG_LIKELIHOOD, "predicting the frequencies of the classes"),
        Metric("r2", R2, "predicting the mean of the validation nodes"),
        Metric("neg-mse", NEG_MSE, "predicting the mean of the validation nodes"),
    )
}  # and f1:CLASS


def find_metric(name: object) -> Metric:
    """The metric called `name`, whatever the graph; see `metric_for`."""
    if isinstance(name, str) and name.startswith(OF_CLASS) and name != OF_CLASS:
        return Metric(name, F1, f"always predicting {name.removeprefix(OF_CLASS)}")
    return METRICS[one_of("metric", name, [*METRICS, f"{OF_CLASS}CLASS"])]


def usual_metric(graph: object) -> str:
    """The metric of a graph unless another one is chosen: "accuracy", or "r2" if the targets are numbers."""
    return "r2" if isinstance(graph, Graph) and graph.regression else "accuracy"


def metric_for(name: str | None, graph: Graph, on: str = "val") -> Metric:
    """The metric called `name`, or the usual one for None, after checking that it fits the nodes `on`, "val" or "test".

    The metric of one class knows the number of the class.
    """
    metric = find_metric(usual_metric(graph) if name is None else name)
    nodes = graph.val if on == "val" else graph.test
    if metric.regression != graph.regression:
        came, known = ("numeric targets", "r2 or neg-mse") if graph.regression else ("classes", "accuracy or roc-auc")
        raise ValueError(f"metric is {metric.name!r}, but the graph has {came}: choose a metric such as {known}")
    if metric.code == R2 and not (graph.targets[nodes] != training_mean(graph)).any(axis=0).all():
        raise ValueError(
            f"metric is 'r2', but the targets of {on} are all equal to the mean of the training nodes: add nodes with "
            f"other targets to {on}, or choose neg-mse"
        )
    found = np.unique(graph.labels[nodes])
    if metric.code in (ROC_AUC, AVERAGE_PRECISION) and len(found) == 1:
        raise ValueError(
            f"metric is {metric.name!r}, which compares nodes of different classes, but all nodes of {on} are of class "
            f"{graph.classes[found[0]]!r}: add nodes of other classes to {on}, or choose another metric"
        )
    if metric.code != F1:
        return metric
    called = metric.name.removeprefix(OF_CLASS)
    if called not in graph.classes:
        known = ", ".join(graph.classes)
        hint = did_you_mean(called, graph.classes)
        raise ValueError(f"metric is {metric.name!r}, but the classes of the graph are {known}: name one of them{hint}")
    place = graph.classes.index(called)
    if place not in found:
        raise ValueError(
            f"metric is {metric.name!r}, but {on} holds no node of class {called!r}: add some, or name another class"
        )
    return replace(metric, code=F1 + place)


def training_mean(graph: Graph) -> FloatArray:
    """(k,) mean of the training nodes' numeric targets: a constant of the game, and what nothing predicts."""
    return np.asarray(graph.targets[graph.train].mean(axis=0))


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
def measure(
    code: int,
    scores: FloatArray,
    ends: IntArray,
    answers: FloatArray,
    temperature: float,
    tie: float,
    detail: FloatArray,
) -> float:
    """Utility of class-major scores; accuracy is a count of nodes.

    `ends`, (c + 1,), says where each class begins. `answers`, (c, v), are numeric targets minus the training mean,
    empty if there are classes. `detail`, (v,) or empty, receives the share of each validation node, for metrics that
    are means over them.
    """
    n_classes, n = scores.shape
    if not np.isfinite(scores.sum()):
        return np.nan
    if code in (ROC_AUC, AVERAGE_PRECISION):
        return ranked(scores, ends, tie, code == ROC_AUC)
    if code in (R2, NEG_MSE):
        return _squares(scores, answers, code == R2, detail)
    if code in (MACRO_F1, BALANCED) or code >= F1:
        return _by_class(code, scores, ends, tie)
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
def _squares(scores: FloatArray, answers: FloatArray, relative: bool, detail: FloatArray) -> float:
    """Minus the mean squared error or, if `relative`, 1 minus the error relative to that of predicting 0, the mean.

    Means over the columns of the targets.
    """
    k, n = scores.shape
    if len(detail):
        detail[:] = 0.0
    total = 0.0
    for c in range(k):
        wrong = spread = 0.0
        for i in range(n):
            square = (answers[c, i] - scores[c, i]) ** 2
            wrong += square
            spread += answers[c, i] ** 2
            if len(detail):
                detail[i] -= square / k
        total += 1 - wrong / spread if relative else -wrong / n
    return float(total / k)


@compiled
def _by_class(code: int, scores: FloatArray, ends: IntArray, tie: float) -> float:
    """Balanced accuracy, the F1 score of one class, or macro-F1.

    Balanced accuracy is the mean of hits / true, and macro-F1 the mean of 2 hits / (predicted + true), over the classes
    that occur among the validation nodes. scikit-learn's `average="macro"` of F1 also counts classes that are only
    predicted, with 0. They would make the denominator depend on the coalition, so they are left out here; pass it
    `labels=np.unique(y_true)` to compare.
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
    if code >= F1:
        y = code - F1
        return float(2 * hits[y] / (predicted[y] + ends[y + 1] - ends[y]))
    total, classes = 0.0, 0
    for y in range(n_classes):
        true = ends[y + 1] - ends[y]
        if true:
            classes += 1
            total += hits[y] / true if code == BALANCED else 2 * hits[y] / (predicted[y] + true)
    return total / classes
