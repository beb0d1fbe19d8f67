"""Moments and tallies against NumPy over all draws at once."""

from functools import reduce

import numpy as np
import pytest

from pcwinter.estimation.moments import Moments, Tally


def test_moments_of_whole_numbers_merge_exactly() -> None:
    rng = np.random.default_rng(0)
    draws = rng.integers(-50, 50, size=(64, 5))
    parts = [Moments.of(row) for row in draws]
    left, right = parts[0], parts[-1]
    for one in parts[1:]:
        left = left + one
    for one in reversed(parts[:-1]):
        right = one + right
    assert (left.total == right.total).all()
    assert (left.squares == right.squares).all()
    np.testing.assert_allclose(left.mean(0.5), draws.mean(axis=0) / 2)
    np.testing.assert_allclose(left.stderr(0.5), draws.std(axis=0, ddof=1) / 8 / 2)
    assert np.isnan(parts[0].stderr(1.0)).all()


def test_moments_of_real_numbers_survive_a_large_mean() -> None:
    draws = 1e9 + np.random.default_rng(0).normal(size=(64, 5))
    total = Moments.of(draws[0])
    for row in draws[1:]:
        total = total + Moments.of(row)
    np.testing.assert_allclose(total.stderr(1.0), draws.std(axis=0, ddof=1) / 8, rtol=1e-6)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("cuts", [[1], [31], [1, 2, 40, 63]])
def test_merging_parts_equals_one_pass(cuts: list[int], whole: bool) -> None:
    rng = np.random.default_rng(1)
    draws = rng.integers(-9, 9, size=(64, 4)) if whole else rng.normal(3.0, 2.0, size=(64, 4))
    parts = [reduce(Moments.__add__, map(Moments.of, rows)) for rows in np.split(draws, cuts)]
    merged = reduce(Moments.__add__, parts)
    assert merged.n == 64
    np.testing.assert_allclose(merged.mean(0.1), 0.1 * draws.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(merged.stderr(0.1), 0.1 * np.sqrt(draws.var(axis=0, ddof=1) / 64), rtol=1e-12)
    np.testing.assert_array_equal(parts[0].total, draws[: cuts[0]].sum(axis=0))  # merging changes no part


def test_tallies_add_part_by_part() -> None:
    rng = np.random.default_rng(2)
    draws, sums = rng.normal(size=(5, 3)), rng.normal(size=(5, 2, 4))
    tallies = [
        Tally({"player": Moments.of(x), "own": Moments.of(2 * x)}, {"own": s}, 10, k, 1)
        for k, (x, s) in enumerate(zip(draws, sums, strict=True))
    ]
    total = reduce(Tally.__add__, tallies)
    assert (total.orders, total.visited, total.evaluations, total.baselines) == (5, 50, 10, 5)
    np.testing.assert_allclose(total.levels["own"].mean(1.0), 2 * draws.mean(axis=0))
    np.testing.assert_allclose(total.detail["own"], sums.sum(axis=0))


def test_fewer_than_two_visits_leave_the_error_unknown() -> None:
    draws, visited = np.array([[0, 0, 0, 4], [0, 3, 5, 1], [0, 0, 7, 2]]), [[0, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 1]]
    parts = [Moments.of(x, np.array(seen, dtype=np.bool_)) for x, seen in zip(draws, visited, strict=True)]
    total = reduce(Moments.__add__, parts)
    assert total.known_visits().tolist() == [0, 1, 2, 3]
    expected = draws.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(total.stderr(1.0), [np.nan, np.nan, *expected[2:]])
    more = total + Moments.of(np.array([1, 1, 1, 1]))  # an order that visits all
    assert more.known_visits().tolist() == [1, 2, 3, 4]
