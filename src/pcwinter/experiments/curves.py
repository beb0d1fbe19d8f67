"""Ranking -> curve: accuracy while the best nodes are dropped, or while the best edges are added."""

from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import one_of
from pcwinter.baselines.ranking import Ranking, all_edges
from pcwinter.estimation.pools import OnBlock, gather
from pcwinter.experiments.judge import Judge
from pcwinter.graph.adjacency import graph_of
from pcwinter.graph.graph import Graph

POINTS = 101
BLOCK = 4  # points per task of a worker
WHICH = ("unlabelled", "labelled", "mixed")
NO_EDGES = "the training graph has no edges, so none can be added: make val and test smaller, or rank nodes"
NOTHING_TO_DROP = (
    "no unlabelled node is near a labelled one, so none can be dropped: make train, val and test smaller, "
    "or use drop-nodes with which='labelled'"
)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Accuracy after each number of steps."""

    count: IntArray  # (points,) nodes dropped or edges added, from none to all
    accuracy: FloatArray  # (points,) or another metric of the judge

    @property
    def mean(self) -> float:
        """Plain mean: lower is better for dropping, higher for adding."""
        return float(self.accuracy.mean())

    @property
    def early(self) -> float:
        """Mean over the first fifth."""
        return float(self.accuracy[self.count <= round(0.2 * self.count[-1])].mean())

    def at(self, share: float) -> float:
        """Accuracy after this share of all steps, with linear interpolation between points."""
        return float(np.interp(share, self.count / self.count[-1], self.accuracy))

    @property
    def reach(self) -> float:
        """Smallest share of all steps that reaches the final accuracy."""
        return float(self.count[np.argmax(self.accuracy >= self.accuracy[-1])] / self.count[-1])

    @property
    def in_percent(self) -> "Curve":
        """The curve over the share of all steps, since the number of steps differs between splits."""
        return Curve(np.round(100 * self.count / self.count[-1]).astype(np.int64), self.accuracy)

    @property
    def rebound(self) -> float:
        """Rise of the accuracy from its minimum to the end, when the most harmful items are dropped."""
        return float(self.accuracy[-1] - self.accuracy.min())


def steps(n: int, points: int = POINTS) -> IntArray:
    """Equally spaced counts from 0 to n, all different."""
    return np.unique(np.round(np.linspace(0, n, points)).astype(np.int64))


def droppable(graph: Graph, ranking: Ranking, which: str, seed: int) -> IntArray:
    """The nodes of the ranking that an experiment drops, best first."""
    nodes = to_drop(graph, ranking.items[ranking.best_first(seed)], which)
    if not len(nodes):
        raise ValueError(NOTHING_TO_DROP)
    return nodes


def to_drop(graph: Graph, nodes: IntArray, which: str) -> IntArray:
    """The nodes among `nodes` that an experiment drops."""
    one_of("which", which, WHICH)
    labelled = np.isin(nodes, graph.train)
    if which == "mixed":
        return nodes
    return nodes[labelled if which == "labelled" else ~labelled]


def dropped(which: str) -> str:
    """The label of the x axis."""
    return "nodes dropped" if which == "mixed" else f"{which} nodes dropped"


def addable(graph: Graph, ranking: Ranking, seed: int, rest: float = 0.0) -> IntArray:
    """All edges of the training graph, best first; edges without a value get the value `rest`."""
    n, every = graph.n_nodes, all_edges(graph)
    if not len(every):
        raise ValueError(NO_EDGES)
    ranked, known = ranking.items @ [n, 1], every @ [n, 1]
    if not np.isin(ranked, known).all():
        raise ValueError(
            f"{ranking.method} ranks edges that are not in the training graph: rank the edges of this split"
        )
    unknown = every[~np.isin(known, ranked)]
    value = np.concatenate([ranking.value, np.full(len(unknown), rest)])
    whole = Ranking(ranking.method, np.concatenate([ranking.items, unknown]), value, np.full(len(value), np.nan))
    return whole.items[whole.best_first(seed)]


def judged(
    judge: Judge, best_first: IntArray, points: int = POINTS, workers: int = 1, progress: OnBlock | None = None
) -> Curve:
    """The curve of dropping nodes, or adding edges, in this order."""
    counts = steps(len(best_first), points)
    found = gather(workers, Trial(judge, best_first, counts), len(counts), BLOCK, progress)
    return Curve(counts, np.concatenate(found))


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The points of one curve, as tasks for workers."""

    judge: Judge
    best_first: IntArray  # (m,) nodes, or (m, 2) ends of edges
    counts: IntArray  # (points,)

    def prepare(self) -> None:
        """Nothing is shared by the points."""

    def __call__(self, begin: int, end: int) -> FloatArray:
        """Accuracies at the counts `begin` to `end` - 1."""
        return np.array([self._score(self.best_first[:count]) for count in self.counts[begin:end]])

    def _score(self, some: IntArray) -> float:
        graph = self.judge.graph
        if some.ndim == 1:
            keep = np.ones(graph.n_nodes, dtype=np.bool_)
            keep[some] = False
            return self.judge.score(keep=keep)
        return self.judge.score(training=graph_of(graph.training, some, graph.directed))
