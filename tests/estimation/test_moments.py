"""Moments and tallies against NumPy over all draws at once."""

import numpy as np

from pcwinter.estimation.moments import Moments


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
