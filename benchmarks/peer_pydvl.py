"""Rows -> Shapley values by pyDVL; `peer.py` runs this file with an interpreter that has pyDVL but not pcwinter.

The model is the ridge head, written with scikit-learn: ridge regression of one-hot labels on the scaled rows and a
constant feature; the largest score gives the class. So both libraries play the same game.
"""

import json
import sys
import time
import warnings

import numpy as np
import numpy.typing as npt

warnings.simplefilter("ignore")  # pyDVL uses deprecated features of its dependencies

from pydvl.valuation import Dataset, MinUpdates, ModelUtility, PermutationSampler, ShapleyValuation, SupervisedScorer
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class OneHotRidge(BaseEstimator):  # type: ignore[misc]
    """Ridge regression of one-hot labels; `n_classes` is fixed, because a coalition may lack a class."""

    fits = 0  # models trained in this process

    def __init__(self, penalty: float = 1.0, n_classes: int = 2) -> None:
        self.penalty = penalty
        self.n_classes = n_classes

    def fit(self, x: Floats, y: Ints) -> "OneHotRidge":
        """Train."""
        OneHotRidge.fits += 1
        self.model_ = Ridge(alpha=self.penalty, fit_intercept=False, solver="cholesky").fit(
            x, np.eye(self.n_classes)[y]
        )
        return self

    def predict(self, x: Floats) -> Ints:
        """Predicted classes; ties, up to rounding, go to the lowest class."""
        named: Ints = np.round(self.model_.predict(x), 9).argmax(axis=1)
        return named

    def score(self, x: Floats, y: Ints) -> float:
        """Accuracy."""
        return float(np.mean(self.predict(x) == y))


def main() -> None:
    """Read the game from the file in argv[1], sample argv[2] permutations, and print JSON."""
    game = np.load(sys.argv[1])
    permutations = int(sys.argv[2])
    train, val = (Dataset(game[part], game[f"{part}_labels"]) for part in ("train", "val"))
    model = OneHotRidge(float(game["penalty"]), int(game["n_classes"]))
    utility = ModelUtility(model, SupervisedScorer(model, val, default=0.0), catch_errors=False)
    valuation = ShapleyValuation(utility, PermutationSampler(seed=0), MinUpdates(permutations), progress=False)
    began = time.perf_counter()
    valuation.fit(train)
    seconds = time.perf_counter() - began
    result = valuation.result
    place = np.argsort(result.indices)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "evaluations": OneHotRidge.fits,
                "permutations": permutations,
                "values": result.values[place].tolist(),
                "stderr": result.stderr[place].tolist(),
            }
        )
    )


if __name__ == "__main__":
    main()
