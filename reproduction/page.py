"""Studies -> docs/reproduction.md: the tables of all datasets, and one figure per experiment with a panel for each.

Tables and bands of curves are stored in reproduction/results, so that the page can be updated after one experiment on
one dataset.
"""

import json
import re
from pathlib import Path

from pcwinter._util.files import replace_file
from pcwinter.experiments.figures import draw
from pcwinter.experiments.folder import STUDY, is_study
from pcwinter.experiments.output import Row, file_name, markdown, read_table
from pcwinter.experiments.verdicts import KINDS, Tables, summary, verdicts
from pcwinter.graph.io.datasets import DATASETS
from reproduction.bands import bands_csv, read_bands, read_curves

ROOT = Path(__file__).resolve().parents[1]
TABLE, NOTES, BANDS = "table.csv", "notes.md", "bands.csv"
TITLES = {
    "drop-nodes unlabelled": "Dropping unlabelled nodes, best first (lower is better)",
    "drop-nodes labelled": "Dropping labelled nodes, best first (lower is better)",
    "drop-nodes mixed": "Dropping labelled and unlabelled nodes, best first (lower is better)",
    "add-edges": "Adding edges, best first (higher is better)",
    "fresh-splits": "Adding edges on new random splits (higher is better)",
    "ablation": "Without the level constraint, without precedence, without both",
    "permutations": "Numbers of orders",
    "truncation": "Truncation ratios",
    "efficiency": "Time",
    "counts": "Players and visits",
}
EXPERIMENTS = {  # of all kinds
    f"{experiment} {kind}".strip(): f"{title}{f', {KINDS[kind]}' if kind else ''}"
    for experiment, title in TITLES.items()
    for kind in ("", *KINDS)
}

INTRODUCTION = """# Reproduction of the paper's experiments

This page is generated. `python -m reproduction STUDIES` writes it from the results of `pcwinter reproduce`; do not edit
it by hand. The tables are in [reproduction/results](../reproduction/results) as CSV files."""

SUMMARY = """The summary covers the paper's splits and the ridge head. "Yes" means that every comparison behind the
claim favours it, "partly" that some do, "no" that none does and at least one speaks against it, and "unclear" that the
differences could be chance. The comparisons use own and path values; the comparison with Data Shapley uses the same
stopping rule for both methods, and the claims about edges on the paper's splits use own values. All verdicts are listed
[below](#what-agrees-with-the-paper-and-what-does-not)."""

METHODS = """## How the numbers were made

**Games.** Studies with "messages" under *game* in the table below have the default game, shared remainders and a head
calibrated from the data. Studies without an entry there were made by version 0.1.0, with the induced game, the
remainder to nobody, and a ridge head that imitates the paper's softmax head; they have not been repeated yet. "paper's
preset" is the paper's game with its softmax head.

**Stopping.** All sampled methods share one rule. A run stops when the node values change by less than 5 % over 20
orders, after 2,000 orders, or at the time limit given in a note. If the time limit ended a run, "same rule" and
"converged" refer to the values at that point. The ablation uses at most 200 orders.

**Equal budgets.** Equal evaluations and equal time are equal to within 5 %, and Data Shapley checks its budget every
ten orders. For equal time, PC-Winter gets the number of orders that its first run completed in that time, so its second
run may be somewhat faster or slower.

**Scores.** Every ranking is scored by the softmax head on the test graph, retrained at 101 points of a curve. `mean` is
the mean of the curve, `first 20 %` the mean of its first fifth, and `rebound` the rise from its lowest point to its
end. ± is the standard deviation over seeds. In figures, a line is the mean over seeds, and its band runs from the
minimum to the maximum.

**Times.** A run used one process unless a note says otherwise. The machine has two cores and was running other jobs,
and the results come from several commits. Compare times within a dataset, not between datasets.

**Fresh splits.** The rules for ranking edges (decisions 11, 13, 14 and 16) were chosen after looking at the test graphs
of the paper's splits and of some splits with seeds 0 to 10, and at validation graphs of splits with seeds from 1001.
`fresh-splits` therefore repeats add-edges on splits that were not used for these choices: seed k gets a random split of
the same shape, drawn with seed k + 11, and a head calibrated on it. These are still splits of the same graphs, so a
test node may have been seen in another split. `choice ahead by` is the lead over the first fifth of the ranking chosen
on the validation graph. `10 % over all` is the accuracy with 10 % of the edges minus the accuracy with all of them.
Both are computed split by split, and ± is the standard deviation over splits. These figures have no bands, because
splits differ more than methods do."""

VERDICTS = """Each claim of the paper is followed by the findings: yes or no, with the difference of the means over
seeds, or unclear if the difference could be chance. The test is Welch's t-test at 5 %; on fresh splits it is Student's
t-test of the differences. Seeds and splits are treated as independent, although splits share nodes. There is no
correction for multiple tests, so about one in twenty comparisons without a true difference shows a yes or a no. "As
good" means yes unless the mean is worse, and no only if it is significantly worse. Times are compared without a
test."""


def publish(out: Path, root: Path = ROOT) -> Path:
    """Copy the results of the studies in `out` into reproduction/results; write the page and the new figures."""
    found = [out / name for name in DATASETS if is_study(out / name)]
    if not found:
        raise ValueError(f"{out} contains no studies: run `pcwinter reproduce all --dataset cora --out {out}` first")
    results, figures = root / "reproduction" / "results", root / "docs" / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    new = set().union(*(_keep(study, results / study.name) for study in found))
    for experiment in new:
        bands = [_file(results / name, experiment, BANDS) for name in _studies(results, experiment)]
        pictures = draw([read_bands(path) for path in bands if path.is_file()])
        replace_file(figures / f"{file_name(experiment)}.png", pictures["png"])
    page = root / "docs" / "reproduction.md"
    replace_file(page, page_of(root).encode())
    return page


def page_of(root: Path = ROOT) -> str:
    """The text of the page, from reproduction/results."""
    results = root / "reproduction" / "results"
    studies = [results / name for name in _studies(results)]
    found = verdicts([Tables(study, study.name, kind) for kind in ("", *KINDS) for study in studies])
    holds = markdown(_named(summary([Tables(study, study.name) for study in studies])))
    parts = [INTRODUCTION, holds, SUMMARY, METHODS, *_settings(studies)]
    parts += [f"## What agrees with the paper, and what does not\n\n{VERDICTS}\n\n{found}"]
    parts += [_experiment(root, experiment) for experiment in EXPERIMENTS if _studies(results, experiment)]
    return "\n\n".join(parts) + "\n"


def _studies(results: Path, experiment: str = "") -> list[str]:
    """The datasets with results, of one experiment or of any."""
    names = [name for name in DATASETS if (results / name).is_dir()]
    return [name for name in names if not experiment or _file(results / name, experiment, TABLE).is_file()]


def _file(study: Path, experiment: str, kind: str) -> Path:
    return study / f"{file_name(study.name, experiment)}.{kind}"


def _keep(study: Path, place: Path) -> set[str]:
    """Copy the tables and notes of a study and the bands of its curves; returns the experiments with curves."""
    place.mkdir(parents=True, exist_ok=True)
    files, drawn = [study / name for name in STUDY.values()], set()
    for experiment in EXPERIMENTS:
        if not _file(study, experiment, TABLE).is_file():
            continue
        _file(place, experiment, NOTES).unlink(missing_ok=True)  # they belong to the old table
        files += [_file(study, experiment, TABLE), _file(study, f"{experiment} fair", TABLE)]
        files.append(_file(study, experiment, NOTES))
        curves = _file(study, experiment, "csv")
        if curves.is_file():
            replace_file(_file(place, experiment, BANDS), bands_csv(read_curves(curves)).encode())
            drawn.add(experiment)
    for path in filter(Path.is_file, files):
        replace_file(place / path.name, path.read_bytes())
    return drawn


def _named(rows: list[Row]) -> list[Row]:
    """The summary with the names of the graphs as people write them."""
    return [
        {column: re.sub("|".join(DATASETS), lambda name: name[0].title(), str(cell)) for column, cell in row.items()}
        for row in rows
    ]


def _settings(studies: list[Path]) -> list[str]:
    """A table of the graphs and heads, if there are any."""
    rows: list[Row] = []
    for file in STUDY.values():
        for path in filter(Path.is_file, (study / file for study in studies)):
            found = json.loads(path.read_text(encoding="utf-8"))
            rows.append({name: _plain(value) for name, value in found.items() if name != "graph"})
    return [markdown(rows)] if rows else []


def _plain(value: object) -> str:
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def _experiment(root: Path, experiment: str) -> str:
    title = EXPERIMENTS[experiment]
    parts = [f"## {title}"]
    picture, results = f"figures/{file_name(experiment)}.png", root / "reproduction" / "results"
    parts += [f"![{title}]({picture})"] if (root / "docs" / picture).is_file() else []
    for name in _studies(results, experiment):
        study = results / name
        for suffix, what in (("", ""), (" fair", ": equal budgets")):
            rows = read_table(_file(study, f"{experiment}{suffix}", TABLE))
            parts += [f"### {name}{what}\n\n{markdown(rows)}"] if rows else []
        notes = _file(study, experiment, NOTES)
        parts += [notes.read_text(encoding="utf-8").strip()] if notes.is_file() else []
    return "\n\n".join(parts)
