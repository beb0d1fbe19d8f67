"""The cases of `scripts.same_bits`, computed with one checkout: python -m scripts.same_bits_cases CHECKOUT OUT.

Each case becomes a folder in OUT: a run directory, or `ranking.npz` for a baseline, or `error.txt` if it failed. The
cases use only public names, so that they run on any commit. Many use other metrics, because accuracy is
a count, which hides changes in the last bits.
"""

import argparse
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from benchmarks.checkouts import check_import

import pcwinter as pw

RIDGE = pw.Ridge(penalty=3.0, bias=1.5, temperature=0.3)
USUAL: dict[str, Any] = {"head": RIDGE, "coalition": "induced"}  # defaults differ between versions
SOFTMAX = pw.Softmax(learning_rate=0.05, epochs=20, weight_decay=1e-4)
QUICK = ("small", "demo")
SAMPLED: dict[str, dict[str, dict[str, Any]]] = {  # graph -> case -> options of `value`
    "small": {
        "defaults": {"permutations": 60},
        "one hop": {"head": RIDGE, "hops": 1, "permutations": 50},
        "three hops": {"head": RIDGE, "hops": 3, "metric": "probability", "permutations": 30},
        "three hops, truncated": {"head": RIDGE, "hops": 3, "truncation": (0.5, 0.7, 0.9), "permutations": 30},
        "level": {"head": RIDGE, "orders": "level", "metric": "macro-f1", "permutations": 30},
        "precedence": {"head": RIDGE, "orders": "precedence", "metric": "log-likelihood", "permutations": 20},
        "free, three hops": {"head": RIDGE, "orders": "free", "hops": 3, "permutations": 10},
        "probability": {"metric": "probability", "permutations": 30, "bootstrap": 20},
        "softmax": {"head": SOFTMAX, "permutations": 12},
        "messages, softmax": {"head": SOFTMAX, "coalition": "messages", "permutations": 3},
        "messages, three hops": {"coalition": "messages", "hops": 3, "metric": "probability", "permutations": 20},
        "softmax, three hops": {"head": SOFTMAX, "hops": 3, "permutations": 2},
        "softmax, truncated": {"head": SOFTMAX, "truncation": (0.5, 0.7), "permutations": 12},
        "softmax, level, macro-f1": {"head": SOFTMAX, "orders": "level", "metric": "macro-f1", "permutations": 3},
        "softmax, precedence": {"head": SOFTMAX, "orders": "precedence", "metric": "probability", "permutations": 3},
        "softmax, free": {"head": SOFTMAX, "orders": "free", "metric": "log-likelihood", "permutations": 3},
        "softmax, bootstrap, workers": {"head": SOFTMAX, "permutations": 22, "bootstrap": 20, "workers": 2},
    },
    "demo": {
        "until converged": {},
        "messages": {"coalition": "messages", "permutations": 45},
        "messages, truncated 0.5, 0.7": {"coalition": "messages", "truncation": (0.5, 0.7), "permutations": 60},
        "messages, free": {"coalition": "messages", "orders": "free", "permutations": 8},
        "messages, log-likelihood": {"coalition": "messages", "metric": "log-likelihood", "permutations": 20},
        "messages, theta": {"coalition": "messages", "theta": (0.1, 0.3, 0.6), "permutations": 20},
        "fixed head": {"head": RIDGE, "permutations": 45, "seed": 7},
        "no bias": {"head": pw.Ridge(penalty=0.5, bias=0.0), "permutations": 20},
        "truncated 0.5, 0.7": {"truncation": (0.5, 0.7), "permutations": 100},
        "truncated 0.7, 0.9": {"head": RIDGE, "truncation": (0.7, 0.9), "permutations": 100, "seed": 3},
        "one hop": {"head": RIDGE, "hops": 1, "permutations": 50},
        "level": {"orders": "level", "permutations": 20},
        "precedence": {"head": RIDGE, "orders": "precedence", "permutations": 12},
        "free": {"head": RIDGE, "orders": "free", "permutations": 12},
        "free, macro-f1": {"head": RIDGE, "orders": "free", "metric": "macro-f1", "permutations": 3},
        "free, probability": {"head": RIDGE, "orders": "free", "metric": "probability", "permutations": 3},
        "precedence, log-likelihood": {"orders": "precedence", "metric": "log-likelihood", "permutations": 3},
        "precedence, bootstrap": {"head": RIDGE, "orders": "precedence", "permutations": 3, "bootstrap": 20},
        "macro-f1": {"metric": "macro-f1", "permutations": 20},
        "probability": {"metric": "probability", "permutations": 20},
        "log-likelihood": {"metric": "log-likelihood", "truncation": (0.5, 0.7), "permutations": 40},
        "bootstrap": {"permutations": 20, "bootstrap": 50},
        "bootstrap, log-likelihood": {"metric": "log-likelihood", "permutations": 10, "bootstrap": 50},
        "workers": {"permutations": 65, "workers": 2},
        "workers, probability": {"metric": "probability", "permutations": 35, "workers": 2, "orders": "level"},
        "tiles": {"head": RIDGE, "permutations": 20, "memory": 9},
        "tiles, bootstrap": {"head": RIDGE, "permutations": 20, "bootstrap": 20, "memory": 9},
        "tiles, free": {"head": RIDGE, "orders": "free", "permutations": 5, "memory": 28},
    },
    "cora": {
        "defaults": {"permutations": 60},
        "truncated 0.5, 0.7": {"truncation": (0.5, 0.7), "permutations": 100, "seed": 1},
        "level, probability": {"orders": "level", "metric": "probability", "permutations": 10},
        "precedence": {"orders": "precedence", "permutations": 5},
        "free": {"orders": "free", "permutations": 5},
        "tiles, workers": {"permutations": 45, "memory": 10, "workers": 2},
        "softmax": {"head": SOFTMAX, "truncation": (0.5, 0.7), "permutations": 1},
    },
    "citeseer": {
        "defaults": {"permutations": 60},
        "truncated 0.5, 0.7": {"truncation": (0.5, 0.7), "permutations": 100, "seed": 2},
        "macro-f1": {"metric": "macro-f1", "permutations": 20},
        "free": {"orders": "free", "permutations": 5},
        "bootstrap": {"permutations": 20, "bootstrap": 50},
    },
    "amazon-photo": {
        "no truncation": {"head": RIDGE, "permutations": 1},
        "truncated 0.7, 0.9": {"truncation": (0.7, 0.9), "permutations": 12},
        "truncated 0.5, 0.7, tiles": {"head": RIDGE, "truncation": (0.5, 0.7), "permutations": 3, "memory": 140},
        "probability": {"metric": "probability", "truncation": (0.5, 0.7), "permutations": 1},
        "one hop": {"hops": 1, "permutations": 20},
        "one hop, free": {"hops": 1, "orders": "free", "metric": "log-likelihood", "permutations": 1},
    },
}
ENUMERATED: dict[str, dict[str, Any]] = {
    "dfs": {"head": RIDGE},
    "dfs, log-likelihood": {"metric": "log-likelihood"},
    "dfs, truncated": {"head": RIDGE, "truncation": (0.5, 0.5), "metric": "probability"},
    "level": {"head": RIDGE, "orders": "level", "hops": 1, "metric": "probability"},
    "precedence": {"head": RIDGE, "orders": "precedence", "hops": 1, "metric": "macro-f1"},
    "free": {"head": RIDGE, "orders": "free", "hops": 1, "metric": "probability"},
    "softmax": {"head": SOFTMAX, "metric": "probability"},
}
Rank: TypeAlias = Callable[[pw.Graph], "pw.baselines.Ranking"]
BASELINES: dict[str, dict[str, Rank]] = {  # graph -> method; lambdas, so that a missing name fails only its own case
    "small": {
        "leave one node out, softmax": lambda g: pw.baselines.leave_one_out_nodes(g, SOFTMAX),
        "leave one edge out, softmax": lambda g: pw.baselines.leave_one_out_edges(g, SOFTMAX),
        "Data Shapley, softmax": lambda g: pw.baselines.data_shapley(g, SOFTMAX, pw.stopping.permutations(2)),
        "Data Banzhaf, softmax": lambda g: pw.baselines.data_banzhaf(g, SOFTMAX, samples=20, metric="probability"),
    },
    "demo": {
        "random nodes": lambda g: pw.baselines.random_nodes(g, seed=4),
        "random edges": lambda g: pw.baselines.random_edges(g, seed=4),
        "degree": lambda g: pw.baselines.degree(g),
        "betweenness": lambda g: pw.baselines.betweenness(g),
        "KNN-Shapley": lambda g: pw.baselines.knn_shapley(g),
        "leave one node out": lambda g: pw.baselines.leave_one_out_nodes(g, RIDGE),
        "leave one edge out": lambda g: pw.baselines.leave_one_out_edges(g, RIDGE),
        "influence of nodes": lambda g: pw.baselines.influence_nodes(g),
        "influence of edges": lambda g: pw.baselines.influence_edges(g),
        "leave one edge out, probability": lambda g: pw.baselines.leave_one_out_edges(g, RIDGE, metric="probability"),
        "Data Shapley": lambda g: pw.baselines.data_shapley(g, RIDGE, pw.stopping.permutations(5), seed=1),
        "Data Shapley, workers": lambda g: pw.baselines.data_shapley(g, RIDGE, pw.stopping.permutations(12), workers=2),
        "Beta Shapley": lambda g: pw.baselines.beta_shapley(g, RIDGE, pw.stopping.permutations(3), seed=1),
        "Data Shapley, log-likelihood": lambda g: pw.baselines.data_shapley(
            g, RIDGE, pw.stopping.permutations(3), metric="log-likelihood"
        ),
        "Data Banzhaf": lambda g: pw.baselines.data_banzhaf(g, RIDGE, samples=60, metric="probability"),
        "edges by class": lambda g: pw.baselines.of_values(
            pw.value(g, **USUAL, permutations=20), "edge by class", "PC-Winter"
        ),
    },
    "cora": {
        "Data Shapley": lambda g: pw.baselines.data_shapley(g, RIDGE, pw.stopping.permutations(20)),
    },
    "amazon-photo": {
        "leave one node out": lambda g: pw.baselines.leave_one_out_nodes(g, RIDGE),
        "leave one edge out, one hop": lambda g: pw.baselines.leave_one_out_edges(g, RIDGE, hops=1),
        "Data Shapley": lambda g: pw.baselines.data_shapley(g, RIDGE, pw.stopping.permutations(1)),
    },
}


@functools.cache
def graph_of(name: str) -> pw.Graph:
    """The graph of a dataset, or one of the two graphs below."""
    made = {"tiny": tiny_graph, "small": small_graph}
    return made[name]() if name in made else pw.load(name)


def tiny_graph() -> pw.Graph:
    """A graph with few enough orders to enumerate."""
    features = np.eye(3)[np.arange(9) % 3] + np.random.default_rng(2).random((9, 3))
    return pw.Graph([(0, 3), (0, 4), (1, 3), (2, 4)], features, np.arange(9) % 3, train=[0, 1, 2], val=[5, 6, 7, 8])


def small_graph() -> pw.Graph:
    """A random graph with fewer features than labelled nodes: the ridge head walks in primal form."""
    rng = np.random.default_rng(2)
    labels = np.arange(240) % 3
    features = np.eye(3)[labels].repeat(4, axis=1) + rng.random((240, 12))
    edges = rng.integers(240, size=(400, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    return pw.Graph(edges, features, labels, train=np.arange(60), val=np.arange(180, 240))


def cases(quick: bool) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """The name of each case, and a function that computes it into a folder."""
    for name, options in ENUMERATED.items():
        yield f"tiny: all orders, {name}", functools.partial(_enumerate, options)
    for graph in QUICK if quick else SAMPLED:
        for name, options in SAMPLED[graph].items():
            yield f"{graph}: {name}", functools.partial(_sample, graph, options)
        for name, rank in BASELINES.get(graph, {}).items():
            yield f"{graph}: {name}", functools.partial(_rank, graph, rank)


def _enumerate(options: dict[str, Any], out: Path) -> None:
    pw.write(pw.exact_value(graph_of("tiny"), **USUAL | options), out)


def _sample(graph: str, options: dict[str, Any], out: Path) -> None:
    pw.run(graph_of(graph), out, **USUAL | options)


def _rank(graph: str, rank: Rank, out: Path) -> None:
    ranking = rank(graph_of(graph))
    out.mkdir()
    np.savez(out / "ranking.npz", items=ranking.items, value=ranking.value, stderr=ranking.stderr)


def main() -> None:
    """Compute all cases; print the name of each when its folder is complete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true", help="leave out the public graphs")
    options = parser.parse_args()
    check_import(options.checkout)
    for name, compute in cases(options.quick):
        folder = options.out / name
        try:
            compute(folder)
        except Exception as error:
            folder.mkdir(exist_ok=True)
            (folder / "error.txt").write_text(f"{type(error).__name__}: {error}")
        print(name, flush=True)


if __name__ == "__main__":
    main()
