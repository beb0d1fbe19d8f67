"""Influence functions with dense matrices: the slow twin of `pcwinter.baselines.influence`."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax

from oracles import filtered, validation_rows
from pcwinter.graph.graph import Graph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Twin:
    """The classifier with dense matrices: rows of the labelled nodes, weights by Newton's method, the whole Hessian."""

    def __init__(self, graph: Graph, hops: int, penalty: float, theta: tuple[float, ...] = ()) -> None:
        self.graph, self.theta, self.penalty = graph, theta or (*[0.0] * hops, 1.0), penalty
        self.labels, self.targets = graph.labels[graph.train], graph.labels[graph.val]
        whole = (filtered(graph.training.toarray(), self.theta) @ graph.features.toarray())[graph.train]
        self.scale = np.mean(np.sum(whole**2, axis=1)) ** -0.5
        self.z = self.rows(graph.training.toarray())
        self.z_val = self.with_bias(validation_rows(graph, hops, self.theta))

    def with_bias(self, rows: Floats) -> Floats:
        return np.hstack([rows * self.scale, np.ones((len(rows), 1))])

    def rows(self, training: Floats) -> Floats:
        propagated = filtered(training, self.theta) @ self.graph.features.toarray()
        return self.with_bias(propagated[self.graph.train])

    def gradients(self, z: Floats, labels: Ints, w: Floats) -> Floats:
        """(t, d C) of the loss of every row."""
        residual = softmax(z @ w, axis=1) - np.eye(self.graph.n_classes)[labels]
        return np.asarray([np.outer(x, r).ravel() for x, r in zip(z, residual, strict=True)]).reshape(len(z), w.size)

    def hessian(self, z: Floats, weight: Floats, w: Floats) -> Floats:
        total = self.penalty * np.eye(w.size)
        for x, p, each in zip(z, softmax(z @ w, axis=1), weight, strict=True):
            total += each * np.kron(np.outer(x, x), np.diag(p) - np.outer(p, p))
        return total

    def fit(self, z: Floats, labels: Ints, weight: Floats) -> Floats:
        w = np.zeros((z.shape[1], self.graph.n_classes))
        for _ in range(30):
            slope = weight @ self.gradients(z, labels, w) + self.penalty * w.ravel()
            w -= np.linalg.solve(self.hessian(z, weight, w), slope).reshape(w.shape)
        assert np.abs(slope).max() < 1e-12
        return w

    def loss(self, w: Floats) -> float:
        scores = log_softmax(self.z_val @ w, axis=1)
        return -float(np.mean(scores[np.arange(len(self.targets)), self.targets]))

    def removals(self, items: Ints) -> Iterator[tuple[Floats, npt.NDArray[np.bool_]]]:
        """The rows without each item, and which of them are still there."""
        for item in items:
            training, left = self.graph.training.toarray(), np.ones(len(self.z), dtype=np.bool_)
            if items.ndim == 2:
                assert training[item[0], item[1]] == 1
                training[item, item[::-1]] = 0
            else:
                training[item] = training[:, item] = 0
                left = self.graph.train != item
            yield self.rows(training), left
