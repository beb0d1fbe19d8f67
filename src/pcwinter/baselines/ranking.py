"""Values -> Ranking: the values of nodes or edges by one method, and their cost."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import instance, one_of, whole_number
from pcwinter.baselines.node_game import steps_to_labelled
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.values import Values

if TYPE_CHECKING:
    import pandas as pd

RANKINGS = ("own", "path", "edge", "edge path", "edge by class")


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Values of nodes or edges by one method, and their cost."""

    method: str
    items: IntArray  # (m,) node numbers, or (m, 2) edges: (source, target), with source < target if undirected
    value: FloatArray  # (m,)
    stderr: FloatArray  # (m,) NaN if the method has no standard error
    orders: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    status: str = ""
    workers: int = 1  # number of processes, if a study recorded it

    def best_first(self, seed: int = 0) -> IntArray:
        """(m,) positions from most to least valuable. `seed` breaks ties at random: many values are exactly 0."""
        seed = whole_number("seed", seed, 0)
        shuffled = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,))).permutation(len(self.value))
        return shuffled[np.argsort(-self.value[shuffled], kind="stable")]

    def table(self, graph: Graph) -> "pd.DataFrame":
        """One row per node or edge, named by its ids, with value and standard error. `pcwinter judge` reads it as CSV.

        `graph` is the graph that the ranking is about.
        """
        import pandas as pd

        names = ("node",) if self.items.ndim == 1 else ("source", "target")
        ids = np.atleast_2d(graph.ids[self.items].T)
        return pd.DataFrame({**dict(zip(names, ids, strict=True)), "value": self.value, "stderr": self.stderr})


def of_values(values: Values, level: str, method: str) -> Ranking:
    """The ranking by PC-Winter values.

    `values` is the result of `value`. `level` is "own", "path", "edge", "edge path" or "edge by class". `method` is the
    name of the ranking.
    """
    instance("values", values, Values, "the result of pcwinter.value")
    tree, done, within = values.tree, values.estimate, one_of("level", level, RANKINGS) == "edge by class"
    items = tree.edges if level.startswith("edge") else tree.nodes
    value = values.edges_within_class() if within else done.mean(level)
    stderr = np.full(len(items), np.nan) if within else done.stderr(level)
    spent = done.tally.orders, done.tally.evaluations + done.tally.baselines, done.seconds
    return Ranking(method, items, value, stderr, *spent, done.status)


def near_nodes(graph: Graph, hops: int) -> IntArray:
    """Sorted node numbers of the nodes of `graph` within `hops` steps of a labelled node: those that have players."""
    check_graph(graph)
    return np.flatnonzero(steps_to_labelled(graph, whole_number("hops", hops, 1)) >= 0)


def all_edges(graph: Graph) -> IntArray:
    """(m, 2) edges of the training graph of `graph`, sorted: (source, target), with source < target if undirected."""
    check_graph(graph)
    some = sp.coo_array(sp.csr_array(graph.training.T)) if graph.directed else sp.triu(graph.training, format="coo")
    return np.stack([some.row, some.col], axis=1).astype(np.int64)
