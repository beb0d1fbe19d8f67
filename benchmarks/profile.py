"""Where the time of a ridge walk goes: python -m benchmarks.profile messages cora amazon-photo.

Every part of a DFS walk is run separately, on the same order. Times are processor times, the minimum of a few runs. The
floor is the time of the multiply-adds at the peak rate of this machine, measured in the same run on four lines of 512
numbers in the L1 cache. The rest is what no part covers: loops, calls, scratch, and leads that are computed again in
double precision.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pcwinter as pw
from benchmarks.machine import one_core
from pcwinter._util.arrays import IntArray
from pcwinter._util.compiled import compiled
from pcwinter._util.threads import one_thread
from pcwinter.game.coalitions.acting import begin_step, join
from pcwinter.game.coalitions.records import LocalGraphs, State, empty_state
from pcwinter.game.coalitions.row_updates import Moves, add_four, apply, no_moves, plan
from pcwinter.game.problem import COALITIONS
from pcwinter.heads.ridge.contiguous import condition
from pcwinter.heads.ridge.counting import KEPT, add_row, errors, make_scores, score
from pcwinter.heads.ridge.course import Row, Scores, Scoring
from pcwinter.heads.ridge.head import RidgeWalker
from pcwinter.heads.ridge.messages import add

Array = np.ndarray[Any, Any]
SECONDS = 2.0  # least time for every part


def main() -> None:
    """Print one table per dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("coalition", choices=COALITIONS)
    parser.add_argument("datasets", nargs="+", choices=list(pw.DATASETS))
    options = parser.parse_args()
    with one_core(), one_thread():
        rates = {precision: _rate(precision) for precision in ("float32", "float64")}
        print("10^9 multiply-adds per second:", ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items()))
        for name in options.datasets:
            (_profile_messages if options.coalition == "messages" else _profile)(name, rates)


def _profile(name: str, rates: dict[str, float]) -> None:
    graph = pw.load(name)
    tree = pw.contribution_tree(graph)
    game, title, _ = pw.graph_game(graph, tree)
    walker = game.walker
    assert isinstance(walker, RidgeWalker)
    local, n, c = walker.problem.local, len(walker.problem.targets), walker.problem.n_classes
    order = pw.sampler(tree)(np.random.default_rng(0))
    sequence = local.tree[order.players]
    trees = sequence[np.r_[True, sequence[1:] != sequence[:-1]]]
    t, b = len(trees), len(walker.to_nodes)
    evaluations = game.walk(order).evaluations
    products = walker.products(0, n)
    last = walker._opened(trees, walker._plan(order, order.steps(), False), order.players)
    white, finished, finished_labels = walker._solve(trees, last)
    rounded: Array = finished.astype(np.float32)
    room: Array = np.empty((len(white), n), dtype=np.float32)

    def each(run: Callable[[], object]) -> float:
        return 1e6 * _least(run) / evaluations

    def follow(lines: Array, where: Array, sums: int, width: int) -> float:
        """Microseconds per evaluation for joining, planning and updating one kind of lines."""
        return each(
            lambda: _follow(local, empty_state(local), no_moves(local), order.players, where, lines, sums, width)
        )

    additions, nodes = _additions(local, empty_state(local), no_moves(local), order.players) / evaluations, 0
    seen: dict[int, int] = {}
    for i, tree_number in enumerate(trees):
        for node in walker.basis[local.begin[tree_number] : local.begin[tree_number + 1]].tolist():
            nodes += i - seen.get(node, 0)
            seen[node] = i
    planned = each(
        lambda: _follow(local, empty_state(local), no_moves(local), order.players, walker.basis, white, b, 0)
    )
    joined = each(lambda: _join(local, empty_state(local), order.players))
    scores = _some_scores(walker.ends, room)
    kept, whose = np.empty((KEPT, 1)), np.full(KEPT, -1)
    row = Row(np.ones(1), np.zeros(1), np.zeros(1, dtype=np.int64), products, np.zeros(0), finished, kept, whose)
    scoring = Scoring(0, walker.ends, 1.0, walker.tie, 0.0, errors(products))
    slots = np.diff(local.begin)
    many = walker.gram_begin < 0
    players = np.bincount(local.tree[~local.null], minlength=t)  # roughly the number of evaluations in each tree
    width = int(np.average(np.where(many, walker.features.shape[1], slots), weights=players))
    kernel = np.random.default_rng(0).random((len(white), width))
    conditioned = (local, trees, walker.basis, products, white.copy(), rounded, finished_labels, room)
    slopes = np.linspace(-1, 1, c)
    moved = {
        "moving lines of validation nodes": (room, n, "float32"),
        "moving whitened lines": (white, c + t // 2, "float64"),
        f"moving kernel lines, {width} wide": (kernel, width, "float64"),
    }
    solving = (t**3 / 6 + t * t / 2 * (b + n)) / evaluations
    parts = [
        ("factor of the finished rows, and solves", each(lambda: walker._solve(trees, last)), solving, "float64"),
        ("conditioning the lines of nodes", each(lambda: _condition(*conditioned)), nodes * n / evaluations, "float32"),
        ("players join", joined, 0.0, ""),
        ("planning the moves", planned - joined, 0.0, ""),
        *(
            (title, follow(lines, walker.basis, b, wide) - planned, additions * wide, precision)
            for title, (lines, wide, precision) in moved.items()
        ),
        (
            "counting correct predictions",
            each(lambda: _count(scoring, scores, room, slopes, row, evaluations)),
            float(n * c),
            "float32",
        ),
    ]
    about = f"{name}, {title}: {evaluations:,} evaluations, {t} labelled nodes, {b - 1:,} nodes, {n:,} validation nodes"
    _print(about, parts, each(lambda: game.walk(order)), rates)


def _profile_messages(name: str, rates: dict[str, float]) -> None:
    graph = pw.load(name)
    tree = pw.contribution_tree(graph)
    game, title, _ = pw.graph_game(graph, tree, coalition="messages")
    walker = game.walker
    assert isinstance(walker, RidgeWalker)
    local, n, c = walker.problem.local, len(walker.problem.targets), walker.problem.n_classes
    products = walker.products(0, n)
    for truncation in ((), pw.DATASETS[name].truncation):
        order = pw.sampler(tree, "dfs", truncation)(np.random.default_rng(0))
        steps = order.steps()
        sequence = local.tree[order.players]
        trees = sequence[np.r_[True, sequence[1:] != sequence[:-1]]]
        walk = game.walk(order)
        evaluations, t = walk.evaluations + walk.baselines, len(trees)
        plan = walker._plan(order, steps, False)
        used = np.unique(plan.row[: plan.end[-1]])
        last = walker._opened(trees, plan, order.players[steps[:-1]])
        white, finished, finished_labels = walker._solve(trees, last)
        rounded: Array = finished.astype(np.float32)
        room: Array = np.empty((len(white), n), dtype=np.float32)
        sums = walker._sum_products(0, n, room.dtype)
        first = np.flatnonzero(np.r_[True, sequence[steps[1:-1]] != sequence[steps[:-2]], True])
        ends = plan.end[first]
        rows, seen = 0, dict[int, int]()
        for i in range(t):
            for row in set(plan.row[ends[i] : ends[i + 1]].tolist()):
                rows += i - seen.get(row, 0)
                seen[row] = i
        scores = _some_scores(walker.ends, room)
        known = Row(
            np.ones(1), np.zeros(1), used[:1], products, np.zeros(0), finished, np.empty((KEPT, 1)), np.full(KEPT, -1)
        )
        scoring = Scoring(0, walker.ends, 1.0, walker.tie, 0.0, errors(products))
        moved = (plan.row, plan.weight, ends[-1])
        conditioned = (plan.row, ends, products, sums, white.copy(), rounded, finished_labels, room)
        slopes = np.linspace(-1, 1, c)
        additions, whole = ends[-1] / evaluations, {"trees": trees, "last": last}

        def each(run: Callable[[], object], evaluations: int = evaluations) -> float:
            return 1e6 * _least(run) / evaluations

        _condition_planned(*conditioned)  # so that all lines are numbers
        half = c + t // 2
        parts = [
            ("planning", each(partial(walker._plan, order, steps, False)), 0.0, ""),
            (
                "factor of the finished rows, and solves",
                each(partial(walker._solve, **whole)),
                (t**3 / 6 + (last[used] ** 2).sum() / 2 + t * t / 2 * n) / evaluations,
                "float64",
            ),
            ("conditioning lines", each(partial(_condition_planned, *conditioned)), rows * n / evaluations, "float32"),
            ("adding lines", each(partial(_add_lines, *moved, room, n)), additions * n, "float32"),
            ("adding whitened lines", each(partial(_add_lines, *moved, white, half)), additions * half, "float64"),
            (
                "counting correct predictions",
                each(partial(_count, scoring, scores, room, slopes, known, evaluations)),
                float(n * c),
                "float32",
            ),
        ]
        truncated = f", truncation {'-'.join(map(str, truncation))}" if truncation else ""
        about = f"{name}, messages, {title}{truncated}: {evaluations:,} evaluations, {additions:.2f} additions each"
        _print(about, parts, each(partial(game.walk, order)), rates)


def _some_scores(ends: Array, room: Array) -> Scores:
    """Random scores, so that few leads are unclear."""
    scores, rng = make_scores(ends, room), np.random.default_rng(0)
    for c in range(len(ends) - 1):
        add_row(scores, ends, np.eye(len(ends) - 1)[c], rng.normal(size=int(ends[-1])))
    return scores


def _print(about: str, parts: list[tuple[str, float, float, str]], total: float, rates: dict[str, float]) -> None:
    print(f"\n{about}\n")
    print("| part | us per evaluation | multiply-adds | floor, us |\n| --- | --: | --: | --: |")
    for title, microseconds, work, precision in parts:
        floor = f"{work / rates[precision] / 1e3:.2f}" if work else ""
        print(
            f"| {title} | {microseconds:.2f} | {work:,.0f} | {floor} |"
            if work
            else f"| {title} | {microseconds:.2f} | | |"
        )
    print(f"| the rest | {total - sum(part[1] for part in parts):.2f} | | |\n| **together** | **{total:.2f}** | | |")


def _least(run: Callable[[], object]) -> float:
    """Processor time of the fastest of some runs."""
    run()
    times: list[float] = []
    while len(times) < 3 or sum(times) < SECONDS:
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times)


def _rate(precision: str) -> float:
    lines = np.random.default_rng(0).random((5, 512)).astype(precision)
    return 1e-9 * 1000 * 4 * 512 / _least(lambda: _add(lines, 1000))


@compiled
def _add(lines: Array, n: int) -> None:
    for _ in range(n):
        add_four(lines, 4, lines, 0, 1, 2, 3, 0.1, 0.2, 0.3, -0.6, 0, 512)


@compiled
def _join(local: LocalGraphs, state: State, players: Array) -> None:
    for player in players:
        begin_step(state)
        join(local, state, player)


@compiled
def _additions(local: LocalGraphs, state: State, moves: Moves, players: Array) -> int:
    total = 0
    for player in players:
        begin_step(state)
        join(local, state, player)
        if state.changes[0] or state.changes[1]:
            plan(local, state, local.tree[player], moves, False)
            total += moves.end[moves.n[0] - 1]
    return total


@compiled
def _follow(
    local: LocalGraphs, state: State, moves: Moves, players: Array, where: Array, lines: Array, sums: int, width: int
) -> None:
    open_tree = -1
    for player in players:
        tree = local.tree[player]
        n_inner = local.inner_begin[tree + 1] - local.inner_begin[tree]
        if tree != open_tree:
            open_tree = tree
            lines[sums : sums + n_inner + 1] = 0
        begin_step(state)
        join(local, state, player)
        if state.changes[0] or state.changes[1]:
            plan(local, state, tree, moves, False)
            if width:
                apply(moves, where, lines, sums, sums + n_inner, width)


@compiled
def _condition(
    local: LocalGraphs,
    trees: Array,
    basis: Array,
    products: Array,
    white: Array,
    finished: Array,
    finished_labels: Array,
    lines: Array,
) -> None:
    done = np.full(len(products), -1)
    for i in range(len(trees)):
        nodes = basis[local.begin[trees[i]] : local.begin[trees[i] + 1]]
        condition(nodes, i, products, lines[:0], white, finished, finished_labels, lines, done)


@compiled
def _condition_planned(
    row: IntArray,
    ends: IntArray,
    products: Array,
    sums: Array,
    white: Array,
    finished: Array,
    finished_labels: Array,
    lines: Array,
) -> None:
    done = np.full(len(products) + len(sums), -1)
    for i in range(len(ends) - 1):
        nodes = np.unique(row[ends[i] : ends[i + 1]])
        condition(nodes, i, products, sums, white, finished, finished_labels, lines, done)


@compiled
def _add_lines(row: IntArray, weight: Array, n: int, lines: Array, width: int) -> None:
    line = np.zeros(width, dtype=lines.dtype)
    for k in range(n):
        add(line, lines[row[k], :width], weight[k])


@compiled
def _count(scoring: Scoring, scores: Scores, lines: Array, b: Array, row: Row, n: int) -> float:
    total, nothing = 0.0, np.empty(0)
    for k in range(n):
        total += score(scoring, scores, lines[k % 16], b, row, nothing)
    return total


if __name__ == "__main__":
    main()
