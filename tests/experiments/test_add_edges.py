"""Adding edges: what is chosen is chosen on the validation graph, and a fresh split is a study of its own."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.experiments import reproduce
from pcwinter.experiments.judge import Judge
from pcwinter.experiments.study import QUICK, Study, open_study

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model of all players")
SEEDS = 3
CANDIDATES = [f"PC-Winter ({level})" for level in ("own", "path", "by class")]


def early(path: Path) -> dict[str, list[float]]:
    """Mean over the first fifth of each curve, by method and seed."""
    found: dict[str, dict[str, list[float]]] = {}
    with path.open(newline="") as file:
        for method, seed, _, accuracy in list(csv.reader(file))[1:]:
            found.setdefault(method, {}).setdefault(seed, []).append(float(accuracy))
    return {method: [float(np.mean(curve[:3])) for curve in by_seed.values()] for method, by_seed in found.items()}


def best_of(found: dict[str, list[float]]) -> list[str]:
    """The best candidate of every seed; the first of equals."""
    return [CANDIDATES[k] for k in np.argmax([found[name] for name in CANDIDATES], axis=0)]


@quiet
def test_choices_are_made_on_the_validation_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = open_study("demo", tmp_path, quick=True, quiet=True)
    (told,) = reproduce(study, "add-edges", seeds=SEEDS)
    monkeypatch.setattr(Study, "values", lambda *_, **__: pytest.fail("valued again"))
    there = open_study("demo", study.out, quick=True, quiet=True, on="validation")
    (text,) = reproduce(there, "add-edges", seeds=SEEDS)
    assert "demo add-edges on validation\n\n| " in text
    assert "**" not in text  # the paper's claims are about the test graph
    test, validation = early(study.out / "demo-add-edges.csv"), early(study.out / "demo-add-edges-on-validation.csv")
    best = best_of(validation)
    assert best != best_of(test)
    for name, count in Counter(best).items():
        assert f"{count} \N{MULTIPLICATION SIGN} {name}" in told
    for found in (test, validation):
        assert found["PC-Winter (chosen on validation)"] == [found[name][seed] for seed, name in enumerate(best)]
    with (study.out / "demo-add-edges-on-validation.csv").open(newline="") as file:
        last = [float(line["validation accuracy"]) for line in csv.DictReader(file)][-1]
    assert last == Judge(study.graph, on="validation").accuracy() != Judge(study.graph).accuracy()
    with pytest.raises(ValueError, match="on is 'val', expected test or validation"):
        open_study("demo", study.out, on="val")


@quiet
def test_a_fresh_split_is_a_study_of_its_own(tmp_path: Path) -> None:
    graph = pw.load("demo")
    study = Study("demo", graph, tmp_path, quick=True, quiet=True)
    study.pc_winter("own", 7)
    found = {seed: study.fresh(seed) for seed in (0, 1)}
    for seed, here in found.items():
        assert here.graph.train.tolist() != graph.train.tolist()
        expected = pw.value(here.graph, permutations=QUICK, seed=7)  # the seed of the values is another thing
        for place in (study, here):
            place.pc_winter("own", 7)
        np.testing.assert_array_equal(here.pc_winter("own", 7).value, expected.nodes()["value"])
        again = Study("demo", graph, tmp_path, quick=True, quiet=True).fresh(seed)
        np.testing.assert_array_equal(again.pc_winter("own", 7).value, expected.nodes()["value"])
        ranking = here.baseline("random edges", 0)
        assert here.adding(ranking, 0).accuracy[-1] == Judge(here.graph).accuracy()
    assert len(study.used) == 5  # all that went into a table is told of
    assert found[0].graph.train.tolist() != found[1].graph.train.tolist()
