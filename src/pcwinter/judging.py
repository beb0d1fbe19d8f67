"""Graph -> test accuracy: the judge of every ranking, whatever head produced the values.

The softmax head on the test graph, trained on representations that are propagated over the whole
remaining training graph (not over local graphs, as in the game).
"""

import numpy as np

from pcwinter._options import whole_number
from pcwinter._types import Sparse
from pcwinter.graph import Graph
from pcwinter.heads.softmax import Softmax, fit_scores
from pcwinter.metrics import TIE, class_ends, find_metric, measure
from pcwinter.propagation import propagate


def judge(graph: Graph, *, hops: int = 2, training: Sparse | None = None, head: Softmax | None = None) -> float:
    """Accuracy on the test nodes; `training` replaces the adjacency of the training graph."""
    if not len(graph.test):
        raise ValueError("the graph has no test nodes: the judge needs some")
    hops = whole_number("hops", hops, 1)
    adjacency = graph.training if training is None else training
    rows = propagate(adjacency, graph.features, hops)[graph.train]
    test = graph.test[np.argsort(graph.labels[graph.test], kind="stable")]
    z = propagate(graph.testing, graph.features, hops)[test]
    recipe = (head or Softmax()).recipe(graph.recipe)
    everybody = [np.arange(len(graph.train))]
    scores = fit_scores(rows, graph.labels[graph.train], everybody, graph.n_classes, recipe, z)[0]
    ends = class_ends(graph.labels[test], graph.n_classes)
    return float(measure(find_metric("accuracy").code, scores, ends, 1.0, TIE, np.empty(0))) / len(test)
