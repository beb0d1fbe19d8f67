"""Data Banzhaf against the sum over all coalitions."""

import numpy as np
import pytest

from node_game_oracle import RIDGE, TINY, coalitions, semivalue, within
from pcwinter import baselines
from pcwinter.baselines.banzhaf import banzhaf_from
from pcwinter.baselines.node_game import node_game


@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
def test_banzhaf_equals_enumeration(metric: str) -> None:
    game = node_game(TINY, hops=2, metric=metric, head=RIDGE)
    inside = coalitions(5)
    value, _ = banzhaf_from(inside, np.array([game.utility(c) for c in inside]) * game.unit)
    expected = semivalue(TINY, metric, lambda s: 1 / 16)
    np.testing.assert_allclose(value, expected, atol=1e-10)
    sampled = baselines.data_banzhaf(TINY, RIDGE, samples=400, metric=metric, seed=1)
    assert within(sampled, expected)
    assert not within(sampled, expected, 0.1)
    assert (sampled.items == game.nodes).all()


def test_banzhaf_from_two_workers_has_the_same_bits() -> None:
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    here = baselines.data_banzhaf(TINY, RIDGE, samples=120, seed=1)
    there = baselines.data_banzhaf(TINY, RIDGE, samples=120, seed=1, workers=2, progress=hear)
    np.testing.assert_array_equal(here.value, there.value)
    np.testing.assert_array_equal(here.stderr, there.stderr)
    assert heard == [(50, 120), (100, 120), (120, 120)]


def test_banzhaf_of_players_that_were_seen_on_one_side() -> None:
    inside = np.array([[True, True, False], [True, False, False], [True, False, True]])
    value, stderr = banzhaf_from(inside, np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(value, [np.nan, -2.0, 2.5])
    assert np.isnan(stderr).all()
    _, stderr = banzhaf_from(np.array([[True], [True], [False], [False]]), np.array([1.0, 3.0, 0.0, 0.0]))
    assert stderr == pytest.approx(1.0)  # variance 2, two of them
    with pytest.raises(ValueError, match="samples is 1"):
        baselines.data_banzhaf(TINY, RIDGE, samples=1)
