"""The input of a head against the definition, and the game that is made of it."""

import numpy as np
import pytest

from any_graph import ANY_KIND, any_graph
from block_rows import block_rows, model_blocks
from oracles import accuracy, make_graph, random_graph, ridge_prefix, training_rows, validation_rows
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.metrics import METRICS
from pcwinter.game.problem import make_problem
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.graph_game import graph_game
from pcwinter.heads.ridge.head import Ridge


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_rows_equal_the_definition(hops: int) -> None:
    graph = random_graph(2, n=8, n_train=3, n_classes=3)
    tree = contribution_tree(graph, hops)
    problem = make_problem(graph, tree)
    sequence = np.argsort(graph.labels[graph.val], kind="stable")
    np.testing.assert_allclose(problem.rows.toarray(), validation_rows(graph, hops)[sequence], atol=1e-12)
    assert problem.targets.tolist() == graph.labels[graph.val][sequence].tolist()
    coalition = np.random.default_rng(hops).random(tree.n_players) < 0.7
    coalition[tree.roots] = [True, False, True]
    expected, labels = training_rows(graph, tree, coalition)
    weights = coefficients(problem.local, coalition)
    rows = problem.training_rows(weights).toarray()
    np.testing.assert_allclose(rows[[0, 2]], expected, atol=1e-12)
    assert not rows[1].any()
    assert problem.labels[[0, 2]].tolist() == labels.tolist()
    begin, trees = problem.local.begin, np.array([2, 0, 2])
    some = problem.some_rows(trees, [weights[begin[t] : begin[t + 1]] for t in trees])
    np.testing.assert_allclose(some.toarray(), rows[trees], atol=1e-12)


def test_the_game_counts_in_validation_nodes() -> None:
    graph = random_graph(2, n_val=30)
    tree = contribution_tree(graph, 2)
    game, _, _ = graph_game(graph, tree, Ridge(penalty=0.7, bias=0.8))
    assert (game.n_players, game.n_parts, game.unit, game.empty) == (tree.n_players, 30, 1 / 30, 0)
    everybody = np.ones(tree.n_players, dtype=bool)
    expected = accuracy(ridge_prefix(graph, tree, everybody, 0.7, 0.8), graph.labels[graph.val])
    assert game.utility(everybody) == pytest.approx(expected)


def test_the_utility_of_a_constant_prediction() -> None:
    plain = make_graph([(0, 2), (1, 3)], [0, 1], n_val=10)
    labels = plain.labels.copy()
    labels[plain.val] = [1] * 7 + [0] * 3
    graph = Graph(plain.adjacency, plain.features, labels, plain.train, plain.val)
    tree = contribution_tree(graph, 1)
    found = {
        name: graph_game(graph, tree, Ridge(penalty=1.0, bias=1.0, temperature=1.0), name)[0].constant_utility()
        for name in (*METRICS, "f1:0")
        if name not in METRICS or not METRICS[name].regression
    }
    f1 = 2 * 0.7 / (1 + 0.7)  # of class 1, with recall 1 and precision 0.7; 0 of the other
    logs = 0.7 * np.log(0.7) + 0.3 * np.log(0.3)
    expected = {"accuracy": 0.7, "macro-f1": f1 / 2, "probability": 0.7, "log-likelihood": logs}
    expected |= {"balanced-accuracy": 0.5, "roc-auc": 0.5, "average-precision": 0.7, "f1:0": 2 * 0.3 / (1 + 0.3)}
    assert found == pytest.approx(expected)


@ANY_KIND
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_hops_side_by_side_equal_the_definition(hops: int, kind: str) -> None:
    graph = any_graph(kind, hops, n=7)
    tree = contribution_tree(graph, hops)
    problem = make_problem(graph, tree, "messages", blocks=True)
    model = model_blocks(graph, hops)
    everybody = np.ones(tree.n_players, dtype=bool)
    np.testing.assert_allclose(problem.complete.toarray(), model[graph.train], atol=1e-12)
    np.testing.assert_allclose(block_rows(graph, tree, everybody), model[graph.train], atol=1e-12)
    sequence = graph.val[np.argsort(graph.labels[graph.val], kind="stable")]
    np.testing.assert_allclose(problem.rows.toarray(), model_blocks(graph, hops, "validation")[sequence], atol=1e-12)
    for share in (0.2, 0.5, 0.9):
        coalition = np.random.default_rng(hops).random(tree.n_players) < share
        coalition[tree.roots] = True
        rows = problem.training_rows(coefficients(problem.local, coalition)).toarray()
        np.testing.assert_allclose(rows, block_rows(graph, tree, coalition), atol=1e-12)
    alone = problem.training_rows(coefficients(problem.local, tree.depth == 0)).toarray()
    assert not alone[:, graph.features.shape[1] :].any()  # empty blocks are 0
    assert not problem.null.any()
