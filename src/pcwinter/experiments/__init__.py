"""Dataset -> tables and curves: the experiments of the paper, one function and one command for each."""

from collections.abc import Callable, Iterator
from functools import partial

from pcwinter._util.checks import whole_number
from pcwinter.baselines.ranking import near_nodes
from pcwinter.experiments import add_edges, costs, drop_nodes, variants
from pcwinter.experiments.curves import NO_EDGES, NOTHING_TO_DROP, WHICH, to_drop
from pcwinter.experiments.figures import check_figures
from pcwinter.experiments.folder import alone
from pcwinter.experiments.judge_file import judge_file
from pcwinter.experiments.opening import open_study
from pcwinter.experiments.output import Outcome, file_name, markdown, read_table, write
from pcwinter.experiments.study import Study
from pcwinter.experiments.verdicts import Tables, verdicts
from pcwinter.game.metrics import usual_metric

__all__ = ["EXPERIMENTS", "Outcome", "Study", "judge_file", "open_study", "reproduce"]

EXPERIMENTS: dict[str, Callable[[Study, int], Outcome]] = {
    "counts": costs.counts,
    **{f"drop-nodes {which}": partial(drop_nodes.run, which=which) for which in WHICH},
    "add-edges": add_edges.run,
    "fresh-splits": partial(add_edges.run, fresh=True),
    "permutations": variants.permutations,
    "truncation": variants.truncation,
    "efficiency": costs.efficiency,
    "ablation": variants.ablation,  # last, because it takes longest
}
COSTS = ("counts", "efficiency")  # experiments without curves and figures
ABOUT = {  # a note, by the graph that is scored on
    "validation": "Most methods compute values from the validation nodes, so these accuracies are too favourable "
    "to them.",
    "choice": "Every seed has its own random split. The scored nodes are not test nodes of the original split.",
}


def reproduce(study: Study, name: str, which: str = "unlabelled", seeds: int | None = None) -> Iterator[str]:
    """Run an experiment, write its files into the directory of the study, and yield each outcome as text.

    `study` is the result of `open_study`. `name` is the name of an experiment, or "all". `which` selects the nodes that
    drop-nodes drops: "unlabelled", "labelled" or "mixed". `seeds` is the number of repetitions; by default 10 where
    they take seconds, otherwise 3.
    """
    seeds = study.enough if seeds is None else whole_number("seeds", seeds, 1)
    if which != "unlabelled" and name != "drop-nodes":
        raise ValueError(f"which={which!r} applies to drop-nodes only, not to {name}: leave it out")
    if study.orders is not None and (study.quick or name not in ("ablation", "all")):
        asked = f"{name} with quick=True" if study.quick else name
        raise ValueError(f"orders={study.orders} applies to the full ablation only, not to {asked}: leave it out")
    if name in COSTS and (study.on != "test" or study.remaining):
        given = "remaining=True" if study.on == "test" else f"on={study.on!r}"
        raise ValueError(f"{given} applies to experiments with curves only, not to {name}: leave it out")
    if name == "counts" and study.filter != "sgc":
        raise ValueError(f"filter={study.filter!r} has no effect on counts, which computes no values: leave it out")
    if name == "counts" and study.kind:
        option = "preset" if study.preset else "head"
        raise ValueError(f"{option}={study.kind!r} has no effect on counts, which computes no values: leave it out")
    if name == "counts" and study.max_seconds is not None:
        raise ValueError(f"max_seconds={study.max_seconds:g} has no effect on counts: leave it out")
    names = list(EXPERIMENTS) if name == "all" else [f"{name} {which}" if name == "drop-nodes" else name]
    if names[0] not in EXPERIMENTS:
        raise ValueError(f"there is no experiment {names[0]!r}: choose from {', '.join(EXPERIMENTS)}, or all")
    if name not in COSTS:
        check_figures()
    for each in names:
        _check(study, each)
    with alone(study.out):
        study.tell()
        for each in names:
            yield _repeat(study, each, seeds)


def _check(study: Study, experiment: str) -> None:
    """Fail before hours of work, not after them, if the graph lacks what the experiment needs."""
    if experiment in COSTS:
        return
    if study.on == "test" and not len(study.graph.test):
        raise ValueError(
            f"{study.dataset} has no test nodes to score on: add some to its split, or use on='validation' "
            "or on='choice'"
        )
    here = study.fresh(0) if experiment == "fresh-splits" else study.at(0)
    if experiment in ("add-edges", "fresh-splits"):
        if not here.graph.training.nnz:
            raise ValueError(NO_EDGES)
    elif not len(to_drop(here.graph, near_nodes(here.graph, here.hops), experiment.partition(" ")[2] or "unlabelled")):
        raise ValueError(NOTHING_TO_DROP)


def _repeat(study: Study, experiment: str, seeds: int) -> str:
    """Run one experiment, write its files, and return its outcome as text."""
    study.used.clear()
    outcome = EXPERIMENTS[experiment](study, seeds)
    outcome.notes += study.limits()
    outcome.y = f"{study.on} {study.metric or usual_metric(study.graph)}"
    if outcome.curves and study.on in ABOUT:
        outcome.notes.append(ABOUT[study.on])
    tables = [read_table(study.out / f"{file_name(title)}.table.csv") for title in outcome.tables]
    before = max((row.get("seeds") or 0 for rows in tables for row in rows), default=0)
    files = write(outcome, study.out)
    parts = [f"{title}\n\n{markdown(rows)}" for title, rows in outcome.tables.items()]
    parts += ["\n".join(outcome.notes)] if outcome.notes else []
    usual = study.on == "test" and not study.remaining and not study.own
    verdict = verdicts([Tables(study.out, study.dataset, study.kind)], experiment) if usual else ""
    parts += [verdict] if verdict else []
    if before > seeds:
        parts.append(
            f"This replaced a table of {before} seeds. Run again with seeds={before} to restore it from stored results."
        )
    return "\n\n".join([*parts, f"Written to {study.out}: {', '.join(file.name for file in files)}\n"])
