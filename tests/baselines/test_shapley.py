"""Data Shapley and Beta Shapley against enumeration of orders and of subsets."""

from collections.abc import Callable
from itertools import permutations
from math import factorial

import numpy as np
import pytest
from scipy.special import beta as beta_function

import pcwinter as pw
from metric_oracle import ALL, OF_CLASSES, suited
from node_game_oracle import RIDGE, TINY, semivalue, within
from oracles import random_graph
from pcwinter import baselines, stopping
from pcwinter.baselines.node_game import node_game
from pcwinter.baselines.shapley import TOLERANCE, Free, Weighted, beta_weights
from pcwinter.estimation.estimator import Sample, exact, states
from pcwinter.game.protocol import Order
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax

RECIPE = Softmax(0.1, 10, 5e-4)
LEVELS = ("accuracy", "log-likelihood")


def every_order(n: int) -> list[Order]:
    return [Order(np.array(players), np.ones(n, dtype=np.bool_)) for players in permutations(range(n))]


def shapley_weight(n: int) -> Callable[[int], float]:
    return lambda s: factorial(s) * factorial(n - s - 1) / factorial(n)


@pytest.mark.parametrize("metric", LEVELS)
def test_data_shapley_equals_enumeration(metric: str) -> None:
    game = node_game(TINY, hops=2, metric=metric, head=RIDGE)
    enumerated = exact(game, every_order(5)).mean()
    expected = semivalue(TINY, metric, shapley_weight(5))
    np.testing.assert_allclose(enumerated, expected, atol=1e-10)
    sampled = baselines.data_shapley(TINY, RIDGE, stopping.permutations(200), metric=metric, tolerance=0.0, seed=3)
    assert sampled.items.tolist() == [0, 1, 2, 3, 4]
    assert within(sampled, expected)
    assert sampled.orders == 200
    assert (sampled.stderr[:2] > 0).all()


@pytest.mark.parametrize(
    ("head", "metric"), [*((RIDGE, metric) for metric in ALL), *((RECIPE, metric) for metric in OF_CLASSES)]
)
def test_data_shapley_adds_up(metric: str, head: Ridge | Softmax) -> None:
    graph = suited(random_graph(2, n=10, n_train=4, n_val=20), metric)
    game = node_game(graph, hops=2, metric=metric, head=head)
    ranking = baselines.data_shapley(graph, head, stopping.permutations(3), metric=metric, tolerance=0.0)
    assert ranking.value.sum() == pytest.approx((game.full - game.empty) * game.unit, abs=1e-12)
    assert 0 < ranking.evaluations <= 3 * game.n_players


def test_data_shapley_with_tolerance_takes_fewer_evaluations() -> None:
    graph = random_graph(2, n=40, probability=0.08, n_train=12, n_val=20)
    few, all_of_them = (baselines.data_shapley(graph, RIDGE, stopping.permutations(5), tolerance=t) for t in (0.5, 0.0))
    assert few.evaluations < all_of_them.evaluations


def test_data_shapley_continues_from_a_kept_state() -> None:
    graph = random_graph(2, n=10, n_train=4, n_val=20)
    whole = baselines.data_shapley(graph, RIDGE, stopping.permutations(40), metric="probability")
    game = node_game(graph, RIDGE, metric="probability", tolerance=TOLERANCE)
    sample = Sample(game, Free(game.n_players), {})
    kept = list(states(sample, limit=40))
    assert [state.total.orders for state in kept] == [10, 20, 30, 40]
    *_, last = states(sample, limit=40, begin=kept[1].checkpoint)
    again = sample.estimate(last, "")
    assert (again.mean() == whole.value).all()
    assert (again.stderr() == whole.stderr).all()
    assert again.tally.evaluations == whole.evaluations


def test_two_workers_give_the_same_bits() -> None:
    graph = random_graph(2, n=10, n_train=4, n_val=20)
    one, two = (
        baselines.data_shapley(graph, RIDGE, stopping.permutations(40), metric="probability", workers=w) for w in (1, 2)
    )
    assert (one.value == two.value).all()
    assert (one.stderr == two.stderr).all()
    assert one.evaluations == two.evaluations


@pytest.mark.parametrize("method", [baselines.data_shapley, baselines.beta_shapley])
def test_without_a_rule_sampling_ends_as_values_do(method: Callable[..., baselines.Ranking]) -> None:
    ranking = method(TINY, RIDGE)
    assert ranking.status.startswith("Converged after ")
    usual = stopping.converged() | stopping.at_most(2_000)
    np.testing.assert_array_equal(ranking.value, method(TINY, RIDGE, usual).value)


@pytest.mark.parametrize("parameters", [(1, 1), (16, 1), (1, 4), (2.5, 0.5)])
@pytest.mark.parametrize("n", [1, 2, 7, 600])
def test_beta_weights(parameters: tuple[float, float], n: int) -> None:
    weights = beta_weights(n, *parameters)
    assert weights.mean() == pytest.approx(1)
    if parameters == (1, 1):
        np.testing.assert_allclose(weights, 1, rtol=1e-10)
    if parameters == (16, 1):
        assert (np.diff(weights) < 0).all()


@pytest.mark.parametrize("metric", LEVELS)
@pytest.mark.parametrize("parameters", [(1, 1), (16, 1), (1, 4), (2.5, 0.5)])
def test_beta_shapley_equals_enumeration(metric: str, parameters: tuple[float, float]) -> None:
    alpha, beta = parameters
    # the weight of Kwon and Zou (2022), for a coalition of s others
    expected = semivalue(
        TINY, metric, lambda s: float(beta_function(s + beta, 5 - s - 1 + alpha) / beta_function(alpha, beta))
    )
    game = node_game(TINY, hops=2, metric=metric, head=RIDGE)
    enumerated = exact(Weighted(game, beta_weights(5, alpha, beta)), every_order(5)).mean()
    np.testing.assert_allclose(enumerated, expected, atol=1e-10)
    stop = stopping.permutations(200)
    sampled = baselines.beta_shapley(TINY, RIDGE, stop, alpha=alpha, beta=beta, metric=metric, seed=3)
    assert within(sampled, expected)
    if parameters == (1, 1):
        plain = baselines.data_shapley(TINY, RIDGE, stop, metric=metric, tolerance=0.0, seed=3)
        np.testing.assert_allclose(sampled.value, plain.value, atol=1e-12)
        np.testing.assert_allclose(sampled.stderr, plain.stderr, atol=1e-12)


def test_options_are_checked() -> None:
    stop = stopping.permutations(1)
    with pytest.raises(ValueError, match="metric is 'precision'"):
        baselines.data_shapley(TINY, RIDGE, stop, metric="precision")
    with pytest.raises(ValueError, match="tolerance is -1"):
        baselines.data_shapley(TINY, RIDGE, stop, tolerance=-1)
    with pytest.raises(ValueError, match="alpha is 0"):
        baselines.beta_shapley(TINY, RIDGE, stop, alpha=0)


@pytest.mark.parametrize("head", [pw.Ridge(0.1, 0.0, 0.4), pw.Softmax(0.1, 12, 5e-4)], ids=["ridge", "softmax"])
def test_data_shapley_ends_a_walk_after_six_steps_within_a_hundredth(head: pw.Ridge | pw.Softmax) -> None:
    labels = np.arange(44) % 2  # the more nodes know their class, the less one more adds
    graph = pw.Graph([(0, 2)], np.eye(2)[labels], labels, np.arange(40), np.arange(40, 44), [])
    game = node_game(graph, hops=2, metric="log-likelihood", head=head)
    expected = np.zeros(40)
    for k in range(3):
        coalition, last, close = np.zeros(40, dtype=np.bool_), game.empty, 0
        for player in np.random.default_rng(np.random.SeedSequence(0, spawn_key=(k,))).permutation(40):
            coalition[player] = True
            utility = game.utility(coalition)
            expected[player] += (utility - last) / 3
            last, close = utility, close + 1 if abs(game.full - utility) <= 0.01 * abs(game.full - game.empty) else 0
            if close == 6:
                break
        assert not coalition.all()
    found = pw.baselines.data_shapley(graph, head, pw.stopping.permutations(3), metric="log-likelihood")
    np.testing.assert_allclose(found.value, expected, atol=1e-10)
