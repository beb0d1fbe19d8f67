"""A ranking in a file: read, judged, or refused by line."""

import re
from pathlib import Path

import pytest

import pcwinter as pw
from pcwinter.experiments.judge_file import judge_file, read_ranking


def test_a_ranking_of_ones_own(tmp_path: Path, graph: pw.Graph) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("node,value,more\n2,3.0,x\n3,2.5,y\n5,-1e-3,z\n")
    found = read_ranking(file, graph)
    assert found.items.tolist() == [2, 3, 5]
    assert found.value.tolist() == [3.0, 2.5, -0.001]
    text = judge_file(file, graph, "toy", "unlabelled", tmp_path / "out")
    assert "toy judge mine" in text
    assert (tmp_path / "out" / "toy-judge-mine.svg").is_file()
    assert "| rebound |" in text
    with pytest.raises(FileExistsError, match=r"toy-judge-mine\.csv"):
        judge_file(file, graph, "toy", "unlabelled", tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "toy-judge-mine.notes.md").write_text("precious")
    with pytest.raises(FileExistsError, match=r"toy-judge-mine\.notes\.md"):
        judge_file(file, graph, "toy", "unlabelled", tmp_path / "full")
    assert (tmp_path / "full" / "toy-judge-mine.notes.md").read_text() == "precious"
    assert "| rebound |" not in judge_file(file, graph, "toy", "mixed")
    file.write_text("source, target, value\n2, 0, 3.0\n1,5,1\n")
    assert read_ranking(file, graph).items.tolist() == [[0, 2], [1, 5]]
    file.write_text("node,value,value_path\n2,3.0,7\n3,2.5,8\n5,-1e-3,9\n")
    assert read_ranking(file, graph, "value_path").value.tolist() == [7, 8, 9]
    assert "toy judge mine value_path" in judge_file(file, graph, "toy", column="value_path")
    with pytest.raises(ValueError, match="column 'node'"):
        read_ranking(file, graph, "node")
    file.write_text("source,target,value\n2,0,3.0\n1,5,1\n")
    text = judge_file(file, graph, "toy")
    assert "toy judge mine\n" in text
    assert "4 edges are missing from the file" in text
    assert "| first 20 % | at 10 % | share that reaches all | whole graph |\n" in text
    assert "toy judge mine on validation\n" in judge_file(file, graph, "toy", on="validation")
    with pytest.raises(ValueError, match=r"which='mixed' .*mine\.csv has edges"):
        judge_file(file, graph, "toy", "mixed")
    text = judge_file(file.rename(tmp_path / "random.csv"), graph, "toy")
    assert "| your random | " in text
    assert "| random | " in text


@pytest.mark.parametrize("kind", ["node", "edge"])
def test_the_order_of_lines_and_zeros_left_out_change_nothing(kind: str, tmp_path: Path, graph: pw.Graph) -> None:
    lines = {"node": ["5,1", "2,0", "3,0", "6,0"], "edge": ["0,3,1", "2,0,0", "1,6,0", "4,0,0"]}[kind]
    tables = []
    for some in (lines, lines[::-1], lines[:1]):
        (tmp_path / "mine.csv").write_text(
            "\n".join(["node,value" if kind == "node" else "source,target,value", *some])
        )
        tables.append(judge_file(tmp_path / "mine.csv", graph, "toy", seeds=4).split("\n\n")[1])
    assert tables[0] == tables[1] == tables[2]
    assert "| mine | 4 | 0." in tables[0]
    assert "±" in tables[0]


def test_ones_own_curve_by_workers_and_seeds(tmp_path: Path, graph: pw.Graph) -> None:
    (tmp_path / "mine.csv").write_text("node,value\n" + "\n".join(f"{k},{k}" for k in range(8)))  # no ties
    here, there = (judge_file(tmp_path / "mine.csv", graph, "toy", workers=n, seeds=2) for n in (1, 2))
    assert here == there
    assert "± 0.0000" in here.splitlines()[4]
    with pytest.raises(ValueError, match="seeds is 0, expected"):
        judge_file(tmp_path / "mine.csv", graph, "toy", seeds=0)


def test_ones_own_nodes_are_dropped_as_all_others_are(tmp_path: Path, graph: pw.Graph) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("node,value\n\n2,3.0\n8,2.0\n")
    text = judge_file(file, graph, "toy")
    assert re.search(r"\b5 nodes\b.* missing", text)
    assert re.search(r"\b1 node\b.* ignored", text)
    assert [line.split()[1] for line in text.splitlines() if line.startswith("| ")][2:] == ["mine", "degree", "random"]
    with pytest.raises(ValueError, match=r"none of the 2 nodes .*which='labelled'"):
        judge_file(file, graph, "toy", "labelled")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "has the columns nothing"),
        ("node,value\n", "has no line below its header"),
        ("node,value\n1,2\n\n2,x\n", "line 4 of .* has 'x' in the column 'value'"),
        ("node,value\n1,0,17\n", "line 2 of .* has 3 fields, but the header names 2 columns"),
        ("node,value\n1\n", "line 2 of .* has 1 field, but the header names 2 columns"),
        ("node,value\n1,1_0\n", "line 2 of .* has '1_0' in the column 'value'"),
        ("node;value\n1;2\n", "has the columns node;value"),
        ("node,score\n1,2\n", "has the columns node, score"),
        ("node,value,value\n1,2,3\n", "has two columns 'value'"),
        ("node,,,value\n1,,,x\n", "line 2 of .* has 'x' in the column 'value'"),
        ("node,value\n99,2\n", "line 2 of .* names '99'"),
        ("node,value\n1,2\n1,3\n", "line 3 of .* names the node of an earlier line"),
        ("node,value\n1,2\n2,nan\n", "line 3 of .* has 'nan' in the column 'value'"),
        ("node,value\n1,\n", "line 2 of .* has nothing in the column 'value'"),
        ("node,value\n9,1\n", "line 2 of .* names 9, a validation or test node"),
        ("source,target,value\n0,5,1\n", "line 2 of .* names 0 and 5, which share no edge of the training graph"),
        (
            "source,target,value\n0,2,1\n2,0,1\n",
            "line 3 of .* names the edge of an earlier line",
        ),
    ],
)
def test_a_ranking_that_is_refused(content: str, sentence: str, graph: pw.Graph, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        read_ranking(tmp_path / "mine.csv", graph)
