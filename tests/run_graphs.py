"""The graphs that the tests of runs value."""

import numpy as np

import pcwinter as pw
from oracles import make_graph

EDGES = [(0, 2), (1, 3), (2, 3), (0, 4)]
HEAD = pw.Ridge(penalty=0.3, bias=1.0)


def graph(**options: int) -> pw.Graph:
    return make_graph(EDGES, [0, 1], n_val=40, **options)


def named() -> pw.Graph:
    plain = graph()
    ids = [f"node,{k}" for k in range(plain.n_nodes)]
    ids[:5] = ["NA", "007", "", "ß\n", "a\rb"]
    edges = np.argwhere(plain.adjacency.toarray())
    return pw.Graph(edges, plain.features, plain.labels, plain.train, plain.val, ids=ids, classes=["<b>", "nan"])
