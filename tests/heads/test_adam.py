"""The batched Adam trainer against a PyTorch loop, one model at a time."""

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from pcwinter._util.arrays import Sparse
from pcwinter.heads.adam import Models, _exponentiate, scores, train
from pcwinter.heads.softmax import Softmax
from torch_loop import torch_loop

Ints = npt.NDArray[np.int64]
CHUNK = 16
NOBODY = np.empty(0, dtype=np.int64)


def problem(seed: int, n_rows: int = 40, n_features: int = 30, n_classes: int = 4) -> tuple[Sparse, Ints]:
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.2)
    return sp.csr_array(rows), rng.integers(0, n_classes, n_rows)


def fit(rows: Sparse, labels: Ints, shared: Ints, own: list[Ints], recipe: Softmax, n_classes: int = 4) -> Models:
    members = [np.concatenate([shared, mine]) for mine in own]
    return train(rows, labels, members, n_classes, recipe.learning_rate, recipe.epochs, recipe.weight_decay)


@pytest.mark.parametrize(
    "recipe", [Softmax(), Softmax(0.1, 200, 0.0), Softmax(0.01, 30, 5e-4), Softmax(0.1, 50, 0.01)], ids=str
)
@pytest.mark.parametrize("kind", ["shared", "own", "mixed"])
def test_equals_the_torch_loop(recipe: Softmax, kind: str) -> None:
    rows, labels = problem(1)
    rng = np.random.default_rng(2)
    shared = {"shared": np.arange(20), "own": NOBODY, "mixed": np.arange(15)}[kind]
    sizes = [0, 0] if kind == "shared" else [1, 7, 3]
    own = [np.sort(rng.choice(np.arange(20, 40), size, replace=False)) for size in sizes]
    models = fit(rows, labels, shared, own, recipe)
    for e, mine in enumerate(own):
        members = np.concatenate([shared, mine])
        weights, bias = torch_loop(rows[members], labels[members], 4, recipe)
        np.testing.assert_allclose(models.weights[e], weights, atol=1e-9)
        np.testing.assert_allclose(models.bias[e], bias, atol=1e-9)


def test_a_class_without_rows() -> None:
    rows, labels = problem(3)
    members = np.flatnonzero(labels != 2)
    weights, bias = torch_loop(rows[members], labels[members], 4, Softmax())
    models = fit(rows, labels, NOBODY, [members], Softmax())
    np.testing.assert_allclose(models.weights[0], weights, atol=1e-9)
    np.testing.assert_allclose(models.bias[0], bias, atol=1e-9)


def test_a_model_without_rows_stays_at_zero() -> None:
    rows, labels = problem(3)
    models = fit(rows, labels, NOBODY, [NOBODY, np.arange(4)], Softmax())
    assert not models.weights[0].any()
    assert not models.bias[0].any()
    assert models.weights[1].any()


def test_a_model_does_not_depend_on_the_others_in_its_batch() -> None:
    rows, labels = problem(4)
    own = [np.array([k]) for k in range(15, 15 + CHUNK + 3)]
    together = fit(rows, labels, np.arange(15), own, Softmax())
    for e in (0, CHUNK - 1, CHUNK, CHUNK + 2):
        alone = fit(rows, labels, np.arange(15), [own[e]], Softmax())
        assert (alone.weights[0] == together.weights[e]).all()
        assert (alone.bias[0] == together.bias[e]).all()


def test_columns_that_a_model_does_not_use_stay_exactly_zero() -> None:
    rows, labels = problem(5)
    own = [np.arange(0, 3), np.arange(20, 40)]
    models = fit(rows, labels, NOBODY, own, Softmax())
    for e, mine in enumerate(own):
        idle = np.setdiff1d(np.arange(rows.shape[1]), rows[mine].indices)
        assert len(idle) or e
        assert not models.weights[e][idle].any()


@pytest.mark.parametrize("n_classes", [2, 8, 9, 17])
def test_any_number_of_classes(n_classes: int) -> None:
    rows, labels = problem(8, n_classes=n_classes)
    models = fit(rows, labels, np.arange(20), [NOBODY], Softmax(), n_classes)
    weights, bias = torch_loop(rows[:20], labels[:20], n_classes, Softmax())
    np.testing.assert_allclose(models.weights[0], weights, atol=1e-9)
    np.testing.assert_allclose(models.bias[0], bias, atol=1e-9)
    np.testing.assert_allclose(scores(models, rows)[0], (rows @ weights + bias).T, atol=1e-8)


def test_exponentials() -> None:
    x = np.r_[-np.logspace(-12, np.log10(700), 4001), np.log(0.5) * np.arange(0.25, 1000, 0.25), 0.0, -0.0]
    expected = np.exp(np.maximum(x, -700))
    _exponentiate(x)
    np.testing.assert_allclose(x, expected, rtol=4e-16, atol=0)


def test_scores_are_class_major_logits() -> None:
    rows, labels = problem(6)
    models = fit(rows, labels, np.arange(10), [np.array([11]), np.array([12])], Softmax())
    z, _ = problem(7)
    expected = np.einsum("vd,edc->ecv", z.toarray(), models.weights) + models.bias[:, :, None]
    np.testing.assert_allclose(scores(models, z), expected, atol=1e-12)
