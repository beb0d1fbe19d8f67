"""Studies -> docs/reproduction.md: the tables of all datasets, and a figure per experiment with a panel for each.

Tables, and curves with their seeds taken together, are kept in docs/results, so that the page can be written anew
after one experiment on one dataset.
"""

import json
import sys
from pathlib import Path

from pcwinter._util.files import replace_file
from pcwinter.experiments.figures import bands_csv, draw, read_bands, read_curves
from pcwinter.experiments.output import Row, markdown, read_table
from pcwinter.experiments.study import STUDY, is_study
from pcwinter.experiments.verdicts import Tables, verdicts
from pcwinter.graph.io.datasets import DATASETS

TABLE, NOTES, BANDS = "table.csv", "notes.md", "bands.csv"
TITLES = {
    "drop-nodes unlabelled": "Dropping unlabelled nodes, best first (lower is better)",
    "drop-nodes labelled": "Dropping labelled nodes, best first (lower is better)",
    "drop-nodes mixed": "Dropping labelled and unlabelled nodes, best first (lower is better)",
    "add-edges": "Adding edges, best first (higher is better)",
    "fresh-splits": "Adding edges on splits drawn anew (higher is better)",
    "ablation": "Without the level constraint, without precedence, without both",
    "permutations": "Numbers of orders",
    "truncation": "Truncation ratios",
    "efficiency": "Time",
    "counts": "Players and visits",
}
EXPERIMENTS = {  # with either head
    f"{experiment}{head}": f"{title}{', softmax head' if head else ''}"
    for experiment, title in TITLES.items()
    for head in ("", " softmax")
}

INTRODUCTION = """# Reproduction of the paper's experiments

Written by `python -m pcwinter.experiments.document`, from what `pcwinter reproduce` left behind: do not edit. The
tables are in [results](results) as CSV; they are of several commits.

Every sampled method runs to the same rule: the node values move by less than 5 % over 20 orders, or 2,000 orders, or
the time limit that a note tells has passed, as it has where the seconds say so: then "same rule" and "converged" are
of what was reached by then. The ablation has at most 200 orders. Equal evaluations and equal time are so to 5 %, and
to the ten orders after which Data Shapley looks at them; to equal PC-Winter's time with that of Data Shapley, it is
given the orders that it first made in such a time, and may be quicker or slower then. The judge of every ranking is the
softmax head on the test graph, retrained at 101 points of a curve. `mean` is the plain mean along a curve, `first 20 %`
that over its first fifth, `rebound` how far the accuracy rises again from its lowest point to the end; after ± the
standard deviation over seeds. A line of a figure is the mean over seeds, its band goes from the least to the most.
Times are of one process, or of as many as a note tells, beside other work on a machine with two cores: compare them
with each other, not across datasets.

Which edges count as what (decisions 11, 13, 14 and 16) was decided after a look at the test graphs of the paper's
splits and of some splits drawn by seeds 0 to 10, and at validation graphs of splits from 1001 on. `fresh-splits` adds
edges on splits that had no part in it: seed k has its own split of the same shape, drawn at random by seed k + 11, and
a head calibrated on it. They are splits of the same graphs: a node that is tested on may have been looked at in another
split. `choice ahead by` is the lead, over the first fifth, of the choice made on the validation graph, `10 % over
all` what a tenth of the edges has more than the whole graph, both reckoned split by split; after ± is the standard
deviation over splits. Figures of them have no bands, since splits differ by more than methods do."""

VERDICTS = """Each claim of the paper in our words, and what was found here: yes or no, with the difference of the
means over seeds, and unclear where that could be chance (Welch's t at 5 %, on fresh splits Student's t of the
differences, seeds and splits taken as independent, though splits share nodes; every comparison by itself, so that of
twenty without a difference one is told as a yes or a no). What is to be "as good" is so unless its mean is worse, and
not so only if that is hardly chance. Times are compared as they are."""


def document(out: Path, docs: Path) -> Path:
    """Take the results of the studies in `out` into docs/results, write docs/reproduction.md, and draw what is new."""
    found = [out / name for name in DATASETS if is_study(out / name)]
    if not found:
        raise ValueError(f"{out} holds no studies: run `pcwinter reproduce all --dataset cora --out {out}` first")
    results, figures = docs / "results", docs / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    new = set().union(*(_keep(study, results / study.name) for study in found))
    for experiment in new:
        bands = [_file(results / name, experiment, BANDS) for name in _studies(results, experiment)]
        for kind, picture in draw([read_bands(path) for path in bands if path.is_file()]).items():
            replace_file(figures / f"{_picture(experiment)}.{kind}", picture)
    page = docs / "reproduction.md"
    replace_file(page, page_of(docs).encode())
    return page


def page_of(docs: Path) -> str:
    """The text of the page, from docs/results."""
    results = docs / "results"
    studies = [results / name for name in _studies(results)]
    told = verdicts([Tables(study, study.name, head) for head in ("ridge", "softmax") for study in studies])
    parts = [_head(studies), f"## What agrees with the paper, and what does not\n\n{VERDICTS}\n\n{told}"]
    parts += [_experiment(docs, experiment) for experiment in EXPERIMENTS if _studies(results, experiment)]
    return "\n\n".join(parts) + "\n"


def _studies(results: Path, experiment: str = "") -> list[str]:
    """The datasets that have results, of one experiment or of any."""
    names = [name for name in DATASETS if (results / name).is_dir()]
    return [name for name in names if not experiment or _file(results / name, experiment, TABLE).is_file()]


def _file(study: Path, experiment: str, kind: str) -> Path:
    return study / f"{study.name} {experiment}.{kind}"


def _picture(experiment: str) -> str:
    return experiment.replace(" ", "-")


def _keep(study: Path, place: Path) -> set[str]:
    """Copy what the page tells of a study; returns the experiments whose curves it has."""
    place.mkdir(parents=True, exist_ok=True)
    files, drawn = [study / name for name in STUDY], set()
    for experiment in EXPERIMENTS:
        if not _file(study, experiment, TABLE).is_file():
            continue
        _file(place, experiment, NOTES).unlink(missing_ok=True)  # of the table that is replaced
        files += [_file(study, experiment, TABLE), _file(study, f"{experiment} fair", TABLE)]
        files.append(_file(study, experiment, NOTES))
        curves = _file(study, experiment, "csv")
        if curves.is_file():
            replace_file(_file(place, experiment, BANDS), bands_csv(read_curves(curves)).encode())
            drawn.add(experiment)
    for path in filter(Path.is_file, files):
        replace_file(place / path.name, path.read_bytes())
    return drawn


def _head(studies: list[Path]) -> str:
    rows: list[Row] = []
    for file in STUDY:
        for path in filter(Path.is_file, (study / file for study in studies)):
            found = json.loads(path.read_text(encoding="utf-8"))
            rows.append({name: _plain(value) for name, value in found.items()})
    table = f"\n\n{markdown(rows)}" if rows else ""
    return INTRODUCTION + table


def _plain(value: object) -> str:
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def _experiment(docs: Path, experiment: str) -> str:
    title = EXPERIMENTS[experiment]
    parts = [f"## {title}"]
    picture = f"figures/{_picture(experiment)}.png"
    parts += [f"![{title}]({picture})"] if (docs / picture).is_file() else []
    for name in _studies(docs / "results", experiment):
        study = docs / "results" / name
        for suffix, what in (("", ""), (" fair", ": equal budgets")):
            rows = read_table(_file(study, f"{experiment}{suffix}", TABLE))
            parts += [f"### {name}{what}\n\n{markdown(rows)}"] if rows else []
        notes = _file(study, experiment, NOTES)
        parts += [notes.read_text(encoding="utf-8").strip()] if notes.is_file() else []
    return "\n\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.stderr.write("usage: python -m pcwinter.experiments.document STUDIES DOCS\n")
        sys.exit(2)
    try:
        sys.stdout.write(f"Written: {document(Path(sys.argv[1]), Path(sys.argv[2]))}\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
