"""Influence against dense Hessians, a derivative by finite differences, and models that are trained again."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax
from scipy.stats import spearmanr

import pcwinter as pw
from influence_twin import Twin
from metric_oracle import balanced, lopsided, with_numbers
from oracles import distances, make_graph, random_graph
from pcwinter._util.arrays import Sparse
from pcwinter.baselines import influence_edges, influence_nodes
from pcwinter.baselines.influence import PENALTY, fit, hessian, solve
from pcwinter.baselines.ranking import Ranking, near_nodes
from pcwinter.graph.graph import Graph
from pcwinter.graph.propagation import propagate, propagate_to
from pcwinter.heads.ridge.closed_form import inverse_norm

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
HOPS = pytest.mark.parametrize("hops", [1, 2, 3, 4])


def graphs() -> list[Graph]:
    sparse = random_graph(11, n=30, probability=0.07, n_train=4, n_classes=3, n_val=25)
    dense = random_graph(12, n=14, probability=0.25, n_train=5, n_classes=2, n_val=25, n_features=30)
    return [sparse, dense]


GRAPHS = pytest.mark.parametrize("graph", graphs(), ids=["sparse", "dense"])


def both(
    graph: Graph,
    hops: int,
    penalty: float = PENALTY,
    weighted: str | None = None,
    filter: str | tuple[float, ...] = "sgc",
) -> list[Ranking]:
    options: dict[str, Any] = {"hops": hops, "filter": filter, "penalty": penalty, "class_weight": weighted}
    return [influence(graph, **options) for influence in (influence_nodes, influence_edges)]


@GRAPHS
@pytest.mark.parametrize(
    ("hops", "penalty", "weighted", "theta"),
    [(hops, penalty, None, ()) for hops in (1, 2, 3, 4) for penalty in (0.02, 1.0)]
    + [(hops, 0.1, None, tuple(np.linspace(0.3, 0.5, hops + 1))) for hops in (1, 2, 3)]
    + [(2, 0.1, None, (0.4, 0.6, 0.0)), (2, 0.1, None, (1.0, 0.0, 0.0)), (2, 0.1, "balanced", ())],
)
def test_values_equal_the_formula_with_dense_matrices(
    hops: int, graph: Graph, penalty: float, weighted: str | None, theta: tuple[float, ...]
) -> None:
    graph = lopsided(graph) if weighted else graph
    twin = Twin(graph, hops, penalty, theta)
    share = balanced(graph, graph.train) if weighted else np.ones(len(twin.z))
    w = twin.fit(twin.z, twin.labels, share)
    s = np.linalg.solve(twin.hessian(twin.z, share, w), twin.gradients(twin.z_val, twin.targets, w).mean(axis=0))
    before = share * (twin.gradients(twin.z, twin.labels, w) @ s)
    nodes, edges = both(graph, hops, penalty, weighted, theta or "sgc")
    assert nodes.items.tolist() == near_nodes(graph, hops).tolist()
    assert len(edges.items) == graph.training.nnz // 2
    for ranking in (nodes, edges):
        expected = [
            before.sum() - share[left] @ (twin.gradients(z[left], twin.labels[left], w) @ s)
            for z, left in twin.removals(ranking.items)
        ]
        np.testing.assert_allclose(ranking.value, expected, rtol=0, atol=1e-10)
        alone = theta == (1.0, 0.0, 0.0)  # then edges do not matter
        assert (np.abs(ranking.value).max() > 1e-3) == (ranking is nodes or not alone)
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
        weights = fit(rows, graph.labels[nodes], graph.n_classes, PENALTY, np.ones(len(nodes)))
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
    product = hessian(z, rng.normal(size=(8, 3)), penalty, rng.uniform(0.3, 3, 20))
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
    with pytest.raises(ValueError, match="class_weight is 'x', expected balanced"):
        influence(graph, class_weight="x")
    with pytest.raises(ValueError, match="influence needs classes, but the graph has numeric targets"):
        influence(with_numbers(graph))
