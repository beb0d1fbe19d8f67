"""Remaining training graph -> score: how every ranking is judged, whichever head produced the values.

The softmax head is trained on representations that are propagated over the whole remaining training graph (not over
local graphs, as in the game). It is scored on the test graph, or on the validation graph when a method is chosen. With
numeric targets, ridge regression takes its place.

In the transductive setting, the rows of the scored nodes come from the whole graph. They stay as they are while nodes
are dropped or edges added. With `remaining=True` they come from the remaining graph instead: a dropped node receives
messages, but no longer sends any.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import instance, one_of, whole_number
from pcwinter.game.class_weights import class_weights
from pcwinter.game.metrics import ACCURACY, TIE, class_ends, measure, metric_for
from pcwinter.game.problem import expected
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.graph.propagation import filter_of, propagate, propagate_to
from pcwinter.heads.graph_game import suited_head
from pcwinter.heads.ridge.closed_form import inverse_norm, solve_for
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.ridge.leave_one_out import choose_by_leave_one_out
from pcwinter.heads.softmax import Softmax, fit_scores, softmax_for

ON = ("test", "validation")


class Judge:
    """Scores training graphs on the test or validation nodes of a graph.

    `graph` is the graph. `hops` is the number of propagation steps. `head` is the `Softmax` that is trained; by default
    the one for this graph. With numeric targets it is a `Ridge`, calibrated by default. `on` is "test" or "validation":
    the nodes that are scored. With `remaining`, which needs the transductive setting, the rows of the scored nodes come
    from the remaining graph. `metric` is a name in METRICS or "f1:CLASS"; by default "accuracy", or "r2" with numeric
    targets. `filter` is a name as in `value`, or the weights of the powers of the propagation.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        hops: int = 2,
        filter: str | Sequence[float] = "sgc",
        head: Softmax | Ridge | None = None,
        on: str = "test",
        remaining: bool = False,
        metric: str | None = None,
    ) -> None:
        """Compute the representations of the scored nodes, from their whole graph."""
        check_graph(graph)
        kind, called = (Ridge, "Ridge") if graph.regression else (Softmax, "Softmax")
        instance("head", head, (kind, type(None)), f"a pcwinter.{called}(...), or None for the usual one")
        one_of("on", on, ON)
        check_remaining(graph, remaining)
        held_out, nodes = (graph.testing, graph.test) if on == "test" else (graph.validation, graph.val)
        if not len(nodes):
            raise ValueError("the graph has no test nodes to score on: add some to its split, or use on='validation'")
        self.graph, self.hops = graph, whole_number("hops", hops, 1)
        self.remaining = remaining
        self.theta = filter_of(filter, self.hops, graph.training, graph.features, graph.train)
        self.metric = metric_for(metric, graph, "test" if on == "test" else "val")
        self.nodes = nodes[np.argsort(graph.labels[nodes], kind="stable")]
        self.outcome, self.answers = expected(graph, self.nodes)
        self.ends = class_ends(graph.labels[self.nodes], self.outcome.shape[1])
        self.judged = propagate(held_out, graph.features, self.hops, self.theta, graph.scaling)[self.nodes]
        if graph.regression:
            rows = propagate_to(graph.train, graph.training, graph.features, self.hops, self.theta, graph.scaling)
            self.scale = inverse_norm(rows)
            ridge = head if isinstance(head, Ridge) else Ridge()
            found = choose_by_leave_one_out(rows, self.outcome, ridge)
            self.head: Softmax | Ridge = Ridge(found.penalty, found.bias)
        else:
            self.head = head or softmax_for(graph)

    def score(self, *, keep: BoolArray | None = None, training: Sparse | None = None) -> float:
        """The metric on the scored nodes; by default the share that is classified correctly.

        `keep` is a mask: the other nodes and their labels are removed from the training graph. `training` replaces the
        adjacency of the training graph, [target, source]. Without labelled nodes there is no model, and all scores are
        0: class 0 is predicted everywhere, or the mean of the training nodes' targets.
        """
        graph, judged = self.graph, self.judged
        adjacency = graph.training if training is None else training
        known = np.ones(len(graph.train), dtype=np.bool_)
        if keep is not None:
            if keep.dtype != np.bool_ or keep.shape != (graph.n_nodes,):
                raise ValueError(
                    f"keep is an array of {keep.dtype} of shape {keep.shape}, expected a mask: {graph.n_nodes} booleans"
                )
            kept = sp.diags_array(keep.astype(np.float64))
            sent = adjacency @ kept
            adjacency = sp.csr_array(sent if self.remaining else kept @ sent)
            known = keep[graph.train]
        scores = np.zeros((self.outcome.shape[1], len(self.nodes)))
        if known.any():
            rows = propagate_to(graph.train[known], adjacency, graph.features, self.hops, self.theta, graph.scaling)
            if self.remaining:
                judged = propagate_to(self.nodes, adjacency, graph.features, self.hops, self.theta, graph.scaling)
            scores = self._scores(rows, np.flatnonzero(known), judged)
        tie = TIE * float(np.abs(scores).max())
        found = float(measure(self.metric.code, scores, self.ends, self.answers, 1.0, tie, np.empty(0)))
        return found / len(self.nodes) if self.metric.code == ACCURACY else found

    def _scores(self, rows: Sparse, known: IntArray, judged: Sparse) -> FloatArray:
        """(c, nodes) scores of the model that learns the `rows` of the training nodes numbered `known`, on `judged`."""
        graph, head = self.graph, self.head
        if isinstance(head, Ridge):
            assert head.bias is not None
            assert head.penalty is not None
            kernel = (rows @ rows.T).toarray() * self.scale + head.bias**2
            cross = (rows @ judged.T).toarray() * self.scale + head.bias**2
            return solve_for(kernel, cross, self.outcome[known], head.penalty)
        every, labels = graph.labels[graph.train], graph.labels[graph.train][known]
        weights = class_weights(every, graph.n_classes, head.class_weight)[labels]
        members = [np.arange(len(known))]
        return np.asarray(fit_scores(rows, labels, members, graph.n_classes, head, judged, weights)[0])

    def accuracy(self, *, keep: BoolArray | None = None, training: Sparse | None = None) -> float:
        """The same as `score`, which is its new name; `keep` and `training` are as there."""
        warnings.warn("Judge.accuracy is now called Judge.score", DeprecationWarning, stacklevel=2)
        return self.score(keep=keep, training=training)


def check_remaining(graph: Graph, remaining: bool) -> None:
    """Raise an error if `remaining` is set for a graph whose scored rows do not depend on the training graph."""
    instance("remaining", remaining, (bool, np.bool_), "True or False")
    if remaining and graph.setting != "transductive":
        raise ValueError(
            "remaining=True needs setting='transductive': in the inductive setting, scored nodes have a graph of their "
            "own, which loses no nodes; leave remaining out"
        )


def judging_head(graph: Graph, class_weight: str | None) -> Softmax | Ridge | None:
    """The judge's head: the usual one, perhaps with class weights, which graphs with numeric targets refuse."""
    if class_weight is None:
        return None
    suited_head(Ridge(class_weight=class_weight), graph)
    return replace(softmax_for(graph), class_weight=class_weight)


def judge(
    graph: Graph,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    training: Sparse | None = None,
    head: Softmax | Ridge | None = None,
    metric: str | None = None,
) -> float:
    """The metric on the test nodes, by default accuracy, or R2 with numeric targets.

    `graph` is the graph. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of
    the powers of the propagation. `training` replaces the adjacency of the training
    graph. `head` is the `Softmax` that is trained; by default the one for this graph. With numeric targets it is a
    `Ridge`. `metric` is a name in METRICS or "f1:CLASS".
    """
    return Judge(graph, hops=hops, filter=filter, head=head, metric=metric).score(training=training)
