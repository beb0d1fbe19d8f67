"""One solve against the normal equations, and the scale of the features."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import ridge_fit, ridge_scores
from pcwinter.heads.ridge.closed_form import inverse_norm, largest_norm, solve, solve_for


def test_solve_equals_the_normal_equations() -> None:
    rng = np.random.default_rng(0)
    rows, z, labels = rng.normal(size=(9, 4)), rng.normal(size=(20, 4)), np.arange(9) % 3
    kernel, cross = rows @ rows.T + 0.25, rows @ z.T + 0.25
    expected = ridge_scores(rows, labels, z, 3, penalty=0.3, bias=0.5, scale=1.0)
    np.testing.assert_allclose(solve(kernel, cross, labels, 3, 0.3).T, expected, atol=1e-12)


def test_a_penalty_for_each_row_weights_its_error() -> None:
    rng = np.random.default_rng(1)
    rows, z, outcome, weights = (
        rng.normal(size=(9, 4)),
        rng.normal(size=(20, 4)),
        rng.normal(size=(9, 2)),
        rng.random(9),
    )
    found = solve_for(rows @ rows.T + 0.25, rows @ z.T + 0.25, outcome, 0.3 / weights)
    np.testing.assert_allclose(found.T, ridge_fit(rows, outcome, z, 0.3, 0.5, 1.0, weights), atol=1e-12)


def test_scaling_makes_the_mean_squared_norm_one() -> None:
    rows = np.random.default_rng(0).random((7, 3))
    assert np.mean(np.sum(rows**2, axis=1)) * inverse_norm(sp.csr_array(rows)) == pytest.approx(1)
    assert largest_norm(sp.csr_array(rows)) == pytest.approx(np.max(np.sum(rows**2, axis=1)))
