"""Graph: what is accepted, what it becomes, and the sentence for everything else."""

import copy
import pickle
import warnings
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
    text = repr(build())
    for part in (
        "7 nodes, 6 edges, 2 classes, 3 features",
        "2 labelled nodes, 3 edges",
        "2 nodes, 1 edges",
        "1 nodes, 0 edges",
        "cuts 2 of the 6 edges",
    ):
        assert part in text


def test_a_graph_is_frozen_and_its_arrays_are_read_only() -> None:
    graph = build()
    with pytest.raises(FrozenInstanceError):
        graph.n_classes = 3  # type: ignore[misc]
    assert len(arrays_of(graph)) == 5 * 3 + 5
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
    assert [str(w.message) for w in caught] == [
        f"dropped {loops} self-loops and merged {repeats} repeated edges of adjacency"
    ]
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
