"""The closed form of leave-one-out errors against leaving out every row, and the choice that follows from it."""

import numpy as np
import pytest
import scipy.sparse as sp

from oracles import ridge_fit
from pcwinter.heads.ridge.closed_form import inverse_norm
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.ridge.leave_one_out import BIASES, PENALTIES, choose_by_leave_one_out, leave_one_out_error

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(12, 4))
OUTCOME = ROWS @ RNG.normal(size=(4, 2)) + RNG.normal(size=(12, 2)) / 2
OUTCOME -= OUTCOME.mean(axis=0)


def errors(penalty: float, bias: float, scale: float = 1.0) -> np.ndarray:
    """(c,) mean squared errors, leaving out one row after the other."""
    missed = []
    for i in range(len(ROWS)):
        rest = np.arange(len(ROWS)) != i
        found = ridge_fit(ROWS[rest], OUTCOME[rest], ROWS[[i]], penalty, bias, scale, np.ones(11))
        missed.append((found[0] - OUTCOME[i]) ** 2)
    return np.asarray(np.mean(missed, axis=0))


@pytest.mark.parametrize("bias", [0.0, 1.3])
def test_errors_equal_leaving_out_every_row(bias: float) -> None:
    penalties = np.array([0.01, 0.5, 30.0])
    found = leave_one_out_error(ROWS @ ROWS.T + bias**2, OUTCOME, penalties)
    np.testing.assert_allclose(found, [errors(p, bias) for p in penalties], rtol=1e-10)


def test_the_choice_is_the_best_point_of_the_grid() -> None:
    rows, scale = sp.csr_array(ROWS), np.sqrt(inverse_norm(sp.csr_array(ROWS)))
    found = choose_by_leave_one_out(rows, OUTCOME, Ridge())
    r2 = {(p, b): np.mean(1 - errors(p, b, scale) / np.mean(OUTCOME**2, axis=0)) for p in PENALTIES for b in BIASES}
    assert found.r2 == pytest.approx(max(r2.values()))
    assert r2[found.penalty, found.bias] == pytest.approx(found.r2)
    assert min(PENALTIES) < found.penalty < max(PENALTIES)


def test_given_parameters_stay() -> None:
    rows = sp.csr_array(ROWS)
    assert choose_by_leave_one_out(rows, OUTCOME, Ridge(penalty=0.37)).penalty == 0.37
    assert choose_by_leave_one_out(rows, OUTCOME, Ridge(bias=0.5)).bias == 0.5


def test_the_scale_of_features_and_targets_does_not_matter() -> None:
    one = choose_by_leave_one_out(sp.csr_array(ROWS), OUTCOME, Ridge())
    other = choose_by_leave_one_out(sp.csr_array(1e6 * ROWS), 1e-3 * OUTCOME, Ridge())
    assert (one.penalty, one.bias) == (other.penalty, other.bias)
    assert one.r2 == pytest.approx(other.r2)


def test_constant_targets_teach_nothing() -> None:
    """Every point is as good as any; the largest penalty is chosen."""
    found = choose_by_leave_one_out(sp.csr_array(ROWS), np.zeros((12, 1)), Ridge())
    assert found.penalty == max(PENALTIES)
