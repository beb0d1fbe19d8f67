"""Dataset -> microseconds per evaluation of every metric, next to accuracy: python -m benchmarks --only metrics."""

import os
import time
from pathlib import Path

import numpy as np

import pcwinter as pw
from benchmarks.machine import Result
from pcwinter.game.metrics import METRICS
from pcwinter.graph.splits import PER_CLASS

REPEATS = 3
TRUNCATION = (0.7, 0.9)  # of graphs that are not public ones by name


def metrics(dataset: str) -> list[Result]:
    """One DFS order of the message game for every metric; the fastest of a few walks."""
    graph, truncation = load(dataset)
    tree = pw.contribution_tree(graph)
    order = pw.sampler(tree, "dfs", truncation)(np.random.default_rng(0))
    lines: list[Result] = []
    for name in (*(name for name, metric in METRICS.items() if not metric.regression), f"f1:{graph.classes[-1]}"):
        head = pw.Ridge(penalty=1.0, bias=1.0, temperature=1.0)
        game, _, _ = pw.graph_game(graph, tree, head, name, coalition="messages")
        game.prepare(order)
        seconds = []
        for _ in range(REPEATS):
            began = time.process_time()
            walk = game.walk(order)
            seconds.append(time.process_time() - began)
        each = 1e6 * min(seconds) / (walk.evaluations + walk.baselines)
        lines.append({"dataset": dataset, "metric": name, "us_per_evaluation": each, "validation": len(graph.val)})
    return [{**line, "over_accuracy": line["us_per_evaluation"] / lines[0]["us_per_evaluation"]} for line in lines]


def load(dataset: str) -> tuple[pw.Graph, tuple[float, ...]]:
    """A public graph with its truncation, or PCWINTER_DATA/more/NAME.npz with a random split of 20 nodes per class."""
    if dataset in pw.DATASETS:
        return pw.load(dataset), pw.DATASETS[dataset].truncation
    arrays = np.load(Path(os.environ["PCWINTER_DATA"]) / "more" / f"{dataset}.npz")
    labels, (val, test) = arrays["labels"], (len(arrays["val"]), len(arrays["test"]))
    split = pw.random_split(labels, per_class=PER_CLASS, val=val, test=test, seed=0)
    features = pw.normalize_features(arrays["features"], "standard")
    return pw.Graph(arrays["edges"], features, labels, *split, name=dataset), TRUNCATION
