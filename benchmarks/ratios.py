"""Dataset -> microseconds per evaluation of both heads and of the plain loop, which take turns in one process."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import numpy.typing as npt

import pcwinter as pw
from benchmarks.machine import Result
from benchmarks.plain import PlainLoop

ROUNDS = 3
PLAIN = 24  # evaluations of the plain loop, over all rounds
RIDGE_SECONDS = 1.0  # least time of the ridge head in every round; it walks at least one whole order
WHOLE = 2_000  # the softmax head walks whole orders up to this number of evaluations
THINNED = 1_000  # approximate number of evaluations that it walks in longer orders
WINDOW = 64  # consecutive evaluations of a thinned order: two batches of the softmax head

MESSAGES = "messages"  # the ridge head in the message game; the other heads play the induced game

Ints = npt.NDArray[np.int64]
Draw = Callable[[np.random.Generator], pw.Order]


def ratios(dataset: str, truncated: bool, heads: list[str]) -> list[Result]:
    """One result per head: every round times the plain loop, then each head, on the same order.

    Every computed utility counts: marginal contributions, and baselines after silent blocks. Neither the heads nor the
    plain loop evaluate null players, or players whose edge is already present.
    """
    graph = pw.load(dataset)
    tree = pw.contribution_tree(graph)
    truncation = pw.DATASETS[dataset].truncation if truncated else ()
    draw = pw.sampler(tree, "dfs", truncation)
    games = {}
    for head in heads:
        name, coalition = ("ridge", "messages") if head == MESSAGES else (head, "induced")
        games[head] = pw.graph_game(graph, tree, name, coalition=coalition)[:2]
    plain = PlainLoop(graph, tree)
    first = draw(np.random.default_rng(0))
    for head, (game, _) in games.items():  # compile, fill the caches
        game.walk(thin(tree, first, 0) if head == "softmax" else first)
    plain.timed(plain.prepare(first, [1]))

    rounds = []
    for number in range(1, ROUNDS + 1):
        order = draw(np.random.default_rng(number))
        thinned = order if len(evaluated(tree, order)) <= WHOLE else thin(tree, order, THINNED)
        sample = spaced(evaluated(tree, thinned), PLAIN // ROUNDS)
        evaluations = plain.prepare(order, [int(at) + 1 for at in sample])
        seconds, accuracies = plain.timed(evaluations)
        one: Result = {
            "plain_ms": 1e3 * seconds / len(sample),
            "plain_rows": float(np.mean([len(e.labels) for e in evaluations])),
        }
        for head, (game, _) in games.items():
            if head != "softmax":
                one[head] = _many_orders(game, draw, order, number)
            else:
                one[head], walk = _one_order(game, thinned)
                steps = np.searchsorted(thinned.steps(), sample, side="right") - 1
                mine = walk.utility[steps] * game.unit
                one["accuracy_difference"] = float(np.mean(np.abs(mine - accuracies)))
        rounds.append(one)
    return [_line(dataset, truncation, head, title, rounds) for head, (_, title) in games.items()]


def _many_orders(game: pw.GraphGame, draw: Draw, order: pw.Order, number: int) -> Result:
    """Walk whole orders until the time is up; drawing them is not timed, as for the plain loop."""
    computed, orders, seconds = 0, 0, 0.0
    while seconds < RIDGE_SECONDS:
        began = time.perf_counter()
        walk = game.walk(order)
        seconds += time.perf_counter() - began
        computed += walk.evaluations + walk.baselines
        orders += 1
        order = draw(np.random.default_rng(1_000 * number + orders))
    return {"computed": computed, "orders": orders, "seconds": seconds}


def _one_order(game: pw.GraphGame, order: pw.Order) -> tuple[Result, pw.Walk]:
    began = time.perf_counter()
    walk = game.walk(order)
    seconds = time.perf_counter() - began
    computed = walk.evaluations + walk.baselines
    return {"computed": computed, "baselines": walk.baselines, "orders": 1, "seconds": seconds}, walk


def _line(dataset: str, truncation: tuple[float, ...], head: str, title: str, rounds: list[Result]) -> Result:
    """Medians over the rounds, and the rounds."""
    each = [1e6 * one[head]["seconds"] / one[head]["computed"] for one in rounds]
    line: Result = {
        "dataset": dataset,
        "truncation": list(truncation),
        "head": head,
        "title": title,
        "evaluations": sum(one[head]["computed"] for one in rounds),
        "us_per_evaluation": median(each),
        "plain_evaluations": PLAIN // ROUNDS * ROUNDS,
        "plain_ms": median(one["plain_ms"] for one in rounds),
        "ratio": median(1e3 * one["plain_ms"] / us for one, us in zip(rounds, each, strict=True)),
        "rounds": rounds,
    }
    if head == "softmax":
        line["accuracy_difference"] = float(np.mean([one["accuracy_difference"] for one in rounds]))
    return line


def evaluated(tree: pw.ContributionTree, order: pw.Order) -> Ints:
    """Positions in a DFS order of visited players that change their tree: roots, and the first player of each edge."""
    players = order.players
    real = ~tree.null[players]
    bearer = np.where(tree.parent[players] < 0, len(tree.edges), tree.edge[players])
    keys = tree.tree[players] * (len(tree.edges) + 1) + bearer
    at = np.flatnonzero(real)
    first = np.sort(at[np.unique(keys[at], return_index=True)[1]])
    return first[order.visited[first]]


def thin(tree: pw.ContributionTree, order: pw.Order, most: int) -> pw.Order:
    """The same order with about `most` evaluations: all roots and evenly spaced windows; other players join silently.

    A silent run never leaves its tree, because roots are visited. Each tree adds a root and a baseline.
    """
    at = evaluated(tree, order)
    visited = tree.parent[order.players] < 0
    windows = max(0, (most - 2 * len(tree.roots)) // (WINDOW + 1))
    for begin in spaced(np.arange(len(at)), windows):
        visited[at[begin : begin + WINDOW]] = True
    return pw.Order(order.players, visited)


def spaced(items: Ints, n: int) -> Ints:
    """`n` of the items, evenly spaced, without the first and the last."""
    return items[((np.arange(n) + 0.5) / max(n, 1) * len(items)).astype(np.int64)]
