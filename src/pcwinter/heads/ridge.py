"""Rows and labels -> scores in closed form: ridge regression of one-hot labels.

Features are scaled so that the mean squared norm of the complete rows is 1, and a constant feature
`bias` is added: k(x, z) = s^2 x.z + bias^2. The scores of the validation nodes Z are

    F = k(Z, H) (k(H, H) + lambda I)^-1 E.

The walks themselves are compiled: `ridge_trees` while trees come one after the other, `ridge_rows`
for orders in which they interleave.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pcwinter._options import number
from pcwinter._types import BoolArray, FloatArray, IntArray, Sparse
from pcwinter.heads.ridge_rows import walk_rows
from pcwinter.heads.ridge_trees import Scoring, Walked, walk_dual, walk_primal
from pcwinter.metrics import TIE, Metric, Parts, class_ends, make_parts, measure, whole
from pcwinter.orders import Order, Walk
from pcwinter.propagation import Problem, coefficients, empty_state

CHUNK = 512  # validation nodes whose dense features are held at a time
SMALL = 256  # slots up to which the kernel between the slots of a tree is always stored


@dataclass(frozen=True, slots=True)
class Ridge:
    """The closed-form head; what is None is calibrated against the softmax head."""

    penalty: float | None = None  # lambda
    bias: float | None = None
    temperature: float | None = None  # of the softmax over scores, for probability metrics

    def __post_init__(self) -> None:
        for name in ("penalty", "bias", "temperature"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, number(f"{name} of the ridge head", value, zero=name == "bias"))


def inverse_norm(rows: Sparse) -> float:
    """s^2, the inverse mean squared norm of the complete rows."""
    with np.errstate(over="ignore", under="ignore"):
        norm = float(np.mean(rows.multiply(rows).sum(axis=1)))
    if not 1e-200 < norm < 1e200:
        raise ValueError(
            f"the mean squared norm of the labelled nodes' representations is {norm:g}, so the ridge head cannot scale "
            "them: give the labelled nodes or their neighbours features that are neither all zero nor that extreme"
        )
    return 1 / norm


def solve(kernel: FloatArray, cross: FloatArray, labels: IntArray, n_classes: int, penalty: float) -> FloatArray:
    """(c, v) class-major scores from k(H, H), (t, t), and k(H, Z), (t, v); zero without rows."""
    factor = scipy.linalg.cho_factor(kernel + penalty * np.eye(len(kernel)), lower=True)
    weights: FloatArray = scipy.linalg.cho_solve(factor, np.eye(n_classes)[labels])
    return np.ascontiguousarray(weights.T) @ cross


class RidgeWalker:
    """Ridge on one problem: everything that does not depend on the order, computed once."""

    def __init__(
        self,
        problem: Problem,
        penalty: float,
        bias: float,
        metric: Metric,
        *,
        temperature: float = 1.0,
        primal: bool | None = None,
    ) -> None:
        """Prepare; `primal` None chooses by size: fewer features than rows."""
        self.problem, self.metric, self.temperature = problem, metric, temperature
        penalty, bias = float(penalty), float(bias)  # a whole number would make whole-number arrays below
        self.penalty, self.constant = penalty, bias**2
        local = problem.local
        everybody = np.ones_like(local.null)
        complete = problem.training_rows(coefficients(local, everybody))
        scale = np.sqrt(inverse_norm(complete))
        nodes, self.basis = np.unique(local.node, return_inverse=True)
        active = np.unique(problem.features[nodes].indices)
        self.features: Sparse = sp.csr_array(problem.features[nodes][:, active] * scale)
        self.rows: Sparse = sp.csr_array(complete[:, active] * scale)
        self.validation: Sparse = sp.csr_array(problem.rows[:, active] * scale)
        self.ends = class_ends(problem.targets, problem.n_classes)
        width = len(active)
        self.primal = width + 1 < len(problem.labels) if primal is None else primal
        self.tie = TIE * float(np.abs(self._scores(everybody)).max())  # scores shrink as the penalty grows
        if self.primal:
            self.coordinates = np.zeros((len(nodes), width + 1))
            self.coordinates[:, :width] = self.features.toarray()
            self.finished = np.full((len(problem.labels), width + 1), bias)
            self.finished[:, :width] = self.rows.toarray()
        else:
            finished = self.rows.toarray()
            self.kernel = finished @ finished.T + self.constant
            self.to_nodes = np.full((len(problem.labels), len(nodes) + 1), self.constant)
            self.to_nodes[:, :-1] = (self.features @ finished.T).T
            self.cross = np.asarray(self.validation @ finished.T).T + self.constant
            self.grams, self.gram_begin = self._grams(width)
            wide = bool((self.gram_begin < 0).any())
            self.coordinates = self.features.toarray() if wide else np.empty((0, width))

    def _grams(self, width: int) -> tuple[FloatArray, IntArray]:
        """Kernels between the slots of each tree, one after the other, and where each begins.

        -1 where the tree has so many slots that following the features themselves is cheaper.
        """
        begin = self.problem.local.begin
        slots = np.diff(begin)
        stored = np.where(slots <= max(SMALL, width // 2), slots**2, 0)
        gram_begin = np.where(stored > 0, np.cumsum(stored) - stored, -1)
        grams = np.empty(int(stored.sum()))
        for tree in np.flatnonzero(stored):
            x = self.features[self.basis[begin[tree] : begin[tree + 1]]]
            grams[gram_begin[tree] : gram_begin[tree] + stored[tree]] = (x @ x.T).toarray().ravel()
        return grams, gram_begin

    @cached_property
    def to_validation(self) -> FloatArray:
        """(b, v) inner products of the graph nodes with the validation rows; b v numbers, the largest array."""
        x, z = self.features, self.validation
        dense = x.toarray() if x.nnz > 0.1 * x.shape[0] * x.shape[1] else x
        products = np.empty((x.shape[0], z.shape[0]))
        for begin in range(0, z.shape[0], CHUNK):
            products[:, begin : begin + CHUNK] = np.asarray(dense @ z[begin : begin + CHUNK].toarray().T)
        return products

    @cached_property
    def lines(self) -> FloatArray:
        """(b, v + d) the same beside the features, for orders that interleave trees."""
        return np.hstack([self.to_validation, self.features.toarray()])

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; what they are made of, by validation node, is added to `parts`."""
        local, labels = self.problem.local, self.problem.labels
        n = len(self.problem.targets)
        scoring = Scoring(
            self.metric.code,
            self.ends,
            self.temperature,
            self.tie,
            self.metric.empty(self.problem.n_classes),
            np.empty(n),
            np.empty(n),
            np.empty((self.problem.n_classes, n)),
        )
        n_steps = len(order.steps()) - 1
        parts = parts or make_parts(None, n)
        parts.last[:] = scoring.empty
        walked = Walked(np.empty(n_steps), np.zeros(2, dtype=np.int64), parts)
        state = empty_state(local)
        sequence = local.tree[order.players]
        trees = sequence[np.r_[True, sequence[1:] != sequence[:-1]]]
        if len(trees) > len(labels):
            walk_rows(
                local,
                state,
                order.players,
                labels,
                self.basis,
                self.lines,
                self.constant,
                self.penalty,
                scoring,
                walked,
            )
        elif self.primal:
            validation = np.full((self.coordinates.shape[1], n), np.sqrt(self.constant))
            validation[:-1] = self.validation.toarray().T
            walk_primal(
                local,
                state,
                order.players,
                order.visited,
                labels,
                self.basis,
                self.coordinates,
                self.finished,
                validation,
                self.penalty,
                scoring,
                walked,
            )
        else:
            factor = scipy.linalg.cholesky(
                self.kernel[np.ix_(trees, trees)] + self.penalty * np.eye(len(trees)), lower=True
            )
            one_hot = np.eye(self.problem.n_classes)[labels[trees]]
            white_nodes, white_validation, white_labels = (
                scipy.linalg.solve_triangular(factor, right, lower=True, check_finite=False)
                for right in (self.to_nodes[trees], self.cross[trees], one_hot)
            )
            walk_dual(
                local,
                state,
                order.players,
                order.visited,
                labels,
                self.basis,
                self.to_validation,
                np.ascontiguousarray(white_nodes.T),
                np.ascontiguousarray(white_validation),
                np.ascontiguousarray(white_labels),
                self.grams,
                self.gram_begin,
                self.coordinates,
                self.constant,
                self.penalty,
                scoring,
                walked,
            )
        utility = whole(self.metric, walked.utility, order)
        return Walk(utility, int(walked.counts[0]), int(walked.counts[1]))

    def prepare(self, order: Order) -> None:
        """Compile, and compute the arrays that orders like this one need."""
        self.walk(order)

    def utility(self, coalition: BoolArray) -> float:
        """Utility of any coalition, solved from scratch, in units of the game."""
        if not coalition[self.problem.tree.roots].any():
            return self.metric.empty(self.problem.n_classes)
        scores = self._scores(coalition)
        return float(measure(self.metric.code, scores, self.ends, self.temperature, self.tie, np.empty(0)))

    def _scores(self, coalition: BoolArray) -> FloatArray:
        """(c, v) scores of a coalition with labelled nodes, by one solve."""
        local = self.problem.local
        used = np.flatnonzero(coalition[self.problem.tree.roots])
        shape = (len(self.problem.labels), self.features.shape[0])
        weights = sp.csr_array((coefficients(local, coalition), self.basis, local.begin), shape=shape)
        rows = np.asarray((weights @ self.features)[used].toarray(), dtype=np.float64)
        labels, n_classes = self.problem.labels[used], self.problem.n_classes
        if self.primal:
            constant = np.sqrt(self.constant)
            rows = np.hstack([rows, np.full((len(rows), 1), constant)])
            moments = rows.T @ rows + self.penalty * np.eye(rows.shape[1])
            line = scipy.linalg.solve(moments, rows.T @ np.eye(n_classes)[labels], assume_a="pos")
            return np.ascontiguousarray((self.validation @ line[:-1] + constant * line[-1]).T)
        kernel, cross = rows @ rows.T + self.constant, np.asarray(self.validation @ rows.T).T + self.constant
        return solve(kernel, cross, labels, n_classes, self.penalty)
