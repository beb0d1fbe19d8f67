"""Graph and tree -> Problem and GraphGame: the input of a head, and the game."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import one_of
from pcwinter.game.class_weights import class_weights
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.coalitions.messages import carriers, message_weights
from pcwinter.game.coalitions.records import LocalGraphs, local_graphs
from pcwinter.game.detail import Parts
from pcwinter.game.metrics import ANSWERS, F1, LOG_LIKELIHOOD, TIE, Metric, class_ends, measure, training_mean
from pcwinter.game.protocol import Order, Walk
from pcwinter.game.tree import ContributionTree
from pcwinter.graph.filters import check_weights
from pcwinter.graph.graph import Graph
from pcwinter.graph.propagation import PLAIN, block_scales, normalized, powers, propagate, side_by_side


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The input of a head: what training rows are made of, and the validation rows that it scores."""

    tree: ContributionTree
    local: LocalGraphs
    features: Sparse  # (n, d) of the whole graph; with blocks, one copy per depth, in the columns of its block
    labels: IntArray  # (t,) classes of the roots
    n_classes: int  # c; with numeric targets, the number of their columns
    outcome: FloatArray  # (t, c) E: one-hot classes of the roots, or their targets minus the training mean
    complete: Sparse  # (t, d) rows of the roots when all players have joined
    null: BoolArray  # (p,) players that can never change a utility
    step: Sparse  # (n, n) S, in the message game
    even: bool  # whether all edges have the same weight; sums of messages can lose precision otherwise
    rows: Sparse  # (v, d) representations of the validation nodes, sorted by class
    targets: IntArray  # (v,) their classes, ascending; 0 with numeric targets
    answers: FloatArray  # (c, v) their numeric targets minus the training mean; empty with classes
    empty: str = "nothing"  # what the empty coalition predicts, one of EMPTY

    def training_rows(self, coefficient: FloatArray) -> Sparse:
        """(t, d) rows of all roots, from the coefficients of their slots; zero for absent roots."""
        return _training_rows(self.local, self.features, coefficient)

    def some_rows(self, trees: IntArray, coefficient: Sequence[FloatArray]) -> Sparse:
        """(k, d) rows of the roots of `trees`, which may repeat, from the coefficients of the slots of each."""
        begin = self.local.begin
        nodes = [self.local.node[begin[tree] : begin[tree + 1]] for tree in trees]
        ends = np.cumsum([0, *map(len, nodes)])
        shape = (len(trees), self.n_nodes)
        weights: Sparse = sp.csr_array((np.concatenate(coefficient), np.concatenate(nodes), ends), shape=shape)
        return sp.csr_array(weights @ self.features)

    def empty_utility(self, metric: Metric) -> tuple[float, FloatArray]:
        """Utility of the empty coalition, in units, and (v,) what every validation node adds to it."""
        if self.empty == "constant":
            return self.constant(metric)
        return metric.empty(self.ends, self.answers)

    def constant(self, metric: Metric) -> tuple[float, FloatArray]:
        """Utility of the best constant prediction, in units, and (v,) what every validation node adds to it.

        It is the most frequent class of the validation nodes; for the F1 score of a class, this class; for
        log-likelihood, the frequencies of the classes; for numeric targets, the mean of the validation nodes.
        """
        frequency = np.bincount(self.targets, minlength=self.n_classes) / len(self.targets)
        scores = np.zeros((self.n_classes, len(self.targets)))
        if metric.regression:
            scores += self.answers.mean(axis=1, keepdims=True)
        elif metric.code == LOG_LIKELIHOOD:
            scores += np.log(np.maximum(frequency, 1e-300))[:, None]
        else:
            scores[metric.code - F1 if metric.code >= F1 else frequency.argmax()] = 1e3
        parts = np.zeros(len(self.targets) if metric.additive else 0)
        return float(measure(metric.code, scores, self.ends, self.answers, 1.0, TIE, parts)), parts

    @property
    def ends(self) -> IntArray:
        """(c + 1,) where each class begins among the validation nodes."""
        return class_ends(self.targets, self.n_classes)

    def weights(self, class_weight: str | None) -> FloatArray:
        """(t,) weights of the roots' classes: all 1, or as much for rare classes as for frequent ones ("balanced")."""
        return class_weights(self.labels, self.n_classes, class_weight)[self.labels]

    @property
    def regression(self) -> bool:
        """Whether the targets are numbers."""
        return self.answers.size > 0

    def sums_over_neighbours(self) -> tuple[IntArray, Sparse]:
        """Nodes w whose T_w a silent block of siblings may add in the message game, and the features of these sums.

        With uneven weights there are none: messages are taken away from sums, which would lose precision.
        """
        if not (len(self.local.weight) and self.even):
            return np.empty(0, dtype=np.int64), sp.csr_array((0, self.features.shape[1]))
        which = np.unique(self.local.node[self.local.slot[self.local.reach > 0]])
        between = sp.csr_array(self.step - sp.diags_array(self.step.diagonal()))[which]
        return which, sp.csr_array(between @ self.features)

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the whole graph."""
        return int(self.features.shape[0])


COALITIONS = ("induced", "messages")
EMPTY = ("nothing", "constant")
TINY = 1e-30  # message weights of graphs with weights are 0, or larger


def make_problem(
    graph: Graph,
    tree: ContributionTree,
    coalition: str = "induced",
    theta: Sequence[float] = (),
    empty: str = "nothing",
    blocks: bool = False,
) -> Problem:
    """The problem of a graph and its contribution tree, with validation nodes sorted by class.

    `coalition` is "induced" or "messages"; `theta` has the weights of the powers of the propagation, or nothing for
    the last power alone. `empty` is "nothing" or "constant". With `blocks`, rows are the powers side by side.
    """
    val = graph.val[np.argsort(graph.labels[graph.val], kind="stable")]
    if coalition == "induced" and (reason := refuses_induced(graph)):
        raise ValueError(
            "coalition='induced' is defined for undirected, unweighted graphs with symmetric normalisation and "
            f"self-loops of weight 1, but this graph {reason}: use coalition='messages'"
        )
    theta = check_theta(tree.hops, one_of("coalition", coalition, COALITIONS), theta)
    if blocks:
        return _side_by_side(graph, tree, val, one_of("empty", empty, EMPTY))
    if coalition == "messages":
        every = theta or (*[0.0] * tree.hops, 1.0)
        step = normalized(graph.training, graph.scaling)
        weight, reach = message_weights(tree, step, every)
        if refuses_induced(graph):
            below = np.array([sum(every[depth:]) for depth in range(tree.hops + 1)])
            _refuse_tiny(weight, graph.self_loop * below[tree.depth] > 0)
        local, null = local_graphs(tree, weight, reach), ~carriers(tree, weight)
        complete = propagate(graph.training, graph.features, tree.hops, theta, graph.scaling)[graph.train]
    else:
        step = sp.csr_array((0, 0))
        local, null = local_graphs(tree), tree.null
        complete = _training_rows(local, graph.features, coefficients(local, np.ones_like(null)))
    outcome, answers = expected(graph, val)
    return Problem(
        tree=tree,
        local=local,
        features=graph.features,
        labels=graph.labels[graph.train],
        n_classes=outcome.shape[1],
        outcome=outcome,
        complete=complete,
        null=null,
        step=step,
        even=not graph.weighted,
        rows=propagate(graph.validation, graph.features, tree.hops, theta, graph.scaling)[val],
        targets=graph.labels[val],
        answers=answers,
        empty=one_of("empty", empty, EMPTY),
    )


def _side_by_side(graph: Graph, tree: ContributionTree, val: IntArray, empty: str) -> Problem:
    """The problem of the filter "hops": a player of depth k adds to block k, with its own weights and its own mean."""
    hops, step = tree.hops, normalized(graph.training, PLAIN)
    weight, _ = message_weights(tree, step, (1.0,) * (hops + 1))
    _refuse_tiny(weight, np.ones_like(tree.null))
    complete = [rows[graph.train] for rows in powers(graph.training, graph.features, hops)]
    scales = block_scales(complete)
    validation = [rows[val] for rows in powers(graph.validation, graph.features, hops)]
    outcome, answers = expected(graph, val)
    return Problem(
        tree=tree,
        local=local_graphs(tree, weight, block_size=graph.n_nodes),
        features=sp.csr_array(sp.block_diag([graph.features * scale for scale in scales])),
        labels=graph.labels[graph.train],
        n_classes=outcome.shape[1],
        outcome=outcome,
        complete=side_by_side(complete, scales),
        null=~carriers(tree, weight),
        step=step,
        even=False,
        rows=side_by_side(validation, scales),
        targets=graph.labels[val],
        answers=answers,
        empty=empty,
    )


def refuses_induced(graph: Graph) -> str:
    """The property of the graph for which the induced game is not defined, or nothing."""
    if graph.directed:
        return "is directed"
    if graph.weighted:
        return "has weights"
    if graph.normalisation != "symmetric":
        return f"has normalisation={graph.normalisation!r}"
    return "" if graph.self_loop == 1 else f"has self_loop={graph.self_loop:g}"


def _refuse_tiny(weight: FloatArray, sends: BoolArray) -> None:
    """Raise an error if a message is so light that rows would lose their precision; `sends` says which are not 0."""
    tiny = weight[(weight < TINY) & (sends | (weight > 0))]
    if tiny.size:
        raise ValueError(
            f"a message has the weight {tiny.min():.2g}, expected at least {TINY:g}: bring the weights of the edges, "
            "and self_loop, closer to each other"
        )


def expected(graph: Graph, nodes: IntArray) -> tuple[FloatArray, FloatArray]:
    """(t, c) what the training nodes teach, and (c, v) the answers that `nodes` have, as in `Problem`."""
    if not graph.regression:
        return np.eye(graph.n_classes)[graph.labels[graph.train]], ANSWERS
    centred = graph.targets - training_mean(graph)
    return centred[graph.train], np.ascontiguousarray(centred[nodes].T)


def check_theta(hops: int, coalition: str, theta: Sequence[float]) -> tuple[float, ...]:
    """The weights of the powers of the propagation as a tuple of floats, after checking them."""
    if isinstance(theta, (Sequence, np.ndarray)) and not isinstance(theta, str) and not len(theta):
        return ()
    if coalition != "messages":
        raise ValueError(f"theta needs coalition='messages', but coalition is {coalition!r}: leave out theta")
    return check_weights("theta", theta, hops)


def _training_rows(local: LocalGraphs, features: Sparse, coefficient: FloatArray) -> Sparse:
    shape = (len(local.root), features.shape[0])
    weights: Sparse = sp.csr_array((coefficient, local.node, local.begin), shape=shape)
    return sp.csr_array(weights @ features)


class Walker(Protocol):
    """A head prepared for one problem. Utilities are in units of the metric."""

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; marginal contributions by validation node are added to `parts`."""

    def utility(self, coalition: BoolArray) -> float:
        """Utility of one coalition, from scratch."""

    def prepare(self, order: Order, parts: Parts | None = None) -> None:
        """Compute and compile what such walks share, before worker processes start; spoils `parts`."""


@dataclass(frozen=True, slots=True)
class GraphGame:
    """The game whose players are those of a contribution tree."""

    problem: Problem
    walker: Walker
    metric: Metric

    @property
    def n_players(self) -> int:
        """Number of players."""
        return self.problem.tree.n_players

    @property
    def n_parts(self) -> int:
        """Number of validation nodes."""
        return len(self.problem.targets)

    @property
    def null(self) -> BoolArray:
        """(p,) players that can never change a utility."""
        return self.problem.null

    @property
    def unit(self) -> float:
        """1 / number of validation nodes for accuracy, else 1."""
        return self.metric.unit(self.n_parts)

    @property
    def empty(self) -> float:
        """Utility of the empty coalition."""
        return self.problem.empty_utility(self.metric)[0]

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utility after every step of an order; see `Walker` for `parts`."""
        return self.walker.walk(order, parts)

    def prepare(self, order: Order, parts: Parts | None = None) -> None:
        """Compute and compile what walks along orders such as `order` share; spoils `parts`."""
        self.walker.prepare(order, parts)

    def utility(self, coalition: BoolArray) -> float:
        """Utility of one coalition, a mask of players, in plain numbers."""
        return self.unit * self.walker.utility(coalition)

    def constant_utility(self) -> float:
        """Utility of the best constant prediction, in plain numbers."""
        return self.unit * self.problem.constant(self.metric)[0]
