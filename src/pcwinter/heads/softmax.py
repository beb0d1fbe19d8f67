"""Rows and labels -> scores by training: the paper's linear softmax classifier.

Training is full-batch Adam from zero weights, so the utility depends only on the coalition. Every evaluation trains one
model. Rows are computed in batches, because consecutive evaluations share all rows but one.
"""

from dataclasses import dataclass

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import number, whole_number
from pcwinter.game.coalitions.acting import begin_step, coefficients, join, tree_coefficients
from pcwinter.game.coalitions.records import empty_state
from pcwinter.game.detail import Parts, credit, make_parts
from pcwinter.game.metrics import TIE, Metric, class_ends, measure, whole
from pcwinter.game.problem import Problem
from pcwinter.game.protocol import Order, Walk
from pcwinter.graph.graph import Graph
from pcwinter.heads.adam import scores, train

BATCH = 32  # evaluations whose rows are computed together; does not change the result


@dataclass(frozen=True, slots=True)
class Softmax:
    """The paper's head: a linear softmax classifier, trained for every coalition by full-batch Adam.

    `learning_rate` and `epochs` are the step size and the number of steps of Adam. `weight_decay` times the weights is
    added to the gradient.
    """

    learning_rate: float = 0.01
    epochs: int = 200
    weight_decay: float = 5e-4

    def __post_init__(self) -> None:
        object.__setattr__(self, "learning_rate", number("learning_rate", self.learning_rate))
        object.__setattr__(self, "epochs", whole_number("epochs", self.epochs, 1))
        object.__setattr__(self, "weight_decay", number("weight_decay", self.weight_decay, zero=True))


PAPER = {  # the paper's parameters, where they differ from the defaults
    "amazon-photo": Softmax(learning_rate=0.1, epochs=200, weight_decay=0.0),
    "amazon-computers": Softmax(learning_rate=0.1, epochs=200, weight_decay=0.0),
    "coauthor-physics": Softmax(learning_rate=0.01, epochs=30, weight_decay=5e-4),
}


def softmax_for(graph: Graph) -> Softmax:
    """The paper's parameters for the public graph called `graph.name`; the defaults for any other graph."""
    return PAPER.get(graph.name, Softmax())


def fit_scores(
    rows: Sparse, labels: IntArray, members: list[IntArray], n_classes: int, head: Softmax, z: Sparse
) -> FloatArray:
    """(e, c, v) class-major scores of e models on `z`; model i is trained on the rows `members[i]` of `rows`."""
    return scores(train(rows, labels, members, n_classes, head.learning_rate, head.epochs, head.weight_decay), z)


class SoftmaxWalker:
    """The softmax head, prepared for one problem and one metric."""

    def __init__(self, problem: Problem, head: Softmax, metric: Metric) -> None:
        self.problem, self.head, self.metric = problem, head, metric
        self.ends = class_ends(problem.targets, problem.n_classes)

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; the marginal contributions by validation node are added to `parts`."""
        local = self.problem.local
        state = empty_state(local)
        steps, credited = order.steps(), order.credited(self.problem.null)
        empty = self.metric.empty(self.problem.n_classes)
        utility = np.full(len(steps) - 1, empty)
        parts = parts or make_parts(None, len(self.problem.targets))
        parts.last[:] = empty
        counts = [0, 0]
        rows: dict[int, FloatArray] = {}  # tree -> coefficients of its row, as the last batch left it
        batch: list[tuple[int, int, FloatArray]] = []  # step, tree and new coefficients of each evaluation
        measured = []
        for k, (begin, end) in enumerate(zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True)):
            begin_step(state)
            for player in order.players[begin:end].tolist():
                join(local, state, player)
            if state.changes.any():
                tree = int(local.tree[order.players[begin]])
                batch.append((k, tree, tree_coefficients(local, state, tree)))
                counts[0 if order.visited[begin] else 1] += 1
            if len(batch) == BATCH or (batch and k == len(steps) - 2):
                for (at, _, _), score in zip(batch, self._score(rows, batch), strict=True):
                    utility[at] = measure(self.metric.code, score, self.ends, 1.0, TIE, parts.fresh)
                    credit(parts, order.players[steps[at] : steps[at + 1]], credited)
                    measured.append(at)
                rows.update((tree, row) for _, tree, row in batch)
                batch = []
        # a step without evaluation keeps the utility of the one before it
        known = np.searchsorted(measured, np.arange(len(utility)), side="right") - 1
        last = np.where(known >= 0, np.array(measured)[known], 0)
        return Walk(whole(self.metric, utility[last], order), counts[0], counts[1])

    def _score(self, rows: dict[int, FloatArray], batch: list[tuple[int, int, FloatArray]]) -> FloatArray:
        """(e, c, v) scores of a batch of evaluations; each model is trained on the rows at that point of the order."""
        table = [*rows.items(), *((tree, row) for _, tree, row in batch)]
        current = {tree: k for k, tree in enumerate(rows)}  # position of each tree's row in the table
        members = []
        for k, (_, tree, _) in enumerate(batch, len(rows)):
            current[tree] = k
            members.append(np.array(list(current.values())))
        problem, trees = self.problem, np.array([tree for tree, _ in table])
        table_rows = problem.some_rows(trees, [row for _, row in table])
        return fit_scores(table_rows, problem.labels[trees], members, problem.n_classes, self.head, problem.rows)

    def prepare(self, order: Order) -> None:
        """Compile only. There is nothing to compute in advance, and a whole walk would take too long."""
        state = empty_state(self.problem.local)
        begin_step(state)
        join(self.problem.local, state, int(order.players[0]))
        credit(make_parts(None, len(self.problem.targets)), order.players[:1], order.credited(self.problem.null))
        self.utility(np.ones(len(order.players), dtype=np.bool_))

    def utility(self, coalition: BoolArray) -> float:
        """Utility of any coalition, one model trained from scratch, in units of the game."""
        problem = self.problem
        used = np.flatnonzero(coalition[problem.local.parent < 0])
        if not len(used):
            return self.metric.empty(problem.n_classes)
        rows = problem.training_rows(coefficients(problem.local, coalition))
        score = fit_scores(rows, problem.labels, [used], problem.n_classes, self.head, problem.rows)[0]
        return float(measure(self.metric.code, score, self.ends, 1.0, TIE, np.empty(0)))
