"""Metrics by scikit-learn, what a head learns, and graphs with numeric targets: shared by the tests of all games."""

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    mean_squared_error,
    roc_auc_score,
)

from oracles import Floats, log_likelihood
from pcwinter.game.metrics import METRICS
from pcwinter.graph.graph import Graph

OF_CLASSES = [*(name for name, metric in METRICS.items() if not metric.regression), "f1:1"]
OF_NUMBERS = ["r2", "neg-mse"]
ALL = [*OF_CLASSES, *OF_NUMBERS]


def with_numbers(graph: Graph, columns: int = 1, seed: int = 0) -> Graph:
    """The same graph with numeric targets that depend on the features, unknown where the labels are."""
    rng = np.random.default_rng(seed)
    targets = graph.features.toarray() @ rng.normal(size=(graph.features.shape[1], columns)) * 3 + 7
    targets += rng.normal(size=targets.shape) / 2
    targets[graph.labels < 0] = np.nan
    return Graph(graph.adjacency, graph.features, None, graph.train, graph.val, graph.test, targets=targets)


def suited(graph: Graph, metric: str, columns: int = 2) -> Graph:
    """The graph, or with a metric of numbers the same graph with numbers."""
    return with_numbers(graph, columns) if metric in OF_NUMBERS else graph


def lopsided(graph: Graph) -> Graph:
    """The same graph in which two thirds of the labelled and validation nodes are of class 0."""
    labels = graph.labels.copy()
    for nodes in (graph.train, graph.val):
        labels[nodes[: len(nodes) * 2 // 3]] = 0
        labels[nodes[len(nodes) * 2 // 3 :]] = 1 + np.arange(len(nodes) - len(nodes) * 2 // 3) % (graph.n_classes - 1)
    return Graph(graph.adjacency, graph.features, labels, graph.train, graph.val, graph.test)


def learnt(graph: Graph, nodes: npt.NDArray[np.int64]) -> Floats:
    """(nodes, c) one-hot classes, or targets minus the mean over all training nodes."""
    if graph.regression:
        return np.asarray(graph.targets[nodes] - graph.targets[graph.train].mean(axis=0))
    return np.eye(graph.n_classes)[graph.labels[nodes]]


def balanced(graph: Graph, nodes: npt.NDArray[np.int64]) -> Floats:
    """(nodes,) weights n / (C count) of the classes of nodes."""
    every = graph.labels[graph.train]
    return np.array([len(every) / (graph.n_classes * np.sum(every == graph.labels[node])) for node in nodes])


def utility_of(graph: Graph, scores: Floats, metric: str, temperature: float = 1.0) -> float:
    """The metric of (v, c) scores of the validation nodes, in plain numbers."""
    if graph.regression:
        truth = learnt(graph, graph.val)
        if metric == "neg-mse":
            return float(-mean_squared_error(truth, scores))
        return float(np.mean(1 - np.sum((truth - scores) ** 2, axis=0) / np.sum(truth**2, axis=0)))
    targets, scaled = graph.labels[graph.val], scores / temperature
    if metric == "log-likelihood":
        return log_likelihood(scaled, targets)
    if metric == "probability":
        odds = np.exp(scaled)
        return float(np.mean(odds[np.arange(len(targets)), targets] / odds.sum(axis=1)))
    if metric in ("roc-auc", "average-precision"):
        score = roc_auc_score if metric == "roc-auc" else average_precision_score
        ranks = np.round(scores - (scores.sum(axis=1, keepdims=True) - scores) / (scores.shape[1] - 1), 9)
        classes = [1] if graph.n_classes == 2 else np.unique(targets).tolist()
        return float(np.mean([score(targets == c, ranks[:, c]) for c in classes]))
    predicted, classes = np.round(scores, 9).argmax(axis=1), np.unique(targets).tolist()
    if metric == "accuracy":
        return float(np.mean(predicted == targets))
    if metric == "balanced-accuracy":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a class is predicted that no validation node has
            return float(balanced_accuracy_score(targets, predicted))
    if metric.startswith("f1:"):
        c = graph.classes.index(metric.removeprefix("f1:"))
        return float(f1_score(targets == c, predicted == c, zero_division=0.0))
    return float(f1_score(targets, predicted, labels=classes, average="macro", zero_division=0.0))


def empty_of(graph: Graph, metric: str) -> float:
    """Utility of the empty coalition, in plain numbers."""
    if graph.regression or metric in ("roc-auc", "average-precision"):
        return utility_of(graph, np.zeros_like(learnt(graph, graph.val)), metric)
    return -float(np.log(graph.n_classes)) if metric == "log-likelihood" else 0.0
