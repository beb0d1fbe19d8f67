"""Both games and Data Shapley on the choice part of fresh splits: python -m benchmarks.choice cora:20 amazon-photo:60.

An argument is a graph and the seconds of processor time that every valuation gets. Values of one game with different
rules for the remainder come from the same orders. The table shows the mean accuracy on the choice nodes along the curve
of dropping the most valuable nodes first: lower is better. Nothing is tuned here.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pcwinter as pw
from benchmarks.machine import one_core
from pcwinter._util.threads import one_thread
from pcwinter.baselines.node_game import node_game
from pcwinter.baselines.ranking import Ranking
from pcwinter.baselines.shapley import TOLERANCE, Free
from pcwinter.experiments.curves import WHICH, droppable, judged
from pcwinter.experiments.judge import Judge
from pcwinter.game.protocol import marginals
from pcwinter.graph.splits import choice_split

SPLITS, SEEDS, POINTS = 2, 3, 41
OUT = Path(__file__).parent / "results" / "choice.csv"
Draw = Callable[[np.random.Generator], pw.Order]
RULES = ("silent", "weight", "nobody")


def main() -> None:
    """Append to the file of results what is not there yet, then print the tables."""
    lines = OUT.read_text().splitlines() if OUT.exists() else ["graph,seconds,split,seed,method,orders,which,mean"]
    done = {tuple(line.split(",")[:4]) for line in lines}
    with one_core(), one_thread():
        for argument in sys.argv[1:]:
            name, seconds = argument.split(":")
            for split in range(SPLITS):
                graph = choice_split(pw.load(name), split)[0]
                judge = Judge(graph)
                for seed in range(SEEDS):
                    key = (name, seconds, str(split), str(seed))
                    if key in done:
                        continue
                    for ranking in rankings(graph, name, float(seconds), seed):
                        for which in WHICH:
                            mean = judged(judge, droppable(graph, ranking, which, seed), POINTS).mean
                            lines.append(",".join([*key, ranking.method, str(ranking.orders), which, f"{mean:.5f}"]))
                    OUT.write_text("\n".join(lines) + "\n")
                    print(key, file=sys.stderr, flush=True)
    print_tables(lines)


def rankings(graph: pw.Graph, name: str, seconds: float, seed: int) -> list[Ranking]:
    """Own and path values of both games under every rule for the remainder, and Data Shapley."""
    found = []
    tree = pw.contribution_tree(graph)
    for coalition in ("induced", "messages"):
        game = pw.graph_game(graph, tree, coalition=coalition)[0]
        draw = pw.sampler(tree, "dfs", pw.DATASETS[name].truncation)
        weight = game.problem.local.weight
        sums = dict.fromkeys(RULES if len(weight) else ("silent", "nobody"), np.zeros(tree.n_players))
        for orders, order, equal in sample(game, draw, seconds, seed):  # noqa: B007
            visited = np.zeros(tree.n_players, dtype=np.bool_)
            visited[order.players] = order.visited
            sums["silent"] = sums["silent"] + equal
            sums["nobody"] = sums["nobody"] + equal * visited
            if "weight" in sums:
                sums["weight"] = sums["weight"] + by_weight(order, equal, weight)
        for rule, total in sums.items():
            for level in ("own", "path"):
                value = np.asarray(tree.incidence(level) @ (total / orders))
                unknown = np.full(len(value), np.nan)
                found.append(Ranking(f"{coalition} {rule} {level}", tree.nodes, value, unknown, orders))
    nodes = node_game(graph, "ridge", hops=2, metric="accuracy", tolerance=TOLERANCE)
    total = np.zeros(nodes.n_players)
    for orders, _, equal in sample(nodes, Free(nodes.n_players), seconds, seed):  # noqa: B007
        total += equal
    found.append(Ranking("data-shapley", nodes.nodes, total / orders, np.full(len(total), np.nan), orders))
    return found


def sample(game: Any, draw: Draw, seconds: float, seed: int) -> Iterator[tuple[int, pw.Order, np.ndarray]]:
    """Number, order and marginal contributions, until the processor time is used up."""
    game.walk(draw(np.random.default_rng(0)))
    orders, began = 0, time.process_time()
    while time.process_time() < began + seconds:
        order = draw(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(orders,))))
        orders += 1
        yield orders, order, marginals(game, order, game.walk(order)) * game.unit


def by_weight(order: pw.Order, equal: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Marginal contributions whose silent steps are shared in proportion to message weight instead of equally."""
    steps = order.steps()
    players = order.players
    change, size = np.add.reduceat(equal[players], steps[:-1]), np.add.reduceat(weight[players], steps[:-1])
    length = np.diff(steps)
    share = np.repeat(np.divide(change, size, out=np.zeros_like(change), where=size > 0), length) * weight[players]
    result = np.empty_like(equal)
    result[players] = np.where(order.visited, equal[players], share)
    return result


def print_tables(lines: list[str]) -> None:
    """Means over splits and seeds, with the standard deviation, and mean numbers of orders."""
    rows = [line.split(",") for line in lines[1:]]
    for name in dict.fromkeys(row[0] for row in rows):
        mine = [row for row in rows if row[0] == name]
        print(f"\n**{name}**, {mine[0][1]} s for each valuation, {SPLITS} splits, {SEEDS} seeds\n")
        print("| method | orders | " + " | ".join(WHICH) + " |\n| --- | --: |" + " --: |" * len(WHICH))
        for method in dict.fromkeys(row[4] for row in mine):
            orders = np.mean([float(row[5]) for row in mine if row[4] == method])
            cells = []
            for which in WHICH:
                means = [float(row[7]) for row in mine if row[4] == method and row[6] == which]
                cells.append(f"{np.mean(means):.3f} ± {np.std(means, ddof=1):.3f}" if len(means) > 1 else "")
            print(f"| {method} | {orders:,.0f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
