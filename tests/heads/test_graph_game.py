"""Head and metric by name -> a game: parameters that are missing are filled in, all others are kept."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from metric_oracle import ALL, OF_CLASSES, balanced, empty_of, learnt, lopsided, suited, utility_of, with_numbers
from oracles import Mask, random_graph, ridge_fit, training_rows, validation_rows
from pcwinter.game.metrics import metric_for
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import GraphGame, make_problem
from pcwinter.game.tree import ContributionTree, contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.graph_game import check_head, describe, graph_game
from pcwinter.heads.ridge.head import Ridge, RidgeWalker
from pcwinter.heads.softmax import Softmax, SoftmaxWalker
from torch_loop import torch_loop

GRAPH = random_graph(2, n_val=20)
TREE = contribution_tree(GRAPH, 1)


def test_the_softmax_head_is_calibrated_or_has_the_parameters_given() -> None:
    given = Softmax(0.3, 7, 0.0)
    game, title, calibration = graph_game(GRAPH, TREE, given)
    assert isinstance(game.walker, SoftmaxWalker)
    assert (title, calibration) == (describe(given), None)
    game, title, calibration = graph_game(GRAPH, TREE, "softmax")
    assert calibration is not None
    assert isinstance(game.walker, SoftmaxWalker)
    assert game.walker.head == calibration.head
    assert title == describe(calibration.head)


def test_an_earlier_calibration_is_used_again() -> None:
    earlier = Calibration(Ridge(0.123, 0.5))
    game, _, calibration = graph_game(GRAPH, TREE, "ridge", calibration=earlier)
    assert calibration is earlier
    assert isinstance(game.walker, RidgeWalker)
    assert game.walker.penalty == 0.123


@pytest.mark.parametrize("metric", OF_CLASSES)
def test_what_a_ridge_head_lacks_is_calibrated(metric: str) -> None:
    given = Ridge(penalty=0.25, bias=2.0)
    game, title, calibration = graph_game(GRAPH, TREE, given, metric)
    assert isinstance(game.walker, RidgeWalker)
    assert "penalty 0.25, bias 2" in title
    assert game.metric == metric_for(metric, GRAPH)
    assert (calibration is not None) == ("temperature" in title) == game.metric.tempered
    if calibration is not None:
        assert isinstance(calibration.head, Ridge)
        assert (calibration.head.penalty, calibration.head.bias) == (0.25, 2.0)
    complete = Ridge(penalty=0.25, bias=2.0, temperature=0.5)
    assert graph_game(GRAPH, TREE, complete, metric)[2] is None


def test_descriptions_hold_the_parameters() -> None:
    assert all(word in describe(Softmax(0.3, 7, 0.01)) for word in ("0.3", "7", "0.01"))
    assert all(word in describe(Ridge(0.3, 7)) for word in ("0.3", "7"))


@pytest.mark.parametrize("head", ["mlp", "Ridge", None, Ridge, 1.0, ["ridge"]])
def test_heads_that_are_refused(head: object) -> None:
    with pytest.raises(ValueError, match="ridge, softmax") as caught:
        check_head(head)
    assert repr(head) in str(caught.value)


def expected_utility(graph: Graph, tree: ContributionTree, coalition: Mask, head: Ridge, metric: str) -> float:
    """Every metric by scikit-learn, with scores from the normal equations."""
    if not coalition[tree.roots].any():
        return empty_of(graph, metric)
    assert head.penalty is not None
    assert head.bias is not None
    known = graph.train[coalition[tree.roots]]
    weights = balanced(graph, known) if head.class_weight else np.ones(len(known))
    complete, _ = training_rows(graph, tree, np.ones(tree.n_players, dtype=bool))
    scale = 1 / np.sqrt(np.mean(np.sum(complete**2, axis=1)))
    rows, _ = training_rows(graph, tree, coalition)
    z = validation_rows(graph, tree.hops)
    scores = ridge_fit(rows, learnt(graph, known), z, head.penalty, head.bias, scale, weights)
    return utility_of(graph, scores, metric, head.temperature or 1.0)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("columns", [1, 2])
def test_random_prefixes_of_every_metric_equal_scikit_learn(metric: str, family: str, columns: int) -> None:
    """With one column or two classes and without class weights; with two columns or three classes and with weights."""
    plain = random_graph(4, n=9, probability=0.3, n_train=5, n_classes=3 if columns == 2 else 2, n_val=24)
    graph = suited(plain if columns == 1 else lopsided(plain), metric, columns)
    tree = contribution_tree(graph, 2)
    weighted = "balanced" if columns == 2 and not graph.regression else None
    head = Ridge(0.4, 0.7, 0.6, weighted)
    for primal in (False, True):
        problem, chosen = make_problem(graph, tree), metric_for(metric, graph)
        walker = RidgeWalker(problem, 0.4, 0.7, chosen, temperature=0.6, primal=primal, class_weight=weighted)
        game = GraphGame(problem, walker, chosen)
        order = FAMILIES[family](tree, np.random.default_rng(1))
        utility = game.walk(order).utility * game.unit
        for k in [*range(0, tree.n_players, 7), tree.n_players - 1]:
            coalition = np.zeros(tree.n_players, dtype=bool)
            coalition[order.players[: k + 1]] = True
            wanted = expected_utility(graph, tree, coalition, head, metric)
            assert utility[k] == pytest.approx(wanted, abs=1e-10)
            assert game.utility(coalition) == pytest.approx(wanted, abs=1e-10)
        assert len(np.unique(utility)) > 1


@pytest.mark.parametrize("family", FAMILIES)
def test_the_weighted_softmax_head_equals_the_torch_loop(family: str) -> None:
    graph = lopsided(random_graph(4, n=9, probability=0.3, n_train=5, n_classes=3, n_val=24))
    tree, recipe = contribution_tree(graph, 2), Softmax(0.1, 30, 5e-4, "balanced")
    game, title, _ = graph_game(graph, tree, recipe, "log-likelihood", coalition="induced")
    assert title.endswith(", balanced class weights")
    order = FAMILIES[family](tree, np.random.default_rng(1))
    utility = game.walk(order).utility
    for k in [*range(0, tree.n_players, 11), tree.n_players - 1]:
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[: k + 1]] = True
        known = graph.train[coalition[tree.roots]]
        if len(known):
            rows, labels = training_rows(graph, tree, coalition)
            weights, bias = torch_loop(sp.csr_array(rows), labels, 3, recipe, balanced(graph, known))
            scores = validation_rows(graph, 2) @ weights + bias
            assert utility[k] == pytest.approx(utility_of(graph, scores, "log-likelihood"), abs=1e-8)


@pytest.mark.parametrize("head", [Ridge(0.4, 0.7, 0.6), Softmax(0.1, 30, 5e-4)], ids=["ridge", "softmax"])
@pytest.mark.parametrize("family", FAMILIES)
def test_class_weights_keep_the_bits_where_all_classes_are_equally_frequent(head: Ridge | Softmax, family: str) -> None:
    graph = random_graph(4, n=9, probability=0.3, n_train=6, n_classes=3, n_val=24)
    tree = contribution_tree(graph, 2)
    order = FAMILIES[family](tree, np.random.default_rng(1))
    for metric in ("accuracy", "log-likelihood"):
        plain, weighted = (
            graph_game(graph, tree, each, metric)[0] for each in (head, replace(head, class_weight="balanced"))
        )
        assert (plain.walk(order).utility == weighted.walk(order).utility).all()


def test_class_weights_count_towards_the_smallest_penalty() -> None:
    graph = lopsided(random_graph(4, n=9, probability=0.3, n_train=6, n_classes=2, n_val=24))
    tree = contribution_tree(graph, 1)
    graph_game(graph, tree, Ridge(2.05e-5, 1.0))
    with pytest.raises(ValueError, match=r"penalty is 2\.05e-05 and bias is 1, expected a penalty of at least 3e-05"):
        graph_game(graph, tree, Ridge(2.05e-5, 1.0, class_weight="balanced"))
    _, title, calibration = graph_game(graph, tree, Ridge(class_weight="balanced"))
    assert calibration is not None
    assert title.endswith("balanced class weights")


def test_numeric_targets_are_calibrated_by_leaving_one_out() -> None:
    graph = with_numbers(random_graph(4, n=30, probability=0.1, n_train=15, n_val=24))
    tree = contribution_tree(graph, 2)
    for coalition in ("induced", "messages"):
        game, title, found = graph_game(graph, tree, coalition=coalition)
        assert found is not None
        assert isinstance(found.head, Ridge)
        assert title == f"ridge head, penalty {found.head.penalty:g}, bias {found.head.bias:g}"
        assert game.metric.name == "r2"
        assert graph_game(graph, tree, Ridge(0.5), coalition=coalition)[1].startswith("ridge head, penalty 0.5")
