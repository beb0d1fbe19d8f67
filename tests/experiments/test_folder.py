"""The directory of a study: it belongs to one graph, whichever the head."""

import json
from pathlib import Path

import pytest

from pcwinter.experiments import open_study, reproduce
from pcwinter.experiments.folder import STUDY, claim, is_study, parts_of
from stub_study import GRAPH


def test_a_directory_belongs_to_one_graph(tmp_path: Path) -> None:
    first = {"head": "ridge", "graph": {"edges": "a", "split": "b"}}
    assert not is_study(tmp_path)
    claim(tmp_path, STUDY[""], first)
    assert is_study(tmp_path)
    claim(tmp_path, STUDY[""], first | {"head": "other"})
    with pytest.raises(ValueError, match=r"another graph, which differs in split: choose another directory"):
        claim(tmp_path, STUDY["softmax"], {"graph": {"edges": "a", "split": "c"}})
    assert [path.name for path in tmp_path.iterdir()] == [STUDY[""]]
    assert json.loads((tmp_path / STUDY[""]).read_text())["head"] == "other"
    claim(tmp_path, STUDY["softmax"], first)
    assert json.loads((tmp_path / STUDY["softmax"]).read_text()) == first


def test_a_study_of_an_earlier_version_has_no_hashes(tmp_path: Path) -> None:
    (tmp_path / STUDY[""]).write_text('{"dataset": "cora"}')
    claim(tmp_path, STUDY[""], {"graph": {"edges": "a"}})
    assert "edges" in (tmp_path / STUDY[""]).read_text()
    (tmp_path / STUDY[""]).write_text("precious")
    with pytest.raises(ValueError, match=r"study\.json is damaged: remove it"):
        claim(tmp_path, STUDY[""], {"graph": {"edges": "a"}})
    assert (tmp_path / STUDY[""]).read_text() == "precious"


def test_the_name_of_ones_own_graph(tmp_path: Path) -> None:
    study = open_study("mine", tmp_path, graph=GRAPH, quiet=True)
    assert (study.graph, study.truncation) == (GRAPH, ())
    (text,) = reproduce(study, "counts", seeds=1)
    assert text.startswith("mine counts\n\n| what | here | mean of 20 orders |")
    with pytest.raises(ValueError, match="'cora', which is the name of a public graph: rename it"):
        open_study("cora", tmp_path, graph=GRAPH)
    with pytest.raises(ValueError, match="data is the folder of the public graphs"):
        open_study("mine", tmp_path, graph=GRAPH, data=tmp_path)


def test_the_settings_of_a_graph_are_parts_of_it(tmp_path: Path) -> None:
    plain, other = parts_of(GRAPH), parts_of(GRAPH.replace(setting="transductive", self_loop=2))
    assert other == plain | {"setting": "transductive", "self_loop": "2.0"}
    for before, after in ((plain, other), (other, plain)):
        (tmp_path / STUDY[""]).unlink(missing_ok=True)
        claim(tmp_path, STUDY[""], {"graph": before})
        with pytest.raises(ValueError, match="another graph, which differs in self_loop, setting"):
            claim(tmp_path, STUDY[""], {"graph": after})
