"""Graph -> Ranking without a model: random values, degree, edge betweenness."""

import time
from collections.abc import Callable

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import whole_number
from pcwinter.baselines.ranking import Ranking, all_edges, near_nodes
from pcwinter.graph.graph import Graph


def random_nodes(graph: Graph, *, hops: int = 2, seed: int = 0) -> Ranking:
    """Random values for nodes: the reference that any method should beat.

    `graph` is the graph. Nodes within `hops` steps of a labelled node get values. `seed` determines the values.
    """
    seed = whole_number("seed", seed, 0)
    return _plain("random", near_nodes(graph, hops), lambda nodes: np.random.default_rng(seed).random(len(nodes)))


def degree(graph: Graph, *, hops: int = 2) -> Ranking:
    """Degree of each node: the sum of the weights of its edges in the training graph, so by default their number.

    `graph` is the graph. Nodes within `hops` steps of a labelled node get values. In a directed graph, edges that begin
    in the node and edges that end in it count.
    """

    def values(nodes: IntArray) -> FloatArray:
        ends: FloatArray = np.asarray(graph.training.sum(axis=1))
        return (ends + graph.training.sum(axis=0))[nodes] if graph.directed else ends[nodes]

    return _plain("degree", near_nodes(graph, hops), values)


def random_edges(graph: Graph, *, seed: int = 0) -> Ranking:
    """Random values for the edges of the training graph: the reference that any method should beat.

    `graph` is the graph. `seed` determines the values.
    """
    seed = whole_number("seed", seed, 0)
    return _plain("random", all_edges(graph), lambda edges: np.random.default_rng(seed).random(len(edges)))


def betweenness(graph: Graph) -> Ranking:
    """Edge betweenness: the share of node pairs whose shortest path in the training graph uses the edge.

    `graph` is the graph. If a pair has several shortest paths, each counts as a fraction. In a directed graph, paths
    follow the edges, and pairs are ordered. Weights have no effect.
    """
    import igraph

    def values(edges: IntArray) -> FloatArray:
        network = igraph.Graph(n=graph.n_nodes, edges=edges.tolist(), directed=graph.directed)
        held_out = 0 if graph.setting == "transductive" else len(graph.val) + len(graph.test)
        inside = graph.n_nodes - held_out
        pairs = inside * (inside - 1) / (1 if graph.directed else 2)
        return np.array(network.edge_betweenness(directed=graph.directed)) / pairs

    return _plain("betweenness", all_edges(graph), values)


def _plain(method: str, items: IntArray, values: Callable[[IntArray], FloatArray]) -> Ranking:
    began = time.perf_counter()
    value = values(items)
    return Ranking(method, items, value, np.full(len(value), np.nan), seconds=time.perf_counter() - began)
