"""Influence against dense Hessians, a derivative by finite differences, and models that are trained again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax, softmax
from scipy.stats import spearmanr

import pcwinter as pw
from oracles import distances, filtered, make_graph, random_graph, validation_rows
from pcwinter._util.arrays import Sparse
from pcwinter.baselines import influence_edges, influence_nodes
from pcwinter.baselines.influence import PENALTY, fit, hessian, solve
from pcwinter.baselines.ranking import Ranking, near_nodes
from pcwinter.graph.graph import Graph
from pcwinter.graph.propagation import propagate, propagate_to
from pcwinter.heads.ridge.head import inverse_norm

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
HOPS = pytest.mark.parametrize("hops", [1, 2, 3, 4])


def graphs() -> list[Graph]:
    sparse = random_graph(11, n=30, probability=0.07, n_train=4, n_classes=3, n_val=25)
    dense = random_graph(12, n=14, probability=0.25, n_train=5, n_classes=2, n_val=25, n_features=30)
    return [sparse, dense]


GRAPHS = pytest.mark.parametrize("graph", graphs(), ids=["sparse", "dense"])


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


def both(graph: Graph, hops: int, penalty: float = PENALTY, filter: str | tuple[float, ...] = "sgc") -> list[Ranking]:
    return [
        influence(graph, hops=hops, filter=filter, penalty=penalty) for influence in (influence_nodes, influence_edges)
    ]


@GRAPHS
@pytest.mark.parametrize(
    ("hops", "penalty", "theta"),
    [(hops, penalty, ()) for hops in (1, 2, 3, 4) for penalty in (0.02, 1.0)]
    + [(hops, 0.1, tuple(np.linspace(0.3, 0.5, hops + 1))) for hops in (1, 2, 3)]
    + [(2, 0.1, (0.4, 0.6, 0.0)), (2, 0.1, (1.0, 0.0, 0.0))],
)
def test_values_equal_the_formula_with_dense_matrices(
    hops: int, graph: Graph, penalty: float, theta: tuple[float, ...]
) -> None:
    twin = Twin(graph, hops, penalty, theta)
    ones = np.ones(len(twin.z))
    w = twin.fit(twin.z, twin.labels, ones)
    s = np.linalg.solve(twin.hessian(twin.z, ones, w), twin.gradients(twin.z_val, twin.targets, w).mean(axis=0))
    before = twin.gradients(twin.z, twin.labels, w) @ s
    nodes, edges = both(graph, hops, penalty, theta or "sgc")
    assert nodes.items.tolist() == near_nodes(graph, hops).tolist()
    assert len(edges.items) == graph.training.nnz // 2
    for ranking in (nodes, edges):
        expected = [
            before.sum() - (twin.gradients(z[left], twin.labels[left], w) @ s).sum()
            for z, left in twin.removals(ranking.items)
        ]
        np.testing.assert_allclose(ranking.value, expected, rtol=0, atol=1e-10)
        assert np.abs(ranking.value).max() > 1e-3
        assert ranking.method == "influence"
        assert np.isnan(ranking.stderr).all()


@pytest.mark.parametrize("hops", [1, 2])
@GRAPHS
def test_values_are_derivatives_of_the_validation_loss(hops: int, graph: Graph) -> None:
    """The share `part` of every row moves to where a removal puts it."""
    twin, part = Twin(graph, hops, PENALTY), 1e-4
    for ranking in both(graph, hops):
        for value, (z, left) in zip(ranking.value.tolist(), twin.removals(ranking.items), strict=True):
            stacked, labels = np.vstack([twin.z, z[left]]), np.concatenate([twin.labels, twin.labels[left]])
            losses = [
                twin.loss(twin.fit(stacked, labels, np.concatenate([np.full(len(z), 1 - x), np.full(left.sum(), x)])))
                for x in (part, -part)
            ]
            assert value == pytest.approx((losses[0] - losses[1]) / (2 * part), abs=1e-6)


def test_values_agree_with_training_again() -> None:
    graph = pw.load("demo")
    scale = inverse_norm(propagate(graph.training, graph.features, 2)[graph.train]) ** 0.5

    def with_bias(rows: Sparse) -> Sparse:
        return sp.csr_array(sp.hstack([rows * scale, sp.csr_array(np.ones((rows.shape[0], 1)))]))

    z_val = with_bias(propagate(graph.validation, graph.features, 2)[graph.val])

    def loss(training: Sparse, nodes: Ints) -> float:
        rows = with_bias(propagate_to(nodes, training, graph.features, 2))
        weights = fit(rows, graph.labels[nodes], graph.n_classes, PENALTY)
        scores = log_softmax(np.asarray(z_val @ weights), axis=1)
        return -float(np.mean(scores[np.arange(len(graph.val)), graph.labels[graph.val]]))

    def without(item: Ints) -> float:
        if item.ndim:
            edge = sp.csr_array((np.ones(2), (item, item[::-1])), shape=graph.training.shape)
            return loss(sp.csr_array(graph.training - edge), graph.train)
        others = sp.diags_array((np.arange(graph.n_nodes) != item).astype(np.float64))
        return loss(sp.csr_array(others @ graph.training @ others), graph.train[graph.train != item])

    full = loss(graph.training, graph.train)
    for ranking in both(graph, 2):
        some = np.random.default_rng(0).choice(np.flatnonzero(ranking.value), 100, replace=False)
        rise = [without(np.asarray(item)) - full for item in ranking.items[some]]
        assert spearmanr(ranking.value[some], rise).statistic > 0.85
        assert np.corrcoef(ranking.value[some], rise)[0, 1] > 0.85


@HOPS
def test_edges_out_of_reach_are_worth_nothing(hops: int) -> None:
    path = make_graph([(k, k + 1) for k in range(9)], [0, 10], n=11)  # node 10 has no edge
    nodes, edges = both(path, hops)
    reach = distances(path.training.toarray(), 0)[edges.items].min(axis=1) <= hops
    assert reach.sum() == hops + 1
    assert (edges.value[~reach] == 0).all()
    assert (edges.value[reach] != 0).all()
    assert nodes.items.tolist() == [*range(hops + 1), 10]
    assert (nodes.value != 0).all()


def test_a_graph_without_edges() -> None:
    graph = make_graph([], [0, 1], n=3)
    nodes, edges = both(graph, 2)
    assert edges.items.shape == (0, 2)
    assert edges.value.shape == (0,)
    assert nodes.items.tolist() == [0, 1]
    assert (nodes.value != 0).all()


def test_one_class_leaves_nothing_to_learn() -> None:
    graph = make_graph([(0, 1), (1, 2)], [0], n_classes=1, n_val=6)
    for ranking in both(graph, 2):
        assert (ranking.value == 0).all()


@pytest.mark.parametrize("penalty", [1e-3, 10.0])
def test_the_solver_inverts_the_hessian(penalty: float) -> None:
    rng = np.random.default_rng(3)
    z, right = sp.csr_array(rng.normal(size=(20, 8))), rng.normal(size=(8, 3))
    product = hessian(z, rng.normal(size=(8, 3)), penalty)
    np.testing.assert_allclose(product(solve(product, right)), right, atol=1e-10)
    assert (solve(product, np.zeros((8, 3))) == 0).all()


@pytest.mark.parametrize("influence", [influence_nodes, influence_edges])
def test_wrong_arguments_are_refused(influence: Any) -> None:
    graph = graphs()[0]
    for bad in (0, -1.0, "x", np.nan):
        with pytest.raises(ValueError, match="penalty is"):
            influence(graph, penalty=bad)
    with pytest.raises(ValueError, match="hops is 0"):
        influence(graph, hops=0)
    with pytest.raises((TypeError, ValueError), match="graph is 'x'"):
        influence("x")
    flat = Graph([(0, 1)], np.zeros((3, 2)), [0, 1, 0], train=[0, 1], val=[2])
    with pytest.raises(ValueError, match="cannot scale them"):
        influence(flat)
    with pytest.raises(ValueError, match="choose a larger penalty"):
        influence(graph, penalty=1e-300)
