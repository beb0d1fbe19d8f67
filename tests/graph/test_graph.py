"""Graph: what is accepted, what it becomes, and what is refused."""

import copy
import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from pcwinter.graph.graph import Graph

# A path 0-1-2-3-4-5 with the chord 0-2; train {0, 1}, unlabelled 2, val {3, 4}, test {5}, isolated 6.
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 2)]
LABELS = [0, 1, -1, 0, 1, 0, -1]
N = 7


def build(**changes: Any) -> Graph:
    arguments: dict[str, Any] = {
        "adjacency": EDGES,
        "features": np.arange(3.0 * N).reshape(N, 3),
        "labels": LABELS,
        "train": [0, 1],
        "val": [3, 4],
        "test": [5],
    }
    return Graph(**{**arguments, **changes})


def matrix(edges: list[tuple[int, int]] = EDGES) -> Any:
    dense = np.zeros((N, N))
    for u, v in edges:
        dense[u, v] = dense[v, u] = 1
    return sp.csr_array(dense)


def edges_of(adjacency: Any) -> set[tuple[int, int]]:
    return {(int(u), int(v)) for u, v in zip(*adjacency.nonzero(), strict=True) if u < v}


def arrays_of(graph: Graph) -> list[Any]:
    values = [getattr(graph, field.name) for field in fields(graph)]
    sparse = [part for x in values if sp.issparse(x) for part in (x.data, x.indices, x.indptr)]  # type: ignore[attr-defined]
    return sparse + [x for x in values if isinstance(x, np.ndarray)]


# ---- what a Graph is


def test_the_fields_of_a_small_graph() -> None:
    graph = build()
    assert edges_of(graph.adjacency) == set(EDGES)
    assert edges_of(graph.training) == {(0, 1), (1, 2), (0, 2)}
    assert edges_of(graph.validation) == {(3, 4)}
    assert edges_of(graph.testing) == set()
    assert (graph.n_nodes, graph.n_edges, graph.n_cut_edges, graph.n_classes) == (7, 6, 2, 2)
    assert graph.labels.tolist() == LABELS
    assert [graph.train.tolist(), graph.val.tolist(), graph.test.tolist()] == [[0, 1], [3, 4], [5]]
    np.testing.assert_array_equal(graph.features.toarray(), np.arange(3.0 * N).reshape(N, 3))
    assert graph.features.nnz == 3 * N - 1  # the one zero is not stored


@pytest.mark.parametrize("name", ["adjacency", "training", "validation", "testing"])
def test_an_adjacency_is_canonical(name: str) -> None:
    adjacency: Any = getattr(build(), name)
    assert type(adjacency).__name__ == "csr_array"
    assert (adjacency.shape, adjacency.dtype, adjacency.indices.dtype) == ((N, N), np.float64, np.int64)
    assert adjacency.has_canonical_format
    assert (adjacency.data == 1).all()
    np.testing.assert_array_equal(adjacency.toarray(), adjacency.toarray().T)


def test_repr_tells_what_the_inductive_split_cuts() -> None:
    lines = repr(build()).splitlines()
    numbers = [[int(number) for number in re.findall(r"\d+", line)] for line in lines]
    assert numbers == [[7, 6, 2, 3], [2, 3], [2, 1], [1, 0], [2, 6]]
    assert re.search(r"\b1 edge\b", lines[2])
    assert re.search(r"\b1 node\b", lines[3])


def test_a_graph_is_frozen_and_its_arrays_are_read_only() -> None:
    graph = build()
    with pytest.raises(FrozenInstanceError):
        graph.n_classes = 3  # type: ignore[misc]
    assert len(arrays_of(graph)) == 5 * 3 + 6
    assert not any(array.flags.writeable for array in arrays_of(graph))


def test_user_arrays_are_neither_aliased_nor_changed() -> None:
    user: dict[str, Any] = {
        "adjacency": matrix(),
        "features": sp.csr_array(np.arange(3.0 * N).reshape(N, 3)),
        "labels": np.array(LABELS),
        "train": np.array([1, 0]),
        "val": np.array([4, 3]),
        "test": np.array([5]),
    }
    before = copy.deepcopy(user)
    graph = Graph(**user)
    for name, value in user.items():
        parts = ("data", "indices", "indptr") if sp.issparse(value) else ()
        own = [getattr(value, part) for part in parts] or [value]
        old = [getattr(before[name], part) for part in parts] or [before[name]]
        for mine, was in zip(own, old, strict=True):
            assert mine.flags.writeable
            np.testing.assert_array_equal(mine, was)
            assert not any(np.shares_memory(mine, array) for array in arrays_of(graph))


def test_dense_features_are_copied() -> None:
    x = np.ones((N, 2))
    graph = build(features=x)
    x[:] = 7
    assert graph.features.toarray().max() == 1


def test_a_graph_survives_pickling_and_copying() -> None:
    graph = build()
    for twin in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert repr(twin) == repr(graph)
        for mine, theirs in zip(arrays_of(graph), arrays_of(twin), strict=True):
            np.testing.assert_array_equal(mine, theirs)


# ---- what is accepted


@pytest.mark.parametrize(
    "adjacency",
    [
        matrix(),
        sp.csr_matrix(matrix()),
        sp.coo_matrix(matrix()),
        sp.lil_array(matrix()),
        sp.dok_array(matrix()),
        sp.csc_array(matrix(), dtype=np.int32),
        sp.csr_array(matrix(), dtype=bool),
        sp.bsr_array(matrix()),
        sp.dia_array(matrix()),
        np.array(EDGES, dtype=np.int32),
        np.array(EDGES, dtype=np.uint64),
        [[v, u] for u, v in EDGES],
        EDGES + [(v, u) for u, v in EDGES],
    ],
)
def test_the_same_graph_in_many_forms(adjacency: Any) -> None:
    same: Any = build(adjacency=adjacency).adjacency
    np.testing.assert_array_equal(same.toarray(), build().adjacency.toarray())
    assert same.indices.dtype == np.int64


@pytest.mark.parametrize("adjacency", [[], np.empty((0, 2), dtype=np.int64), sp.csr_array((N, N))])
def test_a_graph_without_edges(adjacency: Any) -> None:
    assert build(adjacency=adjacency).n_edges == 0


def test_a_two_by_two_array_is_an_edge_list() -> None:
    assert edges_of(build(adjacency=np.array([[0, 1], [5, 6]])).adjacency) == {(0, 1), (5, 6)}


def test_explicit_zeros_are_no_edges_and_no_features() -> None:
    stored = sp.coo_array(([1.0, 1.0, 0.0], ([0, 1, 2], [1, 0, 3])), shape=(N, N))
    x = sp.coo_array(([0.0, 2.0], ([0, 1], [0, 0])), shape=(N, 1))
    with pytest.warns(UserWarning, match="dropped 1 edge of weight 0 from adjacency"):
        graph = build(adjacency=stored, features=x)
    assert edges_of(graph.adjacency) == {(0, 1)}
    assert graph.features.nnz == 1


@pytest.mark.parametrize(
    "features",
    [
        np.eye(N).tolist(),
        np.eye(N, dtype=np.float32),
        np.eye(N, dtype=np.int64),
        np.eye(N, dtype=bool),
        sp.csr_matrix(np.eye(N)),
        sp.coo_array(np.eye(N)),
        sp.lil_array(np.eye(N)),
    ],
)
def test_features_of_any_kind(features: Any) -> None:
    x: Any = build(features=features).features
    assert (x.dtype, x.indices.dtype) == (np.float64, np.int64)
    np.testing.assert_array_equal(x.toarray(), np.eye(N))


def test_repeated_entries_of_sparse_features_add_up() -> None:
    x = sp.coo_array(([1.0, 2.0], ([0, 0], [0, 0])), shape=(N, 1))
    assert build(features=x).features.toarray()[0, 0] == 3


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32, np.float64])
def test_labels_of_any_kind(dtype: Any) -> None:
    assert build(labels=np.array(LABELS, dtype=dtype)).labels.tolist() == LABELS


def test_nan_is_an_unknown_label() -> None:
    labels = np.where(np.array(LABELS) < 0, np.nan, LABELS)
    assert build(labels=labels).labels.tolist() == LABELS


def test_splits_are_node_numbers_in_any_order_or_masks() -> None:
    mask = np.zeros(N, dtype=bool)
    mask[[0, 1]] = True
    graph = build(train=mask, val=np.array([4, 3], dtype=np.uint8), test=mask & False)
    assert [graph.train.tolist(), graph.val.tolist(), graph.test.tolist()] == [[0, 1], [3, 4], []]


def test_isolated_labelled_nodes_and_zero_rows_are_fine() -> None:
    graph = build(adjacency=[(2, 6)], features=np.zeros((N, 2)))
    assert (graph.training.nnz, graph.features.nnz) == (2, 0)


def test_given_n_classes_and_the_default_agree() -> None:
    assert build(n_classes=np.int64(2)).n_classes == build().n_classes == 2


# ---- loops and repeats: one warning


@pytest.mark.parametrize(
    ("adjacency", "loops", "repeats"),
    [
        ([*EDGES, (3, 3)], 1, 0),
        ([*EDGES, (0, 1)], 0, 1),
        ([*EDGES, (1, 0), (0, 1), (0, 1), (2, 2), (2, 2)], 2, 2),
        (matrix() + sp.eye_array(N), N, 0),
        (sp.coo_array((np.ones(4), ([0, 1, 0, 1], [1, 0, 1, 0])), shape=(N, N)), 0, 1),
    ],
)
def test_loops_and_repeats_are_counted_in_one_warning(adjacency: Any, loops: int, repeats: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = build(adjacency=adjacency)
    assert [re.findall(r"\d+", str(w.message)) for w in caught] == [[str(loops), str(repeats)]]
    assert caught[0].category is UserWarning
    assert edges_of(graph.adjacency) <= set(EDGES)
    assert graph.adjacency.diagonal().sum() == 0
    assert (graph.adjacency.data == 1).all()


@given(st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=30))
def test_any_edge_list_gives_the_simple_graph(pairs: list[tuple[int, int]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = build(adjacency=pairs)
    wanted = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    assert edges_of(graph.adjacency) == wanted
    sides = [{0, 1, 2, 6}, {3, 4}, {5}]
    for adjacency, side in zip((graph.training, graph.validation, graph.testing), sides, strict=True):
        assert edges_of(adjacency) == {pair for pair in wanted if side.issuperset(pair)}


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
    ({"features": with_nan(np.asarray)}, ValueError, "row 4 of features is not finite"),
    ({"features": with_nan(sp.csr_matrix)}, ValueError, "row 4 of features is not finite"),
    ({"features": np.full((N, 1), -np.inf)}, ValueError, "row 0 of features is not finite"),
    ({"features": np.array([[None]] * N)}, ValueError, "row 0 of features is not finite"),
    ({"features": np.ones(N)}, ValueError, r"features has shape \(7,\), but must be \(n, d\)"),
    ({"features": np.ones((0, 3))}, ValueError, r"features has shape \(0, 3\), but must be \(n, d\)"),
    ({"features": np.ones((N, 1)) * 1j}, TypeError, "type complex128"),
    ({"features": [["a"]] * N}, TypeError, "but must hold real numbers"),
    ({"features": np.array([["a", 1]] * N, dtype=object)}, TypeError, "not numbers"),
    ({"features": None}, TypeError, "features is of type NoneType"),
    ({"features": [[1.0], [1.0, 2.0]]}, ValueError, "features is a .*lengths"),
    # adjacency: form
    (
        {"adjacency": np.zeros((N, N))},
        ValueError,
        r"dense array of shape \(7, 7\): pass scipy\.sparse\.csr_array",
    ),
    ({"adjacency": np.array(EDGES).T}, ValueError, r"shape \(2, 6\).*adjacency\.T"),
    ({"adjacency": np.zeros((6, 3), dtype=int)}, ValueError, r"shape \(6, 3\)"),
    ({"adjacency": [0, 1]}, ValueError, r"shape \(2,\)"),
    ({"adjacency": [(0, 1), (1, 2, 3)]}, ValueError, "adjacency is a .*lengths"),
    ({"adjacency": np.array(EDGES) * 1.0}, TypeError, "type float64"),
    ({"adjacency": {(0, 1)}}, TypeError, "adjacency is of type set"),
    ({"adjacency": [(0, 7)]}, ValueError, r"names node 7, but features has 7 rows.*0\.\.6"),
    ({"adjacency": [(-1, 0)]}, ValueError, "names node -1, but features has 7 rows"),
    ({"adjacency": sp.csr_array((6, 6))}, ValueError, r"shape \(6, 6\), but features has 7 rows"),
    ({"adjacency": sp.csr_array((7, 6))}, ValueError, r"adjacency must be \(7, 7\)"),
    # adjacency: content
    (
        {"adjacency": entries((0, 1, 1), (1, 0, 1), (2, 3, 1), (4, 5, 1))},
        ValueError,
        r"not symmetric: entry \(2, 3\).* 2.*directed=True.*adjacency\.maximum\(adjacency\.T\)",
    ),
    ({"adjacency": entries((0, 1, np.nan), (1, 0, np.nan))}, ValueError, r"weight nan on edge \(0, 1\)"),
    # labels
    ({"labels": LABELS[:-1]}, ValueError, r"labels has shape \(6,\), but must be \(7,\)"),
    ({"labels": np.eye(N)}, ValueError, r"labels has shape \(7, 7\).*argmax"),
    ({"labels": labels_with(n2=-2)}, ValueError, "node 2 has label -2"),
    ({"labels": labels_with(n3=0.5)}, ValueError, r"node 3 has label 0\.5"),
    ({"labels": labels_with(n3=np.inf)}, ValueError, "node 3 has label inf"),
    ({"labels": ["a"] * N}, TypeError, "must hold integers: number the classes"),
    ({"labels": 3}, TypeError, "labels is of type int"),
    ({"labels": labels_with(n1=-1)}, ValueError, "train holds 1 node without a label.* node 1"),
    ({"labels": labels_with(n3=-1, n4=-1)}, ValueError, "val holds 2 nodes without a label.* node 3"),
    ({"labels": labels_with(n5=np.nan)}, ValueError, "test holds 1 node without a label.* node 5"),
    ({"labels": labels_with(n2=9)}, ValueError, r"node 2 has label 9, but with 2 classes"),
    ({"labels": labels_with(n4=2), "n_classes": 2}, ValueError, r"node 4 has label 2.*as n_classes says"),
    # classes
    ({"labels": labels_with(n4=2)}, ValueError, "class 2 of 3 has no node in train"),
    ({"labels": labels_with(n0=2)}, ValueError, "class 0 of 3 has no node in train"),
    ({"n_classes": 4}, ValueError, "class 2 of 4 has no node in train"),
    ({"n_classes": 2.0}, ValueError, r"n_classes is 2\.0"),
    ({"n_classes": 0}, ValueError, "n_classes is 0"),
    # splits
    ({"train": []}, ValueError, "train is empty"),
    ({"val": np.zeros(N, dtype=bool)}, ValueError, "val is empty"),
    ({"val": [1, 3]}, ValueError, "train and val share 1 node.* node 1"),
    ({"test": [0, 1, 5]}, ValueError, "train and test share 2 nodes.* node 0"),
    ({"test": [4]}, ValueError, "val and test share 1 node.* node 4"),
    ({"train": [0, 1, 1]}, ValueError, "train names node 1 more than once"),
    ({"val": [3, 7]}, ValueError, r"val names node 7, but node numbers must lie in 0\.\.6"),
    ({"test": [-1]}, ValueError, r"test names node -1, but node numbers must lie in 0\.\.6"),
    ({"train": [True, False]}, ValueError, "train is a mask of length 2, but features has 7 rows"),
    ({"train": np.ones((N, 2), dtype=bool)}, ValueError, r"train has shape \(7, 2\)"),
    ({"train": [0.0, 1.0]}, TypeError, "train has entries of type float64"),
    ({"train": {0, 1}}, TypeError, "train is of type set"),
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
    with pytest.raises(TypeError, match=r"ids .*float64"):
        build(ids=np.arange(7) / 2)
    with pytest.raises(ValueError, match=r"classes .*1 .*2"):
        build(classes=["one"])


# ---- direction, normalisation, self-loops, setting


def test_a_transductive_graph_cuts_nothing() -> None:
    graph = build(setting="transductive")
    for part in (graph.training, graph.validation, graph.testing):
        assert edges_of(part) == set(EDGES)
    assert graph.n_cut_edges == 0
    assert repr(graph).splitlines()[-1] == "  the setting is transductive: all three have all edges"
    assert graph.settings == {"setting": "transductive"}


def test_repr_names_the_option_where_most_edges_are_cut() -> None:
    cut = {"train": [0, 5], "val": [1, 3], "test": [2, 4], "labels": [0, 1, 0, 0, 1, 1, -1]}
    assert "cuts 6 of the 6 edges; setting='transductive' cuts none" in repr(build(**cut))
    assert "transductive" not in repr(build(**cut, name="public"))
    assert "transductive" not in repr(build())


def test_repr_says_what_is_not_usual() -> None:
    graph = build(directed=True, weights=[1, 2, 3, 4, 5, 6], self_loop=0.5)
    assert "7 nodes, 6 directed weighted edges," in repr(graph)
    assert repr(graph).endswith("row normalisation, self-loops of weight 0.5")
    assert graph.settings == {"directed": True, "normalisation": "row", "self_loop": 0.5}
    assert build().settings == {}


def test_replace_keeps_everything_else() -> None:
    graph = build(directed=True, weights=[1, 2, 3, 4, 5, 6], self_loop=0.5, ids=list("abcdefg"), name="mine")
    other = graph.replace(setting="transductive")
    assert other.settings == graph.settings | {"setting": "transductive"}
    assert (other.ids.tolist(), other.name) == (list("abcdefg"), "mine")
    np.testing.assert_array_equal(other.adjacency.toarray(), graph.adjacency.toarray())
    assert build().replace(directed=True).normalisation == "row"
    with pytest.raises(TypeError, match="sets"):
        graph.replace(sets=3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"directed": 1}, "directed is 1, expected True or False"),
        ({"directed": True, "normalisation": "symmetric"}, "a directed graph has two: use 'row'"),
        ({"normalisation": "rows"}, "normalisation is 'rows', expected symmetric or row"),
        ({"self_loop": -1}, "self_loop is -1, expected 0 or a positive number"),
        ({"self_loop": np.inf}, "self_loop is inf, expected"),
        ({"setting": "transductiv"}, "setting is 'transductiv', expected inductive or transductive"),
    ],
)
def test_settings_that_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build(**changes)
