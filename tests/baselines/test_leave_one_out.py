"""Leave-one-out values against removing a node or an edge and computing from scratch."""

from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from metric_oracle import lopsided, with_numbers
from node_game_oracle import Mask, induced_rows, induced_utility
from oracles import distances, make_graph, random_graph
from pcwinter.baselines.leave_one_out import leave_one_out_edges, leave_one_out_nodes, leave_out
from pcwinter.baselines.node_game import NodeGame, node_game
from pcwinter.baselines.ranking import all_edges, near_nodes
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

Floats = npt.NDArray[np.float64]
RIDGE = Ridge(0.7, 0.8, 0.4)
RECIPE = Softmax(0.1, 12, 5e-4)
HEADS = pytest.mark.parametrize("head", [RIDGE, RECIPE], ids=["ridge", "softmax"])
HOPS = pytest.mark.parametrize("hops", [1, 2, 3, 4])


def everybody(graph: Graph) -> Mask:
    return np.ones(graph.n_nodes, dtype=np.bool_)


def without_node(graph: Graph, node: int) -> Mask:
    mask = everybody(graph)
    mask[node] = False
    return mask


def without_edge(graph: Graph, u: int, v: int) -> Floats:
    training = graph.training.toarray()
    assert training[u, v] == training[v, u] == 1
    training[u, v] = training[v, u] = 0
    return training


def graphs() -> list[Graph]:
    sparse = random_graph(11, n=30, probability=0.07, n_train=3, n_classes=3, n_val=25)  # one labelled node per class
    dense = random_graph(12, n=14, probability=0.25, n_train=5, n_classes=2, n_val=25, n_features=30)
    return [sparse, dense]


GRAPHS = pytest.mark.parametrize("graph", graphs(), ids=["sparse", "dense"])


@HEADS
@HOPS
@GRAPHS
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
def test_nodes(head: Ridge | Softmax, hops: int, graph: Graph, metric: str) -> None:
    ranking = leave_one_out_nodes(graph, head, hops=hops, metric=metric)
    assert ranking.items.tolist() == near_nodes(graph, hops).tolist()
    whole = everybody(graph)
    full = induced_utility(graph, hops, whole, head, metric, whole)
    for node, value in zip(ranking.items.tolist(), ranking.value.tolist(), strict=True):
        left = induced_utility(graph, hops, without_node(graph, node), head, metric, whole)
        assert value == pytest.approx(full - left, abs=1e-10 if head is RIDGE else 1e-8)
    assert np.count_nonzero(ranking.value)


@HEADS
@HOPS
@GRAPHS
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
def test_edges(head: Ridge | Softmax, hops: int, graph: Graph, metric: str) -> None:
    ranking = leave_one_out_edges(graph, head, hops=hops, metric=metric)
    assert len(ranking.items) == graph.training.nnz // 2
    whole = everybody(graph)
    full = induced_utility(graph, hops, whole, head, metric, whole)
    rows = induced_rows(graph, hops, whole)
    changed = 0
    for (u, v), value in zip(ranking.items.tolist(), ranking.value.tolist(), strict=True):
        training = without_edge(graph, u, v)
        left = induced_utility(graph, hops, whole, head, metric, whole, training)
        assert value == pytest.approx(full - left, abs=1e-10 if head is RIDGE else 1e-8)
        if np.abs(induced_rows(graph, hops, whole, training) - rows).max() > 1e-12:
            changed += 1
        else:
            assert value == 0
    assert ranking.evaluations == changed + 1


@HEADS
@pytest.mark.parametrize("theta", [(0.4, 0.6), (0.2, 0.3, 0.5)])
def test_other_filters(head: Ridge | Softmax, theta: tuple[float, ...]) -> None:
    graph, hops, metric = graphs()[1], len(theta) - 1, "log-likelihood"
    whole = everybody(graph)
    full = induced_utility(graph, hops, whole, head, metric, whole, theta=theta)
    nodes = leave_one_out_nodes(graph, head, hops=hops, filter=theta, metric=metric)
    for node, value in zip(nodes.items.tolist(), nodes.value.tolist(), strict=True):
        left = induced_utility(graph, hops, without_node(graph, node), head, metric, whole, theta=theta)
        assert value == pytest.approx(full - left, abs=1e-8)
    edges = leave_one_out_edges(graph, head, hops=hops, filter=theta, metric=metric)
    for (u, v), value in zip(edges.items.tolist(), edges.value.tolist(), strict=True):
        left = induced_utility(graph, hops, whole, head, metric, whole, without_edge(graph, u, v), theta)
        assert value == pytest.approx(full - left, abs=1e-8)


@HEADS
@HOPS
def test_edges_out_of_reach_are_worth_nothing(hops: int, head: Ridge | Softmax) -> None:
    path = make_graph([(k, k + 1) for k in range(9)], [0, 10], n=11)  # node 10 has no edge
    ranking = leave_one_out_edges(path, head, hops=hops, metric="log-likelihood")
    reach = distances(path.training.toarray(), 0)[ranking.items].min(axis=1) <= hops
    assert reach.sum() == hops + 1
    assert (ranking.value[~reach] == 0).all()
    assert (ranking.value[reach] != 0).all()
    assert ranking.evaluations == hops + 2


@HEADS
@pytest.mark.parametrize("metric", ["accuracy", "balanced-accuracy", "macro-f1", "probability", "log-likelihood"])
def test_the_only_labelled_node(head: Ridge | Softmax, metric: str) -> None:
    graph = make_graph([(0, 1), (1, 2)], [0], n_classes=1, n_val=6)
    value = leave_one_out_nodes(graph, head, metric=metric).value
    full = 0.0 if metric == "log-likelihood" else 1.0
    np.testing.assert_allclose(value, [full, 0, 0], atol=1e-12)


def without(game: NodeGame, items: npt.NDArray[np.int64]) -> tuple[Floats, int]:
    return leave_out(game, items)(0, len(items))


@HEADS
@HOPS
def test_everything_is_put_back(head: Ridge | Softmax, hops: int) -> None:
    graph = random_graph(13, n=16, probability=0.2, n_train=4, n_classes=2, n_val=20)
    game = node_game(graph, hops=hops, metric="log-likelihood", head=head, reach=hops + 1)
    inside = np.isin(all_edges(graph), game.nodes).all(axis=1)
    edges = np.searchsorted(game.nodes, all_edges(graph)[inside])
    for items in (edges, np.arange(game.n_players)):
        value, evaluations = without(game, items)
        for order in (np.arange(len(items))[::-1], np.random.default_rng(0).permutation(len(items))):
            again, as_many = without(game, items[order])
            assert (again == value[order]).all()
            assert as_many == evaluations
        for k in range(0, len(items), 5):
            assert without(game, items[k : k + 1])[0] == value[k]
    turned, _ = without(game, edges[:, ::-1].copy())
    np.testing.assert_allclose(turned, without(game, edges)[0], atol=1e-12)


def note(heard: list[tuple[int, int]], done: int, of: int) -> None:
    heard.append((done, of))


@HEADS
@pytest.mark.parametrize("workers", [1, 2])
def test_progress_chunks_and_workers(head: Ridge | Softmax, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(13, n=16, probability=0.2, n_train=4, n_classes=2, n_val=20)
    for left_out in (leave_one_out_nodes, leave_one_out_edges):
        heard: list[tuple[int, int]] = []
        whole = left_out(graph, head, metric="log-likelihood")
        for size in ("CHUNK", "MODELS"):
            monkeypatch.setattr(f"pcwinter.baselines.leave_one_out.{size}", 3)
        parts = left_out(graph, head, metric="log-likelihood", workers=workers, progress=partial(note, heard))
        monkeypatch.undo()
        assert (parts.value == whole.value).all()
        assert parts.evaluations == whole.evaluations
        assert heard == sorted(set(heard))
        assert 0 < heard[-1][0] == heard[0][1] <= len(whole.items)
        assert len(heard) > 1


def test_a_graph_without_edges() -> None:
    graph = make_graph([], [0, 1], n=3)
    ranking = leave_one_out_edges(graph, RIDGE)
    assert ranking.items.shape == (0, 2)
    assert ranking.value.shape == (0,)
    assert leave_one_out_nodes(graph, RIDGE).items.tolist() == [0, 1]


@pytest.mark.parametrize("metric", ["roc-auc", "r2"])
@pytest.mark.parametrize("hops", [1, 2])
def test_other_metrics_targets_and_class_weights(metric: str, hops: int) -> None:
    """For numbers with ridge; for lopsided classes with weights, and both heads."""
    plain = random_graph(14, n=14, probability=0.2, n_train=6, n_classes=3, n_val=20)
    graph = with_numbers(plain, 2) if metric == "r2" else lopsided(plain)
    weighted = (Ridge(0.7, 0.8, class_weight="balanced"), Softmax(0.1, 12, 5e-4, "balanced"))
    whole = everybody(graph)
    for head in (RIDGE,) if metric == "r2" else weighted:
        full = induced_utility(graph, hops, whole, head, metric, whole)
        nodes = leave_one_out_nodes(graph, head, hops=hops, metric=metric)
        for node, value in zip(nodes.items.tolist(), nodes.value.tolist(), strict=True):
            left = induced_utility(graph, hops, without_node(graph, node), head, metric, whole)
            assert value == pytest.approx(full - left, abs=1e-8)
        edges = leave_one_out_edges(graph, head, hops=hops, metric=metric)
        for (u, v), value in zip(edges.items.tolist(), edges.value.tolist(), strict=True):
            left = induced_utility(graph, hops, whole, head, metric, whole, without_edge(graph, u, v))
            assert value == pytest.approx(full - left, abs=1e-8)
        assert np.count_nonzero(nodes.value)
