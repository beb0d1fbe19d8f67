"""The softmax head: every evaluation of a walk against a PyTorch model trained from scratch."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from any_graph import ANY_KIND, any_graph, coalition_rows, dense, model_rows
from block_rows import block_rows, model_blocks
from oracles import accuracy, log_likelihood, random_graph, training_rows, validation_rows
from pcwinter.experiments.judge import judge
from pcwinter.game.detail import make_parts
from pcwinter.game.metrics import METRICS
from pcwinter.game.orders import FAMILIES, sampler
from pcwinter.game.problem import COALITIONS, make_problem
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads import softmax
from pcwinter.heads.softmax import PAPER, Softmax, SoftmaxWalker, softmax_for
from pcwinter.valuation import exact_value
from torch_loop import torch_loop

RECIPE = Softmax(0.1, 40, 5e-4)


def torch_scores(graph: Graph, hops: int, coalition: np.ndarray, theta: tuple[float, ...]) -> np.ndarray:
    tree = contribution_tree(graph, hops)
    rows, labels = training_rows(graph, tree, coalition, theta)
    weights, bias = torch_loop(sp.csr_array(rows), labels, graph.n_classes, RECIPE)
    return np.asarray(validation_rows(graph, hops, theta) @ weights + bias)


@pytest.mark.parametrize(("hops", "theta"), [(1, ()), (2, ()), (2, (0.0, 0.0, 1.0)), (2, (0.2, 0.5, 0.3))])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_prefix_equals_the_definition(hops: int, family: str, theta: tuple[float, ...]) -> None:
    graph = random_graph(2, n=7, probability=0.4, n_train=3, n_classes=3, n_val=30)
    tree, targets = contribution_tree(graph, hops), graph.labels[graph.val]
    counting, smooth = (
        SoftmaxWalker(make_problem(graph, tree, "messages" if theta else "induced", theta), RECIPE, METRICS[m])
        for m in ("accuracy", "log-likelihood")
    )
    order = FAMILIES[family](tree, np.random.default_rng(0))
    counts, logs = counting.walk(order).utility, smooth.walk(order).utility
    coalition = np.zeros(tree.n_players, dtype=bool)
    checked = np.random.default_rng(1).permutation(tree.n_players)[:12]
    for k in np.sort(np.r_[checked, tree.n_players - 1]):
        coalition[order.players[: k + 1]] = True
        if not coalition[tree.roots].any():
            assert counts[k] == counting.utility(coalition) == 0
            assert logs[k] == smooth.utility(coalition) == -np.log(3)
            continue
        scores = torch_scores(graph, hops, coalition, theta)
        assert counts[k] == counting.utility(coalition) == round(30 * accuracy(scores, targets))
        assert logs[k] == pytest.approx(log_likelihood(scores, targets), abs=1e-8)
    assert len(np.unique(np.round(logs, 8))) >= 3


@pytest.mark.parametrize("family", FAMILIES)
def test_the_size_of_a_batch_changes_nothing(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(4, n_classes=3, n_val=20)
    tree = contribution_tree(graph, 2)
    walker = SoftmaxWalker(make_problem(graph, tree), Softmax(0.1, 10, 0.0), METRICS["log-likelihood"])
    order = FAMILIES[family](tree, np.random.default_rng(0))
    walks = []
    for size in (1, 7, 1000):
        monkeypatch.setattr(softmax, "BATCH", size)
        walks.append(walker.walk(order))
    for walk in walks[1:]:
        np.testing.assert_allclose(walk.utility, walks[0].utility, atol=1e-12)
        assert walk.evaluations == walks[0].evaluations


def test_silent_steps_and_detail() -> None:
    graph = random_graph(2, n=14, probability=0.4, n_classes=3, n_val=30)
    tree = contribution_tree(graph, 2)
    walker = SoftmaxWalker(make_problem(graph, tree), Softmax(0.1, 10, 0.0), METRICS["accuracy"])
    order = sampler(tree, "dfs", (0.5, 0.7))(np.random.default_rng(1))
    parts = make_parts(sp.eye_array(tree.n_players, dtype=np.int64, format="csr"), 30)
    walk = walker.walk(order, parts)
    assert walk.baselines > 0
    begin = order.steps()[:-1]
    credited = order.visited[begin]
    steps = np.diff(walk.utility, prepend=0)
    np.testing.assert_array_equal(parts.sums.sum(axis=1)[order.players[begin[credited]]], steps[credited])
    np.testing.assert_array_equal(parts.last.sum(), walk.utility[-1])
    for k, end in enumerate(order.steps()[1:]):
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[:end]] = True
        assert walk.utility[k] == walker.utility(coalition)


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"learning_rate": 0.0}, r"learning_rate is 0\.0.* positive"),
        ({"learning_rate": np.nan}, "learning_rate is nan"),
        ({"epochs": 0}, "epochs is 0.* at least 1"),
        ({"epochs": 1.5}, r"epochs is 1\.5"),
        ({"weight_decay": -1.0}, r"weight_decay is -1\.0.* 0 or"),
    ],
)
def test_parameters_are_checked(changes: dict[str, Any], facts: str) -> None:
    with pytest.raises(ValueError, match=facts):
        Softmax(**changes)


def test_a_public_graph_has_the_parameters_of_the_paper() -> None:
    assert softmax_for(random_graph(1)) == Softmax() == Softmax(learning_rate=0.01, epochs=200, weight_decay=5e-4)
    amazon, physics = Softmax(0.1, 200, 0.0), Softmax(0.01, 30, 5e-4)
    assert {"amazon-photo": amazon, "amazon-computers": amazon, "coauthor-physics": physics} == PAPER
    graph = random_graph(1)
    arrays = (graph.adjacency, graph.features, graph.labels, graph.train, graph.val)
    assert softmax_for(Graph(*arrays, name="coauthor-physics")) == physics
    assert softmax_for(Graph(*arrays, name="mine")) == Softmax()


def test_the_judge_needs_test_nodes() -> None:
    with pytest.raises(ValueError, match="no test nodes"):
        judge(random_graph(1))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("coalition", COALITIONS)
def test_the_utility_depends_on_the_coalition_alone(family: str, coalition: str) -> None:
    """To the last bit: in the walk, whatever the order, and from scratch."""
    graph = random_graph(5, n=9, probability=0.4, n_train=3, n_classes=3, n_val=20)
    tree = contribution_tree(graph, 2)
    walker = SoftmaxWalker(make_problem(graph, tree, coalition), RECIPE, METRICS["log-likelihood"])
    order = FAMILIES[family](tree, np.random.default_rng(3))
    utility, inside = walker.walk(order).utility, np.zeros(tree.n_players, dtype=bool)
    for k in range(0, tree.n_players, 9):
        inside[order.players[: k + 1]] = True
        assert utility[k] == walker.utility(inside)


@pytest.mark.filterwarnings("ignore:the model")
def test_exact_values_add_up_where_all_gradients_are_zero() -> None:
    """Four nodes with the same features and four classes: nothing can be learnt from all of them."""
    labels = [0, 1, 2, 3, *range(4), *range(4)]
    features = np.vstack([np.full((4, 3), 0.3), np.random.default_rng(0).random((8, 3))])
    graph = Graph([], features, labels, train=[0, 1, 2, 3], val=range(4, 12))
    values = exact_value(graph, hops=1, head=Softmax(0.1, 200, 0.0))
    assert values.utility_full == 2 / 8  # all are tied, so the first class wins
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full - values.utility_empty, abs=1e-12)


@ANY_KIND
@pytest.mark.parametrize("family", FAMILIES)
def test_prefixes_on_any_graph_equal_the_definition(kind: str, family: str) -> None:
    graph, theta = any_graph(kind, 2, n=7, n_train=3, n_classes=3, n_val=20, probability=0.17), (0.0, 0.0, 1.0)
    tree, targets = contribution_tree(graph, 2), graph.labels[graph.val]
    walker = SoftmaxWalker(make_problem(graph, tree, "messages"), RECIPE, METRICS["log-likelihood"])
    order = FAMILIES[family](tree, np.random.default_rng(0))
    logs = walker.walk(order).utility
    z = model_rows(graph, dense(graph, "validation"), theta)[graph.val]
    for k in [*np.random.default_rng(1).permutation(tree.n_players)[:4], tree.n_players - 1]:
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[: k + 1]] = True
        if coalition[tree.roots].any():
            rows, labels = coalition_rows(graph, tree, coalition, theta), graph.labels[graph.train]
            weights, bias = torch_loop(sp.csr_array(rows), labels[coalition[tree.roots]], graph.n_classes, RECIPE)
            assert logs[k] == pytest.approx(log_likelihood(np.asarray(z @ weights + bias), targets), abs=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_prefixes_with_blocks_equal_the_definition(family: str) -> None:
    graph = any_graph("directed weighted", 2, n=7, n_train=3, n_classes=3, n_val=20, probability=0.17)
    tree, targets = contribution_tree(graph, 2), graph.labels[graph.val]
    walker = SoftmaxWalker(make_problem(graph, tree, "messages", blocks=True), RECIPE, METRICS["log-likelihood"])
    order = FAMILIES[family](tree, np.random.default_rng(0))
    logs = walker.walk(order).utility
    z = model_blocks(graph, 2, "validation")[graph.val]
    for k in [*np.random.default_rng(1).permutation(tree.n_players)[:4], tree.n_players - 1]:
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[: k + 1]] = True
        if coalition[tree.roots].any():
            rows, labels = block_rows(graph, tree, coalition), graph.labels[graph.train]
            weights, bias = torch_loop(sp.csr_array(rows), labels[coalition[tree.roots]], graph.n_classes, RECIPE)
            assert logs[k] == pytest.approx(log_likelihood(np.asarray(z @ weights + bias), targets), abs=1e-8)
            assert walker.utility(coalition) == logs[k]
