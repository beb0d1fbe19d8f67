"""Weights of the classes, as scikit-learn computes them."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

import pcwinter as pw
from pcwinter.game.class_weights import check_class_weight, class_weights


def test_balanced_weights_are_those_of_scikit_learn() -> None:
    labels = np.r_[np.arange(5), np.random.default_rng(0).integers(0, 5, 40)]
    expected = compute_class_weight("balanced", classes=np.arange(5), y=labels)
    np.testing.assert_array_equal(class_weights(labels, 5, "balanced"), expected)


def test_equal_classes_have_the_weight_one_exactly() -> None:
    for n_classes in range(1, 40):
        for each in (1, 3, 20, 49):
            labels = np.repeat(np.arange(n_classes), each)
            assert (class_weights(labels, n_classes, "balanced") == 1.0).all()
    assert class_weights(np.array([0, 0, 1]), 2, None).tolist() == [1.0, 1.0]


def test_other_weightings_are_refused() -> None:
    assert check_class_weight(None) is None
    for head in (pw.Ridge, pw.Softmax):
        with pytest.raises(ValueError, match="class_weight is 'inverse', expected balanced"):
            head(class_weight="inverse")
