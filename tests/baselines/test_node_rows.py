"""The sums of the node game on graphs of any kind, against dense propagation from scratch."""

import numpy as np
import numpy.typing as npt
import pytest

from any_graph import ANY_KIND, any_graph, dense, model_rows
from influence_twin import Twin
from oracles import log_likelihood, ridge_scores
from pcwinter.baselines.influence import influence_edges, influence_nodes
from pcwinter.baselines.leave_one_out import leave_one_out_edges, leave_one_out_nodes
from pcwinter.baselines.node_game import node_game
from pcwinter.baselines.ranking import Ranking, all_edges, near_nodes
from pcwinter.game.protocol import Order
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

Floats = npt.NDArray[np.float64]
RIDGE = Ridge(0.7, 0.8, 0.4)
HOPS = pytest.mark.parametrize("hops", [1, 2, 3])


def graph_of_kind(kind: str) -> Graph:
    return any_graph(kind, 4, n=12, n_train=4, n_classes=2, n_val=14, probability=0.12)


def last(hops: int) -> tuple[float, ...]:
    return (*[0.0] * hops, 1.0)


def utility(graph: Graph, hops: int, training: Floats, left: npt.NDArray[np.int64], scale: float) -> float:
    """Validation log-likelihood of the labelled nodes `left`, with this training graph."""
    if not len(left):
        return -float(np.log(graph.n_classes))
    assert RIDGE.penalty is not None
    assert RIDGE.bias is not None
    assert RIDGE.temperature is not None
    rows = model_rows(graph, training, last(hops))[left]
    z = model_rows(graph, dense(graph, "validation"), last(hops))[graph.val]
    scores = ridge_scores(rows, graph.labels[left], z, graph.n_classes, RIDGE.penalty, RIDGE.bias, scale)
    return log_likelihood(scores / RIDGE.temperature, graph.labels[graph.val])


def scale_of(graph: Graph, hops: int, training: Floats) -> float:
    return float(np.mean(np.sum(model_rows(graph, training, last(hops))[graph.train] ** 2, axis=1)) ** -0.5)


def without_edge(graph: Graph, source: int, target: int) -> Floats:
    training = dense(graph)
    assert training[target, source] > 0
    training[target, source] = 0
    if not graph.directed:
        training[source, target] = 0
    return training


def without_node(graph: Graph, node: int) -> Floats:
    training = dense(graph)
    training[node] = training[:, node] = 0
    return training


@ANY_KIND
@HOPS
def test_every_step_of_a_walk_equals_the_induced_graph(kind: str, hops: int) -> None:
    graph = graph_of_kind(kind)
    game = node_game(graph, RIDGE, hops=hops, metric="log-likelihood")
    assert game.nodes.tolist() == near_nodes(graph, hops).tolist()
    inside = np.isin(np.arange(graph.n_nodes), game.nodes)
    scale = scale_of(graph, hops, dense(graph) * np.outer(inside, inside))
    order = np.random.default_rng(0).permutation(game.n_players)
    walk = game.walk(Order(order, np.ones(len(order), dtype=bool)))
    for k in range(len(order)):
        members = np.isin(np.arange(graph.n_nodes), game.nodes[order[: k + 1]])
        training = dense(graph) * np.outer(members, members)
        expected = utility(graph, hops, training, graph.train[members[graph.train]], scale)
        assert walk.utility[k] == pytest.approx(expected, abs=1e-9)


@ANY_KIND
def test_nodes_near_labelled_ones_reach_them_along_the_edges(kind: str) -> None:
    graph = graph_of_kind(kind)
    reach = np.isin(np.arange(graph.n_nodes), graph.train).astype(float)
    for _ in range(2):
        reach = reach + dense(graph).T @ reach
    assert near_nodes(graph, 2).tolist() == np.flatnonzero(reach).tolist()
    edges = {(int(u), int(v)) for v, u in np.argwhere(dense(graph))}
    expected = sorted(edges) if graph.directed else sorted({(min(edge), max(edge)) for edge in edges})
    assert [tuple(edge) for edge in all_edges(graph).tolist()] == expected


@ANY_KIND
@HOPS
@pytest.mark.parametrize("head", [RIDGE, Softmax(0.1, 12, 5e-4)], ids=["ridge", "softmax"])
def test_leaving_one_out(kind: str, hops: int, head: Ridge | Softmax) -> None:
    graph = graph_of_kind(kind)
    options = {"hops": hops, "metric": "log-likelihood"}
    nodes = leave_one_out_nodes(graph, head, **options)  # type: ignore[arg-type]
    edges = leave_one_out_edges(graph, head, **options)  # type: ignore[arg-type]
    if isinstance(head, Softmax):  # retrained, with the operator that the other head is tested with
        game = node_game(graph, head, hops=hops, metric="log-likelihood", reach=hops + 1)
        for node, value in zip(nodes.items, nodes.value, strict=True):
            assert value == pytest.approx(game.full - game.utility(game.nodes != node), abs=1e-12)
        assert np.isfinite(edges.value).all()
        return
    scale = scale_of(graph, hops, dense(graph))
    full = utility(graph, hops, dense(graph), graph.train, scale)
    for node, value in zip(nodes.items.tolist(), nodes.value, strict=True):
        left = utility(graph, hops, without_node(graph, node), graph.train[graph.train != node], scale)
        assert value == pytest.approx(full - left, abs=1e-9)
    for (source, target), value in zip(edges.items.tolist(), edges.value, strict=True):
        left = utility(graph, hops, without_edge(graph, source, target), graph.train, scale)
        assert value == pytest.approx(full - left, abs=1e-9)
    assert np.count_nonzero(edges.value) > 3


class AnyTwin(Twin):
    """The dense twin of influence functions, with the operator of any graph."""

    def __init__(self, graph: Graph, hops: int, penalty: float) -> None:
        self.hops = hops
        super().__init__(graph, hops, penalty)
        self.scale = scale_of(graph, hops, dense(graph))
        self.z = self.rows(dense(graph))
        self.z_val = self.with_bias(model_rows(graph, dense(graph, "validation"), last(hops))[graph.val])

    def rows(self, training: Floats) -> Floats:
        return self.with_bias(model_rows(self.graph, training, last(self.hops))[self.graph.train])


@ANY_KIND
@HOPS
def test_influence_equals_the_formula(kind: str, hops: int) -> None:
    graph, penalty = graph_of_kind(kind), 0.3
    twin = AnyTwin(graph, hops, penalty)
    w = twin.fit(twin.z, twin.labels, np.ones(len(twin.z)))
    s = np.linalg.solve(
        twin.hessian(twin.z, np.ones(len(twin.z)), w), twin.gradients(twin.z_val, twin.targets, w).mean(axis=0)
    )
    before = twin.gradients(twin.z, twin.labels, w) @ s

    def check(ranking: Ranking, rows: list[Floats], left: list[npt.NDArray[np.bool_]]) -> None:
        expected = [
            before.sum() - (twin.gradients(z[kept], twin.labels[kept], w) @ s).sum()
            for z, kept in zip(rows, left, strict=True)
        ]
        np.testing.assert_allclose(ranking.value, expected, rtol=0, atol=1e-9)
        assert np.abs(ranking.value).max() > 1e-3

    nodes, edges = (make(graph, hops=hops, penalty=penalty) for make in (influence_nodes, influence_edges))
    check(nodes, [twin.rows(without_node(graph, v)) for v in nodes.items], [graph.train != v for v in nodes.items])
    everybody = [np.ones(len(graph.train), dtype=bool)] * len(edges.items)
    check(edges, [twin.rows(without_edge(graph, *edge)) for edge in edges.items.tolist()], everybody)
