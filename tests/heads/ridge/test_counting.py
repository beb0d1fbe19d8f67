"""Correct predictions of a rank-one step, counted in single precision with a second look in double precision."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import random_graph
from pcwinter import contribution_tree
from pcwinter.game.detail import make_parts
from pcwinter.game.metrics import ACCURACY, METRICS, TIE, class_ends
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import make_problem
from pcwinter.game.protocol import Order, Walk
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge import contiguous, head
from pcwinter.heads.ridge.counting import KEPT, add_row, largest_error, make_scores, score
from pcwinter.heads.ridge.course import Row, Scoring
from pcwinter.heads.ridge.head import RidgeWalker

RNG = np.random.default_rng(0)
TARGETS = np.sort(RNG.integers(0, 4, 150))
SCORES = RNG.normal(size=(4, 150))
ENDS = class_ends(TARGETS, 4)


def count(a: np.ndarray, b: np.ndarray, error: float, scores: np.ndarray = SCORES, ends: np.ndarray = ENDS) -> float:
    """By the fast path; the row is one slot of weight 1 whose products are `a`, so that it can be looked up again."""
    n_classes, n = scores.shape
    single: Any = a.astype(np.float32) if error else a
    known = make_scores(n_classes, n, single)
    for c in range(n_classes):
        add_row(known, c, 1.0, scores[c])
    products = np.stack([a, np.zeros(n)])
    row = Row(
        1.0,
        np.ones(1),
        np.zeros(1, dtype=np.int64),
        products,
        np.empty(0),
        products,
        np.empty((KEPT, 1)),
        np.full(KEPT, -1),
    )
    scoring = Scoring(ACCURACY, ends, 1.0, TIE, 0.0, error)
    return float(score(scoring, known, single, b, row, np.empty(0)))


@pytest.mark.parametrize("error", [0.0, 1e-5, 1e3], ids=["double", "single", "all looked up again"])
@pytest.mark.parametrize("size", [0.0, 1e-3, 0.1, 1.0, 10.0])
def test_the_fused_count_equals_the_plain_one(size: float, error: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = size * rng.normal(size=150), rng.normal(size=4)
        expected = np.sum((SCORES + np.outer(b, a)).argmax(axis=0) == TARGETS)
        assert count(a, b, error) == expected


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5, 8])
def test_any_number_of_classes(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    targets = np.sort(rng.integers(0, n_classes, 40))
    scores, a, b = rng.normal(size=(n_classes, 40)), rng.normal(size=40), rng.normal(size=n_classes)
    expected = np.sum((scores + np.outer(b, a)).argmax(axis=0) == targets)
    for error in (0.0, 1e-5):
        assert count(a, b, error, scores, class_ends(targets, n_classes)) == expected


def test_nodes_are_looked_at_again_while_the_row_moves_and_others_take_their_places() -> None:
    rng, n = np.random.default_rng(1), 3 * KEPT + 7
    targets = np.sort(rng.integers(0, 3, n))
    nodes, products, finished = np.array([2, 0]), rng.normal(size=(4, n)), rng.normal(size=(2, n))
    kept, whose, b = np.empty((KEPT, 5)), np.full(KEPT, -1), rng.normal(size=3)
    known = make_scores(3, n, np.empty(0, dtype=np.float32))
    for weight, white, scale in zip(rng.normal(size=(5, 2)), rng.normal(size=(5, 1)), rng.random(5), strict=True):
        row = Row(scale, weight, nodes, products, white, finished, kept, whose)
        scoring = Scoring(ACCURACY, class_ends(targets, 3), 1.0, TIE, 0.0, 1e9)
        a = products[3] + scale * weight @ products[nodes] - white @ finished[:1]
        expected = np.sum(np.outer(b, a).argmax(axis=0) == targets)
        assert score(scoring, known, np.zeros(n, dtype=np.float32), b, row, np.empty(0)) == expected


@pytest.mark.parametrize("error", [0.0, 1e-5])
def test_ties_go_to_the_lowest_class_also_after_rounding(error: float) -> None:
    noise = np.array([[0.0, 1e-13, -1e-13, 0.5], [1e-13, 0.0, 0.0, 0.5 + 1e-12], [0.0, 0.0, 1e-13, 0.5]])
    ends = class_ends(np.array([0, 0, 1, 2]), 3)
    assert count(np.zeros(4), np.zeros(3), error, noise, ends) == 2
    assert count(np.full(4, 1e-12), np.array([-1.0, 1.0, 1.0]), error, noise, ends) == 2


@pytest.mark.parametrize("error", [0.0, 1e-5])
def test_what_is_not_a_number_stays_so(error: float) -> None:
    assert np.isnan(count(np.full(150, np.nan), np.ones(4), error))
    assert np.isnan(count(np.ones(150), np.full(4, np.nan), error))


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
        assert np.abs(single - double)[:used].max() < 0.1 * largest_error(game.products(0, 60))
