"""Which defaults rank best on the choice part of fresh splits: python -m benchmarks.choice cora:10 amazon-photo:40:all.

An argument is a graph and the seconds of processor time that every valuation gets. With `:all`, the message game is
also valued with other truncations, with nobody getting the remainder, and with the empty coalition that predicts a
constant. Every split has its own seed of the orders. Scores are those of the judge on the choice nodes: the mean along
the curve of dropping the best nodes first (lower is better), and along the first fifth of the curve of adding the best
edges first (higher is better). Results are appended to a file, and what is there already is not computed again. Nothing
is tuned here.
"""

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pcwinter as pw
from benchmarks.graphs import metric_of, open_graph, truncation_of
from pcwinter._util.threads import one_thread
from pcwinter.baselines.ranking import Ranking, of_values
from pcwinter.experiments.curves import WHICH, addable, droppable, judged
from pcwinter.experiments.judge import Judge
from pcwinter.graph.splits import choice_split

SPLITS, POINTS = 3, 21
OUT = Path(__file__).parent / "results" / "choice.csv"
HEADER = "graph,seconds,split,method,orders,score,value"
EDGES = {"edge": "own", "edge path": "path", "edge by class": "class"}
GAMES: dict[str, dict[str, Any]] = {"induced": {"coalition": "induced"}, "messages": {"coalition": "messages"}}
OTHERS: dict[str, dict[str, Any]] = {
    "messages, nobody": {"remainder": "nobody"},
    "messages, no truncation": {"truncation": ()},
    "messages, 0.5-0.7": {"truncation": (0.5, 0.7)},
    "messages, 0.7-0.9": {"truncation": (0.7, 0.9)},
    "messages, constant": {"empty": "constant"},
}


def main() -> None:
    """Append to the file of results what is not there yet, then print the tables."""
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the values: edges that harm, and the like
        for split in range(SPLITS):
            for argument in sys.argv[1:]:
                name, seconds, *rest = argument.split(":")
                graph = choice_split(open_graph(name), split)[0]
                judge = Judge(graph, metric=metric_of(name))
                for method, ranking in rankings(graph, name, float(seconds), split, bool(rest), done(name, split)):
                    scores = score(judge, graph, ranking, split)
                    lines = [f"{name},{seconds},{split},{method},{ranking.orders},{x},{y:.5f}" for x, y in scores]
                    append(lines)
                    print(*lines, sep="\n", file=sys.stderr, flush=True)
    print_tables(known())


def known() -> list[list[str]]:
    """The results so far, without the header."""
    return [line.split(",") for line in OUT.read_text().splitlines()[1:]] if OUT.exists() else []


def done(name: str, split: int) -> set[str]:
    """The methods that have results."""
    return {row[3] for row in known() if row[0] == name and row[2] == str(split)}


def append(lines: list[str]) -> None:
    """Write lines to the end of the file of results."""
    with OUT.open("a") as file:
        file.write("\n".join([*([] if file.tell() else [HEADER]), *lines]) + "\n")


def score(judge: Judge, graph: pw.Graph, ranking: Ranking, seed: int) -> Iterator[tuple[str, float]]:
    """Scores of a ranking of nodes, by kind of node, or of edges."""
    if ranking.items.ndim == 2:
        yield "edges", judged(judge, addable(graph, ranking, seed), POINTS).early
        return
    for which in WHICH:
        yield which, judged(judge, droppable(graph, ranking, which, seed), POINTS).mean


def rankings(
    graph: pw.Graph, name: str, seconds: float, seed: int, every: bool, skip: set[str]
) -> Iterator[tuple[str, Ranking]]:
    """All methods that are not in `skip`; the values of one valuation come one after the other."""
    metric = metric_of(name)
    usual = {"truncation": truncation_of(name), "metric": metric}
    games = {game: usual | options for game, options in GAMES.items()}
    if every:
        games |= {game: usual | GAMES["messages"] | options for game, options in OTHERS.items()}
        games = {game: options for game, options in games.items() if game in GAMES or options != games["messages"]}
    for game, options in games.items():
        levels = {"own": "own", "path": "path"} | (EDGES if game in GAMES else {})
        names = {level: f"{game}; {'edges ' if level in EDGES else ''}{short}" for level, short in levels.items()}
        if not skip.issuperset(called.replace(",", "") for called in names.values()):
            values = pw.value(graph, stop=processor_time(seconds), seed=seed, **options)
            for level, called in names.items():
                if called.replace(",", "") not in skip:
                    yield called.replace(",", ""), of_values(values, level, called)
    rivals: dict[str, Callable[[], Ranking]] = {
        "Data Shapley": lambda: pw.baselines.data_shapley(
            graph, "ridge", processor_time(seconds), metric=metric, seed=seed
        ),
        "influence": lambda: pw.baselines.influence_nodes(graph),
        "random": lambda: pw.baselines.random_nodes(graph, seed=seed),
        "edges influence": lambda: pw.baselines.influence_edges(graph),
        "edges random": lambda: pw.baselines.random_edges(graph, seed=seed),
    }
    for called, make in rivals.items():
        if called not in skip:
            yield called, make()


def processor_time(seconds: float) -> pw.Rule:
    """Stop when this process has used so much processor time since the first order."""
    began: list[float] = []

    def late(*_: object) -> bool:
        began.append(time.process_time()) if not began else None
        return time.process_time() - began[0] > seconds

    return pw.Rule(lambda _: "The processor time was used up." if late() else None, late=late)


def print_tables(rows: list[list[str]]) -> None:
    """Means over splits with the standard deviation, and the difference to Data Shapley, paired by split."""
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        table: dict[tuple[str, str], dict[str, float]] = {}
        for _, _, split, method, _, what, found in mine:
            table.setdefault((method, what), {})[split] = float(found)
        splits = max(len(found) for found in table.values())
        print(f"\n**{name}**, {mine[0][1]} s for each valuation, {splits} splits\n")
        for columns, methods in (
            (WHICH, dict.fromkeys(method for method, what in table if what in WHICH)),
            (("edges",), dict.fromkeys(method for method, what in table if what == "edges")),
        ):
            reference = "Data Shapley" if columns == WHICH else "edges random"
            heads = [cell for what in columns for cell in (what, f"less {reference.removeprefix('edges ')}")]
            print("| method | orders | " + " | ".join(heads) + " |\n| --- | --: |" + " --: |" * len(heads))
            for method in methods:
                orders = np.mean([float(row[4]) for row in mine if row[3] == method])
                cells = []
                for what in columns:
                    mean, other = table[method, what], table.get((reference, what), {})
                    paired = [mean[split] - other[split] for split in mean if split in other]
                    cells.append(f"{np.mean(list(mean.values())):.3f}")
                    cells.append(
                        f"{np.mean(paired):+.3f} ± {np.std(paired, ddof=1) / math.sqrt(len(paired)):.3f}"
                        if len(paired) > 1 and method != reference
                        else ""
                    )
                print(f"| {method} | {orders:,.0f} | " + " | ".join(cells) + " |")
            print()


if __name__ == "__main__":
    main()
