"""What one step away from the calibrated ridge head costs: python -m benchmarks.calibration cora:5 amazon-photo:40.

An argument is a graph and the seconds of processor time that every valuation gets. On the choice part of fresh splits,
the message game is valued with the calibrated penalty and bias and with others around them. The table shows the mean
accuracy along the curves of dropping the best nodes first (lower is better), and how well the path values of nodes
agree with those of the calibrated head (rank correlation of Spearman).
"""

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.stats import spearmanr

import pcwinter as pw
from benchmarks.choice import POINTS, processor_time
from benchmarks.graphs import open_graph, truncation_of
from pcwinter._util.threads import one_thread
from pcwinter.baselines.ranking import of_values
from pcwinter.experiments.curves import WHICH, droppable, judged
from pcwinter.experiments.judge import Judge
from pcwinter.graph.splits import choice_split

STEPS = {"penalty": (0.1, 1 / 3, 3.0, 10.0), "bias": (0.3, 1.0)}
SPLITS = 2


def main() -> None:
    """Print a table for every graph."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the values: edges that harm, and the like
        for argument in sys.argv[1:]:
            name, seconds = argument.split(":")
            rows: dict[str, list[list[float]]] = {}
            for split in range(SPLITS):
                for label, row in around(choice_split(open_graph(name), split)[0], name, float(seconds)):
                    rows.setdefault(label, []).append(row)
                    print(name, split, label, *np.round(row, 4), file=sys.stderr, flush=True)
            print(f"\n**{name}**, {seconds} s for each valuation, {SPLITS} splits\n")
            columns = [f"{which}, {level}" for level in ("own", "path") for which in WHICH]
            print("| head | " + " | ".join([*columns, "rank correlation", "orders"]) + " |")
            print("| --- |" + " --: |" * (len(columns) + 2))
            for label, lines in rows.items():
                *means, orders = np.mean(lines, axis=0)
                print(f"| {label} | " + " | ".join([*(f"{mean:.3f}" for mean in means), f"{orders:,.0f}"]) + " |")


def around(graph: pw.Graph, name: str, seconds: float) -> Iterator[tuple[str, list[float]]]:
    """Scores, rank correlation and orders, for the calibrated head and for those around it."""
    judge, reference = Judge(graph), np.empty(0)
    found = pw.graph_game(graph, pw.contribution_tree(graph), coalition="messages")[2]
    assert found is not None
    chosen = found.head
    assert isinstance(chosen, pw.Ridge)
    assert chosen.penalty is not None
    heads = {"calibrated": chosen}
    heads |= {f"penalty times {x:.2g}": replace(chosen, penalty=chosen.penalty * x) for x in STEPS["penalty"]}
    heads |= {f"bias {x:g}": replace(chosen, bias=x) for x in STEPS["bias"]}
    for label, head in heads.items():
        values = pw.value(
            graph, head=head, coalition="messages", truncation=truncation_of(name), stop=processor_time(seconds)
        )
        rankings = [of_values(values, level, label) for level in ("own", "path")]
        means = [judged(judge, droppable(graph, one, which, 0), POINTS).mean for one in rankings for which in WHICH]
        reference = reference if len(reference) else rankings[1].value
        yield label, [*means, float(spearmanr(rankings[1].value, reference)[0]), values.permutations]


if __name__ == "__main__":
    main()
