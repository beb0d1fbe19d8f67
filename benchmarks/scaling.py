"""What workers gain: python benchmarks/scaling.py cora [--workers 2] [--orders 600] [--repeats 3] [--json FILE].

Values the graph with one and with more workers by turns, so that other load on the machine falls on both. Prints
seconds to the first block of orders, preparation included, and orders per second once the first blocks are done.
"""

import argparse
import json
import os
import statistics
import time
import warnings
from pathlib import Path

import pcwinter as pw

SKIPPED = 4  # blocks


def measure(graph: pw.Graph, orders: int, workers: int) -> tuple[float, float]:
    """Seconds to the first block, and orders per second after it."""
    stamps: list[tuple[int, float]] = []
    began = time.perf_counter()
    pw.value(
        graph,
        permutations=orders,
        workers=workers,
        progress=lambda now: stamps.append((now.orders, time.perf_counter())),
    )
    (before, start), (after, end) = stamps[SKIPPED - 1], stamps[-1]
    return stamps[0][1] - began, (after - before) / (end - start)


def main() -> None:
    """Measure by turns and print every turn, then medians and the best."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=list(pw.DATASETS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--orders", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    graph = pw.load(options.dataset)
    pw.value(graph, permutations=1)  # compiles
    ways = (1, options.workers)
    turns: dict[int, list[tuple[float, float]]] = {n: [] for n in ways}
    print(f"{'workers':>8}{'first block s':>15}{'orders/s':>10}{'load':>7}")
    for _ in range(options.repeats):
        for n in ways:
            turns[n].append(measure(graph, options.orders, n))
            print(f"{n:8}{turns[n][-1][0]:15.2f}{turns[n][-1][1]:10.1f}{os.getloadavg()[0]:7.1f}", flush=True)
    one, many = ([speed for _, speed in turns[n]] for n in ways)
    ratios = [b / a for a, b in zip(one, many, strict=True)]
    result = {
        "dataset": options.dataset,
        "workers": options.workers,
        "orders": options.orders,
        "first_block_seconds": {n: statistics.median(first for first, _ in turns[n]) for n in ways},
        "orders_per_second": {1: one, options.workers: many},
        "ratio_median": statistics.median(ratios),
        "ratio_best_over_best": max(many) / max(one),
    }
    print(f"ratio: median of turns {result['ratio_median']:.2f}, best over best {result['ratio_best_over_best']:.2f}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
