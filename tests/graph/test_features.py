"""Features: the three normalizations, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pcwinter.graph.features import normalize_features


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_row_normalization(make: Callable[[Any], Any]) -> None:
    x = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    given: Any = make(x)
    result = normalize_features(given, "row")
    np.testing.assert_array_equal(result.toarray(), [[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(given if isinstance(given, np.ndarray) else given.toarray(), x)


def test_standard_normalization() -> None:
    x = np.random.default_rng(0).normal(3.0, 2.0, (50, 4))
    x[:, 2] = 0.1  # constant, and its computed mean is not exactly 0.1
    result = normalize_features(sp.csr_array(x), "standard").toarray()
    np.testing.assert_allclose(result.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(result.std(axis=0), [1, 1, 0, 1], atol=1e-12)
    np.testing.assert_array_equal(result[:, 2], 0)


def test_no_normalization() -> None:
    x = np.array([[1.0, -3.0], [0.0, 2.0]])
    np.testing.assert_array_equal(normalize_features(x, "none").toarray(), x)


def test_row_normalization_refuses_signed_features() -> None:
    with pytest.raises(ValueError, match=r'negative entries, the first in row 1, .* use "standard"'):
        normalize_features([[1.0, 2.0], [3.0, -1.0]], "row")


def test_an_unknown_normalization_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'rows'.* row, standard or none"):
        normalize_features([[1.0]], "rows")


def test_normalization_checks_what_it_gets() -> None:
    with pytest.raises(ValueError, match="row 2 of features is not finite"):
        normalize_features([[1.0], [1.0], [float("nan")], [float("inf")]], "row")
