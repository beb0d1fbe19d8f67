"""Adding edges: what is chosen is chosen on the validation graph, and a fresh split is a study of its own."""

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.baselines.ranking import Ranking
from pcwinter.experiments import add_edges, reproduce
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.judge import Judge
from pcwinter.experiments.opening import open_study
from pcwinter.experiments.study import QUICK, Study
from stub_study import Stub

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")
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
    assert last == Judge(study.graph, on="validation").score() != Judge(study.graph).score()
    with pytest.raises(ValueError, match=r"on is 'val'.* test, validation or choice"):
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
        assert here.adding(ranking, 0).accuracy[-1] == Judge(here.graph).score()
    assert len(study.used) == 5  # all that went into a table is told of
    assert found[0].graph.train.tolist() != found[1].graph.train.tolist()


def test_edges_are_added_and_the_ranking_is_chosen_by_its_beginning_on_validation() -> None:
    own, path, beside = "PC-Winter (edge)", "PC-Winter (edge path)", "PC-Winter (edge by class)"
    added = {
        (own, "test", 0.0): [0.2, 0.5, 0.8, 0.4, 0.7],  # the best on test
        (own, "test", -np.inf): [0.2, 0.2, 0.2, 0.2, 0.7],
        (path, "test", 0.0): [0.1, 0.2, 0.5, 0.4, 0.6],
        (own, "validation", 0.0): [0.3, 0.3, 0.3, 0.3, 0.3],
        (path, "validation", 0.0): [0.5, 0.5, 0.5, 0.0, 0.0],  # the best over the first fifth
        (beside, "validation", 0.0): [0.4, 0.4, 0.4, 0.9, 0.9],  # the best over all
    }
    outcome = add_edges.run(study := Stub(added=added), 1)
    rows = {row["method"]: row for row in outcome.tables["cora add-edges"]}
    names = ("mean", "first 20 %", "at 10 %", "share that reaches all", "whole graph")
    chosen = (0.36, 0.8 / 3, 0.3, 1, 0.6)
    for method, expected in {
        "PC-Winter (own)": (0.52, 0.5, 0.6, 0.2, 0.7),
        "PC-Winter (own), edges without players last": (0.3, 0.2, 0.2, 1, 0.7),
        "PC-Winter (path)": chosen,
        "PC-Winter (chosen on validation)": chosen,
        "random": (0.1, 0.1, 0.1, 0, 0.1),
    }.items():
        assert [rows[method][name] for name in names] == pytest.approx(expected), method
    assert outcome.notes == ["Chosen on the validation graph: 1 \N{MULTIPLICATION SIGN} PC-Winter (path)."]
    assert [level for level, _ in study.asked] == ["edge", "edge path", "edge by class"]


@dataclass(eq=False)
class Splits(Stub):
    """Every split has another number of edges, and other curves; nothing is asked of the public one."""

    def pc_winter(self, *_: object, **__: object) -> Ranking:
        pytest.fail("asked the public split")

    def baseline(self, *_: object) -> Ranking:
        pytest.fail("asked the public split")

    def adding(self, *_: object, **__: object) -> Curve:
        pytest.fail("asked the public split")

    def fresh(self, seed: int) -> Study:
        own, chosen, random = ([0.2, 0.5, 0.8, 0.4, 0.6], [0.1, 0.2, 0.9, 0.4, 0.5], [0.3, 0.4, 0.2, 0.5, 0.5])
        if seed == 1:
            own, chosen, random = ([x / 2 for x in accuracy] for accuracy in (own, chosen, random))
        curves = {("PC-Winter (edge)", "test", 0.0): own, ("PC-Winter (edge path)", "test", 0.0): chosen}
        curves |= {("random edges", "test", 0.0): random, ("PC-Winter (edge path)", "validation", 0.0): [0.9] * 5}
        return Stub(added=curves, sizes=(0, 1, 4, 10, 20) if seed else (0, 10, 40, 100, 200), head="softmax")


def test_methods_are_compared_split_by_split() -> None:
    outcome = add_edges.run(Splits(), 2, fresh=True)
    rows = {row["method"]: row for row in outcome.tables["cora fresh-splits"]}
    sd = 0.5**0.5  # of two numbers with the difference 1
    for method, ahead, over in (
        ("PC-Winter (own)", -0.1, 0.0),
        ("PC-Winter (path)", 0.0, -0.2 / 3),
        ("random", 0.1, -0.5 / 3),
    ):
        row = rows[method]
        assert row["choice ahead by"] == pytest.approx(0.75 * ahead)
        assert row["choice ahead by sd"] == pytest.approx(abs(ahead / 2) * sd)
        assert row["10 % over all"] == pytest.approx(0.75 * over)
        assert row["10 % over all sd"] == pytest.approx(abs(over / 2) * sd)
    assert "choice ahead by" not in rows["PC-Winter (chosen on validation)"]
    assert "paper at 10 %" not in {name for row in rows.values() for name, value in row.items() if value is not None}
    (note,) = outcome.notes[1:]
    assert note.startswith("Training graphs of 5 to 5 edges; heads: 2 \N{MULTIPLICATION SIGN} softmax, rate ")
    for by_seed in outcome.curves.values():
        assert [curve.count.tolist() for curve in by_seed.values()] == [[0, 5, 20, 50, 100]] * 2
