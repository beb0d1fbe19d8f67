"""Folders of CSV files: what is written comes back as the same graph; a refusal names the file and the line."""

import re
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from graph_forms import assert_same, refusal, write_tables


def test_tables_keep_the_demo(demo: pw.Graph, tmp_path: Path) -> None:
    write_tables(demo, tmp_path)
    assert_same(demo, pw.read_graph(str(tmp_path), features="none", setting="inductive"), demo.ids.astype(str))


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


NODES = "id,label,split,x,y\na,0,train,1,2\nb,1,train,2,1\nc,0,val,1,1\nd,1,test,3,1\ne,,,1,0\n"
EDGES = "source,target\na,b\nb,e\n"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (NODES, "", "nodes.csv is empty"),
        (NODES, "\n \n", "nodes.csv is empty"),
        (NODES, "id,label,split,x\n", "nodes.csv has a header, but no nodes"),
        (
            "split",
            "set",
            "nodes.csv has no column 'split' (its header is 'id', 'label', 'set', 'x', 'y')",
        ),
        ("x,y", "x,x", "nodes.csv has two columns named 'x'"),
        ("x,y", "x,ID", "nodes.csv has two columns named 'id'"),
        ("x,y", "x,", "column 5 of {}nodes.csv has no name"),
        (NODES, NODES.replace(",", ";"), "nodes.csv is separated by semicolons"),
        (NODES, NODES.replace(",", "\t"), "nodes.csv is separated by tabs"),
        (NODES, "id,label,split\na,0,train\n", "nodes.csv has no features"),
        ("c,0,val,1,1", "c,0,eval,1,1", "line 4 of {}nodes.csv has the split 'eval'"),
        ("c,0,val,1,1", "\na,0,val,1,1", "lines 2 and 5 of {}nodes.csv both have the id 'a'"),
        ("c,0,val,1,1", '"\nc",0,val,1,1\nc,0,dev,1,1', "line 6 of {}nodes.csv has the split 'dev'"),
        ("c,0,val,1,1", ",0,val,1,1", "line 4 of {}nodes.csv has an empty id"),
        ("c,0,val", "c,,val", "line 4 of {}nodes.csv is in val, but has no label"),
        ("b,1,train,2", "b,1,train,two", "line 3 of {}nodes.csv has 'two' in the column 'x'"),
        ("b,1,train,2", "b,1,train,nan", "line 3 of {}nodes.csv has 'nan' in the column 'x'"),
        ("b,1,train,2", "b,1,train,-inf", "line 3 of {}nodes.csv has '-inf' in the column 'x'"),
        ("b,1,train,2", "b,1,train,1e999", "line 3 of {}nodes.csv has '1e999' in the column 'x'"),
        ("b,1,train,2", "b,1,train,1_0", "line 3 of {}nodes.csv has '1_0' in the column 'x'"),
        ("b,1,train,2", "b,1,train,", "line 3 of {}nodes.csv has nothing in the column 'x'"),
        ("b,1,train,2,1", "b,1,train,2", "line 3 of {}nodes.csv has 4 fields, but the header names 5 columns"),
        ("b,1,train,2,1", "b,1,train,2,1,5", "line 3 of {}nodes.csv has 6 fields, but the header names 5 columns"),
        ("a,0,train,1,2", "a,0,train,1,2,5", "line 2 of {}nodes.csv has 6 fields, but the header names 5 columns"),
        ("b,1,train", 'b,"1,train', "line 3 of {}nodes.csv has 2 fields, but the header names 5 columns"),
        ("b,1,train,2", "b,1,train,-2", "nodes.csv: features has negative entries, the first in row 1"),
        ("train", "", "nodes.csv: train is empty"),
        ("c,0,val", "c,0,", "nodes.csv: val is empty"),
        ("b,1,train", "b,1,", "nodes.csv has no node of class '1' in train"),
        ("c,0,val", "c,0.0,val", "nodes.csv has the labels '0' and '0.0'"),
        ("e,,,1,0\n", 'e,,,1,0\n"', "nodes.csv is not valid CSV"),
        ("b,1,train,2", "b,1,train,\u0661", "line 3 of {}nodes.csv has '\u0661' in the column 'x'"),
        (
            "b,1,train,2",
            "b,1,train," + 400 * "9",
            "line 3 of {}nodes.csv has '999999999999...9999999999999' in the col",
        ),
        ("b,1,train,2", "b,1,train,True", "line 3 of {}nodes.csv has 'True' in the column 'x'"),
        (NODES, "\0".join(NODES), "line 1 of {}nodes.csv is not UTF-8"),
        ("c,0,val", "c,\udcff,val", "line 4 of {}nodes.csv is not UTF-8"),
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
        ("from,to\na,b\n", "edges.csv has no column 'source' (its header is 'from', 'to')"),
        ("source;target\na;b\n", "edges.csv is separated by semicolons"),
        ("source,target\na,b\nb,z\n", "line 3 of {}edges.csv names the target 'z'"),
        ("source,target\n\n a,b\n", "line 3 of {}edges.csv names the source ' a'"),
        ("source,target\na\n", "line 2 of {}edges.csv has 1 field, but the header names 2 columns"),
        ("source,target,weight\na,b,1\nb,e,-0.5\n", "line 3 of {}edges.csv has weight -0.5"),
        ("source,target,weight\na,b,nan\n", "line 2 of {}edges.csv has 'nan' in the column 'weight'"),
        (
            "source,target,weight\na,b,2\nb,a,3\n",
            "edge (0, 1), one of 1, has weight 2, but (1, 0) has 3; pass",
        ),
        (
            "source,target,weight\na,b,x\n",
            "line 2 of {}edges.csv has 'x' in the column 'weight'",
        ),
        ("source,target\na,b\n\udcfcb,a\n", "line 3 of {}edges.csv is not UTF-8"),
    ],
)
def test_edges_that_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_bytes(text.encode(errors="surrogateescape"))
    assert sentence.replace("{}", f"{tmp_path}/") in refusal(tmp_path)


@pytest.mark.filterwarnings("ignore:the inductive split")
def test_a_target_takes_the_place_of_the_label(tmp_path: Path) -> None:
    head = "id,TARGET,split,x,y\n"
    rows = ["a,1.5,train,1,1", "b,,,0,1", "c,-2,val,1,0", "d,3e2,test,2,2"]
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    (tmp_path / "nodes.csv").write_text(head + "\n".join(rows) + "\n")
    graph = pw.read_graph(tmp_path, features="none")
    assert graph.regression
    np.testing.assert_array_equal(graph.targets, [[1.5], [np.nan], [-2], [300]])
    assert graph.features.shape == (4, 2)
    for word, sentence in (("cheap", r"line 2 of .* has the target 'cheap', but"), ("nan", "has the target 'nan'")):
        (tmp_path / "nodes.csv").write_text(head + "\n".join([rows[0].replace("1.5", word), *rows[1:]]) + "\n")
        assert re.search(sentence, refusal(tmp_path))
    (tmp_path / "nodes.csv").write_text(head + "\n".join([rows[0].replace("1.5", ""), *rows[1:]]) + "\n")
    assert "line 2" in refusal(tmp_path)
    assert "is in train, but has no target: give it one" in refusal(tmp_path)
    both = "id,target,label,split\na,5,0,train\nb,6,0,val\n"  # with a label, the target is a feature
    (tmp_path / "nodes.csv").write_text(both)
    plain = pw.read_graph(tmp_path, features="none")
    assert not plain.regression
    assert plain.features.toarray().tolist() == [[5], [6]]
