"""Marginal contributions by validation node, against plain sums."""

import numpy as np
import scipy.sparse as sp

from pcwinter.game.detail import credit, make_parts


def test_changes_are_credited_in_equal_shares_to_all_rows_of_the_players() -> None:
    rng = np.random.default_rng(0)
    incidence = sp.csr_array(rng.integers(0, 2, size=(5, 8)))
    parts = make_parts(incidence, 3)
    expected, last = np.zeros((5, 3)), np.zeros(3)
    credited = np.array([True, True, False, True, True, False, True, True])
    for players in ([0], [1, 2, 3], [2, 5], [4, 6, 7, 0], [5], [3]):
        now = rng.normal(size=3)
        parts.fresh[:] = now
        credit(parts, np.array(players), credited)
        sharing = [player for player in players if credited[player]]
        for player in sharing:
            expected += np.outer(incidence.toarray()[:, player], now - last) / len(sharing)
        last = now
    np.testing.assert_allclose(parts.sums, expected, atol=1e-12)
    np.testing.assert_array_equal(parts.last, last)


def test_parts_of_some_validation_nodes_begin_empty() -> None:
    parts = make_parts(sp.csr_array(np.eye(4, dtype=np.int64)), 6)
    parts.sums[:] = parts.last[:] = parts.fresh[:] = 1
    some = parts.of(2, 6)
    assert some.sums.shape == (4, 4)
    for empty in (some.sums, some.last, some.fresh):
        assert not empty.any()
    assert some.row is parts.row


def test_nothing_is_credited_where_nothing_is_wanted() -> None:
    parts = make_parts(None, 6)
    credit(parts, np.array([0]), np.array([True]))
    assert parts.sums.size == parts.last.size == 0
