"""A user's files and objects: what goes out in any form comes back as the same graph, with the same ids."""

import doctest
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

import pcwinter as pw

HEAD = pw.Ridge(penalty=1.0, bias=1.0)
WORDS = {"train": "train", "val": "Validation", "test": "TEST"}


@pytest.fixture(scope="module")
def demo() -> pw.Graph:
    return pw.load("demo")


@pytest.fixture(scope="module")
def small() -> pw.Graph:
    """Six nodes of two classes."""
    return make(None)


def make(ids: Any) -> pw.Graph:
    features = [[1.0, 0.1], [0.5, 0.2], [0.2, 0.9], [0.1, 1 / 3], [0.9, 1e-17], [0.3, 2.0]]
    edges = [(0, 1), (1, 2), (2, 3), (3, 5)]
    return pw.Graph(edges, features, [0, -1, 1, 1, 0, 1], [0, 2], [4, 5], [3], ids=ids)


def words(graph: pw.Graph) -> list[str]:
    split = [""] * graph.n_nodes
    for name, word in WORDS.items():
        for node in getattr(graph, name):
            split[node] = word
    return split


def pairs(graph: pw.Graph) -> Any:  # (m, 2)
    upper = sp.triu(graph.adjacency, format="coo")
    return np.stack([upper.row, upper.col], axis=1)


def write_tables(graph: pw.Graph, folder: Path) -> Path:
    nodes = pd.DataFrame(graph.features.toarray()).add_prefix("x")
    nodes.insert(0, "id", graph.ids)
    nodes["label"] = [graph.classes[c] if c >= 0 else "" for c in graph.labels]
    nodes["split"] = words(graph)
    nodes.to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame(graph.ids[pairs(graph)], columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    return folder


def arrays_of(graph: pw.Graph) -> dict[str, Any]:
    upper = sp.csr_array(sp.triu(graph.adjacency))  # directed
    parts = {"adj": upper, "attr": graph.features}
    names = ("data", "indices", "indptr", "shape")
    layout = {f"{part}_{name}": np.asarray(getattr(m, name)) for part, m in parts.items() for name in names}
    return {**layout, "labels": graph.labels, **{name: getattr(graph, name) for name in WORDS}}


def to_networkx(graph: pw.Graph, label: str, kind: Any = nx.Graph) -> Any:
    result = kind()
    dense = graph.features.toarray()
    for node, split in enumerate(words(graph)):
        attributes = {f"x{i}": value for i, value in enumerate(dense[node].tolist())}
        known = {label: graph.classes[graph.labels[node]]} if graph.labels[node] >= 0 else {}
        result.add_node(graph.ids[node].item(), **attributes, split=split, **known)
    result.add_edges_from(graph.ids[pairs(graph)].tolist())
    return result


def assert_same(graph: pw.Graph, other: pw.Graph, ids: Any = None) -> None:
    for name in ("adjacency", "features"):
        one, two = getattr(graph, name), getattr(other, name)
        assert one.shape == two.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    for name in ("labels", "train", "val", "test"):
        np.testing.assert_array_equal(getattr(graph, name), getattr(other, name))
    assert graph.classes == other.classes
    expected = graph.ids if ids is None else ids
    assert other.ids.tolist() == list(expected)
    assert other.ids.dtype.kind == np.asarray(expected).dtype.kind


# ---- round trips


def test_tables_keep_the_demo(demo: pw.Graph, tmp_path: Path) -> None:
    write_tables(demo, tmp_path)
    assert_same(demo, pw.read_graph(str(tmp_path), features="none"), demo.ids.astype(str))


def test_an_archive_keeps_the_demo(demo: pw.Graph, tmp_path: Path) -> None:
    np.savez(tmp_path / "demo.npz", **arrays_of(demo))
    assert_same(demo, pw.read_graph(tmp_path / "demo.npz", features="none"))


@pytest.mark.parametrize(("form", "label"), [("graphml", "class"), ("graphml", "label"), ("gml", "class")])
def test_networkx_files_keep_a_graph(form: str, label: str, demo: pw.Graph, tmp_path: Path) -> None:
    keep = demo.features[:, :20]
    split = (demo.train, demo.val, demo.test)
    part = pw.Graph(pairs(demo), keep, demo.labels, *split, ids=[f"é{i}" for i in range(demo.n_nodes)])
    path = tmp_path / f"graph.{form.upper()}"
    getattr(nx, f"write_{form}")(to_networkx(part, label), path)
    assert_same(part, pw.read_graph(path, features="none"))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_of_any_kind(kind: Any, small: pw.Graph) -> None:
    graph = to_networkx(small, "label", kind)
    graph.add_edge(1, 0)  # in a directed graph the same edge, the other way round; in a multigraph a second one
    if kind is nx.MultiGraph:
        with pytest.warns(UserWarning, match="dropped 0 self-loops and merged 1 repeated edges"):
            assert_same(small, pw.from_networkx(graph, normalize="none"))
    else:
        assert_same(small, pw.from_networkx(graph, normalize="none"))


def test_pyg_data_keep_the_demo(demo: pw.Graph) -> None:
    assert_same(demo, pw.from_pyg(pyg(demo), normalize="none"))


def pyg(graph: pw.Graph) -> SimpleNamespace:
    nodes = np.arange(graph.n_nodes)
    masks = {f"{name}_mask": torch.tensor(np.isin(nodes, getattr(graph, name))) for name in WORDS}
    edges = torch.tensor(np.stack(graph.adjacency.nonzero()))  # both directions
    x = torch.tensor(graph.features.toarray(), requires_grad=True)
    return SimpleNamespace(x=x, y=torch.tensor(graph.labels.copy()), edge_index=edges, **masks)


def test_features_are_normalized_as_asked(small: pw.Graph, tmp_path: Path) -> None:
    write_tables(small, tmp_path)
    for how in ("row", "standard"):
        expected = pw.normalize_features(small.features, how).toarray()
        np.testing.assert_array_equal(pw.read_graph(tmp_path, features=how).features.toarray(), expected)
        np.testing.assert_array_equal(pw.from_pyg(pyg(small), normalize=how).features.toarray(), expected)
        graph = to_networkx(small, "label")
        np.testing.assert_array_equal(pw.from_networkx(graph, normalize=how).features.toarray(), expected)
    with pytest.raises(ValueError, match=r"'max'.* row, standard, none"):
        pw.read_graph(tmp_path / "missing", features="max")


# ---- ids and classes


@pytest.mark.parametrize(
    "ids",
    [
        ["007", "7", "07", "7.0", " 7", "1e1"],
        ["NA", "nan", "None", "null", "-", "#N/A"],
        ["a,b", 'say "x"', "two\nlines", "Ünï", "図", "tab\t"],
    ],
)
def test_ids_come_back_as_written(ids: list[str], tmp_path: Path) -> None:
    graph = make(ids)
    for again in (
        pw.read_graph(write_tables(graph, tmp_path), features="none"),
        pw.from_networkx(to_networkx(graph, "label"), normalize="none"),
    ):
        assert_same(graph, again)
        nodes = pw.value(again, permutations=2, head=HEAD).nodes()
        assert nodes["node"].tolist() == ids[:3] == [str(word) for word in nodes["node"]]


def test_integers_stay_integers_in_networkx() -> None:
    graph = make([10, 11, 12, -1, 14, 15])
    again = pw.from_networkx(to_networkx(graph, "label"), normalize="none")
    assert_same(graph, again)
    assert set(pw.value(again, permutations=2, head=HEAD).edges()["source"]) == {10, 11}
    mixed = nx.relabel_nodes(to_networkx(graph, "label"), {10: (1, "a")})
    assert pw.from_networkx(mixed).ids.tolist() == ["(1, 'a')", "11", "12", "-1", "14", "15"]
    with pytest.raises(ValueError, match="the NetworkX graph: two nodes have the id 11"):
        pw.from_networkx(nx.relabel_nodes(mixed, {12: "11"}))


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("spam", "Ham", ("Ham", "spam")),
        ("10", "9", ("9", "10")),
        ("10.0", "9.0", ("9.0", "10.0")),
        ("1", "-1", ("-1", "1")),
        ("10", "9a", ("10", "9a")),
        ("nan", "NA", ("NA", "nan")),
    ],
)
def test_classes_have_names_in_order(first: str, second: str, names: tuple[str, str], tmp_path: Path) -> None:
    rows = [("a", first, "train"), ("b", second, "train"), ("c", f" {first} ", "val"), ("d", "other", "none")]
    lines = ["id,label,split,x", *(f"{node},{label},{split},1" for node, label, split in rows)]
    (tmp_path / "nodes.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "edges.csv").write_text("source,target\n", encoding="utf-8")
    graph = pw.read_graph(tmp_path)
    assert graph.classes == names
    assert [graph.classes[c] for c in graph.labels[:3]] == [first, second, first]
    assert graph.labels[3] == -1
    assert graph.n_edges == 0


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


# ---- variants that are accepted


def test_spreadsheets_write_csv_in_many_ways(small: pw.Graph, tmp_path: Path) -> None:
    plain = pw.read_graph(write_tables(small, tmp_path))
    for name in ("nodes.csv", "edges.csv"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        header, rest = text.split("\n", 1)
        header = (
            header.replace("id", " ID ").replace("label", "Label").replace("split", ' "Split"').replace("s", "S", 1)
        )
        rows = "".join(",".join(f'"{field}"' for field in row.split(",")) + "\r\n" for row in rest.splitlines())
        (tmp_path / name).write_bytes(("\ufeff" + header.replace(' "Split"', "SPLIT ") + "\r\n\r\n" + rows).encode())
    assert_same(plain, pw.read_graph(tmp_path))


def test_edges_may_have_weight_1_and_other_columns_warn(small: pw.Graph, tmp_path: Path) -> None:
    write_tables(small, tmp_path)
    (tmp_path / "edges.csv").write_text("kind,Source,target,Weight\nx,0,1,1\nx,1,2,1.0\ny,3,2,1\n,5,3,1\n")
    with pytest.warns(UserWarning, match=r"edges\.csv .* ignored: kind"):
        graph = pw.read_graph(tmp_path, features="none")
    assert_same(small, graph, small.ids.astype(str))


def test_a_column_of_true_and_false_is_1_and_0(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,label,split,x,y\na,0,train,True,1\nb,0,val,FALSE,1\n")
    (tmp_path / "edges.csv").write_text("source,target\n")
    assert pw.read_graph(tmp_path, features="none").features.toarray().tolist() == [[1, 1], [0, 1]]


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
    with pytest.warns(UserWarning, match="dropped 6 self-loops and merged 0 repeated edges"):
        assert_same(small, pw.read_graph(tmp_path / "graph.npz", features="none"))


def test_without_a_split_an_archive_gets_the_public_one(demo: pw.Graph, tmp_path: Path) -> None:
    arrays = {name: array for name, array in arrays_of(demo).items() if name not in WORDS}
    np.savez(tmp_path / "demo.npz", **arrays)
    with pytest.warns(UserWarning, match=r"no split.* seed 0: 20 "):
        graph = pw.read_graph(tmp_path / "demo.npz")
    train, val, test = pw.random_split(demo.labels, per_class=20, val=541, test=541, seed=0)
    for name, expected in (("train", train), ("val", val), ("test", test)):
        np.testing.assert_array_equal(getattr(graph, name), expected)


def test_networkx_features_by_name(small: pw.Graph) -> None:
    graph = to_networkx(small, "kind")
    nx.set_node_attributes(graph, "red", "colour")
    vectors = dict(enumerate(small.features.toarray()))
    nx.set_node_attributes(graph, vectors, "vector")
    options: dict[str, Any] = {"label": "kind", "normalize": "none"}
    assert_same(small, pw.from_networkx(graph, features=["x0", "x1"], **options))
    assert_same(small, pw.from_networkx(graph, features="vector", **options))
    assert pw.from_networkx(graph, features="x1", **options).features.shape == (6, 1)


def test_gml_without_labels_has_ids(tmp_path: Path) -> None:
    node = '  node [ id {} class "{}" split "{}" x 1 ]\n'
    rows = [(5, "a", "train"), (6, "b", "train"), (7, "a", "val")]
    text = "graph [\n" + "".join(node.format(*row) for row in rows) + "  edge [ source 5 target 6 ]\n]\n"
    (tmp_path / "graph.gml").write_text(text, encoding="utf-8")
    graph = pw.read_graph(tmp_path / "graph.gml")
    assert (graph.ids.tolist(), graph.classes, graph.n_edges) == ([5, 6, 7], ("a", "b"), 1)


# ---- the page


def test_the_examples_of_the_page_are_one_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "own-graphs.md"
    (tmp_path / "papers").mkdir()
    for name, text in re.findall(r"^`(papers[/.]\S+)`:\n\n```\w*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(page.read_text("utf-8"), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(examples, clear_globs=False).failed == 0
    graph = pw.read_graph("papers")
    for name in ("papers.npz", "papers.graphml", "papers.gml"):
        assert_same(graph, pw.read_graph(name))
    assert_same(graph, pw.from_networkx(examples.globs["g"], label="subject", features="x"))
