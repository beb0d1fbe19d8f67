"""Are orders of roots alone worth their time? python -m benchmarks.tree_totals cora amazon-photo coauthor-physics.

An order of whole trees costs little, and its steps are exact samples of the tree totals. Let V be a value of a labelled
node and T the total of its tree, estimated from n full orders, and from m orders of whole trees too. Then

    V + beta (T_pooled - T_full)

has the same expectation. Its variance follows from the moments of V and T in full orders. The table shows the mean
standard error of labelled nodes relative to full orders alone, at equal processor time, for the share of the time that
goes to orders of whole trees, and for beta = 1 or the best single beta.
"""

import sys
import time

import numpy as np

import pcwinter as pw
from benchmarks.machine import one_core
from pcwinter._util.threads import one_thread
from pcwinter.game.protocol import marginals

ORDERS = 200
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


def main() -> None:
    """Print one table per graph and game."""
    with one_core(), one_thread():
        for name in sys.argv[1:]:
            for coalition in ("messages", "induced"):
                measure(name, coalition)


def measure(name: str, coalition: str) -> None:
    """Sample orders, and print the relative standard errors."""
    graph = pw.load(name)
    tree = pw.contribution_tree(graph)
    game = pw.graph_game(graph, tree, coalition=coalition)[0]
    draw = pw.sampler(tree, "dfs", pw.DATASETS[name].truncation)
    rows = np.searchsorted(tree.nodes, graph.train)
    levels = {level: tree.incidence(level)[rows] for level in ("own", "path")}
    totals = np.empty((ORDERS, len(tree.roots)))
    found = {level: np.empty_like(totals) for level in levels}
    orders = [draw(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(k,)))) for k in range(ORDERS)]
    whole = [trees_alone(tree, np.random.default_rng(k)) for k in range(ORDERS)]
    costs = []
    for some in (orders, whole):
        game.walk(some[0])
        times = []
        for k, order in enumerate(some):
            began = time.process_time()
            walk = game.walk(order)
            times.append(time.process_time() - began)
            if some is orders:
                value = marginals(game, order, walk) * game.unit
                totals[k] = np.add.reduceat(value, tree.roots)
                for level, matrix in levels.items():
                    found[level][k] = np.asarray(matrix @ value)
        costs.append(float(np.median(times)))
    full, cheap = costs
    print(
        f"\n**{name}**, {coalition}: a full order {1e3 * full:.2f} ms, an order of whole trees {1e3 * cheap:.2f} ms\n"
    )
    print("| value | beta |" + "".join(f" {share:.0%} of the time |" for share in SHARES))
    print("| --- | --: |" + " --: |" * len(SHARES))
    for level, values in found.items():
        centred, around = values - values.mean(axis=0), totals - totals.mean(axis=0)
        vv, vt, tt = ((x * y).mean(axis=0) for x, y in ((centred, centred), (centred, around), (around, around)))
        for beta in (1.0, float(vt.sum() / tt.sum())):
            cells = []
            for share in SHARES:
                n, m = (1 - share) / full, share / cheap
                pooled = m / (n + m)
                variance = vv / n - 2 * beta * pooled * vt / n + (beta * pooled) ** 2 * tt * (1 / n + 1 / m)
                cells.append(f" {np.sqrt(variance).mean() / np.sqrt(vv * full).mean():.3f} |")
            print(f"| {level} | {beta:.2f} |" + "".join(cells))


def trees_alone(tree: pw.ContributionTree, rng: np.random.Generator) -> pw.Order:
    """Whole trees in random order, each a single silent step."""
    sequence = rng.permutation(len(tree.roots))
    players = np.concatenate([np.arange(tree.roots[t], tree.roots[t] + tree.size[tree.roots[t]]) for t in sequence])
    return pw.Order(players, np.zeros(len(players), dtype=np.bool_), tree.roots[tree.tree[players]])


if __name__ == "__main__":
    main()
