"""Rows and labels -> scores by training: the paper's linear softmax classifier.

Full-batch Adam from zero weights, so that the utility is a function of the coalition. Consecutive
evaluations of an order share nearly all their rows; they are trained together, in batches whose
make-up depends on the order alone.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pcwinter._types import BoolArray, FloatArray, IntArray, Sparse
from pcwinter.graph import Recipe
from pcwinter.heads.trainer import scores, train
from pcwinter.metrics import TIE, Metric, Parts, class_ends, credit, make_parts, measure, whole
from pcwinter.orders import Order, Walk
from pcwinter.propagation import Problem, begin_step, coefficients, empty_state, join, tree_coefficients

BATCH = 32  # models trained together


@dataclass(frozen=True, slots=True)
class Softmax:
    """The paper's head; what is None is taken from the graph's recipe."""

    learning_rate: float | None = None
    epochs: int | None = None
    weight_decay: float | None = None

    def recipe(self, default: Recipe) -> Recipe:
        """How to train: this head's own numbers, else those of `default`."""
        return Recipe(
            default.learning_rate if self.learning_rate is None else self.learning_rate,
            default.epochs if self.epochs is None else self.epochs,
            default.weight_decay if self.weight_decay is None else self.weight_decay,
        )


def fit_scores(
    rows: Sparse, labels: IntArray, members: list[IntArray], n_classes: int, recipe: Recipe, z: Sparse
) -> FloatArray:
    """(e, c, v) class-major scores on `z` of models that are trained each on its own `members` of `rows`."""
    nobody = np.empty(0, dtype=np.int64)
    ends = np.cumsum([0, *map(len, members)])
    models = train(rows, labels, nobody, ends, np.concatenate([nobody, *members]), n_classes, recipe)
    return scores(models, z)


class SoftmaxWalker:
    """The softmax head on one problem."""

    def __init__(self, problem: Problem, recipe: Recipe, metric: Metric) -> None:
        self.problem, self.recipe, self.metric = problem, recipe, metric
        self.ends = class_ends(problem.targets, problem.n_classes)

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; what they are made of, by validation node, is added to `parts`."""
        local = self.problem.local
        state = empty_state(local)
        steps = order.steps()
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
                    credit(parts, order.players[steps[at]] if order.visited[steps[at]] else -1)
                    measured.append(at)
                rows.update((tree, row) for _, tree, row in batch)
                batch = []
        # a step without evaluation keeps the utility of the one before it
        known = np.searchsorted(measured, np.arange(len(utility)), side="right") - 1
        last = np.where(known >= 0, np.array(measured)[known], 0)
        return Walk(whole(self.metric, utility[last], order), counts[0], counts[1])

    def _score(self, rows: dict[int, FloatArray], batch: list[tuple[int, int, FloatArray]]) -> FloatArray:
        """(e, c, v) scores of the evaluations of a batch: rows that it does not touch are shared."""
        touched = {tree for _, tree, _ in batch}
        table = [(tree, row) for tree, row in rows.items() if tree not in touched]
        shared = np.arange(len(table))
        current = {}
        for tree in touched & rows.keys():
            current[tree] = len(table)
            table.append((tree, rows[tree]))
        own = []
        for _, tree, row in batch:
            current[tree] = len(table)
            table.append((tree, row))
            own.append(sorted(current.values()))
        local = self.problem.local
        trees = np.array([tree for tree, _ in table])
        columns = np.concatenate([local.node[local.begin[tree] : local.begin[tree + 1]] for tree in trees])
        weights = sp.csr_array(
            (
                np.concatenate([row for _, row in table]),
                columns,
                np.cumsum([0, *(len(row) for _, row in table)]),
            ),
            shape=(len(table), self.problem.n_nodes),
        )
        models = train(
            sp.csr_array(weights @ self.problem.features),
            self.problem.labels[trees],
            shared,
            np.cumsum([0, *map(len, own)]),
            np.concatenate(own),
            self.problem.n_classes,
            self.recipe,
        )
        return scores(models, self.problem.rows)

    def prepare(self, order: Order) -> None:
        """Compile; there is nothing to compute, and a walk would take too long."""
        state = empty_state(self.problem.local)
        begin_step(state)
        join(self.problem.local, state, int(order.players[0]))
        credit(make_parts(None, len(self.problem.targets)), -1)
        self.utility(np.ones(len(order.players), dtype=np.bool_))

    def utility(self, coalition: BoolArray) -> float:
        """Utility of any coalition, one model trained from scratch, in units of the game."""
        problem = self.problem
        used = np.flatnonzero(coalition[problem.local.parent < 0])
        if not len(used):
            return self.metric.empty(problem.n_classes)
        rows = problem.training_rows(coefficients(problem.local, coalition))
        score = fit_scores(rows, problem.labels, [used], problem.n_classes, self.recipe, problem.rows)[0]
        return float(measure(self.metric.code, score, self.ends, 1.0, TIE, np.empty(0)))
