"""Order, walk and marginals: steps, set games, what is refused."""

import numpy as np
import pytest

from oracles import make_graph
from pcwinter import stopping
from pcwinter.estimation.estimator import estimate, exact
from pcwinter.game.orders import sampler
from pcwinter.game.protocol import Order, SetGame, Walk, check_order, marginals
from pcwinter.game.tree import contribution_tree

SHORT, LONG = (contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), hops) for hops in (2, 3))


def test_a_silent_run_is_one_step() -> None:
    order = Order(np.arange(6), np.array([True, True, False, False, True, False]))
    assert order.steps().tolist() == [0, 1, 2, 4, 5, 6]


def test_a_set_function_is_called_once_for_every_step() -> None:
    seen: list[list[int]] = []

    def function(coalition: np.typing.NDArray[np.bool_]) -> float:
        seen.append(np.flatnonzero(coalition).tolist())
        return 2.0 ** len(seen[-1])

    game = SetGame(5, function)
    order = Order(np.array([3, 0, 4, 1, 2]), np.array([True, False, False, True, False]))
    walk = game.walk(order)
    assert seen == [[3], [0, 3, 4], [0, 1, 3, 4], [0, 1, 2, 3, 4]]
    assert walk.utility.tolist() == [2, 8, 16, 32]
    assert (walk.evaluations, walk.baselines, game.empty) == (2, 2, 1)
    # what silent players change is credited to nobody
    assert marginals(game, order, walk).tolist() == [0, 8, 0, 1, 0]


def test_silent_players_with_an_owner_share_what_they_change() -> None:
    class WithNull(SetGame):
        null = np.array([False, False, False, False, True, False])

    function = lambda s: float(2 ** s.sum())  # noqa: E731
    # player 0 visits 1, whose child 2 is silent; the silent children of 0 are 3, 4 and 5
    visited, owner = np.array([True, True, False, False, False, False]), np.array([0, 1, 1, 0, 0, 0])
    order = Order(np.arange(6), visited, owner)
    assert order.steps().tolist() == [0, 1, 2, 3, 6]
    for game, expected in (
        (SetGame(6, function), [1, 2, 4, 56 / 3, 56 / 3, 56 / 3]),
        (WithNull(6, function), [1, 2, 4, 28, 0, 28]),
    ):
        np.testing.assert_allclose(marginals(game, order, game.walk(order)), expected)


def test_marginals_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, 7))
    game = SetGame(7, lambda s: float(np.sin(weights @ s).sum()))
    for _ in range(10):
        order = Order(rng.permutation(7), np.ones(7, dtype=bool))
        expected, coalition = np.zeros(7), np.zeros(7, dtype=bool)
        for player in order.players:
            before = game.function(coalition)
            coalition[player] = True
            expected[player] = game.function(coalition) - before
        np.testing.assert_allclose(marginals(game, order, game.walk(order)), expected, atol=1e-14)


def test_counts_stay_whole_numbers() -> None:
    order = Order(np.array([2, 0, 1]), np.ones(3, dtype=bool))
    found = marginals(SetGame(3, lambda s: float(s.sum())), order, Walk(np.array([1, 2, 3]), 3))
    assert (found.dtype.kind, found.tolist()) == ("i", [1, 1, 1])


def test_a_utility_that_is_not_a_number_stops_the_run() -> None:
    game = SetGame(SHORT.n_players, lambda s: float("nan") if s[1] else 0.0)
    with pytest.raises(FloatingPointError, match="not a finite number when player"):
        estimate(game, sampler(SHORT), stopping.permutations(2))


def test_orders_of_another_tree_are_refused() -> None:
    game = SetGame(SHORT.n_players, lambda s: float(s.sum()))
    with pytest.raises(ValueError, match=r"length 7 .* 5 players"):
        estimate(game, sampler(LONG), stopping.permutations(2))
    twice = Order(np.zeros(SHORT.n_players, dtype=np.int64), np.ones(SHORT.n_players, dtype=bool))
    with pytest.raises(ValueError, match="players"):
        exact(game, [twice])
    check_order(game, Order(np.arange(5)[::-1].copy(), np.zeros(5, dtype=bool)))
