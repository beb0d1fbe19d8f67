"""Name -> graph: the public graphs, and those of `data/more` with 20 labelled nodes of each class, drawn by seed."""

import os
from pathlib import Path

import numpy as np

import pcwinter as pw
from pcwinter.graph.splits import PER_CLASS, random_split

MORE = ("tolokers", "minesweeper")
SEED = 0  # of the split
TRUNCATION = (0.7, 0.9)  # of graphs that are not the paper's


def open_graph(name: str) -> pw.Graph:
    """The graph called `name`; the files of MORE are found through PCWINTER_DATA."""
    if name not in MORE:
        return pw.load(name)
    with np.load(Path(os.environ["PCWINTER_DATA"]) / "more" / f"{name}.npz") as file:
        features, labels, edges = file["features"].astype(float), file["labels"], file["edges"]
    features = (features - features.mean(axis=0)) / np.maximum(features.std(axis=0), 1e-12)
    held_out = len(labels) // 5
    split = random_split(labels, per_class=PER_CLASS, val=held_out, test=held_out, seed=SEED)
    return pw.Graph(edges, features, labels, *split, name=name)


def metric_of(name: str) -> str:
    """Accuracy, or ROC-AUC for the graphs of MORE, whose classes are imbalanced."""
    return "roc-auc" if name in MORE else "accuracy"


def truncation_of(name: str) -> tuple[float, ...]:
    """The paper's truncation of a public graph, and TRUNCATION for the others."""
    return TRUNCATION if name in MORE else pw.DATASETS[name].truncation
