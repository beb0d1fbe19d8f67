"""Graph and normalize_features: the sentence for every input that is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pcwinter.graph.features import normalize_features
from pcwinter.graph.graph import Graph

EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 2)]
LABELS = [0, 1, -1, 0, 1, 0, -1]
N = 7


def build(**changes: Any) -> Graph:
    arguments: dict[str, Any] = {
        "adjacency": EDGES,
        "features": np.ones((N, 3)),
        "labels": LABELS,
        "train": [0, 1],
        "val": [3, 4],
        "test": [5],
    }
    return Graph(**{**arguments, **changes})


def entries(*values: tuple[int, int, float]) -> Any:
    row, col, data = zip(*values, strict=True)
    return sp.csr_array((data, (row, col)), shape=(N, N))


def with_nan(make: Callable[[Any], Any]) -> Any:
    x = np.ones((N, 3))
    x[4, 1] = x[5, 0] = np.nan
    return make(x)


def labels_with(**changes: float) -> list[float]:
    """LABELS with some of them replaced: `n3=9` gives node 3 the label 9."""
    return [changes.get(f"n{node}", label) for node, label in enumerate(LABELS)]


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    # features
    ({"features": with_nan(np.asarray)}, ValueError, "row 4 of features is not finite: replace NaN"),
    ({"features": with_nan(sp.csr_matrix)}, ValueError, "row 4 of features is not finite"),
    ({"features": np.full((N, 1), -np.inf)}, ValueError, "row 0 of features is not finite"),
    ({"features": np.array([[None]] * N)}, ValueError, "row 0 of features is not finite"),
    ({"features": np.ones(N)}, ValueError, r"features has shape \(7,\), but must be \(n, d\)"),
    ({"features": np.ones((0, 3))}, ValueError, r"features has shape \(0, 3\), but must be \(n, d\)"),
    ({"features": np.ones((N, 1)) * 1j}, TypeError, "type complex128, but must hold real numbers"),
    ({"features": [["a"]] * N}, TypeError, "but must hold real numbers"),
    ({"features": np.array([["a", 1]] * N, dtype=object)}, TypeError, "not numbers"),
    ({"features": None}, TypeError, "features is of type NoneType, but must be an"),
    ({"features": [[1.0], [1.0, 2.0]]}, ValueError, "features is a .*lengths"),
    # adjacency: form
    (
        {"adjacency": np.zeros((N, N))},
        ValueError,
        r"dense array of shape \(7, 7\): pass scipy\.sparse\.csr_array",
    ),
    ({"adjacency": np.array(EDGES).T}, ValueError, r"shape \(2, 6\).*adjacency\.T"),
    ({"adjacency": np.zeros((6, 3), dtype=int)}, ValueError, r"shape \(6, 3\): pass a SciPy sparse"),
    ({"adjacency": [0, 1]}, ValueError, r"shape \(2,\): pass a SciPy sparse"),
    ({"adjacency": [(0, 1), (1, 2, 3)]}, ValueError, "adjacency is a .*lengths"),
    ({"adjacency": np.array(EDGES) * 1.0}, TypeError, "type float64, but must hold integer node numbers"),
    ({"adjacency": {(0, 1)}}, TypeError, "adjacency is of type set"),
    ({"adjacency": [(0, 7)]}, ValueError, r"names node 7, but features has 7 rows.*0\.\.6"),
    ({"adjacency": [(-1, 0)]}, ValueError, "names node -1, but features has 7 rows"),
    ({"adjacency": sp.csr_array((6, 6))}, ValueError, r"shape \(6, 6\), but features has 7 rows"),
    ({"adjacency": sp.csr_array((7, 6))}, ValueError, r"adjacency must be \(7, 7\)"),
    # adjacency: content
    (
        {"adjacency": entries((0, 1, 1), (1, 0, 1), (2, 3, 1), (4, 5, 1))},
        ValueError,
        r"not symmetric: 2 entries such as \(2, 3\).*adjacency\.maximum\(adjacency\.T\)",
    ),
    (
        {"adjacency": entries((0, 1, 1), (1, 0, 1), (2, 3, 0.5), (3, 2, 0.5))},
        ValueError,
        r"weight 0\.5 on edge \(2, 3\), .*\(adjacency != 0\)",
    ),
    ({"adjacency": entries((0, 1, np.nan), (1, 0, np.nan))}, ValueError, r"weight nan on edge \(0, 1\)"),
    ({"adjacency": entries((3, 3, 2))}, ValueError, r"weight 2 on edge \(3, 3\)"),
    # labels
    ({"labels": LABELS[:-1]}, ValueError, r"labels has shape \(6,\), but must be \(7,\)"),
    ({"labels": np.eye(N)}, ValueError, r"labels has shape \(7, 7\).*argmax"),
    ({"labels": labels_with(n2=-2)}, ValueError, "node 2 has label -2, but labels must be 0, 1, 2"),
    ({"labels": labels_with(n3=0.5)}, ValueError, r"node 3 has label 0\.5"),
    ({"labels": labels_with(n3=np.inf)}, ValueError, "node 3 has label inf"),
    ({"labels": ["a"] * N}, TypeError, "must hold integers: number the classes"),
    ({"labels": 3}, TypeError, "labels is of type int"),
    ({"labels": labels_with(n1=-1)}, ValueError, "train holds 1 nodes without a label.* node 1"),
    ({"labels": labels_with(n3=-1, n4=-1)}, ValueError, "val holds 2 nodes without a label.* node 3"),
    ({"labels": labels_with(n5=np.nan)}, ValueError, "test holds 1 nodes without a label.* node 5"),
    ({"labels": labels_with(n2=9)}, ValueError, r"node 2 has label 9, but with 2 classes"),
    ({"labels": labels_with(n4=2), "n_classes": 2}, ValueError, r"node 4 has label 2.*as n_classes says"),
    # classes
    ({"labels": labels_with(n4=2)}, ValueError, "class 2 of 3 has no node in train"),
    ({"labels": labels_with(n0=2)}, ValueError, "class 0 of 3 has no node in train"),
    ({"n_classes": 4}, ValueError, "class 2 of 4 has no node in train"),
    ({"n_classes": 2.0}, ValueError, r"n_classes is 2\.0, but must be a positive integer"),
    ({"n_classes": 0}, ValueError, "n_classes is 0, but must be a positive integer"),
    # splits
    ({"train": []}, ValueError, "train is empty"),
    ({"val": np.zeros(N, dtype=bool)}, ValueError, "val is empty, but the utility is measured"),
    ({"val": [1, 3]}, ValueError, "train and val share 1 nodes.* node 1"),
    ({"test": [0, 1, 5]}, ValueError, "train and test share 2 nodes.* node 0"),
    ({"test": [4]}, ValueError, "val and test share 1 nodes.* node 4"),
    ({"train": [0, 1, 1]}, ValueError, "train names node 1 more than once"),
    ({"val": [3, 7]}, ValueError, r"val names node 7, but node numbers must lie in 0\.\.6"),
    ({"test": [-1]}, ValueError, r"test names node -1, but node numbers must lie in 0\.\.6"),
    ({"train": [True, False]}, ValueError, "train is a mask of length 2, but features has 7 rows"),
    ({"train": np.ones((N, 2), dtype=bool)}, ValueError, r"train has shape \(7, 2\)"),
    ({"train": [0.0, 1.0]}, TypeError, "train has entries of type float64, but must be integer"),
    ({"train": {0, 1}}, TypeError, "train is of type set, but must be an array of node numbers"),
    ({"val": None}, TypeError, "val is of type NoneType"),
]


@pytest.mark.parametrize(("changes", "error", "sentence"), REFUSED)
def test_what_is_refused(changes: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as caught:
        build(**changes)
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("advice", ["adjacency.maximum(adjacency.T)", "scipy.sparse.csr_array(adjacency)"])
def test_the_advice_of_an_error_works(advice: str) -> None:
    dense = np.zeros((N, N))
    dense[0, 1] = 1
    adjacency: Any = sp.csr_array(dense) if "maximum" in advice else dense + dense.T
    with pytest.raises(ValueError, match="adjacency") as caught:
        build(adjacency=adjacency)
    assert advice in str(caught.value)
    better = adjacency.maximum(adjacency.T) if "maximum" in advice else sp.csr_array(adjacency)
    assert build(adjacency=better).n_edges == 1


def test_the_advice_on_weights_works() -> None:
    adjacency = entries((0, 1, 0.5), (1, 0, 0.5))
    with pytest.raises(ValueError, match=r"drop the weights with \(adjacency != 0\)\.astype\(float\)"):
        build(adjacency=adjacency)
    assert build(adjacency=(adjacency != 0).astype(float)).n_edges == 1


# ---- normalize_features


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
    with pytest.raises(ValueError, match=r"'rows'.* row, standard, none"):
        normalize_features([[1.0]], "rows")


def test_normalization_checks_what_it_gets() -> None:
    with pytest.raises(ValueError, match="row 4 of features is not finite"):
        normalize_features(with_nan(np.asarray), "row")


# ---- ids and classes


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([1, 2], r"ids has shape \(2,\), but must be \(\d+,\)"),
        (["a"] * 7, "two nodes have the id a"),
        (["a", "a\0", "b", "c", "d", "e", "f"], "two nodes have the id a"),
        (["x" * 1001, *"abcdef"], "an id has 1,001 characters, but at most 1,000 are allowed"),
        (["\ud800", *"abcdef"], "an id is not valid Unicode"),
    ],
)
def test_ids_that_cannot_name_nodes(ids: list[object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build(ids=ids)


def test_ids_and_classes_of_the_wrong_kind() -> None:
    with pytest.raises(TypeError, match="ids has entries of type float64, but must hold integers or strings"):
        build(ids=np.arange(7) / 2)
    with pytest.raises(ValueError, match="classes has 1 names, but there are 2 classes"):
        build(classes=["one"])
