"""Ranking -> curve: the judge's accuracy while the best nodes are dropped, or the best edges added."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pcwinter._types import FloatArray, IntArray
from pcwinter.baselines import Ranking, all_edges
from pcwinter.graph import Graph
from pcwinter.judging import Judge

POINTS = 101
WHICH = ("unlabelled", "labelled", "mixed")


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Accuracy on the judged nodes after so many steps."""

    count: IntArray  # (points,) nodes dropped or edges added, none and all among them
    accuracy: FloatArray  # (points,)

    @property
    def mean(self) -> float:
        """Plain mean: lower is better for dropping, higher for adding."""
        return float(self.accuracy.mean())

    @property
    def early(self) -> float:
        """Mean over the first fifth."""
        return float(self.accuracy[self.count <= round(0.2 * self.count[-1])].mean())

    @property
    def rebound(self) -> float:
        """How far the accuracy rises again at the end, where what harms goes last."""
        return float(self.accuracy[-1] - self.accuracy.min())


def steps(n: int, points: int = POINTS) -> IntArray:
    """Equally spaced counts from 0 to n, all different."""
    return np.unique(np.round(np.linspace(0, n, points)).astype(np.int64))


def droppable(graph: Graph, ranking: Ranking, which: str, seed: int) -> IntArray:
    """Nodes of the ranking that an experiment drops, best first."""
    return to_drop(graph, ranking.items[ranking.best_first(seed)], which)


def to_drop(graph: Graph, nodes: IntArray, which: str) -> IntArray:
    """Those of the nodes that an experiment drops."""
    if which not in WHICH:
        raise ValueError(f"which is {which!r}, expected {', '.join(WHICH)}")
    labelled = np.isin(nodes, graph.train)
    if which == "mixed":
        return nodes
    return nodes[labelled if which == "labelled" else ~labelled]


def drop_nodes(
    judge: Judge, ranking: Ranking, *, which: str = "unlabelled", seed: int = 0, points: int = POINTS
) -> Curve:
    """Drop nodes best first, edges and label and all, and train anew at every count."""
    return dropped(judge, droppable(judge.graph, ranking, which, seed), points)


def dropped(judge: Judge, nodes: IntArray, points: int) -> Curve:
    """The curve of nodes that are dropped in this order."""
    counts = steps(len(nodes), points)
    accuracy = np.empty(len(counts))
    keep = np.ones(judge.graph.n_nodes, dtype=np.bool_)
    for k, count in enumerate(counts):
        keep[nodes[:count]] = False
        accuracy[k] = judge.accuracy(keep=keep)
    return Curve(counts, accuracy)


def addable(graph: Graph, ranking: Ranking, seed: int, rest: float = 0.0) -> IntArray:
    """All edges of the training graph, best first; those that the ranking does not know have the value `rest`."""
    n, every = graph.n_nodes, all_edges(graph)
    unknown = every[~np.isin(every @ [n, 1], ranking.items @ [n, 1])]
    value = np.concatenate([ranking.value, np.full(len(unknown), rest)])
    whole = Ranking(ranking.method, np.concatenate([ranking.items, unknown]), value, np.full(len(value), np.nan))
    return whole.items[whole.best_first(seed)]


def add_edges(judge: Judge, ranking: Ranking, *, seed: int = 0, points: int = POINTS) -> Curve:
    """Add edges best first to a graph without any, and train anew at every count."""
    return added(judge, addable(judge.graph, ranking, seed), points)


def added(judge: Judge, ends: IntArray, points: int) -> Curve:
    """The curve of edges that are added in this order."""
    n = judge.graph.n_nodes
    counts = steps(len(ends), points)
    accuracy = np.empty(len(counts))
    for k, count in enumerate(counts):
        u, v = ends[:count].T
        half = sp.coo_array((np.ones(count), (u, v)), shape=(n, n))
        accuracy[k] = judge.accuracy(training=sp.csr_array(half + half.T))
    return Curve(counts, accuracy)
