"""Studies -> docs/reproduction.md: the tables of all datasets, and a figure per experiment with a panel for each."""

import json
import sys
from pathlib import Path

from pcwinter.checkpoints import replace_file
from pcwinter.datasets import DATASETS
from pcwinter.experiments.output import Row, draw, markdown, read_curves, read_table
from pcwinter.experiments.verdicts import Tables, verdicts

EXPERIMENTS = {
    "drop-nodes unlabelled": "Dropping unlabelled nodes, best first (lower is better)",
    "drop-nodes labelled": "Dropping labelled nodes, best first (lower is better)",
    "drop-nodes mixed": "Dropping labelled and unlabelled nodes, best first (lower is better)",
    "add-edges": "Adding edges, best first (higher is better)",
    "ablation": "Without the level constraint, without precedence, without both",
    "permutations": "Numbers of orders",
    "truncation": "Truncation ratios",
    "efficiency": "Time",
    "counts": "Players and visits",
}

INTRODUCTION = """# Reproduction of the paper's experiments

Written by `python -m pcwinter.experiments.document`, from what `pcwinter reproduce` left behind: do not edit.

Every sampled method runs to the same rule: the node values move by less than 5 % over 20 orders, or 2,000 orders; the
ablation and edge values without truncation have 200 orders. The judge of every ranking is the softmax head on the test
graph, retrained at 101 points of a curve. `mean` is the plain mean along a curve, `first 20 %` that over its first
fifth, `rebound` how far the accuracy rises again from its lowest point to the end; after ± the standard deviation over
seeds. Times are of one process beside other work on a machine with two cores: compare them with each other, not across
datasets."""

VERDICTS = """Each claim of the paper in our words, and what was found here: yes or no, with the difference of the means
over seeds, and unclear where that could be chance (Student's t at 5 %, seeds taken as independent)."""


def document(out: Path, docs: Path) -> Path:
    """Write docs/reproduction.md and docs/figures from the studies in `out`; returns the page."""
    studies = [out / name for name in DATASETS if (out / name).is_dir()]
    if not studies:
        raise ValueError(f"{out} holds no studies: run `pcwinter reproduce all --dataset cora --out {out}` first")
    told = verdicts([Tables(study, study.name, head) for head in ("ridge", "softmax") for study in studies])
    parts = [_head(studies), f"## What agrees with the paper, and what does not\n\n{VERDICTS}\n\n{told}"]
    for experiment, title in EXPERIMENTS.items():
        for head in ("", " softmax"):
            part = _experiment(studies, f"{experiment}{head}", f"{title}{', softmax head' if head else ''}", docs)
            parts += [part] if part else []
    page = docs / "reproduction.md"
    replace_file(page, ("\n\n".join(parts) + "\n").encode())
    return page


def _head(studies: list[Path]) -> str:
    rows: list[Row] = []
    for file in ("study.json", "study softmax.json"):
        for path in filter(Path.is_file, (study / file for study in studies)):
            found = json.loads(path.read_text(encoding="utf-8"))
            rows.append({name: _plain(value) for name, value in found.items()})
    table = f"\n\n{markdown(rows)}" if rows else ""
    return INTRODUCTION + table


def _plain(value: object) -> str:
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def _experiment(studies: list[Path], experiment: str, title: str, docs: Path) -> str:
    parts = []
    curves = [study / f"{study.name} {experiment}.csv" for study in studies]
    curves = [path for path in curves if path.is_file()]
    if curves:
        name = experiment.replace(" ", "-")
        (docs / "figures").mkdir(parents=True, exist_ok=True)
        for kind, picture in draw([read_curves(path) for path in curves]).items():
            replace_file(docs / "figures" / f"{name}.{kind}", picture)
        parts.append(f"![{title}](figures/{name}.png)")
    for study in studies:
        for suffix, what in (("", ""), (" fair", ": equal budgets")):
            rows = read_table(study / f"{study.name} {experiment}{suffix}.table.csv")
            parts += [f"### {study.name}{what}\n\n{markdown(rows)}"] if rows else []
        notes = study / f"{study.name} {experiment}.notes.md"
        if notes.is_file():
            parts.append(notes.read_text(encoding="utf-8").strip())
    return "\n\n".join([f"## {title}", *parts]) if parts else ""


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.stderr.write("usage: python -m pcwinter.experiments.document STUDIES DOCS\n")
        sys.exit(2)
    try:
        sys.stdout.write(f"Written: {document(Path(sys.argv[1]), Path(sys.argv[2]))}\n")
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
