"""Dataset -> tables and curves: the experiments of the paper, each by one function and one command."""

from collections.abc import Callable
from functools import partial

from pcwinter.experiments import add_edges, costs, drop_nodes, variants
from pcwinter.experiments.output import Outcome
from pcwinter.experiments.study import Study

EXPERIMENTS: dict[str, Callable[[Study, int], Outcome]] = {
    "drop-nodes": drop_nodes.run,
    "drop-nodes labelled": partial(drop_nodes.run, which="labelled"),
    "drop-nodes mixed": partial(drop_nodes.run, which="mixed"),
    "add-edges": add_edges.run,
    "ablation": variants.ablation,
    "permutations": variants.permutations,
    "truncation": variants.truncation,
    "efficiency": costs.efficiency,
    "counts": costs.counts,
}
