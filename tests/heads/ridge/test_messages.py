"""Walks of the message game: every step against the utility from scratch, with stored kernels, features, and primal."""

import numpy as np
import pytest

from any_graph import any_graph
from block_rows import block_scores
from oracles import accuracy, log_likelihood, random_graph
from pcwinter.game.coalitions.messages import message_weights
from pcwinter.game.metrics import METRICS
from pcwinter.game.orders import FAMILIES, sampler
from pcwinter.game.problem import make_problem
from pcwinter.game.protocol import Order
from pcwinter.game.tree import contribution_tree
from pcwinter.heads.ridge import head
from pcwinter.heads.ridge.head import RidgeWalker
from pcwinter.heads.ridge.messages import add, dot

FORMS = {"kernels": (256, False), "features": (0, False), "primal": (256, True)}


def orders(tree_hops: int, game: RidgeWalker, seed: int) -> list[Order]:
    """Every player visited, truncated, and silent at random, in one sequence of trees."""
    tree, rng = game.problem.tree, np.random.default_rng(seed)
    whole = sampler(tree)(rng)
    visited = (rng.random(tree.n_players) < 0.4) | (tree.parent[whole.players] < 0)
    return [whole, sampler(tree, "dfs", (0.5,) * tree_hops)(rng), Order(whole.players, visited)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
@pytest.mark.parametrize("theta", [(0.3, 0.7), (0.0, 0.0, 1.0), (0.4, 0.0, 0.6), (0.5, 0.5, 0.0), (0.1, 0.2, 0.3, 0.4)])
def test_every_step_equals_the_utility_from_scratch(
    theta: tuple[float, ...], metric: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, primal = FORMS[form]
    monkeypatch.setattr(head, "SMALL", small)
    for seed in range(3):
        graph = random_graph(seed, n=11, probability=0.35, n_train=4, n_classes=3, n_val=20, n_features=5)
        problem = make_problem(graph, contribution_tree(graph, len(theta) - 1), "messages", theta)
        game = RidgeWalker(problem, 0.3, 0.7, METRICS[metric], primal=primal)
        if form == "features":
            assert (game.gram_begin < 0).any()
        for order in orders(len(theta) - 1, game, seed):
            walk, steps = game.walk(order), order.steps()
            inside = np.zeros(len(order.players), dtype=bool)
            for step, utility in enumerate(walk.utility):
                inside[order.players[steps[step] : steps[step + 1]]] = True
                assert utility == pytest.approx(game.utility(inside), abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("kind", "hops"), [("plain transductive", 2), ("directed weighted", 2), ("weighted", 1)])
def test_every_step_with_blocks_equals_the_definition(
    kind: str, hops: int, family: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, primal = FORMS[form]
    monkeypatch.setattr(head, "SMALL", small)
    graph = any_graph(kind, 3, n=6, n_train=4, probability=0.22)
    tree, targets = contribution_tree(graph, hops), graph.labels[graph.val]
    problem = make_problem(graph, tree, "messages", blocks=True)
    logs, counts = (RidgeWalker(problem, 0.3, 0.7, METRICS[m], primal=primal) for m in ("log-likelihood", "accuracy"))
    rng = np.random.default_rng(1)
    whole = FAMILIES[family](tree, rng)
    chosen = [whole, *([sampler(tree, "dfs", (0.5,) * hops)(rng)] if family == "dfs" else [])]
    for order in chosen:
        steps, utility, right = order.steps(), logs.walk(order).utility, counts.walk(order).utility
        inside = np.zeros(tree.n_players, dtype=bool)
        for step in range(len(utility)):
            inside[order.players[steps[step] : steps[step + 1]]] = True
            if inside[tree.roots].any() and (step % 4 == 0 or step > len(utility) - 4):
                scores = block_scores(graph, tree, inside, 0.3, 0.7)
                assert utility[step] == pytest.approx(log_likelihood(scores, targets), abs=1e-9)
                assert logs.utility(inside) == pytest.approx(utility[step], abs=1e-9)
                assert right[step] == counts.utility(inside) == round(len(targets) * accuracy(scores, targets))


def test_parents_of_leaves_reach_all_leaves() -> None:
    graph = random_graph(0, n=9, probability=0.4, n_train=3)
    tree = contribution_tree(graph, 2)
    problem = make_problem(graph, tree, "messages")
    weight, reach = message_weights(tree, problem.step, (0.0, 0.0, 1.0))
    np.testing.assert_array_equal(weight, problem.local.weight)
    np.testing.assert_array_equal(reach, problem.local.reach)
    assert ((reach > 0) == (tree.depth == 1)).all()


@pytest.mark.parametrize("n", [0, 1, 3, 4, 9])
def test_dot_and_add(n: int) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n))
    assert dot(x, y) == pytest.approx(float(x @ y), abs=1e-14)
    to = x.copy()
    add(to, y, 0.25)
    np.testing.assert_allclose(to, x + 0.25 * y, atol=1e-15)
