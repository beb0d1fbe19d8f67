"""Graph -> Ranking: exact Shapley values of a k-nearest-neighbour vote."""

import time
from collections.abc import Sequence

import numpy as np

from pcwinter._util.arrays import FloatArray
from pcwinter._util.checks import whole_number
from pcwinter.baselines.ranking import Ranking
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.graph.propagation import filter_of, propagate


def knn_shapley(graph: Graph, *, hops: int = 2, filter: str | Sequence[float] = "sgc", k: int = 5) -> Ranking:
    """Exact Shapley values of the labelled nodes for a k-nearest-neighbour vote on K-step features.

    `graph` is the graph. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of
    the powers of the propagation. `k` is the number of neighbours that vote. For each validation node of class y, with
    the n labelled nodes sorted from near to far,

        s_n = [y_n = y] min(k, n) / (k n),   s_i = s_(i+1) + ([y_i = y] - [y_(i+1) = y]) min(k, i) / (k i).
    """
    check_graph(graph)
    if graph.regression:
        raise ValueError("KNN-Shapley needs classes, but the graph has numeric targets: use data_shapley")
    k, hops = whole_number("k", k, 1), whole_number("hops", hops, 1)
    theta, began = filter_of(filter, hops, graph.training, graph.features, graph.train), time.perf_counter()
    rows = propagate(graph.training, graph.features, hops, theta, graph.scaling)[graph.train]
    z = propagate(graph.validation, graph.features, hops, theta, graph.scaling)[graph.val]
    squares: FloatArray = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    distance = squares[None, :] - 2 * (z @ rows.T).toarray()
    near = np.argsort(distance, axis=1, kind="stable")
    right = (graph.labels[graph.train][near] == graph.labels[graph.val][:, None]).astype(np.float64)
    value = knn_values(right, k)
    total = np.zeros(len(graph.train))
    np.add.at(total, near.ravel(), value.ravel())
    seconds = time.perf_counter() - began
    mean = total / len(graph.val)
    return Ranking("knn-shapley", graph.train, mean, np.full(len(mean), np.nan), 0, 0, seconds, "The values are exact.")


def knn_values(right: FloatArray, k: int) -> FloatArray:
    """(v, n) Shapley values of a vote of the k nearest. `right`, (v, n), is 1 for a correct label, from near to far."""
    n = right.shape[1]
    place = np.arange(1, n)
    steps = (right[:, :-1] - right[:, 1:]) * np.minimum(k, place) / (k * place)
    last = right[:, -1:] * min(k, n) / (k * n)
    return np.asarray(last + np.concatenate([np.cumsum(steps[:, ::-1], axis=1)[:, ::-1], np.zeros_like(last)], axis=1))
