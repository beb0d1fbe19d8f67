"""Walks along interleaved orders, in blocks, against solves from scratch."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import dense_power, log_likelihood, make_graph, random_graph, ridge_prefix
from pcwinter.game.detail import make_parts
from pcwinter.game.metrics import METRICS
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import make_problem
from pcwinter.game.protocol import Order
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge import interleaved
from pcwinter.heads.ridge.head import RidgeWalker
from pcwinter.heads.ridge.interleaved import BLOCK
from ridge_walks import walker

INTERLEAVED = ["precedence", "free"]


def two_hops(graph: Graph, penalty: float, metric: str = "accuracy", bias: float = 0.5) -> RidgeWalker:
    return RidgeWalker(make_problem(graph, contribution_tree(graph, 2)), penalty, bias, METRICS[metric])


def scratch(game: RidgeWalker, order: Order, every: int = 1) -> list[float]:
    """Utility of every prefix, or of some, each solved on its own."""
    coalition, found = np.zeros(game.problem.tree.n_players, dtype=bool), []
    for k, player in enumerate(order.players):
        coalition[player] = True
        if k % every == 0:
            found.append(game.utility(coalition))
    return found


def in_double(game: RidgeWalker, order: Order) -> list[float]:
    """The same walk in double precision: the parts by node ask for it."""
    nobody = make_parts(sp.csr_array((0, len(order.players)), dtype=np.int64), len(game.problem.targets))
    return [float(u) for u in game.walk(order, nobody).utility]


@pytest.mark.parametrize("penalty", [1e-6, 0.004, 0.006, 0.02, 0.1, 1e4])
@pytest.mark.parametrize("family", INTERLEAVED)
def test_repeated_features_leave_the_ties_where_they_are(family: str, penalty: float) -> None:
    """Walks of several blocks, few distinct features: many leads are exactly or nearly 0."""
    for seed in range(3):
        graph = random_graph(seed, n=30, n_train=9, n_classes=3, n_val=60, probability=0.2)
        kinds = np.random.default_rng(seed).integers(0, 4, len(graph.features.toarray()))
        graph = Graph(graph.adjacency, np.eye(4)[kinds], graph.labels, train=graph.train, val=graph.val, test=[])
        game = two_hops(graph, penalty)
        order = FAMILIES[family](game.problem.tree, np.random.default_rng(seed))
        walk = game.walk(order)
        assert walk.evaluations > 2 * BLOCK
        assert walk.utility.tolist() == in_double(game, order)
        assert walk.utility[::5].tolist() == scratch(game, order, 5)


@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
@pytest.mark.parametrize("n_train", [2, 3])
def test_few_rows_change_many_times_in_a_block(n_train: int, metric: str) -> None:
    """With two rows every block changes both, so nothing is given."""
    graph = random_graph(1, n=14, n_train=n_train, n_classes=2, n_val=50, probability=0.5)
    game = two_hops(graph, 0.1, metric)
    tree = game.problem.tree
    order = FAMILIES["precedence"](tree, np.random.default_rng(0))
    for players in (order.players, order.players[::-1].copy()):  # backwards: every root after its tree
        walk = game.walk(Order(players, order.visited))
        expected = scratch(game, Order(players, order.visited), 7)
        np.testing.assert_allclose(walk.utility[::7], expected, atol=1e-10)


def test_an_order_may_end_in_steps_that_change_nothing() -> None:
    """Steps before the first root, and after the last change, whose number is a multiple of the block."""
    graph = make_graph([(0, k) for k in range(2, 27)] + [(1, k) for k in range(2, 23)], [0, 1], n_val=40)
    game = two_hops(graph, 0.1)
    tree = game.problem.tree
    null, rest = np.flatnonzero(tree.null), FAMILIES["precedence"](tree, np.random.default_rng(0)).players
    rest = rest[~tree.null[rest]]
    for n_before in (0, len(null) // 2):
        players = np.r_[null[:n_before], rest, null[n_before:]]
        order = Order(players, np.ones(len(players), dtype=bool))
        walk = game.walk(order)
        assert walk.utility.tolist() == scratch(game, order)
        assert (walk.utility[:n_before] == 0).all()
    cut = np.r_[rest[:BLOCK], null]
    order = Order(cut, np.ones(len(cut), dtype=bool))
    walk = game.walk(order)
    assert walk.utility.tolist() == scratch(game, order)


@pytest.mark.parametrize("family", INTERLEAVED)
@pytest.mark.parametrize("penalty", [1e-9, 1e-5, 0.006])
def test_duplicate_rows_and_a_tiny_penalty(family: str, penalty: float) -> None:
    graph = random_graph(1, n=40, n_train=12, n_classes=3, n_val=60, n_features=30, probability=0.1)
    features = graph.features.toarray()
    features[graph.train[6:]] = features[graph.train[:6]]
    graph = Graph(graph.adjacency, features, graph.labels, train=graph.train, val=graph.val, test=[])
    game = two_hops(graph, penalty, "log-likelihood")
    order = FAMILIES[family](game.problem.tree, np.random.default_rng(1))
    np.testing.assert_allclose(game.walk(order).utility[::7], scratch(game, order, 7), atol=1e-7)


@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_interleaved_orders_of_many_blocks(penalty: float) -> None:
    graph = random_graph(4, n=30, probability=0.4, n_train=8, n_classes=3, n_val=40)
    game = walker(graph, 2, "log-likelihood", penalty=penalty)
    order = FAMILIES["precedence"](game.problem.tree, np.random.default_rng(0))
    walk = game.walk(order)
    assert walk.evaluations > 10 * interleaved.BLOCK
    coalition = np.zeros(len(order.players), dtype=bool)
    for k in range(0, len(order.players), 37):
        coalition[order.players[: k + 1]] = True
        assert walk.utility[k] == pytest.approx(game.utility(coalition), abs=1e-9)


@pytest.mark.parametrize("penalty", [1e-3, 1e-5, 1e-7])
def test_interleaved_orders_keep_their_precision_with_more_rows_than_features(penalty: float) -> None:
    rng = np.random.default_rng(0)
    edges = [(u, v) for u in range(24) for v in range(u) if rng.random() < 0.25]
    graph = Graph(edges, rng.random((84, 3)), np.arange(84) % 3, train=range(20), val=range(24, 84))
    game = walker(graph, 2, penalty=penalty, bias=1.0)
    for family in ("precedence", "free"):
        order = FAMILIES[family](game.problem.tree, rng)
        walk = game.walk(order)
        for k in range(0, len(order.players), 97):
            coalition = np.zeros(len(order.players), dtype=bool)
            coalition[order.players[: k + 1]] = True
            assert walk.utility[k] == game.utility(coalition)


@pytest.mark.parametrize("penalty", [1e-4, 1e-3])
def test_ties_in_interleaved_orders_survive_small_penalties(penalty: float) -> None:
    """Nodes without features, whose scores are exactly tied: what adds up in the inverse must not decide."""
    for seed in range(30):
        graph = random_graph(seed, n=20, n_train=8, n_classes=3, n_val=24, probability=0.15)
        features = graph.features.toarray()
        features[np.random.default_rng(seed).random(len(features)) < 0.4] = 0.0
        graph = Graph(graph.adjacency, features, graph.labels, train=graph.train, val=graph.val, test=[])
        game = walker(graph, 2, penalty=penalty)
        order = FAMILIES["precedence"](game.problem.tree, np.random.default_rng(seed))
        walk = game.walk(order)
        coalition = np.zeros(len(order.players), dtype=bool)
        for k, player in enumerate(order.players):
            coalition[player] = True
            if k % 5 == 0:
                assert walk.utility[k] == game.utility(coalition)


@pytest.mark.parametrize(("penalty", "bias"), [(0.01, 30.0), (0.1, 100.0), (1.0, 300.0)])
@pytest.mark.parametrize("family", INTERLEAVED)
def test_interleaved_orders_keep_their_precision_when_the_kernel_is_large(
    family: str, penalty: float, bias: float
) -> None:
    """The updates in a block divide rounding errors of the kernel by the penalty."""
    graph = random_graph(0, n=24, n_train=8, n_classes=3, n_val=20, probability=0.15)
    game = walker(graph, 2, "log-likelihood", penalty=penalty, bias=bias)
    tree, targets = game.problem.tree, graph.labels[graph.val]
    order = FAMILIES[family](tree, np.random.default_rng(0))
    utility = game.walk(order).utility
    for k in range(0, tree.n_players, 9):
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[: k + 1]] = True
        if coalition[tree.roots].any():
            scores = ridge_prefix(graph, tree, coalition, penalty, bias)
            assert utility[k] == pytest.approx(log_likelihood(scores, targets), abs=1e-10)


def test_rows_that_are_larger_while_incomplete_shorten_the_blocks() -> None:
    """Paths of three nodes whose features cancel: a root alone is far larger than its complete row."""
    t, n_val, rng = 20, 30, np.random.default_rng(0)
    edges = [edge for r in range(t) for edge in ((r, t + r), (t + r, 2 * t + r))]
    weights = dense_power(np.eye(3, k=1) + np.eye(3, k=-1), 2)[0]
    features = rng.random((3 * t + n_val, 6))
    root, middle = features[:t], features[t : 2 * t]
    small = 0.01 * rng.normal(size=root.shape)
    features[2 * t : 3 * t] = (small - weights[0] * root - weights[1] * middle) / weights[2]
    labels = np.r_[np.arange(t) % 3, np.full(2 * t, -1), np.arange(n_val) % 3]
    graph = Graph(edges, features, labels, train=range(t), val=range(3 * t, 3 * t + n_val), test=[])
    game = walker(graph, 2, "log-likelihood", penalty=0.03, bias=3.0, temperature=10.0)
    assert game.block < walker(random_graph(0), 2, penalty=0.03, bias=3.0).block == BLOCK
    order = FAMILIES["precedence"](game.problem.tree, np.random.default_rng(0))
    np.testing.assert_allclose(game.walk(order).utility[::3], scratch(game, order, 3), atol=1e-10)
