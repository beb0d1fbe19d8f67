"""A user's files and objects: every refusal is one sentence with the file, the place, what came and what to do."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

import pcwinter as pw

NODES = "id,label,split,x,y\na,0,train,1,2\nb,1,train,2,1\nc,0,val,1,1\nd,1,test,3,1\ne,,,1,0\n"
EDGES = "source,target\na,b\nb,e\n"


def refusal(path: Path, kind: type[Exception] = ValueError) -> str:
    with pytest.raises(kind) as caught:
        pw.read_graph(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


# ---- what is not a graph


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    formats = "a folder with nodes.csv and edges.csv, or a file that ends in .npz, .graphml or .gml"
    message = refusal(tmp_path / "cora", FileNotFoundError)
    assert f"{tmp_path}/cora" in message
    assert formats in message
    with pytest.raises(FileNotFoundError, match=r'load\("cora"\)'):
        pw.read_graph("cora")
    assert "holds no nodes.csv (nothing)" in refusal(tmp_path, FileNotFoundError)
    (tmp_path / "nodes.csv").write_text(NODES)
    assert "holds no edges.csv (nodes.csv)" in refusal(tmp_path, FileNotFoundError)
    assert "the folder that holds nodes.csv and edges.csv" in refusal(tmp_path / "nodes.csv")
    (tmp_path / "graph.json").write_text("{}")
    message = refusal(tmp_path / "graph.json")
    assert f"{tmp_path}/graph.json" in message
    assert formats in message


# ---- tables


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (NODES, "", "nodes.csv is empty"),
        (NODES, "\n \n", "nodes.csv is empty"),
        (NODES, "id,label,split,x\n", "nodes.csv has a header, but no nodes"),
        (
            "split",
            "set",
            "nodes.csv has no column 'split' (its header is 'id', 'label', 'set', 'x', 'y'): add or rename",
        ),
        ("x,y", "x,x", "nodes.csv has two columns named 'x'"),
        ("x,y", "x,ID", "nodes.csv has two columns named 'id'"),
        ("x,y", "x,", "column 5 of {}nodes.csv has no name"),
        (NODES, NODES.replace(",", ";"), "nodes.csv is separated by semicolons"),
        (NODES, NODES.replace(",", "\t"), "nodes.csv is separated by tabs"),
        (NODES, "id,label,split\na,0,train\n", "nodes.csv has no features"),
        ("c,0,val,1,1", "c,0,eval,1,1", "line 4 of {}nodes.csv has the split 'eval': write train, val or test"),
        ("c,0,val,1,1", "\na,0,val,1,1", "lines 2 and 5 of {}nodes.csv both have the id 'a'"),
        ("c,0,val,1,1", '"\nc",0,val,1,1\nc,0,dev,1,1', "line 6 of {}nodes.csv has the split 'dev'"),
        ("c,0,val,1,1", ",0,val,1,1", "line 4 of {}nodes.csv has an empty id"),
        ("c,0,val", "c,,val", "line 4 of {}nodes.csv is in val, but has no label"),
        ("b,1,train,2", "b,1,train,two", "line 3 of {}nodes.csv has 'two' in the column 'x', where a finite number is"),
        ("b,1,train,2", "b,1,train,nan", "line 3 of {}nodes.csv has 'nan' in the column 'x'"),
        ("b,1,train,2", "b,1,train,-inf", "line 3 of {}nodes.csv has '-inf' in the column 'x'"),
        ("b,1,train,2", "b,1,train,1e999", "line 3 of {}nodes.csv has '1e999' in the column 'x'"),
        ("b,1,train,2", "b,1,train,1_0", "line 3 of {}nodes.csv has '1_0' in the column 'x'"),
        ("b,1,train,2", "b,1,train,", "line 3 of {}nodes.csv has nothing in the column 'x'"),
        ("b,1,train,2,1", "b,1,train,2", "line 3 of {}nodes.csv has 4 fields, but the header names 5 columns: check"),
        ("b,1,train,2,1", "b,1,train,2,1,5", "line 3 of {}nodes.csv has 6 fields, but the header names 5 columns"),
        ("a,0,train,1,2", "a,0,train,1,2,5", "line 2 of {}nodes.csv has 6 fields, but the header names 5 columns"),
        ("b,1,train", 'b,"1,train', "line 3 of {}nodes.csv has 2 fields, but the header names 5 columns: check its co"),
        ("b,1,train,2", "b,1,train,-2", "nodes.csv: features has negative entries, the first in row 1"),
        ("train", "", "nodes.csv: train is empty"),
        ("c,0,val", "c,0,", "nodes.csv: val is empty"),
        ("b,1,train", "b,1,", "nodes.csv has no node of class '1' in train"),
        ("c,0,val", "c,0.0,val", "nodes.csv has the labels '0' and '0.0', which are the same number"),
        ("e,,,1,0\n", 'e,,,1,0\n"', "nodes.csv is not valid CSV"),
        ("b,1,train,2", "b,1,train,\u0661", "line 3 of {}nodes.csv has '\u0661' in the column 'x'"),
        (
            "b,1,train,2",
            "b,1,train," + 400 * "9",
            "line 3 of {}nodes.csv has '999999999999...9999999999999' in the col",
        ),
        ("b,1,train,2", "b,1,train,True", "line 3 of {}nodes.csv has 'True' in the column 'x'"),
        (NODES, "\0".join(NODES), "line 1 of {}nodes.csv is not UTF-8: save the file as UTF-8"),
        ("c,0,val", "c,\udcff,val", "line 4 of {}nodes.csv is not UTF-8: save the file as UTF-8"),
    ],
)
def test_nodes_that_are_refused(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    assert old in NODES
    (tmp_path / "nodes.csv").write_bytes(NODES.replace(old, new).encode(errors="surrogateescape"))
    (tmp_path / "edges.csv").write_text(EDGES)
    message = refusal(tmp_path)
    assert sentence.replace("{}", f"{tmp_path}/") in message
    assert f"{tmp_path}/nodes.csv" in message


def test_a_short_row_is_not_filled_up(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,label,split\na,1,0,train\nb,1,0,val\nc,1,0\n")
    (tmp_path / "edges.csv").write_text("source,target\n")
    assert "line 4 of" in (message := refusal(tmp_path))
    assert "has 3 fields, but the header names 4 columns" in message


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "edges.csv is empty"),
        ("from,to\na,b\n", "edges.csv has no column 'source' (its header is 'from', 'to'): add or rename it"),
        ("source;target\na;b\n", "edges.csv is separated by semicolons"),
        ("source,target\na,b\nb,z\n", "line 3 of {}edges.csv names the target 'z'"),
        ("source,target\n\n a,b\n", "line 3 of {}edges.csv names the source ' a'"),
        ("source,target\na\n", "line 2 of {}edges.csv has 1 fields, but the header names 2 columns"),
        ("source,target,weight\na,b,1\nb,e,0.5\n", "line 3 of {}edges.csv has weight 0.5"),
        (
            "source,target,weight\na,b,x\n",
            "line 2 of {}edges.csv has 'x' in the column 'weight', where a finite number",
        ),
        ("source,target\na,b\n\udcfcb,a\n", "line 3 of {}edges.csv is not UTF-8: save the file as UTF-8"),
    ],
)
def test_edges_that_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_bytes(text.encode(errors="surrogateescape"))
    assert sentence.replace("{}", f"{tmp_path}/") in refusal(tmp_path)


# ---- archives


def layout() -> dict[str, Any]:
    parts = {"adj": sp.csr_array((np.ones(2), ([0, 1], [1, 2])), shape=(4, 4)), "attr": sp.csr_array(np.eye(4) + 1)}
    names = ("data", "indices", "indptr", "shape")
    arrays = {f"{part}_{name}": np.asarray(getattr(m, name)) for part, m in parts.items() for name in names}
    return {**arrays, "labels": np.array([0, 1, 0, 1]), "train": [0, 1], "val": [2], "test": [3]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels": None}, "there is no array labels"),
        ({"adj_data": None}, "there is no array adj_data"),
        ({"adj_data": [1.0, 2.0]}, "adj_data has 2 for edge (1, 2)"),
        ({"adj_indices": [1, 9]}, "the arrays adj_* do not fit together ("),
        ({"adj_indices": [1.0, 2.0]}, "adj_indices is of type float64 and shape (2,)"),
        ({"adj_shape": [4]}, "adj_shape is of type int64 and shape (1,)"),
        ({"adj_shape": [4, 5]}, "the adjacency is (4, 5)"),
        ({"attr_data": np.array(["x"] * 16)}, "attr_data is of type <U1, but must hold numbers"),
        ({"attr_matrix": np.ones(3)}, "the features have shape (3,), but must be (n, d)"),
        ({"labels": [0, 1, 0]}, "labels has shape (3,), but must be (4,)"),
        ({"labels": [0.5, 1, 0, 1]}, "node 0 has label 0.5, but labels must be 0, 1, 2"),
        ({"labels": [0, 1, -1, 1]}, "is in val, but has no label"),
        ({"train": None}, "no array train"),
        ({"val": [7]}, "val names node 7, but node numbers must lie in 0..3"),
        ({"val": [1, 2]}, "train and val share 1 nodes"),
        ({"val_mask": [0, 0, 1, 0]}, "there are both val and val_mask: keep one of them"),
        ({"val": None, "val_mask": [0, 0, 2, 0]}, "val_mask is of type int64 and shape (4,), but must be a mask"),
        ({"train": None, "val": None, "test": None}, "there is no split, and none can be drawn: class 0 has 2"),
        ({"class_names": ["one"]}, "labels go up to 1, but class_names has 1 names"),
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
    assert "graph.npz cannot be read (" in refusal(tmp_path / "graph.npz")
    with (tmp_path / "graph.npz").open("wb") as file:
        np.save(file, np.ones(3))
    assert "graph.npz cannot be read (it is a single array)" in refusal(tmp_path / "graph.npz")


# ---- NetworkX

HEAVY = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="w" for="edge" attr.name="weight" attr.type="double"><default>2</default></key>
  <key id="s" for="node" attr.name="split" attr.type="string"><default>train</default></key>
  <key id="x" for="node" attr.name="x" attr.type="double"><default>1</default></key>
  <graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>"""
DOUBLE = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph><node id="a"/><node id="a"/></graph></graphml>'


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("g.graphml", "", "g.graphml is damaged or not GraphML ("),
        ("g.graphml", "<graphml><graph>", "g.graphml is damaged or not GraphML ("),
        ("g.graphml", "<html/>", "g.graphml is damaged or not GraphML ("),
        ("g.graphml", "\udcff", "g.graphml is damaged or not GraphML ("),
        ("g.graphml", DOUBLE, "g.graphml is damaged or not GraphML (node id 'a' is duplicated)"),
        ("g.graphml", HEAVY, "g.graphml has weight 2.0 on edge ('a', 'b')"),
        ("g.gml", "", "g.gml is damaged or not GML (input contains no graph)"),
        ("g.gml", "graph [ node [ id 1 label", "g.gml is damaged or not GML ("),
        ("g.gml", "graph [ node [ id 1 ] node [ id 1 ] ]", "g.gml is damaged or not GML (node id 1 is duplicated)"),
        ("g.gml", "graph [ node [ id 1 label \udcff ] ]", "g.gml is damaged or not GML ("),
        ("g.gml", "graph [ directed 0 ]", "g.gml has no nodes"),
        (
            "g.gml",
            'graph [ node [ id 1 split "train" x 1 ] ]',
            "node 1 of {}g.gml is in train, but has no attribute 'cla",
        ),
    ],
)
def test_networkx_files_that_are_refused(name: str, text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    assert sentence.replace("{}", f"{tmp_path}/") in refusal(tmp_path / name)


def test_graphml_needs_networkx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.graphml").touch()
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert refusal(tmp_path / "g.graphml").endswith("pip install 'pcwinter[networkx]'")


def triangle() -> Any:
    graph = nx.Graph([("a", "b"), ("b", "c")])
    for node, (label, split) in zip("abc", [(0, "train"), (1, "train"), (0, "val")], strict=True):
        graph.add_node(node, label=label, split=split, x=1.0)
    return graph


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({"x": "red"}, {}, "node 'b' of the NetworkX graph has 'red' as attribute 'x'"),
        (
            {"x": [1, 2]},
            {},
            "node 'b' of the NetworkX graph has a list as attribute 'x'",
        ),
        ({"x": float("nan")}, {}, "node 'b' of the NetworkX graph has the feature nan: replace NaN and infinity"),
        ({"y": 1}, {}, "node 'a' of the NetworkX graph has no attribute 'y', but every node needs every feature"),
        ({"x": [1, 2]}, {"features": "x"}, "node 'b' of the NetworkX graph has 2 numbers in 'x', but node 'a' of the"),
        ({"x": [[1], [1, 2]]}, {"features": "x"}, "node 'b' of the NetworkX graph has a list as attribute 'x'"),
        ({}, {"features": ["z"]}, "node 'a' of the NetworkX graph has no attribute 'z'"),
        ({}, {"features": []}, "the NetworkX graph has no features: give every node attributes that are numbers"),
        ({}, {"split": "set", "features": "x"}, "has no node in train: set the attribute 'set' of nodes to train, val"),
        ({"split": "holdout"}, {}, "node 'b' of the NetworkX graph has the split 'holdout': write train, val or test"),
        ({"label": [1]}, {}, "node 'b' of the NetworkX graph has a list as attribute 'label'"),
        ({"label": None}, {}, "node 'b' of the NetworkX graph is in train, but has no attribute 'label'"),
        ({"x": -1.0}, {}, "the NetworkX graph: features has negative entries"),
    ],
)
def test_networkx_graphs_that_are_refused(change: dict[str, Any], options: dict[str, Any], sentence: str) -> None:
    graph = triangle()
    graph.add_node("b", **change)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        pw.from_networkx(graph, **options)


def test_weighted_and_empty_networkx_graphs_are_refused() -> None:
    graph = triangle()
    graph.add_edge("a", "b", weight=1)
    assert pw.from_networkx(graph).n_edges == 2
    graph.add_edge("a", "b", weight=2)
    with pytest.raises(ValueError, match=r"has weight 2 on edge \('a', 'b'\)"):
        pw.from_networkx(graph)
    with pytest.raises(ValueError, match="the NetworkX graph has no nodes"):
        pw.from_networkx(nx.Graph())
    with pytest.raises(ValueError, match=r"type list.* NetworkX graph"):
        pw.from_networkx([(0, 1)])


# ---- PyTorch Geometric


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"x": None}, "data has no x: from_pyg needs x, y, edge_index, train_mask and val_mask"),
        ({"x": torch.ones(4)}, "data.x has shape (4,), but must be (n, d)"),
        ({"x": torch.eye(4).to_sparse()}, "data.x cannot become a NumPy array ("),
        ({"x": torch.eye(4, dtype=torch.bfloat16)}, "data.x cannot become a NumPy array ("),
        ({"x": -torch.eye(4)}, "data: features has negative entries, the first in row 0"),
        ({"y": torch.eye(4)}, "data.y: labels has shape (4, 4), but must be (4,)"),
        ({"y": torch.tensor([0, 1, -1, 0])}, "node 2 of data is in val, but has no class in data.y: give it one"),
        ({"edge_index": torch.ones(3, 2)}, "data.edge_index is of type float32 and shape (3, 2), but must be (2, m)"),
        ({"edge_index": torch.tensor([[0], [4]])}, "data: adjacency names node 4, but features has 4 rows"),
        ({"edge_weight": torch.tensor([2.0])}, "data.edge_weight is not 1 everywhere"),
        ({"edge_attr": torch.zeros(1, 3)}, "data.edge_attr is not 1 everywhere"),
        ({"val_mask": None}, "data has no val_mask"),
        ({"val_mask": torch.ones(4, 10, dtype=torch.bool)}, "data.val_mask has 10 columns"),
        ({"val_mask": torch.tensor([2, 3])}, "data.val_mask is of type int64 and shape (2,)"),
        ({"val_mask": torch.tensor([0, 1, 1, 0])}, "data: train and val share 1 nodes"),
    ],
)
def test_pyg_data_that_are_refused(change: dict[str, Any], sentence: str) -> None:
    masks = {
        "train_mask": torch.tensor([True, True, False, False]),
        "val_mask": torch.tensor([False, False, True, False]),
    }
    plain = {
        "x": torch.eye(4),
        "y": torch.tensor([[0], [1], [0], [7]]),
        "edge_index": torch.tensor([[0], [1]]),
        **masks,
    }
    graph = pw.from_pyg(SimpleNamespace(**plain, edge_weight=torch.ones(1), test_mask=None))
    assert graph.labels.tolist() == [0, 1, 0, -1]
    with pytest.raises(ValueError, match=re.escape(sentence)):
        pw.from_pyg(SimpleNamespace(**plain | change))
