"""Rows and labels -> scores by training: the paper's linear softmax classifier.

Training is full-batch Adam from zero weights, so the utility depends only on the coalition. Every evaluation trains one
model. Rows are computed in batches, because consecutive evaluations share all rows but one.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import number, whole_number
from pcwinter.game.class_weights import check_class_weight
from pcwinter.game.coalitions.acting import (
    begin_step,
    incomplete,
    join,
    join_all,
    sort_tree,
    tree_coefficients,
)
from pcwinter.game.coalitions.records import empty_state
from pcwinter.game.detail import Parts, credit, make_parts
from pcwinter.game.metrics import TIE, Metric, measure, whole
from pcwinter.game.problem import Problem
from pcwinter.game.protocol import Order, Walk
from pcwinter.graph.graph import Graph
from pcwinter.heads.adam import scores, train

BATCH = 32  # evaluations whose rows are computed together; does not change the result


@dataclass(frozen=True, slots=True)
class Softmax:
    """The paper's head: a linear softmax classifier, trained for every coalition by full-batch Adam.

    `learning_rate` and `epochs` are the step size and the number of steps of Adam. `weight_decay` times the weights is
    added to the gradient. All rows are multiplied by `scale`, because Adam depends on their size. `class_weight` is
    "balanced" for a weighted mean of the losses, in which rare classes count as much as frequent ones, see `Ridge`.
    """

    learning_rate: float = 0.01
    epochs: int = 200
    weight_decay: float = 5e-4
    class_weight: str | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "learning_rate", number("learning_rate", self.learning_rate))
        object.__setattr__(self, "epochs", whole_number("epochs", self.epochs, 1))
        object.__setattr__(self, "weight_decay", number("weight_decay", self.weight_decay, zero=True))
        object.__setattr__(self, "scale", number("scale", self.scale))
        object.__setattr__(self, "class_weight", check_class_weight(self.class_weight))


PAPER = {  # the paper's parameters, where they differ from the defaults of `Softmax`
    "amazon-photo": Softmax(learning_rate=0.1, epochs=200, weight_decay=0.0),
    "amazon-computers": Softmax(learning_rate=0.1, epochs=200, weight_decay=0.0),
    "coauthor-physics": Softmax(learning_rate=0.01, epochs=30, weight_decay=5e-4),
}


def softmax_for(graph: Graph) -> Softmax:
    """The paper's parameters for the public graph called `graph.name`; those of Cora for any other graph."""
    return PAPER.get(graph.name, Softmax())


def fit_scores(
    rows: Sparse,
    labels: IntArray,
    members: list[IntArray],
    n_classes: int,
    head: Softmax,
    z: Sparse,
    weights: FloatArray | None = None,
) -> FloatArray:
    """(e, c, v) class-major scores of e models on `z`; model i is trained on the rows `members[i]` of `rows`.

    `weights`, one for each row, are those of the losses; None for equal ones.
    """
    if head.scale != 1:
        rows, z = sp.csr_array(rows * head.scale), sp.csr_array(z * head.scale)
    recipe = head.learning_rate, head.epochs, head.weight_decay
    return scores(train(rows, labels, members, n_classes, *recipe, weights), z)


class SoftmaxWalker:
    """The softmax head, prepared for one problem and one metric.

    Adam amplifies rounding. So that the utility depends on the coalition alone, to the last bit, the edges or messages
    of a row are added in pre-order, and the rows stand in the order of the roots.
    """

    def __init__(self, problem: Problem, head: Softmax, metric: Metric) -> None:
        self.problem, self.head, self.metric = problem, head, metric
        self.ends = problem.ends
        self.weights = problem.weights(head.class_weight)

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; the marginal contributions by validation node are added to `parts`."""
        local = self.problem.local
        state, sorted_state = empty_state(local), empty_state(local)
        steps, credited = order.steps(), order.credited(self.problem.null)
        empty, empty_parts = self.problem.empty_utility(self.metric)
        utility = np.full(len(steps) - 1, empty)
        parts = parts or make_parts(None, len(self.problem.targets))
        parts.last[:] = empty_parts[: len(parts.last)]
        counts = [0, 0]
        rows: dict[int, FloatArray | None] = {}  # tree -> coefficients of its row as the last batch left it
        batch: list[tuple[int, int, FloatArray | None]] = []  # step, tree, new coefficients (None: complete)
        measured = []
        for k, (begin, end) in enumerate(zip(steps[:-1].tolist(), steps[1:].tolist(), strict=True)):
            begin_step(state)
            for player in order.players[begin:end].tolist():
                join(local, state, player)
            if state.changes.any():
                tree = int(local.tree[order.players[begin]])
                row = None
                if incomplete(local, state, tree):
                    sort_tree(local, state, tree, sorted_state)
                    row = tree_coefficients(local, sorted_state, tree)
                batch.append((k, tree, row))
                counts[0 if order.visited[begin] else 1] += 1
            if len(batch) == BATCH or (batch and k == len(steps) - 2):
                for (at, _, _), score in zip(batch, self._score(rows, batch), strict=True):
                    utility[at] = self._measure(score, parts.fresh)
                    credit(parts, order.players[steps[at] : steps[at + 1]], credited)
                    measured.append(at)
                rows.update((tree, row) for _, tree, row in batch)
                batch = []
        # a step without evaluation keeps the utility of the one before it
        known = np.searchsorted(measured, np.arange(len(utility)), side="right") - 1
        last = np.where(known >= 0, np.array(measured)[known], 0)
        return Walk(whole(self.metric, utility[last], order), counts[0], counts[1])

    def _score(self, rows: dict[int, FloatArray | None], batch: list[tuple[int, int, FloatArray | None]]) -> FloatArray:
        """(e, c, v) scores of a batch of evaluations; each model is trained on the rows at that point of the order."""
        n = len(self.problem.labels)
        trees: list[int] = []  # of the incomplete rows, which come after the complete rows of all trees
        made: list[FloatArray] = []

        def place(tree: int, row: FloatArray | None) -> int:
            if row is None:
                return tree
            trees.append(tree)
            made.append(row)
            return n + len(made) - 1

        current = {tree: place(tree, row) for tree, row in rows.items()}
        members = []
        for _, tree, row in batch:
            current[tree] = place(tree, row)
            members.append(np.array([current[one] for one in sorted(current)]))
        return self._fit(np.array(trees, dtype=np.int64), made, members)

    def _fit(self, trees: IntArray, made: list[FloatArray], members: list[IntArray]) -> FloatArray:
        """(e, c, v) scores of models on the complete rows, numbered by tree, and then on rows of `trees`."""
        problem, head = self.problem, self.head
        every = np.concatenate([np.arange(len(problem.labels)), trees])
        table, labels = problem.complete, problem.labels[every]
        if made:
            table = sp.csr_array(sp.vstack([table, problem.some_rows(trees, made)]))
        return fit_scores(table, labels, members, problem.n_classes, head, problem.rows, self.weights[every])

    def _measure(self, score: FloatArray, detail: FloatArray) -> float:
        return float(measure(self.metric.code, score, self.ends, self.problem.answers, 1.0, TIE, detail))

    def prepare(self, order: Order, parts: Parts | None = None) -> None:
        """Compile only. There is nothing to compute in advance, and a whole walk would take too long."""
        local = self.problem.local
        state = empty_state(local)
        begin_step(state)
        join(local, state, int(order.players[0]))
        sort_tree(local, state, 0, empty_state(local))
        credit(make_parts(None, len(self.problem.targets)), order.players[:1], order.credited(self.problem.null))
        self.utility(np.ones(len(order.players), dtype=np.bool_))

    def utility(self, coalition: BoolArray) -> float:
        """Utility of any coalition, one model trained from scratch, in units of the game."""
        problem = self.problem
        state, sorted_state = (empty_state(problem.local) for _ in range(2))
        join_all(problem.local, state, np.flatnonzero(coalition))
        used = np.flatnonzero(coalition[problem.tree.roots])
        if not len(used):
            return problem.empty_utility(self.metric)[0]
        trees: list[int] = []
        made: list[FloatArray] = []
        members: list[int] = []
        for tree in used.tolist():
            if incomplete(problem.local, state, tree):
                sort_tree(problem.local, state, tree, sorted_state)
                members.append(len(problem.labels) + len(made))
                trees.append(tree)
                made.append(tree_coefficients(problem.local, sorted_state, tree))
            else:
                members.append(tree)
        score = self._fit(np.array(trees, dtype=np.int64), made, [np.array(members)])[0]
        return self._measure(score, np.empty(0))
