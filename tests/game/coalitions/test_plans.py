"""Plans of the message game: their additions give the rows of the definition, with few vectors."""

from itertools import pairwise

import numpy as np
import pytest

from oracles import dense_power, message_row, random_graph
from pcwinter.game.coalitions.plans import Plan, make_plan
from pcwinter.game.orders import sampler
from pcwinter.game.problem import Problem, make_problem
from pcwinter.game.protocol import Order
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph

THETAS = [(0.2, 0.8), (0.0, 0.0, 1.0), (0.1, 0.3, 0.6), (0.5, 0.5, 0.0), (0.1, 0.2, 0.3, 0.4)]


def plan_of(problem: Problem, order: Order, sums: bool = True) -> Plan:
    """With the lines of slot s in row s, and those of its T_w in row m + s."""
    local = problem.local
    slots = np.arange(len(local.node))
    sum_rows = slots + len(slots) if sums else slots[:0]
    return make_plan(local, slots, sum_rows, order.players, order.visited, order.steps())


def lines_of(problem: Problem) -> np.ndarray:
    """Features of every slot's node, then the sums over its neighbours."""
    graph_step = problem.step.toarray()
    np.fill_diagonal(graph_step, 0.0)
    features = problem.features.toarray()
    nodes = problem.local.node
    return np.vstack([features[nodes], (graph_step @ features)[nodes]])


def check(problem: Problem, graph: Graph, theta: tuple[float, ...], order: Order, plan: Plan) -> None:
    """After every step, the row is that of the definition; a silent step that ends a tree has no additions."""
    tree, steps, lines = problem.tree, order.steps(), lines_of(problem)
    inside, row, open_tree = np.zeros(tree.n_players, dtype=bool), np.zeros(lines.shape[1]), -1
    for step, (begin, end) in enumerate(pairwise(steps.tolist())):
        number = tree.tree[order.players[begin]]
        if number != open_tree:
            row, open_tree = np.zeros(lines.shape[1]), number
        inside[order.players[begin:end]] = True
        here = slice(plan.end[step], plan.end[step + 1])
        row = row + plan.weight[here] @ lines[plan.row[here]]
        ends_tree = end == len(order.players) or tree.tree[order.players[end]] != number
        if ends_tree and not order.visited[begin]:
            assert plan.end[step] == plan.end[step + 1]
            continue
        expected = message_row(graph, tree, int(graph.train[number]), inside, theta)
        np.testing.assert_allclose(plan.scale[step, 0] * row, expected, atol=1e-12)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("family", ["dfs", "level", "truncated", "random silence"])
def test_the_additions_give_the_rows_of_the_definition(theta: tuple[float, ...], family: str) -> None:
    for seed in range(3):
        graph = random_graph(seed, n=9, probability=0.5, n_train=3)
        tree = contribution_tree(graph, len(theta) - 1)
        problem = make_problem(graph, tree, "messages", theta)
        rng = np.random.default_rng(seed)
        if family == "truncated":
            order = sampler(tree, "dfs", (0.6,) * tree.hops)(rng)
        else:
            order = sampler(tree, "level" if family == "level" else "dfs")(rng)
        if family == "random silence":
            order = Order(order.players, (rng.random(tree.n_players) < 0.3) | (tree.parent[order.players] < 0))
        for sums in (True, False):
            check(problem, graph, theta, order, plan_of(problem, order, sums))


@pytest.mark.parametrize("theta", THETAS)
def test_players_that_wait_for_their_ancestors_act_later(theta: tuple[float, ...]) -> None:
    graph = random_graph(5, n=7, probability=0.5, n_train=1, n_classes=1)
    tree = contribution_tree(graph, len(theta) - 1)
    problem = make_problem(graph, tree, "messages", theta)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        order = Order(rng.permutation(tree.n_players), np.ones(tree.n_players, dtype=bool))
        check(problem, graph, theta, order, plan_of(problem, order))


def test_a_silent_block_is_one_vector_less_the_children_that_are_not_in_it() -> None:
    graph = random_graph(2, n=14, probability=0.7, n_train=2)
    tree = contribution_tree(graph, 2)
    problem = make_problem(graph, tree, "messages")
    order = sampler(tree, "dfs", (0.3, 0.8))(np.random.default_rng(0))
    with_sums, without = plan_of(problem, order), plan_of(problem, order, False)
    used = with_sums.player[: with_sums.end[-1]]
    assert (used < 0).any()
    assert with_sums.end[-1] < 0.7 * without.end[-1]
    taken_away = with_sums.weight[: len(used)] < 0
    assert taken_away.any()
    assert (tree.depth[used[taken_away]] == 2).all()


def test_dense_power_is_the_step_of_the_problem() -> None:
    graph = random_graph(2, n=8, probability=0.5, n_train=2)
    problem = make_problem(graph, contribution_tree(graph, 2), "messages")
    np.testing.assert_allclose(problem.step.toarray(), dense_power(graph.training.toarray(), 1), atol=1e-15)
