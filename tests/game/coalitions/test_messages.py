"""The message game: weights against walks that rest, rows against the model and the definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from any_graph import ANY_KIND, KINDS, any_graph, coalition_rows, dense, model_rows, operator
from oracles import filtered, message_row, random_graph, walks_that_rest
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.coalitions.messages import carriers, message_weights
from pcwinter.game.problem import make_problem
from pcwinter.game.tree import ContributionTree, contribution_tree
from pcwinter.graph.graph import Graph

THETAS = [(0.3, 0.7), (0.0, 0.0, 1.0), (0.1, 0.3, 0.6), (1.0, 0.0, 0.5), (0.0, 0.0, 0.0, 1.0), (0.1, 0.2, 0.3, 0.4)]


def paths_of(tree: ContributionTree) -> list[tuple[int, ...]]:
    return [tuple(int(v) for v in path if v >= 0) for path in tree.paths()]


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_walks_that_rest(theta: tuple[float, ...], seed: int) -> None:
    """On any matrix with the edges of the graph: weighted, directed, and with some self-loops of weight 0."""
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, n=7, probability=0.4, n_train=3)
    step = (graph.training.toarray() + np.eye(graph.n_nodes)) * rng.random((graph.n_nodes, graph.n_nodes))
    step[np.diag_indices(graph.n_nodes)] *= rng.random(graph.n_nodes) < 0.4
    tree = contribution_tree(graph, len(theta) - 1)
    weights, reach = message_weights(tree, sp.csr_array(step), theta)
    expected = [walks_that_rest(step, root, theta) for root in graph.train.tolist()]
    for path, tree_number, weight in zip(paths_of(tree), tree.tree, weights, strict=True):
        assert weight == pytest.approx(expected[tree_number].get(path, 0.0), rel=1e-12, abs=1e-15)
    leaf = np.flatnonzero(tree.depth == tree.hops)
    edge = step[tree.node[tree.parent[leaf]], tree.node[leaf]]
    np.testing.assert_allclose(weights[leaf], reach[tree.parent[leaf]] * edge, rtol=1e-12)
    if seed == 1 and theta == (0.0, 0.0, 1.0):  # some players of weight 0 have descendants of more
        assert (weights[tree.parent[tree.parent >= 0]] == 0)[weights[tree.parent >= 0] > 0].any()


@pytest.mark.parametrize("theta", THETAS)
def test_complete_rows_are_those_of_the_model(theta: tuple[float, ...]) -> None:
    graph = random_graph(1, n=12, probability=0.4, n_train=4)
    problem = make_problem(graph, contribution_tree(graph, len(theta) - 1), "messages", theta)
    model = (filtered(graph.training.toarray(), theta) @ graph.features.toarray())[graph.train]
    everybody = np.ones(problem.tree.n_players, dtype=bool)
    np.testing.assert_allclose(problem.complete.toarray(), model, atol=1e-12)
    np.testing.assert_allclose(
        problem.training_rows(coefficients(problem.local, everybody)).toarray(), model, atol=1e-12
    )


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_rows_of_coalitions_equal_the_definition(theta: tuple[float, ...], share: float) -> None:
    graph = random_graph(2, n=8, probability=0.4, n_train=3)
    tree = contribution_tree(graph, len(theta) - 1)
    problem = make_problem(graph, tree, "messages", theta)
    coalition = np.random.default_rng(0).random(tree.n_players) < share
    coalition[tree.roots] = True
    rows = problem.training_rows(coefficients(problem.local, coalition)).toarray()
    for row, root in zip(rows, graph.train.tolist(), strict=True):
        np.testing.assert_allclose(row, message_row(graph, tree, root, coalition, theta), atol=1e-12)


def test_a_root_alone_is_its_own_features_at_full_strength() -> None:
    graph = random_graph(3, n=9, probability=0.4)
    tree = contribution_tree(graph, 2)
    problem = make_problem(graph, tree, "messages")
    rows = problem.training_rows(coefficients(problem.local, tree.depth == 0)).toarray()
    strength = filtered(graph.training.toarray(), (0, 0, 1)).sum(axis=1)[graph.train]
    np.testing.assert_allclose(rows, strength[:, None] * graph.features.toarray()[graph.train], atol=1e-12)


@pytest.mark.parametrize(
    ("theta", "coalition", "facts"),
    [
        ((0, 0, 1), "induced", "coalition"),
        ((0, 1), "messages", "2 .* 3"),
        ((0, 0, 0), "messages", "above 0"),
        ((0, -1, 1), "messages", "-1"),
        ((), "message", "did you mean messages"),
    ],
)
def test_what_does_not_fit_is_refused(theta: tuple[float, ...], coalition: str, facts: str) -> None:
    graph = random_graph(0)
    with pytest.raises(ValueError, match=facts):
        make_problem(graph, contribution_tree(graph, 2), coalition, theta)


@ANY_KIND
@pytest.mark.parametrize("theta", THETAS)
def test_any_graph_has_the_weights_of_walks_and_the_rows_of_the_model(kind: str, theta: tuple[float, ...]) -> None:
    graph = any_graph(kind, 1, n=7, n_train=3, n_val=4, probability=0.25)
    tree = contribution_tree(graph, len(theta) - 1)
    problem = make_problem(graph, tree, "messages", theta)
    step = operator(graph, dense(graph))
    expected = [walks_that_rest(step, root, theta) for root in graph.train.tolist()]
    for path, number, weight in zip(paths_of(tree), tree.tree, problem.local.weight, strict=True):
        assert weight == pytest.approx(expected[number].get(path, 0.0), rel=1e-9, abs=1e-15)
    model = model_rows(graph, dense(graph), theta)
    np.testing.assert_allclose(problem.complete.toarray(), model[graph.train], atol=1e-12)
    z = model_rows(graph, dense(graph, "validation"), theta)[graph.val]
    by_class = np.argsort(graph.labels[graph.val], kind="stable")
    np.testing.assert_allclose(problem.rows.toarray(), z[by_class], atol=1e-12)
    everybody = np.ones(tree.n_players, dtype=bool)
    rows = problem.training_rows(coefficients(problem.local, everybody)).toarray()
    np.testing.assert_allclose(rows, model[graph.train], atol=1e-12)
    coalition = np.random.default_rng(0).random(tree.n_players) < 0.7
    coalition[tree.roots] = True
    rows = problem.training_rows(coefficients(problem.local, coalition)).toarray()
    np.testing.assert_allclose(rows, coalition_rows(graph, tree, coalition, theta), atol=1e-12)


def test_without_self_loops_a_player_without_a_message_carries_others() -> None:
    graph = any_graph("no loops", 1)
    tree = contribution_tree(graph, 2)
    problem = make_problem(graph, tree, "messages")
    assert (problem.local.weight[tree.depth < 2] == 0).all()
    expected = (tree.depth != 1) | (tree.children > 0)
    np.testing.assert_array_equal(carriers(tree, problem.local.weight), expected)
    np.testing.assert_array_equal(problem.null, ~expected)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "plain transductive"])
def test_the_induced_game_is_refused_where_it_is_not_defined(kind: str) -> None:
    graph = any_graph(kind)
    with pytest.raises(ValueError, match=r"coalition='induced' is defined for undirected.*use coalition='messages'"):
        make_problem(graph, contribution_tree(graph, 1))


def test_messages_that_are_too_light_are_refused() -> None:
    edges, weights = [(0, 2), (2, 3), (1, 3)], [1e-20, 1e20, 1.0]
    graph = Graph(edges, np.eye(5), [0, 1, -1, -1, 0], [0, 1], [4], weights=weights)
    with pytest.raises(ValueError, match=r"a message has the weight .*e-.*bring the weights of the edges"):
        make_problem(graph, contribution_tree(graph, 3), "messages")
