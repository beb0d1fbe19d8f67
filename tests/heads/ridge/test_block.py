"""Interleaved walks in blocks: against solves from scratch, and the bound on what single precision does."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import make_graph, random_graph
from pcwinter.game.detail import make_parts
from pcwinter.game.metrics import ACCURACY, METRICS, class_ends
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import make_problem
from pcwinter.game.protocol import Order
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge import block_scores
from pcwinter.heads.ridge.block import Changes, changes
from pcwinter.heads.ridge.block_scores import make_lines, note_line
from pcwinter.heads.ridge.course import Scoring
from pcwinter.heads.ridge.head import RidgeWalker, solve
from pcwinter.heads.ridge.interleaved import BLOCK

INTERLEAVED = ["precedence", "free"]


def walker(graph: Graph, penalty: float, metric: str = "accuracy", bias: float = 0.5) -> RidgeWalker:
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
        game = walker(graph, penalty)
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
    game = walker(graph, 0.1, metric)
    tree = game.problem.tree
    order = FAMILIES["precedence"](tree, np.random.default_rng(0))
    for players in (order.players, order.players[::-1].copy()):  # backwards: every root after its tree
        walk = game.walk(Order(players, order.visited))
        expected = scratch(game, Order(players, order.visited), 7)
        np.testing.assert_allclose(walk.utility[::7], expected, atol=1e-10)


def test_an_order_may_end_in_steps_that_change_nothing() -> None:
    """Steps before the first root, and after the last change, whose number is a multiple of the block."""
    graph = make_graph([(0, k) for k in range(2, 27)] + [(1, k) for k in range(2, 23)], [0, 1], n_val=40)
    game = walker(graph, 0.1)
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
    game = walker(graph, penalty, "log-likelihood")
    order = FAMILIES[family](game.problem.tree, np.random.default_rng(1))
    np.testing.assert_allclose(game.walk(order).utility[::7], scratch(game, order, 7), atol=1e-7)


@pytest.mark.parametrize("n_used", [0, 1, 8])
def test_the_changes_of_a_block_lead_from_solve_to_solve(n_used: int) -> None:
    rng = np.random.default_rng(n_used)
    t, d, v, roots = 8, 12, 30, np.array([3, 1, 3, 3, 7, 0, 1])
    rows, new, z, labels = rng.normal(size=(t, d)), rng.normal(size=(7, d)), rng.normal(size=(v, d)), np.arange(t) % 3
    used = np.arange(t) < n_used
    rows[~used] = 0.0
    kernel = np.where(np.outer(used, used), rows @ rows.T + 4.0, 0.0)
    known = np.c_[np.where(used, new @ rows.T + 4.0, 0.0), new @ new.T + 4.0]
    block = changes(roots, used, labels, 3, kernel, known, 0.3)
    lines, now, deltas = rows @ z.T, rows.copy(), []
    for r, row in zip(roots, new, strict=True):
        deltas.append((row - now[r]) @ z.T)
        now[r] = row
    combined = block.weights @ np.r_[lines, deltas] + 4.0 * block.sums[:, None]
    scores, now = combined[14:], rows.copy()
    for j, r in enumerate(roots):
        scores += np.outer(block.slopes[2 * j], combined[2 * j]) + np.outer(
            block.slopes[2 * j + 1], combined[2 * j + 1]
        )
        now[r], used[r] = new[j], True
        expected = solve(now[used] @ now[used].T + 4.0, now[used] @ z.T + 4.0, labels[used], 3, 0.3)
        np.testing.assert_allclose(scores, expected, atol=1e-12)


@pytest.mark.parametrize("size", [1e-40, 1e-3, 1.0, 30.0, 1e38])
def test_counts_in_single_precision_are_those_of_double(size: float) -> None:
    """Lines and weights of any size: the error of single precision stays within its bound, and beyond its range all is
    in doubt."""
    rng = np.random.default_rng(0)
    t, b, n_classes, v = 40, 20, 4, 300
    targets = np.sort(rng.integers(0, n_classes, v))
    scoring = Scoring(ACCURACY, class_ends(targets, n_classes), 1.0, 1e-12 * size, 0.0, 0.0)
    lines = make_lines(t, b, n_classes, v, True)
    lines.exact[:] = np.repeat(rng.normal(size=(t + b, v // 2)), 2, axis=1)
    for k in range(t + b):
        note_line(lines, k)
        assert lines.largest[k] == np.abs(lines.exact[k]).max()
    block = Changes(
        size * rng.normal(size=(2 * b + n_classes, t + b)),
        size * rng.normal(size=2 * b + n_classes),
        rng.normal(size=(2 * b, n_classes)),
    )
    found = block_scores._count(scoring, lines, block, 2.0)
    combined = block.weights @ lines.exact + 2.0 * block.sums[:, None]
    scores = combined[2 * b :]
    for j in range(b):
        for k in (2 * j, 2 * j + 1):
            scores += np.outer(block.slopes[k], combined[k])
        assert found[j] == np.sum(scores.argmax(axis=0) == targets)
        if j == b - 1 and 1e-4 < size < 1e3:
            error = np.abs(lines.scores - scores).max()
            assert 0 < error < 0.1 * lines.trust[0]
            assert np.abs(scores).max() <= lines.trust[1]
