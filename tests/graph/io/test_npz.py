"""npz files: what is written comes back as the same graph; a refusal names the file and the array."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import pcwinter as pw
from graph_forms import WORDS, arrays_of, assert_same, refusal


def test_an_archive_keeps_the_demo(demo: pw.Graph, tmp_path: Path) -> None:
    np.savez(tmp_path / "demo.npz", **arrays_of(demo))
    assert_same(demo, pw.read_graph(tmp_path / "demo.npz", features="none", setting="inductive"))


def test_names_in_an_archive(small: pw.Graph, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    ids = np.array(list("abcdef"))
    shifted = np.where(small.labels < 0, -1, 2 * small.labels)  # class 1 has no nodes
    arrays = arrays_of(small) | {"node_names": ids, "class_names": np.array(["no", "?", "yes"]), "labels": shifted}
    np.savez(path, **arrays)
    graph = pw.read_graph(path, features="none")
    assert (graph.ids.tolist(), graph.classes) == (list("abcdef"), ("no", "yes"))
    np.testing.assert_array_equal(graph.labels, small.labels)
    np.savez(path, **arrays | {"node_names": np.array(list("abcdef"), dtype=object)})
    with pytest.warns(UserWarning, match=r"node_names in .*graph\.npz .* ignored"):
        assert pw.read_graph(path).ids.tolist() == list(range(6))


def test_archives_take_masks_dense_features_and_loops(small: pw.Graph, tmp_path: Path) -> None:
    arrays = arrays_of(small)
    loops = sp.csr_array(small.adjacency + sp.eye_array(6))
    arrays |= {"adj_data": loops.data, "adj_indices": loops.indices, "adj_indptr": loops.indptr}
    for name in WORDS:
        chosen = np.zeros(6, dtype=np.uint8)
        chosen[arrays.pop(name)] = 1
        arrays[f"{name}_mask"] = chosen
    arrays = {name: array for name, array in arrays.items() if not name.startswith("attr")}
    np.savez(tmp_path / "graph.npz", **arrays, attr_matrix=small.features.toarray())
    with pytest.warns(UserWarning, match=r"6 self-loops .*0 repeated"):
        assert_same(small, pw.read_graph(tmp_path / "graph.npz", features="none"))


def test_without_a_split_an_archive_gets_the_public_one(demo: pw.Graph, tmp_path: Path) -> None:
    arrays = {name: array for name, array in arrays_of(demo).items() if name not in WORDS}
    np.savez(tmp_path / "demo.npz", **arrays)
    with pytest.warns(UserWarning, match=r"no split.* seed 0: 20 "):
        graph = pw.read_graph(tmp_path / "demo.npz")
    train, val, test = pw.random_split(demo.labels, per_class=20, val=541, test=541, seed=0)
    for name, expected in (("train", train), ("val", val), ("test", test)):
        np.testing.assert_array_equal(getattr(graph, name), expected)


def layout() -> dict[str, Any]:
    parts = {"adj": sp.csr_array((np.ones(2), ([0, 1], [1, 2])), shape=(4, 4)), "attr": sp.csr_array(np.eye(4) + 1)}
    names = ("data", "indices", "indptr", "shape")
    arrays = {f"{part}_{name}": np.asarray(getattr(m, name)) for part, m in parts.items() for name in names}
    return {**arrays, "labels": np.array([0, 1, 0, 1]), "train": [0, 1], "val": [2], "test": [3]}


PLAIN: dict[str, Any] = {"adj_shape": None, "attr_shape": None, "features": np.ones((4, 2))}  # not the old layout


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels": None}, "there is no array labels"),
        ({"adj_data": None}, "there is no array adj_data"),
        ({"adj_data": [1.0, -2.0]}, "adjacency has weight -2 on edge (1, 2)"),
        ({"weights": [1.0, 2.0]}, "there is an array weights, but no array edges"),
        (PLAIN | {"edges": [[0, 1]], "weights": [1.0, 2.0]}, "weights has shape (2,), but must be (1,)"),
        (
            PLAIN | {"edges": [[0, 1], [1, 0]], "weights": [1.0, 2.0]},
            "has weight 1, but (1, 0) has 2; pass directed=True",
        ),
        ({"directed": 1}, "directed is of type int64 and shape (), expected one boolean"),
        ({"adj_indices": [1, 9]}, "the arrays adj_* do not fit together ("),
        ({"adj_indices": [1.0, 2.0]}, "adj_indices is of type float64 and shape (2,)"),
        ({"adj_shape": [4]}, "adj_shape is of type int64 and shape (1,)"),
        ({"adj_shape": [4, 5]}, "the adjacency is (4, 5)"),
        ({"attr_data": np.array(["x"] * 16)}, "attr_data is of type <U1"),
        ({"attr_matrix": np.ones(3)}, "the features have shape (3,), but must be (n, d)"),
        ({"labels": [0, 1, 0]}, "labels has shape (3,), but must be (4,)"),
        ({"labels": [0.5, 1, 0, 1]}, "node 0 has label 0.5"),
        ({"labels": [0, 1, -1, 1]}, "is in val, but has no label"),
        ({"train": None}, "no array train"),
        ({"val": [7]}, "val names node 7, but node numbers must lie in 0..3"),
        ({"val": [1, 2]}, "train and val share 1 node,"),
        ({"val_mask": [0, 0, 1, 0]}, "there are both val and val_mask"),
        ({"val": None, "val_mask": [0, 0, 2, 0]}, "val_mask is of type int64 and shape (4,)"),
        ({"train": None, "val": None, "test": None}, "there is no split, and none can be drawn: class 0 has 2"),
        ({"class_names": ["one"]}, "labels go up to 1, but class_names has 1 name:"),
        ({"node_names": ["a", "b", "a", "c"]}, "two nodes have the id a"),
        ({"labels": np.array([0, 1, 0, None])}, "cannot be read (array labels: Object arrays cannot be loaded when"),
    ],
)
def test_archives_that_are_refused(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    arrays = {name: array for name, array in (layout() | change).items() if array is not None}
    np.savez(path, **arrays)
    message = refusal(path)
    assert sentence in message
    assert str(path) in message


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut off", b"\x80\x04N."])
def test_damaged_archives(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "graph.npz").write_bytes(content)
    message = refusal(tmp_path / "graph.npz")
    assert "graph.npz is not an .npz archive" in message
    assert "pickle" not in message
    with (tmp_path / "graph.npz").open("wb") as file:
        np.save(file, np.ones(3))
    assert "graph.npz is not an .npz archive" in refusal(tmp_path / "graph.npz")


def test_plain_arrays_and_numeric_targets(small: pw.Graph, tmp_path: Path) -> None:
    path, sets = tmp_path / "graph.npz", {name: getattr(small, name) for name in WORDS}
    upper = sp.triu(small.adjacency).tocoo()
    plain: dict[str, Any] = {"features": small.features.toarray(), "edges": np.stack([upper.row, upper.col], axis=1)}
    np.savez(path, **plain, labels=small.labels, **sets)
    assert_same(small, pw.read_graph(path, features="none"), list(range(6)))
    target = np.where(small.labels < 0, np.nan, 10.0 * small.labels)
    for given in (target, np.stack([target, -target], axis=1)):
        np.savez(path, **plain, target=given, ids=np.arange(6) + 1000, **sets)
        graph = pw.read_graph(path, features="none")
        np.testing.assert_array_equal(graph.targets, given.reshape(6, -1))
        assert graph.ids.tolist() == list(range(1000, 1006))
    np.savez(path, **plain, target=target, labels=small.labels, **sets)
    assert not pw.read_graph(path).regression  # labels come first, and the other array is ignored
    np.savez(path, **arrays_of(small), edges=np.ones((1, 2)), features="x", ids="y", target=target)
    assert_same(small, pw.read_graph(path, features="none"), list(range(6)))
    np.savez(path, **plain, target=target)
    assert "there is no split: add arrays train, val and test" in refusal(path)
    np.savez(path, **plain, target=target[:4], **sets)
    assert "targets has shape (4,), but must be (6,) or (6, k)" in refusal(path)
