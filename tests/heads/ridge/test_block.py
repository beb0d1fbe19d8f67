"""The changes of a block of evaluations, against one solve after each."""

import numpy as np
import pytest

from pcwinter.heads.ridge.block import changes
from pcwinter.heads.ridge.closed_form import solve


@pytest.mark.parametrize("n_used", [0, 1, 8])
def test_the_changes_of_a_block_lead_from_solve_to_solve(n_used: int) -> None:
    rng = np.random.default_rng(n_used)
    t, d, v, roots = 8, 12, 30, np.array([3, 1, 3, 3, 7, 0, 1])
    rows, new, z, labels = rng.normal(size=(t, d)), rng.normal(size=(7, d)), rng.normal(size=(v, d)), np.arange(t) % 3
    used, penalty = np.arange(t) < n_used, rng.uniform(0.2, 2.0, t)
    rows[~used] = 0.0
    kernel = np.where(np.outer(used, used), rows @ rows.T + 4.0, 0.0)
    known = np.c_[np.where(used, new @ rows.T + 4.0, 0.0), new @ new.T + 4.0]
    block = changes(roots, used, np.eye(3)[labels], kernel, known, penalty)
    lines, now, deltas = rows @ z.T, rows.copy(), []
    for r, row in zip(roots, new, strict=True):
        deltas.append((row - now[r]) @ z.T)
        now[r] = row
    combined = block.weights @ np.r_[lines, deltas] + 4.0 * block.sums[:, None]
    scores, now = combined[14:], rows.copy()
    for j, r in enumerate(roots):
        scores += np.outer(block.slopes[2 * j], combined[2 * j]) + np.outer(
            block.slopes[2 * j + 1], combined[2 * j + 1]
        )
        now[r], used[r] = new[j], True
        expected = solve(now[used] @ now[used].T + 4.0, now[used] @ z.T + 4.0, labels[used], 3, penalty[used])
        np.testing.assert_allclose(scores, expected, atol=1e-12)
