"""What all readers share: ids, classes, the words of a split, masks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from graph_forms import assert_same, make, to_networkx, write_tables
from pcwinter.graph.io.assemble import mask, split_sets


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
        nodes = pw.value(again, permutations=2, head=pw.Ridge(penalty=1.0, bias=1.0)).nodes()
        assert nodes["node"].tolist() == ids[:3] == [str(word) for word in nodes["node"]]


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


def test_the_words_of_a_split() -> None:
    words = ["train", " Valid", "TEST", "", "validation", "none", "Unlabelled", "val", "unlabeled", "Train "]
    found = split_sets(words, "node {}".format)
    assert [nodes.tolist() for nodes in found] == [[0, 9], [1, 4, 7], [2]]
    with pytest.raises(ValueError, match=r"node 2 .*'Dev '"):
        split_sets(["train", "", "Dev ", "dev"], "node {}".format)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, np.float32])
def test_masks_are_zeros_and_ones_of_any_type(kind: Any) -> None:
    given: Any = np.array([0, 1, 1, 0], dtype=kind)
    for shaped in (given, given[:, None]):
        found = mask(shaped, "it", 4)
        assert found.dtype == np.bool_
        assert found.tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        (np.ones((4, 3), dtype=bool), r"it has 3 columns.* it\[:, 0\]"),
        (np.ones(3, dtype=bool), r"it .*\(3,\).* 4 booleans"),
        (np.array([0, 1, 2, 0]), r"it .*int64"),
        (np.array(list("0110")), r"it .*<U1"),
    ],
)
def test_what_is_no_mask_is_refused(given: np.ndarray, facts: str) -> None:
    with pytest.raises(ValueError, match=facts):
        mask(given, "it", 4)
