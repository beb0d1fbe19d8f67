"""Problem -> Calibration: the parameters of a head that fit the data best, for the game that is played.

A point of the grid is good if heads with these parameters, trained on few or many labelled nodes, separate the classes
of the validation nodes. SETS random sets of labelled nodes with their complete rows are used, with sizes from 1 to all,
evenly spaced on a logarithmic scale. For the scores F and the one-hot classes T, both less their means over classes,

    explained = (sum F T)^2 / (sum F^2  sum T^2),

averaged over sets, is the share of the variance of the classes that the scores explain. Unlike accuracy it is smooth.
It does not depend on the size of the scores, which shrink as the penalty grows.

Labelled nodes are drawn by their place in an order that depends on their rows alone. So the choice stays the same if
nodes are numbered differently, classes are renamed or all features are multiplied by a number.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.special import logsumexp

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter.game.class_weights import class_weights
from pcwinter.game.problem import Problem
from pcwinter.heads.ridge.closed_form import inverse_norm, largest_norm, solve
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax, fit_scores

SETS, FEW = 60, 12  # sets of labelled nodes for the ridge head, and for the softmax head
MOST = 1_000  # labelled nodes that sets are drawn from
CHUNK = 4_096  # validation nodes at a time
SEED = 2402  # fixed, so that the choice depends on the data and not on the run
DECIMALS = 9  # of the numbers that order the labelled nodes; rounding errors are far smaller
TEMPERATURES = tuple(float(t) for t in np.geomspace(0.001, 10, 41))
RATES, DECAYS, EPOCHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0), (0.0, 5e-4, 5e-3, 5e-2), (10, 30, 100, 300)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The chosen head, and how sure the choice is. Numbers are None if an older version made the choice."""

    head: Ridge | Softmax
    explained: float | None = None  # share of the variance of the classes that the scores explain, mean over sets
    close: int | None = None  # points of the grid within one standard error of the chosen one, which counts
    points: int | None = None  # points of the grid
    edge: tuple[str, ...] = ()  # parameters that have the first or last value of their grid

    def record(self) -> dict[str, object]:
        """The calibration as plain numbers, for run.json."""
        numbers = {name: getattr(self, name) for name in ("explained", "close", "points")}
        known = {name: number for name, number in (asdict(self.head) | numbers).items() if number is not None}
        return known | ({"edge": list(self.edge)} if self.edge else {})

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> "Calibration":
        """The calibration that `record` wrote, or that version 0.3.0 or earlier wrote."""
        kind = Ridge if "penalty" in record else Softmax
        head = kind(**{field.name: record[field.name] for field in fields(kind) if field.name in record})
        explained, close, points = (record.get(name) for name in ("explained", "close", "points"))
        return cls(head, explained, close, points, tuple(record.get("edge", ())))


def calibrate(problem: Problem, head: Ridge | None, *, tempered: bool = False) -> Calibration:
    """Choose the parameters of a ridge head that are None in `head`, or with None those of the softmax head.

    `tempered` says whether the ridge head needs a temperature.
    """
    scale = inverse_norm(problem.complete)
    sets = _sets(problem, scale)
    if head is None:
        return _softmax(problem, sets[SETS // FEW // 2 :: SETS // FEW], float(np.sqrt(scale)))
    norm = scale * largest_norm(problem.features[np.unique(problem.local.node)])
    weights = class_weights(problem.labels, problem.n_classes, head.class_weight)
    found = _ridge(problem, sets, scale, weights, head.points(norm, float(weights.max())))
    chosen = found.head
    assert isinstance(chosen, Ridge)
    free = [name for name in ("penalty", "bias") if getattr(head, name) is None]
    edge = tuple(name for name in found.edge if name in free)
    chosen = replace(head, penalty=chosen.penalty, bias=chosen.bias)
    if head.temperature is not None or not tempered:
        return replace(found, head=chosen, edge=edge)
    temperature = _temperature(problem, sets, scale, weights, chosen)
    outermost = ("temperature",) if temperature in (TEMPERATURES[0], TEMPERATURES[-1]) else ()
    return replace(found, head=replace(chosen, temperature=temperature), edge=(*edge, *outermost))


def _sets(problem: Problem, scale: float) -> list[IntArray]:
    """Sets of labelled nodes; their numbers change with the numbers of the nodes, and nothing else about them."""
    rows, z, labels = problem.complete, problem.rows, problem.labels
    norms: FloatArray = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    keys = [
        (np.bincount(labels, norms) / np.maximum(np.bincount(labels), 1))[labels],
        rows @ np.asarray(z.mean(axis=0)).ravel(),
        rows @ np.asarray(rows.mean(axis=0)).ravel(),
        norms,
    ]
    order = np.lexsort([np.round(key * scale, DECIMALS) for key in keys])
    t = min(len(order), MOST)
    rng = np.random.default_rng(SEED)
    lengths = [max(1, round(t ** ((k + 0.5) / SETS))) for k in range(SETS)]
    return [order[rng.permutation(len(order))[:length]] for length in lengths]


def _ridge(
    problem: Problem, sets: list[IntArray], scale: float, of_class: FloatArray, points: list[tuple[float, float]]
) -> Calibration:
    """The best of the penalties and biases. Sums over validation nodes are made once; a set is decomposed per bias.

    With class weights w, (K + penalty / w)^-1 = w^1/2 (w^1/2 K w^1/2 + penalty)^-1 w^1/2.
    """
    used = np.unique(np.concatenate(sets))
    rows, labels, n_classes = problem.complete[used], problem.labels[used], problem.n_classes
    kernel = (rows @ rows.T).toarray() * scale
    one_hot = np.eye(n_classes)[labels] - 1 / n_classes
    root = np.sqrt(of_class[labels])
    square, cross = np.zeros((len(used), len(used))), np.zeros((len(used), n_classes))
    total, targets, size = np.zeros(len(used)), np.zeros(n_classes), 0.0
    for begin in range(0, len(problem.targets), CHUNK):
        classes = np.eye(n_classes)[problem.targets[begin : begin + CHUNK]] - 1 / n_classes
        products = _products(rows, problem.rows[begin : begin + CHUNK]) * scale
        square += products @ products.T
        cross += products @ classes
        total += products.sum(axis=1)
        targets += classes.sum(axis=0)
        size += float((classes**2).sum())
    explained = np.empty((len(points), len(sets)))
    by_bias = {bias: [k for k, point in enumerate(points) if point[1] == bias] for _, bias in points}
    for bias, here in by_bias.items():
        constant = bias**2
        inner = square + constant * (total[:, None] + total) + constant**2 * len(problem.targets)
        with_classes = cross + constant * targets
        for j, members in enumerate(np.searchsorted(used, one) for one in sets):
            block = np.ix_(members, members)
            by = root[members, None]
            d, u = np.linalg.eigh((kernel[block] + constant) * by * by.T)
            u *= by
            goal, sums, both = u.T @ one_hot[members], u.T @ inner[block] @ u, u.T @ with_classes[members]
            for k in here:
                weights = goal / (np.maximum(d, 0.0)[:, None] + points[k][0])
                explained[k, j] = _share(float((weights * both).sum()), float((weights * (sums @ weights)).sum()), size)
    chosen, found = _choose(explained)
    penalty, bias = points[chosen]
    penalties, biases = [p for p, b in points if b == bias], [b for p, b in points if p == penalty]
    edge = ["penalty"] if penalty in (min(penalties), max(penalties)) else []
    edge += ["bias"] if bias == max(biases) else []  # 0 is no end: the scores then have no constant feature
    return replace(found, head=Ridge(penalty, bias), edge=tuple(edge))


def _softmax(problem: Problem, sets: list[IntArray], scale: float) -> Calibration:
    """The learning rate, weight decay and epochs for rows multiplied by `scale`: the fewest epochs that are enough."""
    classes = np.eye(problem.n_classes)[problem.targets].T - 1 / problem.n_classes
    points = [Softmax(rate, epochs, decay, scale=scale) for epochs, decay, rate in product(EPOCHS, DECAYS[::-1], RATES)]
    explained = np.empty((len(points), len(sets)))
    for k, point in enumerate(points):
        scores = fit_scores(problem.complete, problem.labels, sets, problem.n_classes, point, problem.rows)
        scores -= scores.mean(axis=1, keepdims=True)
        for j, score in enumerate(scores):
            sizes = float((score**2).sum()), float((classes**2).sum())
            explained[k, j] = _share(float((score * classes).sum()), *sizes)
    chosen, found = _choose(explained, cheapest=True)
    head = points[chosen]
    ends = {
        "learning_rate": (RATES[0], RATES[-1]),
        "weight_decay": (DECAYS[-1],),
        "epochs": (EPOCHS[0], EPOCHS[-1]),
    }
    return replace(
        found, head=head, edge=tuple(name for name, ends_of in ends.items() if getattr(head, name) in ends_of)
    )


def _share(both: float, scores: float, classes: float) -> float:
    """The share of the variance of the classes that scores explain; 0 if they point in the wrong direction."""
    return max(both, 0.0) ** 2 / (scores * classes) if scores * classes > 0 else 0.0


def _choose(explained: FloatArray, cheapest: bool = False) -> tuple[int, Calibration]:
    """The point with the largest mean over sets, or with `cheapest` the first within one standard error of it."""
    behind = explained[explained.mean(axis=1).argmax()] - explained
    mean, stderr = behind.mean(axis=1), behind.std(axis=1, ddof=1) / np.sqrt(explained.shape[1])
    close = mean <= stderr
    chosen = int(close.argmax() if cheapest else mean.argmin())
    return chosen, Calibration(Ridge(), float(explained[chosen].mean()), int(close.sum()), len(explained))


def _temperature(problem: Problem, sets: list[IntArray], scale: float, of_class: FloatArray, head: Ridge) -> float:
    """The temperature with the largest mean log-likelihood of the true classes."""
    assert head.penalty is not None
    assert head.bias is not None
    surprise = np.zeros(len(TEMPERATURES))
    for members in sets:
        rows, labels, constant = problem.complete[members], problem.labels[members], head.bias**2
        kernel = (rows @ rows.T).toarray() * scale + constant
        for begin in range(0, len(problem.targets), CHUNK):
            here = slice(begin, begin + CHUNK)
            cross = _products(rows, problem.rows[here]) * scale + constant
            scores = solve(kernel, cross, labels, problem.n_classes, head.penalty / of_class[labels])
            behind = scores - scores[problem.targets[here], np.arange(scores.shape[1])]
            surprise += [logsumexp(behind / temperature, axis=0).sum() for temperature in TEMPERATURES]
    return TEMPERATURES[int(surprise.argmin())]


def _products(rows: Sparse, z: Sparse) -> FloatArray:
    """Inner products of all pairs of rows, dense."""
    return np.asarray((rows @ z.T).toarray())
