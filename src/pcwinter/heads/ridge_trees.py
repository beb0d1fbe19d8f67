"""Order whose trees are contiguous (dfs, level) -> utilities: compiled ridge walks, one tree at a time.

While the tree of root r is open, all other rows H are finished, and a row h = sum c_u x_u adds

    b a^T,   a = k_c(Z, h),   b = (e - f(h)) / (k_c(h, h) + lambda)

to the scores, where k_c is the kernel conditioned on H and f the prediction from H. All are linear or
quadratic in h, so one line per slot holds what they need, and h moves along these lines (`follow`).

The finished rows of an order are known before it is walked. The dual form takes the Cholesky
factor L of their kernel in the order's sequence once; then the first i entries of L^-1 k(H, x)
condition x on the first i rows, and nothing is ever inverted or downdated. The primal form keeps
the conditional covariance of the weights, and serves when there are more rows than features.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._jit import compiled
from pcwinter._types import BoolArray, FloatArray, IntArray
from pcwinter.metrics import ACCURACY, Parts, count_correct, credit, margins, measure
from pcwinter.propagation import Gathered, LocalGraphs, State, axpy, begin_step, follow, join


class Scoring(NamedTuple):
    """What the validation nodes are, and how their scores become a utility."""

    code: int
    ends: IntArray  # (c + 1,) where each class begins
    temperature: float
    tie: float
    empty: float  # utility of the empty coalition
    gap: FloatArray  # (v,) lead of the predicted class in the scores of the finished rows
    right: FloatArray  # (v,) whether it is the true one
    scores: FloatArray  # (c, v) scratch


class Opened(NamedTuple):
    """What one tree needs while it is open; lines are (v | i | c | kernel) wide, side by side.

    k_c(Z, x_u), then L^-1 k(H, x_u) (nothing in the primal), then the prediction at x_u, then the kernel between x_u
    and the slots of the tree or, in a tree of many slots, the features of x_u.
    """

    lines: FloatArray  # (m, width) of the tree's slots
    constant: FloatArray  # (width,) of the constant feature
    norm: float  # k_c of the constant feature with itself
    n_whitened: int  # i
    square: bool  # whether the last part holds kernel values


class Walked(NamedTuple):
    """Outcome of a compiled walk, by step."""

    utility: FloatArray  # (s,)
    counts: IntArray  # (2,) evaluations, baselines
    parts: Parts


@compiled
def score(scoring: Scoring, scores: FloatArray, a: FloatArray, b: FloatArray, detail: FloatArray) -> float:
    """Utility of `scores + b a^T`; `gap` and `right` belong to `scores`."""
    if scoring.code == ACCURACY and not len(detail):
        return count_correct(scores, a, b, scoring.ends, scoring.tie, scoring.gap, scoring.right)
    for c in range(len(b)):
        for i in range(len(a)):
            scoring.scores[c, i] = scores[c, i] + b[c] * a[i]
    return measure(scoring.code, scoring.scores, scoring.ends, scoring.temperature, scoring.tie, detail)


@compiled
def walk_tree(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    visited: BoolArray,
    begin: int,
    step: int,
    opened: Opened,
    mine: FloatArray,
    theirs: FloatArray,
    label: int,
    penalty: float,
    scoring: Scoring,
    scores: FloatArray,
    walked: Walked,
) -> tuple[int, int]:
    """Walk the tree that starts at position `begin`; returns the next position and step."""
    tree = local.tree[players[begin]]
    first, root = local.begin[tree], local.root[tree]
    n_classes, n = scores.shape
    width = opened.lines.shape[1]
    where = np.arange(-first, len(local.node) - first)
    n_inner = local.inner_begin[tree + 1] - local.inner_begin[tree]
    gathered = Gathered(np.zeros((n_inner, width)), mine, theirs)
    g, line, b = np.zeros(width), np.empty(width), np.empty(n_classes)
    at = n + opened.n_whitened
    utility = walked.utility[step - 1] if step else scoring.empty
    margins(scores, scoring.ends, scoring.tie, scoring.gap, scoring.right)
    position = begin
    while position < len(players) and local.tree[players[position]] == tree:
        begin_step(state)
        credited = visited[position]
        player = players[position]
        join(local, state, player)
        position += 1
        while (
            not credited and position < len(players) and not visited[position] and local.tree[players[position]] == tree
        ):
            join(local, state, players[position])
            position += 1
        if state.changes[0] or state.changes[1]:
            follow(local, state, tree, where, opened.lines, gathered, 0, g)
            for i in range(width):
                line[i] = state.scale[root] * g[i] + opened.constant[i]
            norm = opened.norm
            for i in range(n, at):
                norm -= line[i] * line[i]
            for u in range(width - at - n_classes):
                last = line[at + n_classes + u]
                if opened.square:
                    norm += state.scale[root] * state.scale[first + u] * state.inflow[local.hops, first + u] * last
                else:
                    norm += last * last
            weight = 1 / (max(norm, 0.0) + penalty)  # rounding may take a norm of 0 below it
            for c in range(n_classes):
                b[c] = ((1.0 if c == label else 0.0) - line[at + c]) * weight
            utility = score(scoring, scores, line[:n], b, walked.parts.fresh)
            credit(walked.parts, player if credited else -1)
            walked.counts[0 if credited else 1] += 1
        walked.utility[step] = utility
        step += 1
    return position, step


@compiled
def walk_dual(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    visited: BoolArray,
    labels: IntArray,
    basis: IntArray,
    to_validation: FloatArray,
    white_nodes: FloatArray,
    white_validation: FloatArray,
    white_labels: FloatArray,
    grams: FloatArray,
    gram_begin: IntArray,
    coordinates: FloatArray,
    norm: float,
    penalty: float,
    scoring: Scoring,
    walked: Walked,
) -> None:
    """Walk a whole order; `white_*` are L^-1 times the kernels and labels, rows in the order's sequence.

    `white_nodes` is (b + 1, t), one line per graph node and a last one for the constant feature.
    """
    n_classes, n = scoring.scores.shape
    scores = np.zeros((n_classes, n))
    mine, theirs = np.zeros(len(local.node)), np.zeros(len(state.neighbour))
    position = step = i = 0
    while position < len(players):
        tree = local.tree[players[position]]
        nodes = basis[local.begin[tree] : local.begin[tree + 1]]
        m = len(nodes)
        whitened = np.empty((m + 1, i))
        for u in range(m):
            whitened[u] = white_nodes[nodes[u], :i]
        whitened[m] = white_nodes[-1, :i]
        known = np.dot(whitened, white_validation[:i])
        predicted = np.dot(whitened, white_labels[:i])
        square = gram_begin[tree] >= 0
        at = n + i + n_classes
        lines = np.zeros((m + 1, at + (m if square else coordinates.shape[1])))
        for u in range(m + 1):
            line, part = lines[u], known[u]
            if u < m:
                raw = to_validation[nodes[u]]
                for j in range(n):
                    line[j] = raw[j] - part[j]
            else:
                for j in range(n):
                    line[j] = norm - part[j]
            line[n : n + i] = whitened[u]
            line[n + i : at] = predicted[u]
            if u < m and square:
                line[at:] = grams[gram_begin[tree] + u * m : gram_begin[tree] + (u + 1) * m]
            elif u < m:
                line[at:] = coordinates[nodes[u]]
        opened = Opened(lines[:m], lines[m], norm, i, square)
        position, step = walk_tree(
            local,
            state,
            players,
            visited,
            position,
            step,
            opened,
            mine,
            theirs,
            labels[tree],
            penalty,
            scoring,
            scores,
            walked,
        )
        for c in range(n_classes):
            axpy(white_labels[i, c], white_validation[i], scores[c])
        i += 1


@compiled
def walk_primal(
    local: LocalGraphs,
    state: State,
    players: IntArray,
    visited: BoolArray,
    labels: IntArray,
    basis: IntArray,
    coordinates: FloatArray,
    finished: FloatArray,
    validation: FloatArray,
    penalty: float,
    scoring: Scoring,
    walked: Walked,
) -> None:
    """Walk a whole order with the (d + 1, d + 1) conditional covariance of the weights.

    `coordinates` (b, d + 1) scaled features of the graph nodes, `finished` (t, d + 1) complete rows
    and `validation` (d + 1, v); the last feature is the constant one, 0 for graph nodes.
    """
    n_classes, n = scoring.scores.shape
    width = coordinates.shape[1]
    scores = np.zeros((n_classes, n))
    covariance = np.eye(width)
    weights = np.zeros((width, n_classes))
    constant = finished[0, width - 1]
    to_validation = validation.copy()  # covariance @ validation
    mine, theirs = np.zeros(len(local.node)), np.zeros(len(state.neighbour))
    position = step = 0
    while position < len(players):
        tree = local.tree[players[position]]
        nodes = basis[local.begin[tree] : local.begin[tree + 1]]
        m = len(nodes)
        x = np.zeros((m + 1, width))
        for u in range(m):
            x[u] = coordinates[nodes[u]]
        x[m, width - 1] = constant
        gram = np.dot(np.dot(x, covariance), x.T)
        at = n + n_classes
        lines = np.empty((m + 1, at + m))
        lines[:, :n] = np.dot(x, to_validation)
        lines[:, n:at] = np.dot(x, weights)
        lines[:, at:] = gram[:, :m]
        lines[m, at:] *= 2  # the mixed terms of the square
        opened = Opened(lines[:m], lines[m], gram[m, m], 0, True)
        position, step = walk_tree(
            local,
            state,
            players,
            visited,
            position,
            step,
            opened,
            mine,
            theirs,
            labels[tree],
            penalty,
            scoring,
            scores,
            walked,
        )
        row = finished[tree]
        gain = np.dot(covariance, row)
        a = np.dot(row, to_validation)
        weight = 1 / (np.dot(row, gain) + penalty)
        b = np.dot(row, weights)
        for c in range(n_classes):
            b[c] = ((1.0 if c == labels[tree] else 0.0) - b[c]) * weight
            axpy(b[c], a, scores[c])
        for j in range(width):
            axpy(gain[j], b, weights[j])
            axpy(-weight * gain[j], gain, covariance[j])
            axpy(-weight * gain[j], a, to_validation[j])
