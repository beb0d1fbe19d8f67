"""Estimators on games with known values: axioms, enumeration, error bars, seeds."""

import warnings
from collections.abc import Callable
from itertools import combinations
from math import factorial

import numpy as np
import numpy.typing as npt
import pytest

import pcwinter as pw
from oracles import make_graph
from pcwinter import stopping
from pcwinter.estimation.estimator import BLOCK, Estimate, block_of_orders, bootstrap_stderr, estimate, exact
from pcwinter.game.detail import settle
from pcwinter.game.orders import FAMILIES, REMAINDERS, every_order, sampler
from pcwinter.game.protocol import Order, SetGame
from pcwinter.game.tree import ContributionTree, contribution_tree

Floats = npt.NDArray[np.float64]
Estimator = Callable[[SetGame, ContributionTree, str], Estimate]
TREES = {
    1: contribution_tree(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), 1),
    2: contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 2),
    3: contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 3),
}


def enumerated(game: SetGame, tree: ContributionTree, family: str) -> Estimate:
    return exact(game, every_order(tree, family), levels={"own": tree.incidence("own")})


def sampled(game: SetGame, tree: ContributionTree, family: str, n: int = 400, seed: int = 5) -> Estimate:
    levels = {"own": tree.incidence("own")}
    return estimate(game, sampler(tree, family), stopping.permutations(n), levels=levels, seed=seed)


ESTIMATORS = [enumerated, sampled]
every_estimator = pytest.mark.parametrize("solve", ESTIMATORS)
every_family = pytest.mark.parametrize("family", FAMILIES)
every_depth = pytest.mark.parametrize("hops", TREES)


def random_game(n: int, seed: int) -> SetGame:
    """A set function without any structure."""
    weights = np.random.default_rng(seed).normal(size=(4, n))

    def utility(coalition: npt.NDArray[np.bool_]) -> float:
        return float(np.sin(weights @ coalition).sum() + 0.5 * (weights[0] @ coalition) ** 2)

    return SetGame(n, utility)


@every_estimator
@every_family
@every_depth
def test_efficiency(solve: Estimator, family: str, hops: int) -> None:
    tree = TREES[hops]
    game = random_game(tree.n_players, hops)
    result = solve(game, tree, family)
    everybody = game.function(np.ones(tree.n_players, dtype=bool))
    assert result.mean().sum() == pytest.approx(everybody - game.empty)
    assert result.mean("own").sum() == pytest.approx(everybody - game.empty)


@every_estimator
@every_family
@every_depth
def test_a_null_player_gets_exactly_zero(solve: Estimator, family: str, hops: int) -> None:
    tree = TREES[hops]
    game = random_game(tree.n_players, 1)
    for idle in (0, tree.n_players - 1):

        def without(coalition: npt.NDArray[np.bool_], idle: int = idle) -> float:
            return game.function(np.where(np.arange(len(coalition)) == idle, False, coalition))

        result = solve(SetGame(tree.n_players, without), tree, family)
        assert result.mean()[idle] == 0
        assert result.stderr()[idle] == 0


@every_family
def test_siblings_with_isomorphic_subtrees_are_symmetric(family: str) -> None:
    tree = contribution_tree(make_graph([(0, 2), (0, 3)], [0, 1]), 1)  # players 1 and 2 are twins
    depth = tree.depth
    game = SetGame(4, lambda s: float(np.sqrt(1 + s[depth == 1].sum()) * (1 + s[0]) + s[3] * s[0]))
    values = enumerated(game, tree, family).mean()
    assert values[1] == pytest.approx(values[2], abs=1e-12)
    guess = sampled(game, tree, family)
    difference = guess.mean()[1] - guess.mean()[2]
    assert abs(difference) <= 4 * np.hypot(*guess.stderr()[1:3])


@every_estimator
@every_family
@every_depth
def test_additivity(solve: Estimator, family: str, hops: int) -> None:
    tree = TREES[hops]
    first, second = random_game(tree.n_players, 1), random_game(tree.n_players, 2)
    total = SetGame(tree.n_players, lambda s: 2 * first.function(s) - 3 * second.function(s))
    parts = 2 * solve(first, tree, family).mean() - 3 * solve(second, tree, family).mean()
    np.testing.assert_allclose(solve(total, tree, family).mean(), parts, atol=1e-10)


@every_family
@every_depth
def test_estimates_agree_with_enumeration(family: str, hops: int) -> None:
    tree = TREES[hops]
    game = random_game(tree.n_players, 9)
    truth = enumerated(game, tree, family)
    guess = sampled(game, tree, family, n=1_000)
    for level in ("player", "own"):
        assert (np.abs(guess.mean(level) - truth.mean(level)) <= 4 * guess.stderr(level) + 1e-12).all()


BUSHY = contribution_tree(make_graph([(0, 2), (0, 3), (2, 4), (2, 5)], [0, 1]), 2)


@pytest.mark.parametrize("truncation", [(0.5, 0.7), (0.0, 0.5)])
@pytest.mark.parametrize("remainder", REMAINDERS)
def test_truncated_estimates_agree_with_truncated_enumeration(truncation: tuple[float, float], remainder: str) -> None:
    game = random_game(BUSHY.n_players, 4)
    truth = exact(game, every_order(BUSHY, "dfs", truncation, remainder))
    guess = estimate(game, sampler(BUSHY, "dfs", truncation, remainder), stopping.permutations(1_000), seed=1)
    assert (np.abs(guess.mean() - truth.mean()) <= 4 * guess.stderr() + 1e-12).all()
    everybody = game.function(np.ones(BUSHY.n_players, dtype=bool)) - game.empty
    assert (truth.mean().sum() == pytest.approx(everybody)) == (remainder == "silent")


@pytest.mark.parametrize("truncation", [(0.5, 0.7), (0.7, 0.9)])
def test_with_shares_a_tree_has_its_shapley_value_among_trees(truncation: tuple[float, float]) -> None:
    game = random_game(BUSHY.n_players, 4)
    truth = exact(game, every_order(BUSHY, "dfs", truncation, "silent"))
    trees = shapley(len(BUSHY.roots), lambda inside: game.function(inside[BUSHY.tree]))
    np.testing.assert_allclose(np.bincount(BUSHY.tree, truth.mean()), trees, atol=1e-12)


def test_standard_errors_shrink_with_the_root_of_the_number_of_orders() -> None:
    tree = TREES[2]
    game = random_game(tree.n_players, 9)
    few, many = (sampled(game, tree, "dfs", n).stderr() for n in (200, 3_200))
    moving = few > 0
    assert moving.sum() >= 4
    np.testing.assert_allclose(few[moving] / many[moving], 4, rtol=0.25)


def test_error_bars_cover() -> None:
    """Over 200 seeds the standardised error has about unit variance."""
    tree = TREES[2]
    game = random_game(tree.n_players, 9)
    truth = enumerated(game, tree, "dfs").mean("own")
    scores = []
    for seed in range(200):
        guess = sampled(game, tree, "dfs", 60, seed)
        scores.append(
            (guess.mean("own") - truth)[guess.stderr("own") > 0] / guess.stderr("own")[guess.stderr("own") > 0]
        )
    assert np.mean(np.square(scores)) == pytest.approx(1, abs=0.3)


def shapley(n: int, utility: Callable[[npt.NDArray[np.bool_]], float]) -> Floats:
    """The subset formula."""
    values = np.zeros(n)
    for p in range(n):
        others = [q for q in range(n) if q != p]
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for chosen in combinations(others, size):
                coalition = np.isin(np.arange(n), chosen)
                values[p] += weight * (utility(coalition | (np.arange(n) == p)) - utility(coalition))
    return values


@every_family
def test_isolated_roots_reduce_to_shapley(family: str) -> None:
    tree = contribution_tree(make_graph([(4, 5)], [0, 1, 2, 3]), 2)
    game = random_game(4, 2)
    np.testing.assert_allclose(enumerated(game, tree, family).mean(), shapley(4, game.function), atol=1e-12)


def test_free_orders_are_shapley() -> None:
    tree = TREES[1]
    game = random_game(tree.n_players, 2)
    np.testing.assert_allclose(
        enumerated(game, tree, "free").mean(), shapley(tree.n_players, game.function), atol=1e-12
    )


def test_level_orders_of_one_hop_are_owen() -> None:
    """Owen: Shapley between the unions outside, Shapley within the union inside."""
    tree = TREES[1]
    unions = [np.flatnonzero(tree.tree == t) for t in range(len(tree.roots))]
    game = random_game(tree.n_players, 6)
    owen = np.zeros(tree.n_players)
    for u, union in enumerate(unions):
        rest = [v for v in range(len(unions)) if v != u]
        for size in range(len(unions)):
            outer = factorial(size) * factorial(len(unions) - size - 1) / factorial(len(unions))
            for chosen in combinations(rest, size):
                outside = np.zeros(tree.n_players, dtype=bool)
                for v in chosen:
                    outside[unions[v]] = True

                def inner(
                    inside: npt.NDArray[np.bool_],
                    outside: npt.NDArray[np.bool_] = outside,
                    union: npt.NDArray[np.int64] = union,
                ) -> float:
                    coalition = outside.copy()
                    coalition[union[inside]] = True
                    return game.function(coalition)

                owen[union] += outer * shapley(len(union), inner)
    np.testing.assert_allclose(enumerated(game, tree, "level").mean(), owen, atol=1e-12)


def test_a_game_with_known_values() -> None:
    """Two of three win: a third each."""
    tree = contribution_tree(make_graph([(3, 4)], [0, 1, 2]), 1)
    game = SetGame(3, lambda s: float(s.sum() >= 2))
    np.testing.assert_allclose(enumerated(game, tree, "dfs").mean(), 1 / 3)


def test_same_seed_same_bits() -> None:
    tree = TREES[3]
    game = random_game(tree.n_players, 1)
    first, again, other = (sampled(game, tree, "dfs", 50, seed) for seed in (1, 1, 2))
    assert (first.mean() == again.mean()).all()
    assert (first.stderr() == again.stderr()).all()
    assert (first.mean() != other.mean()).any()


def test_an_order_depends_on_its_number_alone() -> None:
    """A longer run begins with the orders of a shorter one."""
    tree = TREES[3]
    seen: list[Order] = []

    class Watching:
        n_players, unit, empty = tree.n_players, 1.0, 0.0

        def walk(self, order: Order):  # type: ignore[no-untyped-def]  # noqa: ANN202
            seen.append(order)
            return SetGame(tree.n_players, lambda s: float(s.sum())).walk(order)

    for n in (7, 25):
        estimate(Watching(), sampler(tree), stopping.permutations(n), seed=3)
    assert len(seen) == 32
    for first, second in zip(seen[:7], seen[7:], strict=False):
        assert (first.players == second.players).all()


def test_an_additive_game_has_no_standard_error() -> None:
    tree = TREES[2]
    game = SetGame(tree.n_players, lambda s: float(np.arange(1, tree.n_players + 1) @ s))
    result = sampled(game, tree, "dfs")
    np.testing.assert_array_equal(result.mean(), np.arange(1, tree.n_players + 1))
    assert not result.stderr().any()


def test_counts_and_halves() -> None:
    """Visited players are counted as such, and the halves are means over the even and the odd blocks."""
    tree = contribution_tree(make_graph([(0, 2), (0, 3), (2, 4), (2, 5)], [0, 1]), 2)
    game = random_game(tree.n_players, 4)
    draw = sampler(tree, "dfs", (0.5, 0.7))
    seen: list[stopping.Progress] = []
    result = estimate(game, draw, stopping.permutations(25), seed=2, progress=seen.append)
    orders = list(block_of_orders(draw, 2, 0, 25))
    assert result.tally.visited == sum(int(order.visited.sum()) for order in orders)
    each = np.array([exact(game, [order]).mean() for order in orders])
    even, odd = seen[-1].halves
    np.testing.assert_allclose(even, each[[*range(10), *range(20, 25)]].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(odd, each[10:20].mean(axis=0), atol=1e-12)
    assert not seen[0].halves[1].any()


def test_the_bootstrap_is_the_spread_of_a_mean_over_validation_nodes() -> None:
    detail = np.random.default_rng(1).normal(size=(6, 300))
    alike = 7 * 300 * detail.var(axis=1)  # seven orders that agree have no noise
    spread = bootstrap_stderr(detail * 7, alike, orders=7, replicates=4_000, seed=0)
    np.testing.assert_allclose(spread, detail.std(axis=1) / np.sqrt(300), rtol=0.06)
    assert np.isnan(bootstrap_stderr(detail, alike / 7, orders=1, replicates=2, seed=0)).all()


@pytest.mark.parametrize("noise", [0.0, 1.0, 3.0, 5.0])
def test_the_bootstrap_leaves_out_the_noise_of_the_orders(noise: float) -> None:
    """Twenty orders whose noise has up to 1.25 times the variance of what is to be found."""
    rng, (rows, v, orders) = np.random.default_rng(2), (400, 100, 20)
    mean = rng.normal(size=(rows, v))
    shared = rng.normal(size=(orders, rows, 1))  # moves all validation nodes alike, so it is in `stderr` alone
    draws = mean + 5 * shared + noise * rng.normal(size=(orders, rows, v))
    sums, squares = np.zeros((rows, v)), np.zeros(rows)
    for draw in draws.copy():
        settle(draw, sums, squares)
        assert not draw.any()
    np.testing.assert_allclose(sums, draws.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(squares, v * draws.var(axis=2).sum(axis=0))
    found = bootstrap_stderr(sums, squares, orders, 500, seed=0) ** 2
    differences = found - mean.var(axis=1) / v
    assert abs(differences.mean()) <= 4 * differences.std() / np.sqrt(rows) + 0.001 * found.mean()
    assert (found >= 0).all()


def test_blocks_fit_the_window() -> None:
    assert stopping.WINDOW % BLOCK == 0


@pytest.mark.parametrize("remainder", REMAINDERS)
def test_players_that_were_hardly_visited_have_an_unknown_error(remainder: str) -> None:
    """A labelled node has twelve neighbours, of which each order visits one."""
    tree = contribution_tree(make_graph([(0, k) for k in range(2, 14)], [0, 1]), 1)
    game = SetGame(tree.n_players, lambda coalition: float(coalition.sum()))
    draw = sampler(tree, truncation=(11 / 12,), remainder=remainder)
    orders = list(block_of_orders(draw, 0, 0, 10))
    visits = np.zeros(tree.n_players, dtype=np.int64)
    for order in orders:
        visits[order.players[order.visited]] += 1
    assert {0, 1, 2} <= set(visits.tolist())
    levels = {"own": tree.incidence("own"), "path": tree.incidence("path"), "edge": tree.incidence("edge")}
    done = estimate(game, draw, stopping.permutations(10), levels=levels)
    unknown = visits < 2 if remainder == "nobody" else np.zeros(tree.n_players, dtype=np.bool_)
    np.testing.assert_array_equal(np.isnan(done.stderr()), unknown)
    np.testing.assert_array_equal(np.isnan(done.stderr("own")), unknown[np.argsort(tree.node)])  # a player each
    np.testing.assert_array_equal(done.visits(), visits if remainder == "nobody" else 10)
    np.testing.assert_array_equal(np.isnan(done.stderr("edge")), unknown[tree.depth == 1])
    assert not np.isnan(done.stderr("path")[0])  # every order visits the root and one child


def test_null_players_have_no_error_even_if_they_are_left_out() -> None:
    graph = make_graph([(0, k) for k in range(2, 14)], [0, 1], n_val=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        values = pw.value(
            graph, head=pw.Ridge(1, 1), truncation=(0.9, 0.9), remainder="nobody", permutations=4, bootstrap=5
        )
    players = values.players()
    assert (players["stderr"][players["null"]] == 0).all()
    assert players["stderr"][~players["null"]].isna().any()
    for table in (values.nodes(), values.edges()):
        assert table["stderr"].isna().any()
        for name in ("stderr_validation", "stderr_total"):
            np.testing.assert_array_equal(table[name].isna(), table["stderr"].isna())
