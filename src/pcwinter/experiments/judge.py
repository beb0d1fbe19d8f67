"""Remaining training graph -> accuracy: how every ranking is scored, whichever head produced the values.

The softmax head is trained on representations that are propagated over the whole remaining training graph (not over
local graphs, as in the game). It is scored on the test graph, or on the validation graph when a method is chosen.

In the transductive setting, the rows of the scored nodes come from the whole graph. They stay as they are while nodes
are dropped or edges added. With `remaining=True` they come from the remaining graph instead: a dropped node receives
messages, but no longer sends any.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, Sparse
from pcwinter._util.checks import instance, one_of, whole_number
from pcwinter.game.metrics import predictions
from pcwinter.graph.filters import filter_weights
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.graph.propagation import propagate, propagate_to
from pcwinter.heads.softmax import Softmax, fit_scores, softmax_for

ON = ("test", "validation")


class Judge:
    """Scores training graphs on the test or validation nodes of a graph.

    `graph` is the graph. `hops` is the number of propagation steps. `head` is the `Softmax` that is trained; by default
    the one for this graph. `on` is "test" or "validation": the nodes that are scored. With `remaining`, which needs the
    transductive setting, the rows of the scored nodes come from the remaining graph. `filter` is a name as in `value`,
    or the weights of the powers of the propagation.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        hops: int = 2,
        filter: str | Sequence[float] = "sgc",
        head: Softmax | None = None,
        on: str = "test",
        remaining: bool = False,
    ) -> None:
        """Compute the representations of the scored nodes, from their whole graph."""
        check_graph(graph)
        instance("head", head, (Softmax, type(None)), "a pcwinter.Softmax(...), or None for the usual one")
        one_of("on", on, ON)
        check_remaining(graph, remaining)
        held_out, self.nodes = (graph.testing, graph.test) if on == "test" else (graph.validation, graph.val)
        if not len(self.nodes):
            raise ValueError("the graph has no test nodes to score on: add some to its split, or use on='validation'")
        self.graph, self.hops = graph, whole_number("hops", hops, 1)
        self.theta = filter_weights(filter, self.hops)
        self.head = head or softmax_for(graph)
        self.remaining = remaining
        self.judged = propagate(held_out, graph.features, self.hops, self.theta, graph.scaling)[self.nodes]

    def accuracy(self, *, keep: BoolArray | None = None, training: Sparse | None = None) -> float:
        """Share of the scored nodes that are classified correctly.

        `keep` is a mask: the other nodes and their labels are removed from the training graph. `training` replaces the
        adjacency of the training graph, [target, source]. Without labelled nodes there is no model, and class 0 is
        predicted everywhere.
        """
        graph, judged = self.graph, self.judged
        adjacency = graph.training if training is None else training
        labelled = graph.train
        if keep is not None:
            if keep.dtype != np.bool_ or keep.shape != (graph.n_nodes,):
                raise ValueError(
                    f"keep is an array of {keep.dtype} of shape {keep.shape}, expected a mask: {graph.n_nodes} booleans"
                )
            kept = sp.diags_array(keep.astype(np.float64))
            sent = adjacency @ kept
            adjacency = sp.csr_array(sent if self.remaining else kept @ sent)
            labelled = labelled[keep[labelled]]
        if not len(labelled):
            return float(np.mean(graph.labels[self.nodes] == 0))
        rows = propagate_to(labelled, adjacency, graph.features, self.hops, self.theta, graph.scaling)
        if self.remaining:
            judged = propagate_to(self.nodes, adjacency, graph.features, self.hops, self.theta, graph.scaling)
        members = [np.arange(len(labelled))]
        scores = fit_scores(rows, graph.labels[labelled], members, graph.n_classes, self.head, judged)
        predicted = predictions(scores[0])
        return float(np.mean(predicted == graph.labels[self.nodes]))


def check_remaining(graph: Graph, remaining: bool) -> None:
    """Raise an error if `remaining` is set for a graph whose scored rows do not depend on the training graph."""
    instance("remaining", remaining, (bool, np.bool_), "True or False")
    if remaining and graph.setting != "transductive":
        raise ValueError(
            "remaining=True needs setting='transductive': in the inductive setting, scored nodes have a graph of their "
            "own, which loses no nodes; leave remaining out"
        )


def judge(
    graph: Graph,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    training: Sparse | None = None,
    head: Softmax | None = None,
) -> float:
    """Accuracy on the test nodes.

    `graph` is the graph. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of
    the powers of the propagation. `training` replaces the adjacency of the training graph. `head` is the `Softmax` that
    is trained; by default the one for this graph.
    """
    return Judge(graph, hops=hops, filter=filter, head=head).accuracy(training=training)
