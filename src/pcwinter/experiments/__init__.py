"""Dataset -> tables and curves: the experiments of the paper, each by one function and one command."""

from collections.abc import Callable, Iterator
from functools import partial

from pcwinter._util.checks import whole_number
from pcwinter.experiments import add_edges, costs, drop_nodes, variants
from pcwinter.experiments.curves import WHICH
from pcwinter.experiments.figures import check_figures
from pcwinter.experiments.judge_file import judge_file
from pcwinter.experiments.output import Outcome, markdown, read_table, write
from pcwinter.experiments.study import Study, open_study
from pcwinter.experiments.verdicts import Tables, verdicts

__all__ = ["EXPERIMENTS", "Outcome", "Study", "judge_file", "open_study", "reproduce"]

EXPERIMENTS: dict[str, Callable[[Study, int], Outcome]] = {
    "counts": costs.counts,
    **{f"drop-nodes {which}": partial(drop_nodes.run, which=which) for which in WHICH},
    "add-edges": add_edges.run,
    "fresh-splits": partial(add_edges.run, fresh=True),
    "permutations": variants.permutations,
    "truncation": variants.truncation,
    "efficiency": costs.efficiency,
    "ablation": variants.ablation,  # last: it takes longest
}
COSTS = ("counts", "efficiency")  # which judge nothing, and draw nothing


def reproduce(study: Study, name: str, which: str = "unlabelled", seeds: int | None = None) -> Iterator[str]:
    """Run an experiment, or `all`; write its files into the study's directory, and tell each outcome as text."""
    seeds = study.enough if seeds is None else whole_number("seeds", seeds, 1)
    if which != "unlabelled" and name != "drop-nodes":
        raise ValueError(f"--which {which} is for drop-nodes, and {name} was asked for: leave it out")
    if study.orders is not None and (study.quick or name not in ("ablation", "all")):
        asked = f"{name} --quick" if study.quick else name
        raise ValueError(f"--orders {study.orders} is for the ablation, and {asked} was asked for: leave it out")
    if name in COSTS and study.on != "test":
        raise ValueError(f"--on {study.on} is for what is judged, and {name} was asked for: leave it out")
    if name == "counts" and (study.head != "ridge" or study.max_seconds is not None):
        raise ValueError("--head and --max-seconds are for values, and counts was asked for: leave them out")
    names = list(EXPERIMENTS) if name == "all" else [f"{name} {which}" if name == "drop-nodes" else name]
    if names[0] not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {names[0]!r}: choose from {', '.join(EXPERIMENTS)}, or all")
    if name not in COSTS:
        check_figures()
    with study.alone():
        study.tell()
        for each in names:
            yield _repeat(study, each, seeds)


def _repeat(study: Study, experiment: str, seeds: int) -> str:
    """Run one experiment, write its files, and tell its outcome."""
    study.used.clear()
    outcome = EXPERIMENTS[experiment](study, seeds)
    outcome.notes += study.limits()
    outcome.y = f"{study.on} accuracy"
    if study.on == "validation" and outcome.curves:
        outcome.notes.append("Values that come from the validation nodes, as most do here, look better on them.")
    tables = [read_table(study.out / f"{title}.table.csv") for title in outcome.tables]
    before = max((row.get("seeds") or 0 for rows in tables for row in rows), default=0)
    files = write(outcome, study.out)
    parts = [f"{title}\n\n{markdown(rows)}" for title, rows in outcome.tables.items()]
    parts += ["\n".join(outcome.notes)] if outcome.notes else []
    told = verdicts([Tables(study.out, study.dataset, study.head)], experiment) if study.on == "test" else ""
    parts += [told] if told else []
    if before > seeds:
        parts.append(f"A table of {before} seeds was there: --seeds {before} makes it again, from what is kept.")
    return "\n\n".join([*parts, f"Written to {study.out}: {', '.join(file.name for file in files)}\n"])
