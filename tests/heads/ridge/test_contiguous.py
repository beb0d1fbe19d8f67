"""Walks along contiguous orders: single against double precision, silent steps, wide trees."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import make_graph, random_graph
from pcwinter.game.detail import make_parts
from pcwinter.game.metrics import METRICS
from pcwinter.game.orders import FAMILIES, sampler
from pcwinter.game.problem import make_problem
from pcwinter.game.protocol import Order, Walk
from pcwinter.game.tree import ContributionTree, contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge import contiguous, head
from pcwinter.heads.ridge.counting import errors
from pcwinter.heads.ridge.head import RidgeWalker
from ridge_walks import walker


def in_double(game: RidgeWalker, order: Order) -> Walk:
    """The same walk in double precision, every score written out: the parts by node ask for it."""
    nobody = sp.csr_array((0, len(order.players)), dtype=np.int64)
    return game.walk(order, make_parts(nobody, len(game.problem.targets)))


def twins(seed: int, penalty: float, metric: str = "accuracy") -> RidgeWalker:
    """A graph in which half of the labelled nodes are copies of the others, label apart: everything is nearly tied."""
    graph = random_graph(seed, n=40, n_train=12, n_classes=3, n_val=60, n_features=30, probability=0.1)
    features = graph.features.toarray()
    features[graph.train[6:]] = features[graph.train[:6]]
    graph = Graph(graph.adjacency, features, graph.labels, train=graph.train, val=graph.val, test=[])
    tree = contribution_tree(graph, 2)
    return RidgeWalker(make_problem(graph, tree), penalty, 0.5, METRICS[metric])


@pytest.mark.parametrize("penalty", [1e-8, 1e-3, 1.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_single_and_double_precision_agree_on_duplicate_rows(family: str, penalty: float) -> None:
    for seed in range(5):
        game = twins(seed, penalty)
        order = FAMILIES[family](game.problem.tree, np.random.default_rng(seed))
        assert game.walk(order).utility.tolist() == in_double(game, order).utility.tolist()


@pytest.mark.parametrize("same", [False, True])
def test_single_and_double_precision_agree_in_large_trees(same: bool) -> None:
    """A star of stars, whose sums have thousands of terms, and validation nodes around the boundary of two classes."""
    hubs, leaves, n_val = 60, 60, 3000
    hub, n = np.arange(2, 2 + hubs), 2 + hubs + hubs * leaves
    edges = [*((1, int(h)) for h in hub), *zip(np.repeat(hub, leaves).tolist(), range(2 + hubs, n), strict=True)]
    features = np.tile([1.0, 0.5], (n + n_val, 1))
    if not same:
        features[1:n] *= np.random.default_rng(0).uniform(0.5, 1.5, (n - 1, 1))
    features[0] = [0, 1]
    features[n:] = np.c_[np.ones(n_val), np.linspace(-10, 10, n_val)]
    labels = np.full(n + n_val, -1)
    labels[:2], labels[n:] = (0, 1), np.arange(n_val) % 2
    graph = Graph(edges, features, labels, train=[0, 1], val=np.arange(n, n + n_val), test=[])
    game = RidgeWalker(make_problem(graph, contribution_tree(graph, 2)), 1.0, 0.0, METRICS["accuracy"], primal=False)
    order = FAMILIES["dfs"](game.problem.tree, np.random.default_rng(1))
    utility = game.walk(order).utility
    assert utility.tolist() == in_double(game, order).utility.tolist()
    assert len(set(utility.tolist())) > 1


def test_the_error_of_single_precision_is_far_below_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that the walks leave behind, conditioned on all rows and on the way of the last tree."""
    left = []
    walk_dual: Any = contiguous.walk_dual

    def watched(*arguments: object) -> None:
        walk_dual(*arguments)
        left.append(next(x for x in arguments[::-1] if isinstance(x, np.ndarray)))

    monkeypatch.setattr(head, "walk_dual", watched)
    for seed in range(5):
        game = twins(seed, 1e-6)
        order = FAMILIES["dfs"](game.problem.tree, np.random.default_rng(seed))
        game.walk(order)
        in_double(game, order)
        single, double = left[-2:]
        assert [single.dtype, double.dtype] == [np.float32, np.float64]
        last = int(game.problem.local.tree[order.players[-1]])
        used = len(game.to_nodes) + int(np.diff(game.problem.local.inner_begin)[last]) + 1
        assert (np.abs(single - double)[:used].max(axis=0) < 0.1 * errors(game.products(0, 60))).all()


def expected_counts(tree: ContributionTree, order: Order) -> tuple[int, int]:
    """Steps of a DFS order that bring in a root or a new edge: those of visited players, and silent ones."""
    known: set[tuple[int, int]] = set()
    counts = [0, 0]
    steps = order.steps()
    for begin, end in pairwise(steps):
        new = False
        for p in order.players[begin:end]:
            thing = (int(tree.tree[p]), int(tree.edge[p]))  # the root itself has edge -1
            if not tree.null[p] and thing not in known:
                known.add(thing)
                new = True
        counts[0 if order.visited[begin] else 1] += new
    return counts[0], counts[1]


@pytest.mark.parametrize("truncation", [(0.5, 0.7), (0.7, 0.9), (0.0, 0.9)])
@pytest.mark.parametrize("primal", [False, True])
def test_silent_steps_end_at_the_right_utility(truncation: tuple[float, float], primal: bool) -> None:
    graph = random_graph(2, n=14, probability=0.4, n_classes=3, n_val=30)
    game = walker(graph, 2, primal=primal)
    order = sampler(game.problem.tree, "dfs", truncation)(np.random.default_rng(1))
    walk = game.walk(order)
    steps = order.steps()
    assert len(walk.utility) == len(steps) - 1 < len(order.players)
    for k, end in enumerate(steps[1:]):
        coalition = np.zeros(len(order.players), dtype=bool)
        coalition[order.players[:end]] = True
        assert walk.utility[k] == game.utility(coalition)
    heard, silent = expected_counts(game.problem.tree, order)
    assert (walk.evaluations, walk.baselines) == (heard, silent)
    assert silent > 0


def test_wide_trees_follow_the_features() -> None:
    """More slots than SMALL and than half the features: the kernel between slots is not stored."""
    rng = np.random.default_rng(0)
    edges = [(0, k) for k in range(2, 320)] + [(int(a), int(b)) for a, b in rng.integers(2, 320, (300, 2)) if a != b]
    with pytest.warns(UserWarning, match="repeated"):
        graph = make_graph([*edges, (2, 3), (2, 3)], [0, 1], n_val=40)
    game = walker(graph, 2)
    assert (game.gram_begin < 0).tolist() == [True, False]
    order = FAMILIES["dfs"](game.problem.tree, rng)
    walk = game.walk(order)
    coalition = np.zeros(len(order.players), dtype=bool)
    for k in range(0, len(order.players), 101):
        coalition[order.players[: k + 1]] = True
        assert walk.utility[k] == game.utility(coalition)


def test_duplicate_rows_and_a_tiny_penalty() -> None:
    """Two roots with equal features and no edges: the second conditional norm is 0 up to rounding."""
    graph = Graph(
        [(4, 5), (5, 6)],
        np.r_[np.tile([[1.0, 2.0]], (4, 1)), [[2.0, 1.0], [1.0, 2.0], [0.0, 1.0]]],
        [0, 1, 0, 1, 0, 1, 1],
        train=[0, 1, 2, 3],
        val=[4, 5, 6],
    )
    for primal in (False, True):
        game = walker(graph, 2, "log-likelihood", primal=primal, penalty=1e-10)
        order = FAMILIES["dfs"](game.problem.tree, np.random.default_rng(0))
        assert np.isfinite(game.walk(order).utility).all()
