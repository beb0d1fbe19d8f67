"""read_graph: the reader is chosen by the name, and paths that lead nowhere are refused."""

import doctest
import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

import pcwinter as pw
from any_graph import any_graph
from graph_forms import arrays_of, assert_same, pyg, refusal, to_networkx, write_tables


def test_features_are_normalized_as_asked(small: pw.Graph, tmp_path: Path) -> None:
    write_tables(small, tmp_path)
    for how in ("row", "standard"):
        expected = pw.normalize_features(small.features, how).toarray()
        np.testing.assert_array_equal(pw.read_graph(tmp_path, features=how).features.toarray(), expected)
        np.testing.assert_array_equal(pw.from_pyg(pyg(small), normalize=how).features.toarray(), expected)
        graph = to_networkx(small, "label")
        np.testing.assert_array_equal(pw.from_networkx(graph, normalize=how).features.toarray(), expected)
    with pytest.raises(ValueError, match=r"features is 'max'.* row, standard or none"):
        pw.read_graph(tmp_path / "missing", features="max")
    for convert in (pw.from_pyg, pw.from_networkx):
        with pytest.raises(ValueError, match=r"normalize is 'rows'.*did you mean row"):
            convert(None, normalize="rows")


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


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    formats = "a folder with nodes.csv and edges.csv, or a file that ends in .npz, .graphml or .gml"
    message = refusal(tmp_path / "cora", FileNotFoundError)
    assert f"{tmp_path}/cora" in message
    assert formats in message
    with pytest.raises(FileNotFoundError, match=r'load\("cora"\)'):
        pw.read_graph("cora")
    assert "holds no nodes.csv (nothing)" in refusal(tmp_path, FileNotFoundError)
    (tmp_path / "nodes.csv").touch()
    assert "holds no edges.csv (nodes.csv)" in refusal(tmp_path, FileNotFoundError)
    assert "the folder that holds nodes.csv and edges.csv" in refusal(tmp_path / "nodes.csv")
    (tmp_path / "graph.json").write_text("{}")
    message = refusal(tmp_path / "graph.json")
    assert f"{tmp_path}/graph.json" in message
    assert formats in message


FORMS = ("csv", "npz", "plain npz", "graphml", "gml", "networkx", "pyg")


def through(form: str, graph: pw.Graph, tmp_path: Path, **options: Any) -> pw.Graph:
    """The graph after a round trip through a format."""
    source, target = graph.adjacency.nonzero()
    weights = graph.adjacency.data
    if form == "csv":
        write_tables(graph, tmp_path)
        table = {"source": graph.ids[source], "target": graph.ids[target], "weight": weights}
        pd.DataFrame(table).to_csv(tmp_path / "edges.csv", index=False)
        return pw.read_graph(tmp_path, features="none", directed=graph.directed, **options)
    if form.endswith("npz"):
        arrays = arrays_of(graph) | {"directed": graph.directed}
        for name in ("data", "indices", "indptr"):
            arrays[f"adj_{name}"] = getattr(graph.adjacency, name)
        if form == "plain npz":
            arrays = {name: array for name, array in arrays.items() if not name.startswith(("adj", "attr"))}
            edges = np.stack([source, target], axis=1)
            arrays |= {"features": graph.features.toarray(), "edges": edges, "weights": weights}
        np.savez(tmp_path / "graph.npz", **arrays)
        return pw.read_graph(tmp_path / "graph.npz", features="none", **options)
    if form == "pyg":
        data = pyg(graph)
        data.edge_index, data.edge_weight = torch.tensor(np.stack([source, target])), torch.tensor(weights)
        return pw.from_pyg(data, normalize="none", directed=graph.directed, **options)
    network = to_networkx(graph, "class", nx.DiGraph if graph.directed else nx.Graph)
    network.remove_edges_from(list(network.edges))
    named = zip(graph.ids[source].tolist(), graph.ids[target].tolist(), weights.tolist(), strict=True)
    network.add_weighted_edges_from(named)
    if form == "networkx":
        return pw.from_networkx(network, label="class", normalize="none", **options)
    getattr(nx, f"write_{form}")(network, tmp_path / f"graph.{form}")
    return pw.read_graph(tmp_path / f"graph.{form}", features="none", **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["weighted", "directed", "directed weighted"])
def test_weights_and_direction_survive_every_format(form: str, kind: str, tmp_path: Path) -> None:
    graph = any_graph(kind, n=8, n_val=4, probability=0.2)
    if form == "csv":
        graph = graph.replace(ids=[f"n{k}" for k in range(graph.n_nodes)])
    options: dict[str, Any] = {"setting": "transductive", "self_loop": 2, "normalisation": "row"}
    again = through(form, graph, tmp_path, **options)
    assert again.settings == {"normalisation": "row", "self_loop": 2.0, "setting": "transductive"} | (
        {"directed": True} if graph.directed else {}
    )
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
    np.testing.assert_array_equal(again.train, graph.train)


@pytest.mark.parametrize("form", FORMS)
def test_masks_that_look_transductive_are_reported_once(form: str, tmp_path: Path) -> None:
    graph = any_graph("weighted", n=8, n_val=8, probability=0.3)
    if form == "csv":
        graph = graph.replace(ids=[f"n{k}" for k in range(graph.n_nodes)])
    with pytest.warns(UserWarning, match=r"the inductive split cuts .*--setting transductive") as caught:
        through(form, graph, tmp_path)
    assert len(caught) == 1
    for setting in ("inductive", "transductive"):
        assert through(form, graph, tmp_path, setting=setting).setting == setting


def test_edge_attr_is_a_weight_only_when_asked(small: pw.Graph) -> None:
    data = pyg(small)
    data.edge_attr = 2 * torch.ones(data.edge_index.shape[1], 1)
    with pytest.warns(UserWarning, match=r"data\.edge_attr is ignored: if it has the weights .* weight='edge_attr'"):
        assert not pw.from_pyg(data, normalize="none").weighted
    assert (pw.from_pyg(data, normalize="none", weight="edge_attr").adjacency.data == 2).all()
    data.edge_attr = torch.ones(data.edge_index.shape[1], 3)
    with pytest.raises(ValueError, match=r"data\.edge_attr is of type float32 and shape .*, but must have one number"):
        pw.from_pyg(data, weight="edge_attr")
    del data.edge_attr
    with pytest.raises(ValueError, match="data has no edge_attr"):
        pw.from_pyg(data, weight="edge_attr")
    with pytest.raises(ValueError, match="weight is 'w', expected edge_weight or edge_attr"):
        pw.from_pyg(data, weight="w")
