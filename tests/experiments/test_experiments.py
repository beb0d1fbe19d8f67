"""Every experiment in its quick form, with both heads, and what goes into its files."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.experiments import EXPERIMENTS, reproduce
from pcwinter.experiments.judge import Judge
from pcwinter.experiments.opening import open_study
from pcwinter.experiments.study import Study
from stub_study import Stub

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")


@quiet
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_in_its_quick_form(name: str, study: Study) -> None:
    experiment, _, which = name.partition(" ")
    (text,) = reproduce(study, experiment, which or "unlabelled", 2)
    stem = f"demo {name}".replace(" ", "-")
    assert f"demo {name}\n\n| " in text
    assert (study.out / f"{stem}.md").read_text() in text + "\n"
    with (study.out / f"{stem}.table.csv").open(newline="") as file:
        assert list(csv.DictReader(file))
    if name == "efficiency":
        assert re.search(r"^\| Data Shapley, softmax \| softmax \|  \| 20\.0", text, re.MULTILINE)
    if name in ("counts", "efficiency"):
        return
    with (study.out / f"{stem}.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0])[:2] == ["method", "seed"]
    assert {line["seed"] for line in lines} == {"0", "1"}
    assert all(0 <= float(line["test accuracy"]) <= 1 for line in lines)
    assert (study.out / f"{stem}.svg").read_text().startswith("<?xml")
    assert (study.out / f"{stem}.png").read_bytes().startswith(b"\x89PNG")


@quiet
def test_every_experiment_with_the_softmax_head(
    tmp_path: Path, graph: pw.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "fresh", lambda study, seed: study)  # another split would cut all its edges
    study = Study("toy", graph, tmp_path, head="softmax", quick=True, quiet=True, workers=2)
    told = dict(zip(EXPERIMENTS, reproduce(study, "all", seeds=1), strict=True))
    for name, text in told.items():
        assert text.startswith(f"toy {name}" + (" softmax\n" if name != "counts" else "\n")), name
    assert (tmp_path / "study-softmax.json").is_file()
    assert "| leave-one-out | 1 | 0." in told["drop-nodes unlabelled"]
    assert "- toy, softmax head: PC-Winter (own, " in told["ablation"]
    # node 2 is worth to the judge's model what it is worth to the head: both are softmax, here on other nodes
    found = study.baseline("leave-one-out", 0)
    whole, judge = np.ones(graph.n_nodes, dtype=bool), Judge(graph, on="validation")
    for node, value in zip(found.items.tolist(), found.value.tolist(), strict=True):
        keep = whole.copy()
        keep[node] = False
        assert value == pytest.approx(judge.score(keep=whole) - judge.score(keep=keep), abs=1e-12)


@quiet
def test_notes_go_with_the_run_that_made_them(tmp_path: Path) -> None:
    for limit in (60.0, None):
        study = open_study("demo", tmp_path, quick=True, quiet=True, max_seconds=limit)
        list(reproduce(study, "efficiency", seeds=1))
        notes = (tmp_path / "demo-efficiency.notes.md").read_text()
        assert ("Time limit" in notes) == (limit is not None)


def test_a_table_of_more_seeds_does_not_go_without_a_word(tmp_path: Path) -> None:
    study = Stub(out=tmp_path, quiet=True, on="validation")  # it has no test nodes
    told = ["".join(reproduce(study, "permutations", seeds=seeds)) for seeds in (2, 1, 1)]
    word = "a table of 2 seeds"
    assert [word in text for text in told] == [False, True, False]
