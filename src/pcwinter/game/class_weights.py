"""Labels of the training nodes -> weights of the classes, so that rare classes count as much as frequent ones."""

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import one_of

WEIGHTINGS = ("balanced",)


def check_class_weight(class_weight: object) -> str | None:
    """The argument, after checking that it is None or one of `WEIGHTINGS`."""
    return None if class_weight is None else one_of("class_weight", class_weight, WEIGHTINGS)


def class_weights(labels: IntArray, n_classes: int, class_weight: str | None) -> FloatArray:
    """(c,) n / (c * count) of each class among the n `labels` if "balanced", as in scikit-learn; 1 if None.

    `labels` are those of all training nodes, so the weights do not depend on the coalition.

    >>> class_weights(np.array([0, 0, 0, 1]), 2, "balanced").round(3)
    array([0.667, 2.   ])
    """
    if class_weight is None:
        return np.ones(n_classes)
    return np.asarray(len(labels) / (n_classes * np.bincount(labels, minlength=n_classes)))
