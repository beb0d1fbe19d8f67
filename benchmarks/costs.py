"""Dataset -> costs of a run other than evaluations: memory, start-up, calibration, workers, families of orders."""

import tempfile
import time
from statistics import median

import numpy as np

import pcwinter as pw
from benchmarks.machine import Result, peak_megabytes, seconds_of
from pcwinter.game.orders import FAMILIES

RUNS = 5  # repetitions of every start-up
ORDERS = 600  # orders for the comparison of workers
FIRST_ORDER = "import pcwinter as pw; pw.value(pw.load({dataset!r}), permutations=1)"


def memory(dataset: str) -> list[Result]:
    """Peak memory of `value` with one untruncated DFS order, including calibration."""
    imported = peak_megabytes()
    began = time.perf_counter()
    values = pw.value(pw.load(dataset), permutations=1)
    line = {"dataset": dataset, "players": values.tree.n_players, "head": values.head}
    seconds = time.perf_counter() - began
    return [{**line, "peak_mb": peak_megabytes(), "imports_mb": imported, "seconds": seconds}]


def startup(dataset: str) -> Result:
    """Seconds from start to end of an interpreter: empty, with the import, and with a first order."""
    codes = {
        "interpreter": "pass",
        "import": "import pcwinter",
        "first_order": FIRST_ORDER.format(dataset=dataset),
    }
    seconds_of(codes["first_order"])  # compile, fill the caches
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(RUNS):
        for name, code in codes.items():
            times[name].append(seconds_of(code))
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds_of(codes["first_order"], NUMBA_CACHE_DIR=empty)
    return {"dataset": dataset, "runs": RUNS, **{name: median(all_) for name, all_ in times.items()}, "cold": cold}


def converged(dataset: str) -> Result:
    """Seconds of a run with the default convergence rule, and of its calibration alone, timed afterwards."""
    graph = pw.load(dataset)
    began = time.perf_counter()
    values = pw.value(graph)
    seconds = time.perf_counter() - began
    tree = pw.contribution_tree(graph)
    assert values.calibration is not None
    fixed = values.calibration.head
    with_it: list[float] = []
    without: list[float] = []
    for _ in range(3):
        for head, times in (("ridge", with_it), (fixed, without)):
            start = time.perf_counter()
            pw.graph_game(graph, tree, head)
            times.append(time.perf_counter() - start)
    calibration = median(with_it) - median(without)
    return {
        "dataset": dataset,
        "status": values.status,
        "seconds": seconds,
        "orders": values.permutations,
        "evaluations": values.estimate.tally.evaluations,
        "setup_seconds": values.setup_seconds,
        "calibration_seconds": calibration,
        "calibration_share": calibration / seconds,
    }


def workers(dataset: str, orders: int = ORDERS, rounds: int = 3) -> Result:
    """Speed of two workers over one, taking turns: with the start of the workers, and after the first tenth."""
    graph = pw.load(dataset)
    _, _, chosen = pw.graph_game(graph, pw.contribution_tree(graph))
    assert chosen is not None
    head = chosen.head

    def run(n: int, permutations: int) -> tuple[float, float]:
        """Seconds of the call, and orders per second after its first tenth."""
        marks: list[tuple[float, int]] = []
        began = time.perf_counter()
        pw.value(
            graph,
            head=head,
            permutations=permutations,
            progress=lambda now: marks.append((time.perf_counter(), now.orders)),
            workers=n,
        )
        seconds = time.perf_counter() - began
        steady = [mark for mark in marks if mark[1] >= permutations / 10]
        return seconds, (steady[-1][1] - steady[0][1]) / (steady[-1][0] - steady[0][0])

    run(1, 20)
    run(2, 20)
    pairs = [(run(1, orders), run(2, orders)) for _ in range(rounds)]
    return {
        "dataset": dataset,
        "orders": orders,
        "one_seconds": median(one[0] for one, _ in pairs),
        "two_seconds": median(two[0] for _, two in pairs),
        "ratio_with_start": median(one[0] / two[0] for one, two in pairs),
        "ratio_steady": median(two[1] / one[1] for one, two in pairs),
        "rounds": pairs,
    }


def families(dataset: str) -> list[Result]:
    """Microseconds per evaluation in the second walk of every family of orders."""
    graph = pw.load(dataset)
    tree = pw.contribution_tree(graph)
    game, title, _ = pw.graph_game(graph, tree)
    lines = []
    for family in FAMILIES:
        draw = pw.sampler(tree, family)
        game.walk(draw(np.random.default_rng(0)))
        order = draw(np.random.default_rng(1))
        began = time.perf_counter()
        walk = game.walk(order)
        seconds = time.perf_counter() - began
        each = 1e6 * seconds / walk.evaluations
        line = {"dataset": dataset, "family": family, "head": title, "evaluations": walk.evaluations}
        lines.append({**line, "us_per_evaluation": each})
    return lines
