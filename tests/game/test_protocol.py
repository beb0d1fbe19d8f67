"""Order, walk and marginals: steps, set games, what is refused."""

import numpy as np
import numpy.typing as npt
import pytest

from oracles import make_graph
from pcwinter import stopping
from pcwinter.estimation.estimator import Estimate, estimate, exact
from pcwinter.game.orders import sampler
from pcwinter.game.protocol import Order, SetGame
from pcwinter.game.tree import ContributionTree, contribution_tree

TREES = {
    1: contribution_tree(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), 1),
    2: contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 2),
    3: contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 3),
}


def sampled(game: SetGame, tree: ContributionTree, family: str, n: int = 400, seed: int = 5) -> Estimate:
    levels = {"own": tree.incidence("own")}
    return estimate(game, sampler(tree, family), stopping.permutations(n), levels=levels, seed=seed)


def random_game(n: int, seed: int) -> SetGame:
    """A set function without any structure."""
    weights = np.random.default_rng(seed).normal(size=(4, n))

    def utility(coalition: npt.NDArray[np.bool_]) -> float:
        return float(np.sin(weights @ coalition).sum() + 0.5 * (weights[0] @ coalition) ** 2)

    return SetGame(n, utility)


def test_a_utility_that_is_not_a_number_stops_the_run() -> None:
    tree = TREES[1]
    game = SetGame(tree.n_players, lambda s: float("nan") if s[1] else 0.0)
    with pytest.raises(FloatingPointError, match="not a finite number when player"):
        sampled(game, tree, "dfs")


def test_orders_of_another_tree_are_refused() -> None:
    game = random_game(TREES[2].n_players, 1)
    with pytest.raises(ValueError, match=r"length 7 .* 5 players"):
        estimate(game, sampler(TREES[3]), stopping.permutations(2))
    twice = Order(np.zeros(TREES[2].n_players, dtype=np.int64), np.ones(TREES[2].n_players, dtype=bool))
    with pytest.raises(ValueError, match="players"):
        exact(game, [twice])


def test_a_silent_run_is_one_step() -> None:
    order = Order(np.arange(6), np.array([True, True, False, False, True, False]))
    assert order.steps().tolist() == [0, 1, 2, 4, 5, 6]
