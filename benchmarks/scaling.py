"""What workers gain: python benchmarks/scaling.py cora [--workers 2] [--orders 600] [--repeats 3] [--json FILE].

Values the graph with one and with more workers by turns, so that other load on the machine falls on both. Prints
seconds to the first block of orders, preparation included, and orders per second once the first blocks are done. On a
busy machine the ratio of these says little; the processor time per order, of all processes together, says more (Linux).
"""

import argparse
import json
import os
import statistics
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import pcwinter as pw
from pcwinter.workers import Processes, open_pool

SKIPPED = 4  # blocks


class Turn(NamedTuple):
    """One run."""

    first: float  # seconds to the first block
    speed: float  # orders per second after the first blocks
    cost: float  # milliseconds of processor time per order


def measure(graph: pw.Graph, orders: int, workers: int) -> Turn:
    """Value the graph and look at the clocks after every block."""
    stamps: list[tuple[int, float, float]] = []
    began = time.perf_counter()
    with open_pool(workers) as pool:

        def look(now: pw.Progress) -> None:
            processes = [worker.process.pid for worker in pool.workers] if isinstance(pool, Processes) else []
            spent = time.process_time() + sum(map(processor_time, processes))
            stamps.append((now.orders, time.perf_counter(), spent))

        pw.value(graph, permutations=orders, workers=pool, progress=look)
    (n, start, spent), (m, end, spent_at_end) = stamps[SKIPPED - 1], stamps[-1]
    return Turn(stamps[0][1] - began, (m - n) / (end - start), 1e3 * (spent_at_end - spent) / (m - n))


def processor_time(pid: int) -> float:
    """Seconds, to a hundredth."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
    turns: dict[int, list[Turn]] = {n: [] for n in ways}
    print(f"{'workers':>8}{'first block s':>15}{'orders/s':>10}{'CPU ms/order':>14}{'load':>7}")
    for _ in range(options.repeats):
        for n in ways:
            turn = measure(graph, options.orders, n)
            turns[n].append(turn)
            print(f"{n:8}{turn.first:15.2f}{turn.speed:10.1f}{turn.cost:14.2f}{os.getloadavg()[0]:7.1f}", flush=True)
    one, many = ([turn.speed for turn in turns[n]] for n in ways)
    costs = {n: statistics.median(turn.cost for turn in turns[n]) for n in ways}
    ratios = [b / a for a, b in zip(one, many, strict=True)]
    result = {
        "dataset": options.dataset,
        "workers": options.workers,
        "orders": options.orders,
        "first_block_seconds": {n: statistics.median(turn.first for turn in turns[n]) for n in ways},
        "cpu_ms_per_order": costs,
        "orders_per_second": {1: one, options.workers: many},
        "ratio_median": statistics.median(ratios),
        "ratio_best_over_best": max(many) / max(one),
    }
    print(f"ratio: median of turns {result['ratio_median']:.2f}, best over best {result['ratio_best_over_best']:.2f}")
    print(f"as many cores as workers to itself, by processor time: {options.workers * costs[1] / costs[ways[1]]:.2f}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
