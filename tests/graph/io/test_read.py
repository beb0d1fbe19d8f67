"""read_graph: the reader is chosen by the name, and paths that lead nowhere are refused."""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from graph_forms import assert_same, pyg, refusal, to_networkx, write_tables


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
