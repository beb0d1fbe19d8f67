"""Scoring on choice nodes: every experiment uses a split of its own for every seed."""

import csv
import doctest
from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.experiments import COSTS, EXPERIMENTS, drop_nodes, reproduce
from pcwinter.experiments.judge import Judge
from pcwinter.experiments.study import Study
from pcwinter.graph.splits import choice_split

quiet = pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")
CURVES = [name for name in EXPERIMENTS if name not in COSTS]


@pytest.fixture(scope="module")
def labelled() -> pw.Graph:
    """Two classes of 45 nodes, all labelled; edges are mostly within a class, features are noisy."""
    rng = np.random.default_rng(4)
    labels = np.arange(90) % 2
    pairs = rng.integers(0, 90, (500, 2))
    pairs = pairs[
        (pairs[:, 0] < pairs[:, 1]) & ((labels[pairs[:, 0]] == labels[pairs[:, 1]]) | (rng.random(500) < 0.3))
    ]
    features = rng.random((90, 3)) + labels[:, None] * [0.6, 0.0, -0.3] + 0.3
    return pw.Graph(np.unique(pairs, axis=0), features, labels, np.arange(8), np.arange(8, 26), np.arange(26, 40))


@pytest.fixture(scope="module")
def study(labelled: pw.Graph, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study("tiny", labelled, tmp_path_factory.mktemp("choice"), on="choice", quick=True, quiet=True)


@quiet
@pytest.mark.parametrize("name", CURVES)
def test_every_experiment_is_scored_on_the_choice_nodes_of_its_seed(name: str, study: Study) -> None:
    experiment, _, which = name.partition(" ")
    (text,) = reproduce(study, experiment, which or "unlabelled", 2)
    title = f"tiny {name} on choice"
    assert text.startswith(f"{title}\n\n| ")
    assert "Every seed has its own random split." in text
    assert "**" not in text  # the paper's claims are about the test graph
    with (study.out / f"{title.replace(' ', '-')}.csv").open(newline="") as file:
        method, seed, steps, accuracy = (reader := csv.DictReader(file)).fieldnames or ()
        rows = list(reader)
    assert (method, seed, accuracy) == ("method", "seed", "choice accuracy")
    assert steps.startswith("% of the ")
    whole = "100" if "edges" in steps else "0"  # with this share, the training graph is complete
    for k in (0, 1):
        expected = Judge(choice_split(study.graph, k)[0]).score()
        found = {float(row[accuracy]) for row in rows if row[seed] == str(k) and row[steps] == whole}
        assert found == {expected}
    assert {row[steps] for row in rows} >= {"0", "100"}


@quiet
def test_splits_do_not_share_files_and_are_not_computed_again(
    study: Study, labelled: pw.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = drop_nodes.run(study, 2)
    folders = [path.name for path in (study.out / "runs").iterdir() if path.name.startswith("data-shapley-ridge-seed")]
    assert sorted(folders) == [f"data-shapley-ridge-seed-{k}-choice-split-{k}" for k in (0, 1)]
    for work in ("values", "_took"):  # sampled values; anything else that is made
        monkeypatch.setattr(Study, work, lambda *_, **__: pytest.fail("computed again"))
    again = Study("tiny", labelled, study.out, on="choice", quick=True, quiet=True)
    assert drop_nodes.run(again, 2).tables == first.tables


@quiet
def test_the_labelled_share_is_that_of_all_splits(study: Study) -> None:
    (rows,) = drop_nodes.run(study, 2, "mixed").tables.values()
    near = [len(pw.contribution_tree(study.at(seed).graph).nodes) for seed in (0, 1)]
    assert near[0] != near[1]
    assert rows[0]["labelled in all"] == 2 * 8 / sum(near)


def test_only_choice_draws_splits(labelled: pw.Graph, tmp_path: Path) -> None:
    for on in ("test", "validation"):
        study = Study("tiny", labelled, tmp_path, on=on, quiet=True)
        assert study.at(3) is study
    there = Study("tiny", labelled, tmp_path, on="choice", quiet=True)
    assert there.at(3).graph.test.tolist() == choice_split(labelled, 3)[0].test.tolist()
    for name in COSTS:
        with pytest.raises(ValueError, match=rf"on='choice' applies to experiments with curves only, not to {name}"):
            list(reproduce(there, name, seeds=1))


@quiet
def test_the_examples_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "experiments.md"
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(page.read_text("utf-8"), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(examples).failed == 0
    assert (tmp_path / "runs" / "demo" / "demo-permutations-on-choice.md").is_file()
