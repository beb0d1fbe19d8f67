"""NetworkX graphs, GraphML and GML: the same graph comes back; a refusal names the node and the attribute."""

import re
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import pcwinter as pw
from graph_forms import assert_same, make, pairs, refusal, to_networkx

HEAD = pw.Ridge(penalty=1.0, bias=1.0)


@pytest.mark.parametrize(("form", "label"), [("graphml", "class"), ("graphml", "label"), ("gml", "class")])
def test_networkx_files_keep_a_graph(form: str, label: str, demo: pw.Graph, tmp_path: Path) -> None:
    keep = demo.features[:, :20]
    split = (demo.train, demo.val, demo.test)
    part = pw.Graph(pairs(demo), keep, demo.labels, *split, ids=[f"é{i}" for i in range(demo.n_nodes)])
    path = tmp_path / f"graph.{form.upper()}"
    getattr(nx, f"write_{form}")(to_networkx(part, label), path)
    assert_same(part, pw.read_graph(path, features="none", setting="inductive"))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_graphs_of_any_kind(kind: Any, small: pw.Graph) -> None:
    graph = to_networkx(small, "label", kind)
    graph.add_edge(1, 0)  # in a directed graph the same edge, the other way round; in a multigraph a second one
    if kind is nx.MultiGraph:
        with pytest.warns(UserWarning, match=r"0 self-loops .*1 repeated"):
            assert_same(small, pw.from_networkx(graph, normalize="none"))
    else:
        assert_same(small, pw.from_networkx(graph, normalize="none", directed=False))
    if graph.is_directed():
        directed = pw.from_networkx(graph, normalize="none")
        assert directed.directed
        assert (directed.n_edges, directed.adjacency[1, 0], directed.adjacency[3, 2]) == (5, 1.0, 0.0)


def test_integers_stay_integers_in_networkx() -> None:
    graph = make([10, 11, 12, -1, 14, 15])
    again = pw.from_networkx(to_networkx(graph, "label"), normalize="none")
    assert_same(graph, again)
    assert set(pw.value(again, permutations=2, head=HEAD).edges()["source"]) == {10, 11}
    mixed = nx.relabel_nodes(to_networkx(graph, "label"), {10: (1, "a")})
    assert pw.from_networkx(mixed).ids.tolist() == ["(1, 'a')", "11", "12", "-1", "14", "15"]
    with pytest.raises(ValueError, match=r"two nodes .*11"):
        pw.from_networkx(nx.relabel_nodes(mixed, {12: "11"}))


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


HEAVY = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="w" for="edge" attr.name="weight" attr.type="double"><default>-2</default></key>
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
        ("g.graphml", HEAVY, "g.graphml has weight -2.0 on edge ('a', 'b')"),
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
        ({"x": float("nan")}, {}, "node 'b' of the NetworkX graph has the feature nan"),
        ({"y": 1}, {}, "node 'a' of the NetworkX graph has no attribute 'y'"),
        ({"x": [1, 2]}, {"features": "x"}, "node 'b' of the NetworkX graph has 2 numbers in 'x', but node 'a' of the"),
        ({"x": [[1], [1, 2]]}, {"features": "x"}, "node 'b' of the NetworkX graph has a list as attribute 'x'"),
        ({}, {"features": ["z"]}, "node 'a' of the NetworkX graph has no attribute 'z'"),
        ({}, {"features": []}, "the NetworkX graph has no features"),
        ({}, {"split": "set", "features": "x"}, "has no node in train"),
        ({"split": "holdout"}, {}, "node 'b' of the NetworkX graph has the split 'holdout'"),
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


def test_strange_weights_and_empty_networkx_graphs_are_refused() -> None:
    graph = triangle()
    graph.add_edge("a", "b", weight=1)
    assert pw.from_networkx(graph).n_edges == 2
    for weight in (-2, float("nan"), float("inf"), "2", True):
        graph.add_edge("a", "b", weight=weight)
        with pytest.raises(ValueError, match=rf"has weight {weight!r} on edge \('a', 'b'\), expected a finite number"):
            pw.from_networkx(graph)
    with pytest.raises(ValueError, match="the NetworkX graph has no nodes"):
        pw.from_networkx(nx.Graph())
    with pytest.raises(ValueError, match=r"type list.* NetworkX graph"):
        pw.from_networkx([(0, 1)])
