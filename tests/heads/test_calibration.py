"""Calibration: the choice fits the data, and does not depend on how they are written down."""

from dataclasses import replace

import numpy as np
import pytest

import pcwinter as pw
from metric_oracle import lopsided
from oracles import random_graph
from pcwinter.game.class_weights import class_weights
from pcwinter.game.metrics import METRICS
from pcwinter.game.problem import Problem, make_problem
from pcwinter.heads import calibration
from pcwinter.heads.calibration import Calibration, calibrate
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

quiet = pytest.mark.filterwarnings("ignore:the (edges|model)", "ignore:calibration")


def problem_of(graph: pw.Graph, coalition: str = "messages") -> Problem:
    return make_problem(graph, pw.contribution_tree(graph), coalition)


def explained(problem: Problem, head: Ridge, sets: list[np.ndarray]) -> float:
    """The criterion for one point, from scores of models that are fitted one by one with dense matrices."""
    h, z, c = problem.complete.toarray(), problem.rows.toarray(), problem.n_classes
    scale = np.sqrt(np.mean((h**2).sum(axis=1)))
    h, z = h / scale, z / scale
    assert head.penalty is not None
    assert head.bias is not None
    found = []
    target = np.eye(c)[problem.targets]
    target = target - target.mean(axis=1, keepdims=True)
    for members in sets:
        x = np.column_stack([h[members], np.full(len(members), head.bias)])
        by = x.T * class_weights(problem.labels, c, head.class_weight)[problem.labels[members]]
        weights = np.linalg.solve(by @ x + head.penalty * np.eye(x.shape[1]), by @ np.eye(c)[problem.labels[members]])
        score = np.column_stack([z, np.full(len(z), head.bias)]) @ weights
        score = score - score.mean(axis=1, keepdims=True)
        together = max(float((score * target).sum()), 0.0)
        found.append(together**2 / float((score**2).sum() * (target**2).sum()))
    return float(np.mean(found))


@pytest.mark.parametrize(("coalition", "weighted"), [("messages", None), ("induced", None), ("messages", "balanced")])
def test_the_choice_is_the_best_point_by_models_fitted_one_by_one(
    coalition: str, weighted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "CHUNK", 7)  # several chunks of validation nodes
    graph = random_graph(2, n_val=40)
    problem = problem_of(lopsided(graph) if weighted else graph, coalition)
    found = calibrate(problem, Ridge(class_weight=weighted))
    sets = calibration._sets(problem, 1 / float(np.mean(problem.complete.multiply(problem.complete).sum(axis=1))))
    scores = {(p, b): explained(problem, Ridge(p, b, class_weight=weighted), sets) for p, b in Ridge().points()}
    assert isinstance(found.head, Ridge)
    assert found.explained == pytest.approx(max(scores.values()), rel=1e-9)
    assert explained(problem, found.head, sets) == pytest.approx(max(scores.values()), rel=1e-9)
    assert found.points == len(scores)
    assert found.close is not None
    assert 1 <= found.close <= len(scores)


def test_sets_grow_from_one_labelled_node_to_nearly_all() -> None:
    problem = problem_of(random_graph(2, n_val=40))
    sizes = [len(one) for one in calibration._sets(problem, 1.0)]
    assert sizes[0] == 1
    assert len(problem.labels) * 0.9 <= sizes[-1] <= len(problem.labels)
    assert sizes == sorted(sizes)


def test_only_what_is_left_open_is_chosen() -> None:
    problem = problem_of(random_graph(2, n_val=40))
    half = calibrate(problem, Ridge(penalty=0.123)).head
    assert isinstance(half, Ridge)
    assert half.penalty == 0.123
    assert half.bias is not None
    warm = calibrate(problem, Ridge(penalty=1, bias=1), tempered=True)
    assert isinstance(warm.head, Ridge)
    assert (warm.head.penalty, warm.head.bias, warm.points) == (1, 1, 1)
    assert warm.head.temperature is not None
    free = calibrate(problem, Ridge()).head
    assert isinstance(free, Ridge)
    assert calibrate(problem, Ridge(temperature=0.7), tempered=True).head == replace(free, temperature=0.7)


def test_the_temperature_has_the_largest_likelihood() -> None:
    problem = problem_of(random_graph(2, n_val=40))
    sets = calibration._sets(problem, 1.0)
    scale = 1 / float(np.mean(problem.complete.multiply(problem.complete).sum(axis=1)))
    found = calibration._temperature(problem, sets, scale, np.ones(problem.n_classes), Ridge(0.3, 0.5))
    h, z = problem.complete.toarray() * np.sqrt(scale), problem.rows.toarray() * np.sqrt(scale)
    likelihood = dict.fromkeys(calibration.TEMPERATURES, 0.0)
    for members in sets:
        kernel = h[members] @ h[members].T + 0.25 + 0.3 * np.eye(len(members))
        score = (z @ h[members].T + 0.25) @ np.linalg.solve(kernel, np.eye(problem.n_classes)[problem.labels[members]])
        for temperature in likelihood:
            logit = score / temperature - (score / temperature).max(axis=1, keepdims=True)
            mass = np.log(np.exp(logit).sum(axis=1))
            likelihood[temperature] += float((logit[np.arange(len(logit)), problem.targets] - mass).sum())
    assert found == max(likelihood, key=lambda t: likelihood[t])


@quiet
def test_the_softmax_head_is_calibrated_on_scaled_rows() -> None:
    graph = random_graph(2, n_val=40)
    found = calibrate(problem_of(graph), None)
    assert isinstance(found.head, Softmax)
    rows = problem_of(graph).complete
    assert found.head.scale == pytest.approx(1 / np.sqrt(np.mean(rows.multiply(rows).sum(axis=1))))
    assert (found.points, found.close) > (1, 0)
    values = pw.value(graph, head="softmax", coalition="messages", permutations=1)
    assert values.calibration == found
    again = pw.value(graph, head=found.head, coalition="messages", permutations=1)
    np.testing.assert_array_equal(again.nodes()["value"], values.nodes()["value"])
    assert again.calibration is None


@quiet
def test_the_choice_belongs_to_the_data_and_the_game() -> None:
    graph = random_graph(2, n_val=40)
    one, other = (pw.value(graph, permutations=1, seed=seed).calibration for seed in (0, 9))
    assert one == other
    assert one is not None
    assert Calibration.read(one.record()) == one


def test_a_calibration_of_an_older_version_can_be_read() -> None:
    old = {"penalty": 10.0, "bias": 3.0, "temperature": 0.1, "agreement": 0.9}
    assert Calibration.read(old) == Calibration(Ridge(10.0, 3.0, 0.1))


def test_the_end_of_the_grid_is_named() -> None:
    """With noise of the same size in all directions, the difference of the means is the best direction."""
    rng, n = np.random.default_rng(0), 120
    labels = np.arange(n) % 2
    features = 0.5 * (2 * labels[:, None] - 1) + rng.normal(size=(n, 30))
    graph = pw.Graph(np.empty((0, 2), dtype=int), features, labels, range(20), range(20, n))
    found = calibrate(problem_of(graph), Ridge(bias=0.0))
    assert isinstance(found.head, Ridge)
    assert found.head.penalty == 1e3
    assert found.edge == ("penalty",)
    with pytest.warns(UserWarning, match=r"calibration chose the end of its range \(penalty 1000\)"):
        pw.value(graph, head=Ridge(bias=0.0), permutations=1)
    assert calibrate(problem_of(graph), Ridge(penalty=1e3, bias=0.0)).edge == ()


@pytest.mark.parametrize("metric", METRICS)
def test_scaled_features_give_the_same_choice(metric: str) -> None:
    graph = random_graph(4, n_val=30)
    parts = (graph.labels, graph.train, graph.val)
    scaled = pw.Graph(graph.adjacency, graph.features * 37.7, *parts)
    heads = [calibrate(problem_of(one), Ridge(), tempered=METRICS[metric].tempered).head for one in (graph, scaled)]
    assert heads[0] == heads[1]
