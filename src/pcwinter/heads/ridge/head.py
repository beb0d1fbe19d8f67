"""Rows and labels -> scores in closed form: ridge regression of one-hot labels.

Features are scaled so that the mean squared norm of the complete rows is 1, and a constant feature `bias` is added:
k(x, z) = s^2 x.z + bias^2. For the rows H with one-hot labels E, the scores of the validation nodes Z are

    F = k(Z, H) (k(H, H) + lambda W^-1)^-1 E,

where the diagonal matrix W holds the weights of the rows' classes, all 1 by default. With numeric targets, E holds
them, minus their mean over all training nodes.

Compiled walks: `contiguous` for orders that finish one tree before the next, `interleaved` for all others.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.blas import dtrsm

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray, Sparse
from pcwinter._util.checks import number
from pcwinter.game.class_weights import check_class_weight
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.coalitions.plans import Plan, make_plan
from pcwinter.game.coalitions.records import empty_state
from pcwinter.game.coalitions.row_updates import no_moves
from pcwinter.game.detail import Parts, make_parts
from pcwinter.game.metrics import ACCURACY, TIE, Metric, class_ends, measure, whole
from pcwinter.game.problem import Problem
from pcwinter.game.protocol import Order, Walk
from pcwinter.heads.ridge.block_scores import STRIP
from pcwinter.heads.ridge.closed_form import inverse_norm, kernels_of_trees, largest_norm, solve_for
from pcwinter.heads.ridge.contiguous import walk_dual, walk_primal
from pcwinter.heads.ridge.counting import KEPT, MOST, errors
from pcwinter.heads.ridge.course import Course, Scoring, Walked
from pcwinter.heads.ridge.interleaved import BLOCK, block_size, walk_rows

CHUNK = 128  # validation nodes whose features are made dense at a time
TILE = 64  # smallest number of validation nodes in a tile; every tile repeats the shared work
PENALTIES = (
    1e3,
    300.0,
    100.0,
    30.0,
    10.0,
    3.0,
    1.0,
    0.3,
    0.1,
    0.03,
    0.01,
    3e-3,
    1e-3,
)  # calibration chooses from these
BIASES = (0.0, 0.1, 0.3, 1.0, 3.0)
STEEPEST = 1e5  # largest (bias^2 + 1) / penalty; rounding errors are then a tenth of a tie (decision 17)
UNEVEN = 100.0  # squared norm of a graph node from which the 1 becomes norm / UNEVEN
SMALL = 256  # slots up to which the kernel between the slots of a tree is always stored
GROUPS = 8  # groups of nodes; the nodes of a group are whitened together


@dataclass(frozen=True, slots=True)
class Ridge:
    """The closed-form head. Parameters that are None are calibrated: they are chosen for the graph and the game.

    `penalty` is lambda, at least (bias^2 + 1) / 100,000. `bias` is the value of the constant feature. `temperature`
    divides the scores before the softmax; only metrics that use probabilities need it. `class_weight` is "balanced"
    if rare classes shall count as much as frequent ones: a row then has the weight n / (C count), with the number n of
    training nodes, C of classes, and the count of its class among all training nodes.
    """

    penalty: float | None = None
    bias: float | None = None
    temperature: float | None = None
    class_weight: str | None = None

    def __post_init__(self) -> None:
        for name in ("penalty", "bias", "temperature"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, number(name, value, zero=name == "bias"))
        object.__setattr__(self, "class_weight", check_class_weight(self.class_weight))
        self.points()

    def points(
        self,
        norm: float = 1.0,
        weight: float = 1.0,
        penalties: tuple[float, ...] = PENALTIES,
        biases: tuple[float, ...] = BIASES,
    ) -> list[tuple[float, float]]:
        """Penalties and biases to choose from; an error if rounding would decide ties with all of them.

        `norm` is the largest squared norm of a graph node, where that of the complete rows is 1 on average. `weight` is
        the largest weight of a row, which divides its penalty. `penalties` and `biases` are the grid.
        """
        penalties = penalties if self.penalty is None else (self.penalty,)
        biases = biases if self.bias is None else (self.bias,)
        size = max(1.0, norm / UNEVEN)
        # the factor accepts the penalty that the error asks for, which is printed with six digits
        found = [(p, b) for p in penalties for b in biases if (b * b + size) * weight <= 1.00001 * STEEPEST * p]
        if not found:
            given = {"penalty": self.penalty, "bias": self.bias}
            came = " and ".join(f"{name} is {x:g}" for name, x in given.items() if x is not None)
            uneven = f"the features of a node have {norm:.2g} times the squared norm of the complete rows"
            raise ValueError(
                f"{came or uneven}, expected a penalty of at least {(min(biases) ** 2 + size) * weight / STEEPEST:g}"
                f"{f' because {uneven}' if came and size > 1 else ''}, so that rounding does not decide ties: "
                f"raise penalty or {'make the features more even' if size > 1 else 'lower bias'}"
            )
        return found

    def complete(self, tempered: bool) -> bool:
        """Whether nothing is left to calibrate; only `tempered` metrics need a temperature."""
        return None not in (self.penalty, self.bias) and (self.temperature is not None or not tempered)


class RidgeWalker:
    """The ridge head, prepared for one problem: computes once what does not depend on the order."""

    def __init__(
        self,
        problem: Problem,
        penalty: float,
        bias: float,
        metric: Metric,
        *,
        temperature: float = 1.0,
        primal: bool | None = None,
        memory: int | None = None,
        class_weight: str | None = None,
    ) -> None:
        """Prepare. `primal=None` uses the primal form if there are fewer features than rows. `memory` is in bytes."""
        self.problem, self.metric, self.temperature = problem, metric, temperature
        penalty, bias = float(penalty), float(bias)  # with integers, the arrays below would be integer arrays
        self.weights = problem.weights(class_weight)
        self.penalty, self.penalties, self.constant = penalty, penalty / self.weights, bias**2
        local = problem.local
        everybody = np.ones_like(local.null)
        complete = problem.complete
        scale = np.sqrt(inverse_norm(complete))
        nodes, self.basis = np.unique(local.node, return_inverse=True)
        active = np.unique(problem.features[nodes].indices).astype(np.int64)
        self.features: Sparse = sp.csr_array(problem.features[nodes][:, active] * scale)
        self.rows: Sparse = sp.csr_array(complete[:, active] * scale)
        self.validation: Sparse = sp.csr_array(problem.rows[:, active] * scale)
        self.norm = largest_norm(self.features)
        self.block = block_size(float(self.penalties.min()), self.constant, self.norm)
        self.place = np.arange(len(local.node)) - np.repeat(local.begin[:-1], np.diff(local.begin))
        self.ends = class_ends(problem.targets, problem.n_classes)
        which, sums = problem.sums_over_neighbours()
        self.sums, place = sp.csr_array(sums[:, active] * scale), np.full(problem.n_nodes, -1)
        place[which] = len(nodes) + 1 + np.arange(len(which))
        self.sum_rows = (
            place[local.node] if len(which) else np.empty(0, dtype=np.int64)
        )  # of each slot, among the lines
        width = len(active)
        self.primal = width + 1 < len(problem.labels) if primal is None else primal
        self.memory = memory
        largest = local.size[local.first].max() // 16 if len(local.weight) else np.diff(local.begin).max()
        self._roundable = problem.even and not self.primal and max(largest, len(problem.labels)) <= MOST
        self._products: FloatArray | None = None
        self._bounds = np.empty(0)
        self._summed = np.empty((0, 0))
        self.tie = TIE * float(np.abs(self._scores(everybody)).max())  # scores shrink as the penalty grows
        if self.primal:
            self.coordinates = np.zeros((len(nodes), width + 1))
            self.coordinates[:, :width] = self.features.toarray()
            self.finished = np.full((len(problem.labels), width + 1), bias)
            self.finished[:, :width] = self.rows.toarray()
        else:
            finished = self.rows.toarray()
            self.kernel = finished @ finished.T + self.constant
            self.to_nodes = np.full((len(nodes) + 1 + self.sums.shape[0], len(problem.labels)), self.constant)
            self.to_nodes[: len(nodes)] = self.features @ finished.T
            self.to_nodes[len(nodes) + 1 :] = self.sums @ finished.T
            self.cross = np.asarray(self.validation @ finished.T).T + self.constant
            slots = np.diff(local.begin)
            stored = np.where(slots <= max(SMALL, width // 2), slots**2, 0)
            self.gram_begin = np.where(stored > 0, np.cumsum(stored) - stored, -1)
            self._tiles(False, metric.code == ACCURACY and self._roundable)  # raise before the large arrays are made
            self.grams = kernels_of_trees(self.features, self.basis, local.begin, stored)
            wide = bool((self.gram_begin < 0).any())
            room = int(np.diff(local.inner_begin).max()) + 1 + self.sums.shape[0]  # for sums of features
            self.coordinates = np.zeros((len(nodes) + room, width)) if wide else np.empty((0, width))
            if wide:
                self.coordinates[: len(nodes)] = self.features.toarray()
                self.coordinates[len(nodes) + room - self.sums.shape[0] :] = self.sums.toarray()

    def footprint(self, interleaved: bool, single: bool) -> tuple[int, int]:
        """Bytes per validation node, and fixed bytes, that a walk needs, including what all walks share."""
        local, t, (b, d) = self.problem.local, len(self.problem.labels), self.features.shape
        slots, inner = np.diff(local.begin), np.diff(local.inner_begin)
        edges, players = local.n_edges, len(local.slot)
        nonzeros = self.features.nnz + self.validation.nnz + self.rows.nnz + self.sums.nnz
        n_sums = self.sums.shape[0]
        each = 16 * t
        fixed = 8 * (10 * len(local.node) + 7 * edges + 4 * players) + 16 * nonzeros + 16 * CHUNK * (b + d)
        if interleaved:
            below, wide, n_classes = int(inner.sum()), t + BLOCK, self.problem.n_classes
            each += 8 * (2 * t + 3 * b + below + n_classes)
            each += 12 * wide + 9 * BLOCK + 4 * n_classes if single else 8 * wide + 16 * BLOCK
            scratch = 3 * t * t + (wide + 2 * BLOCK + n_classes) * (STRIP + 16 * BLOCK + 8 * n_classes)
            return each, fixed + 8 * (d * (2 * b + below + wide) + scratch)
        if self.primal:
            widest = int((slots + inner).max())
            return each + 8 * (3 * d + 2 * widest), fixed + 8 * (d * (b + t + 2 * d + widest) + widest**2)
        many, few = slots[self.gram_begin < 0], slots[self.gram_begin >= 0]
        room = b + 2 + int(inner.max()) + n_sums
        kept = int((few**2).sum()) + (room * d if len(many) else 0)
        fixed += 8 * (kept + int(few.max(initial=0)) ** 2 + t * t + 3 * room * t)
        fixed += 8 * KEPT * (int(slots.max()) + t) if single else 0
        fixed += 8 * (n_sums * d + 8 * players) if n_sums else 0  # the sums as a dense array, and the plan
        return each + 8 * (b + t) + (4 if single else 8) * (room + n_sums + t), fixed

    def _tiles(self, interleaved: bool, single: bool) -> list[tuple[int, int]]:
        """Ranges of validation nodes that are walked one after the other, so that each fits into memory.

        Only for accuracy: it is a count, while the bits of other sums would depend on the memory limit.
        """
        n = len(self.problem.targets)
        each, fixed = self.footprint(interleaved, single)
        limit = fixed + n * each if self.memory is None else self.memory
        fits = (limit - fixed) // each
        if fits >= n:
            return [(0, n)]
        at_once = min(n, TILE) if self.metric.code == ACCURACY else n
        if fits < at_once:
            reason = "" if self.metric.code == ACCURACY else f" ({self.metric.name} needs all validation nodes at once)"
            least = (fixed + at_once * each) / 2**20
            raise ValueError(
                f"the ridge head needs at least {least:,.0f} MB of memory{reason}, but may use {limit / 2**20:,.0f} MB"
                ": raise memory, or use fewer labelled nodes or hops"
            )
        bounds = np.linspace(0, n, -(-n // fits) + 1).astype(int).tolist()
        return list(pairwise(bounds))

    def products(self, begin: int, end: int) -> FloatArray:
        """(b + 1, end - begin) kernel of nodes and of the constant feature with validation rows; the largest array.

        It is cached if the range covers all validation rows.
        """
        n = self.validation.shape[0]
        if self._products is not None and end - begin == n:
            return self._products
        x = self.features
        dense = self.coordinates[: x.shape[0]] if len(self.coordinates) and not self.primal else x
        products = np.empty((x.shape[0] + 1, end - begin))
        for at in range(begin, end, CHUNK):
            stop = min(at + CHUNK, end)
            products[:-1, at - begin : stop - begin] = np.asarray(dense @ self.validation[at:stop].toarray().T)
        products[-1] = self.constant
        if end - begin == n:
            self._products = products
        return products

    def walk(self, order: Order, parts: Parts | None = None) -> Walk:
        """Utilities along an order; the marginal contributions by validation node are added to `parts`."""
        local, n = self.problem.local, len(self.problem.targets)
        sequence = local.tree[order.players]
        trees = sequence[np.r_[True, sequence[1:] != sequence[:-1]]]
        interleaved = len(trees) > len(local.root)
        single = self.metric.code == ACCURACY and parts is None and (interleaved or self._roundable)
        empty, empty_parts = self.problem.empty_utility(self.metric)
        steps, credited = order.steps(), order.credited(self.problem.null)
        utility = np.zeros(len(steps) - 1)
        counts = np.zeros(2, dtype=np.int64)
        plan = self._plan(order, steps, interleaved)
        dual = not interleaved and not self.primal
        solved = self._solve(trees, self._opened(trees, plan, order.players[steps[:-1]])) if dual else None
        for begin, end in self._tiles(interleaved, single):
            ends = np.clip(self.ends, begin, end) - begin
            products = None if self.primal and not interleaved else self.products(begin, end)
            error = np.zeros(end - begin)
            if single and products is not None and not interleaved:
                error = self._errors(products)
            start = empty if end - begin == n else float(empty_parts[begin:end].sum())
            scoring = Scoring(self.metric.code, ends, self.temperature, self.tie, start, error, self.problem.answers)
            here = parts or make_parts(None, 0)
            if parts is not None and end - begin < n:
                here = parts.of(begin, end)
            here.last[:] = empty_parts[begin : begin + len(here.last)]
            counts[:] = 0
            walked = Walked(np.empty(len(utility)), counts, here)
            course = Course(
                local,
                empty_state(local),
                no_moves(local),
                plan,
                order.players,
                order.visited,
                steps,
                credited,
                self.problem.outcome,
                self.basis,
                self.place,
                self.penalties,
                scoring,
                walked,
            )
            if interleaved and products is not None:
                walk_rows(course, self._lines(products), self.constant, self.block, single)
            elif solved is None or products is None:
                validation = np.full((self.coordinates.shape[1], end - begin), np.sqrt(self.constant))
                validation[:-1] = self.validation[begin:end].toarray().T
                walk_primal(course, self.coordinates, self.finished, validation)
            else:
                white, finished, finished_labels = solved
                room = np.empty((len(white), end - begin), dtype=np.float32 if single else np.float64)
                summed = (plan.player[: plan.end[-1]] < 0).any()
                sums = self._sum_products(begin, end, room.dtype) if summed else room[:0]
                walk_dual(
                    course,
                    products,
                    white.copy() if end < n else white,  # a walk writes into it
                    np.ascontiguousarray(finished[:, begin:end]),
                    finished_labels,
                    self.grams,
                    self.gram_begin,
                    self.coordinates,
                    sums,
                    room,
                )
            utility += walked.utility
            if parts is not None and here is not parts:
                parts.sums[:, begin:end] += here.sums
        return Walk(whole(self.metric, utility, order), int(counts[0]), int(counts[1]))

    def _plan(self, order: Order, steps: IntArray, interleaved: bool) -> Plan:
        """The plan of an order in the message game; empty in the induced game, and if trees are interleaved."""
        local = self.problem.local
        if interleaved or not len(local.weight):
            return make_plan(local, self.basis, self.sum_rows, order.players[:0], order.visited[:0], steps[:1])
        if self.primal:
            return make_plan(local, self.place, self.sum_rows[:0], order.players, order.visited, steps)
        return make_plan(local, self.basis, self.sum_rows, order.players, order.visited, steps)

    def _errors(self, products: FloatArray) -> FloatArray:
        """`errors`, computed once for all validation rows."""
        if products is not self._products:
            return errors(products)
        if not len(self._bounds):
            self._bounds = errors(products)
        return self._bounds

    def _sum_products(self, begin: int, end: int, dtype: np.dtype[np.floating]) -> FloatArray:
        """(T_w, end - begin) kernel of the T_w with validation rows; cached if the range covers all of them."""
        n = self.validation.shape[0]
        if len(self._summed) and self._summed.dtype == dtype and end - begin == n:
            return self._summed
        dense = self.sums.toarray()
        found = np.empty((len(dense), end - begin), dtype=dtype)
        for at in range(begin, end, CHUNK):
            stop = min(at + CHUNK, end)
            found[:, at - begin : stop - begin] = dense @ self.validation[at:stop].toarray().T
        if end - begin == n:
            self._summed = found
        return found

    def _opened(self, trees: IntArray, plan: Plan, first: IntArray) -> IntArray:
        """(b + 1 + sums,) rows that are finished when a node is used for the last time in an order; -1 if it never is.

        `first` is the first player of every step.
        """
        local = self.problem.local
        last = np.full(len(self.to_nodes), -1)
        rank = np.full(len(local.root), -1)
        rank[trees] = np.arange(len(trees))
        if len(local.weight):  # of the entries with the same node, the last one remains
            last[plan.row[: plan.end[-1]]] = np.repeat(rank[local.tree[first]], np.diff(plan.end))
        else:
            np.maximum.at(last, self.basis, np.repeat(rank, np.diff(local.begin)))
        last[self.features.shape[0]] = len(trees) - 1  # the constant feature
        return last

    def _solve(self, trees: IntArray, last: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """L^-1 k(H, nodes), L^-1 k(H, Z) and L^-1 E, with the rows H in the order of `trees`.

        The first is transposed, with room for predictions to its left and for the lines of a tree below it. It is
        computed up to the entry `last` of a node at least, for groups of nodes.
        """
        factor = scipy.linalg.cholesky(
            self.kernel[np.ix_(trees, trees)] + self.penalties[trees] * np.eye(len(trees)), lower=True
        )
        n_nodes, n_classes = len(self.to_nodes), self.problem.n_classes
        n_inner = int(np.diff(self.problem.local.inner_begin).max())
        white = np.empty((n_nodes + n_inner + 1, n_classes + len(trees)))
        white[:, :n_classes] = 0.0
        # solved in place, as columns of their transposes
        some = np.flatnonzero(last > 0)
        for group in np.array_split(some[np.argsort(last[some], kind="stable")], GROUPS):
            k = last[group].max(initial=0)
            here = self.to_nodes[np.ix_(group, trees[:k])].T
            white[group, n_classes : n_classes + k] = dtrsm(1.0, factor[:k, :k], here, lower=1, overwrite_b=1).T
        finished = dtrsm(1.0, factor, self.cross[trees].T, side=1, lower=1, trans_a=1, overwrite_b=1).T
        outcome = self.problem.outcome[trees]
        return white, finished, np.ascontiguousarray(scipy.linalg.solve_triangular(factor, outcome, lower=True))

    def _lines(self, products: FloatArray) -> FloatArray:
        """(b + inner slots + t, v + d) products next to features, and below them room for the T_w and the rows."""
        local, (b, d), n = self.problem.local, self.features.shape, products.shape[1]
        n_rows = len(local.root) * local.total.shape[1]
        lines = np.zeros((b + int(local.inner_begin[-1]) + n_rows, n + d))
        lines[:b, :n] = products[:-1]
        lines[:b, n:] = self.features.toarray()
        return lines

    def prepare(self, order: Order, parts: Parts | None = None) -> None:
        """Compile, and compute what such orders share, by walking the first tree, or until the trees interleave."""
        sequence = self.problem.local.tree[order.players]
        switches = np.cumsum(np.r_[True, sequence[1:] != sequence[:-1]])
        enough = np.flatnonzero(switches > len(self.problem.local.root))
        end = int(enough[0]) + 1 if len(enough) else int((switches == 1).sum())
        self.walk(Order(order.players[:end], order.visited[:end]), parts)

    def utility(self, coalition: BoolArray) -> float:
        """Utility of any coalition, solved from scratch, in units of the game."""
        if not coalition[self.problem.tree.roots].any():
            return self.problem.empty_utility(self.metric)[0]
        scores = self._scores(coalition)
        answers = self.problem.answers
        return float(measure(self.metric.code, scores, self.ends, answers, self.temperature, self.tie, np.empty(0)))

    def _scores(self, coalition: BoolArray) -> FloatArray:
        """(c, v) scores of a coalition with labelled nodes, by one solve."""
        local = self.problem.local
        used = np.flatnonzero(coalition[self.problem.tree.roots])
        shape = (len(self.problem.labels), self.features.shape[0])
        combine = sp.csr_array((coefficients(local, coalition), self.basis, local.begin), shape=shape)
        rows = np.asarray((combine @ self.features)[used].toarray(), dtype=np.float64)
        outcome, weights = self.problem.outcome[used], self.weights[used]
        if self.primal:
            constant = np.sqrt(self.constant)
            rows = np.hstack([rows, np.full((len(rows), 1), constant)])
            rows, outcome = rows * np.sqrt(weights)[:, None], outcome * np.sqrt(weights)[:, None]
            moments = rows.T @ rows + self.penalty * np.eye(rows.shape[1])
            line = scipy.linalg.solve(moments, rows.T @ outcome, assume_a="pos")
            return np.ascontiguousarray((self.validation @ line[:-1] + constant * line[-1]).T)
        kernel, cross = rows @ rows.T + self.constant, np.asarray(self.validation @ rows.T).T + self.constant
        return solve_for(kernel, cross, outcome, self.penalties[used])
