"""Order whose trees are contiguous (dfs, level) -> utilities: compiled ridge walks, one tree at a time.

While the tree of root r is open, all other rows H are finished, and a row h = sum c_u x_u adds

    b a^T,   a = k_c(Z, h),   b = (e - f(h)) / (k_c(h, h) + lambda)

to the scores, where k_c is the kernel conditioned on H and f the prediction from H. Both are linear or quadratic in h.
So one line per graph node holds what they need, and h is updated along these lines (`game.coalitions.row_updates`).

The finished rows of an order are known before the walk. The dual form computes the Cholesky factor L of their kernel
once, in the sequence of the order. The first i entries of L^-1 k(H, x) then condition x on the first i rows, and
nothing is ever inverted or downdated. When a tree opens, the lines of its nodes are conditioned on the rows that were
finished since they were last used. The primal form keeps the conditional covariance of the weights. It is used when
there are more rows than features.

With truncation, most players of a tree join in the silent block at its end. After that block the row is finished, and
the utility is that of the finished rows. So the players of that block are skipped, and their lines not conditioned.
"""

from typing import TypeAlias

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined, loose
from pcwinter.game.coalitions.acting import begin_step, incomplete, join, row_scale
from pcwinter.game.coalitions.row_updates import apply, forget, plan
from pcwinter.game.detail import credit
from pcwinter.game.metrics import measure
from pcwinter.heads.ridge.counting import KEPT, add_row, make_scores, score
from pcwinter.heads.ridge.course import Course, Opened, Row, Scores
from pcwinter.heads.ridge.messages import dot, walk_messages

RENEW = 1024  # evaluations after which the sums of a tree are recomputed, so that rounding errors cannot accumulate
STRIP = 1024  # columns that are conditioned at a time, so that the lines of the finished rows stay in the cache


@compiled
def walk_tree(course: Course, first: int, last: int, opened: Opened, scores: Scores) -> None:
    """Walk the steps `first` to `last` - 1, which belong to one tree."""
    local, state, moves, players, steps = course.local, course.state, course.moves, course.players, course.steps
    scoring, walked = course.scoring, course.walked
    tree = local.tree[players[steps[first]]]
    slots = slice(local.begin[tree], local.begin[tree + 1])
    nodes = opened.where[slots]
    n_classes, n = scores.exact.shape
    n_inner = local.inner_begin[tree + 1] - local.inner_begin[tree]
    n_white, n_kernel = n_classes + opened.i, opened.kernel.shape[1]
    sums = opened.constant + 1
    g, kernel_g = sums + n_inner, opened.below + n_inner
    line, white, kernel = opened.lines[g], opened.white[g], opened.kernel[kernel_g]
    constant, white_constant = opened.lines[opened.constant], opened.white[opened.constant]
    a, b, white_h = np.empty_like(line), np.empty(n_classes), np.empty(n_white)
    utility = walked.utility[first - 1] if first else scoring.empty
    since = RENEW
    whose = np.full(len(opened.kept), -1)
    scales, weights = np.empty(1), moves.whole[slots]
    row = Row(scales, weights, nodes, opened.products, white_h[n_classes:], opened.finished, opened.kept, whose)
    for step in range(first, last):
        begin_step(state)
        for position in range(steps[step], steps[step + 1]):
            join(local, state, players[position])
        if state.changes[0] or state.changes[1]:
            anew = since == RENEW
            since = 1 if anew else since + 1
            if anew:
                forget(local, tree, moves)
                opened.lines[sums : g + 1] = 0.0
                opened.white[sums : g + 1] = 0.0
                opened.kernel[opened.below : kernel_g + 1] = 0.0
            plan(local, state, tree, moves, anew)
            apply(moves, opened.where, opened.lines, sums, g, n)
            apply(moves, opened.where, opened.white, sums, g, n_white)
            apply(moves, opened.rows, opened.kernel, opened.below, kernel_g, n_kernel)
            scale = row_scale(local, state, tree, 0)
            scales[0] = scale
            for k in range(n_white):
                white_h[k] = scale * white[k] + white_constant[k]
            norm = opened.norm - dot(white_h[n_classes:], white_h[n_classes:])
            norm += scale * scale * dot(weights if opened.square else kernel, kernel)
            if len(opened.mixed):
                norm += scale * np.dot(weights, opened.mixed)
            weight = 1 / (max(norm, 0.0) + course.penalty[tree])  # rounding may make a norm of 0 negative
            for c in range(n_classes):
                b[c] = (course.outcome[tree, c] + white_h[c]) * weight
            rate = a.dtype.type(scale)
            for i in range(n):
                a[i] = rate * line[i] + constant[i]
            utility = score(scoring, scores, a, b, row, walked.parts.fresh)
            credit(walked.parts, players[steps[step] : steps[step + 1]], course.credited)
            walked.counts[0 if course.visited[steps[step]] else 1] += 1
        walked.utility[step] = utility


@compiled
def _ends(tree: IntArray, players: IntArray, steps: IntArray, visited: BoolArray, first: int) -> tuple[int, int]:
    """Where to stop walking the tree that begins with step `first`, before a silent last step; and its end."""
    end = first
    while end < len(steps) - 1 and tree[players[steps[end]]] == tree[players[steps[first]]]:
        end += 1
    return end if visited[steps[end - 1]] else end - 1, end


@compiled
def _distinct(rows: IntArray, seen: IntArray, tree: int) -> IntArray:
    """The rows without repetition; those of this tree are marked in `seen`."""
    found, n = np.empty(len(rows), dtype=np.int64), 0
    for row in rows:
        if seen[row] != tree:
            seen[row] = tree
            found[n] = row
            n += 1
    return found[:n]


@compiled
def _complete(course: Course, tree: int, step: int, scores: Scores) -> None:
    """The silent step that ends a tree. Its row is already in the scores."""
    scoring, walked, players = (
        course.scoring,
        course.walked,
        course.players[course.steps[step] : course.steps[step + 1]],
    )
    utility = walked.utility[step - 1]
    if course.plan.changed[step] if len(course.local.weight) else incomplete(course.local, course.state, tree):
        fresh = walked.parts.fresh
        ends, answers = scoring.ends, scoring.answers
        utility = measure(scoring.code, scores.exact, ends, answers, scoring.temperature, scoring.tie, fresh)
        credit(walked.parts, players, course.credited)
        walked.counts[1] += 1
    walked.utility[step] = utility


@compiled
def walk_dual(
    course: Course,
    products: FloatArray,
    white: FloatArray,
    finished: FloatArray,
    finished_labels: FloatArray,
    grams: FloatArray,
    gram_begin: IntArray,
    coordinates: FloatArray,
    sums: FloatArray,
    lines: FloatArray,
) -> None:
    """Walk a whole order.

    `lines` and `white` are as in `Opened`: `lines` is uninitialised, `white` has no predictions yet. `products` and
    `finished` are as in `Row`. `finished_labels`, (t, c), is L^-1 E. `coordinates` is as `Opened.kernel`, or empty.
    `sums` has the products of the T_w of the message game, whose lines come after that of the constant feature.
    """
    local, plan, players, basis = course.local, course.plan, course.players, course.basis
    n = products.shape[1]
    scores = make_scores(course.scoring.ends, lines)
    rounded = finished.astype(lines.dtype)
    constant = len(products) - 1
    done = np.full(constant + 1 + len(sums), -1)
    exact, done_exact, only = np.empty((1, n)), np.full(1, -1), np.zeros(1, dtype=np.int64)
    nothing, norm = np.empty(0), products[-1, 0]
    seen = np.full(len(done), -1)
    kept = np.empty((KEPT if lines.itemsize == 4 else 0, np.diff(local.begin).max() + len(finished)))
    step = i = 0
    while step < len(course.steps) - 1:
        last, end = _ends(local.tree, players, course.steps, course.visited, step)
        tree = local.tree[players[course.steps[step]]]
        first, m = local.begin[tree], local.begin[tree + 1] - local.begin[tree]
        followed = np.zeros(m, dtype=np.bool_)
        if len(local.weight):
            nodes = _distinct(plan.row[plan.end[step] : plan.end[last]], seen, i)
        else:
            for position in range(course.steps[step], course.steps[last]):
                followed[local.slot[players[position]] - first] = True
            nodes = basis[first + np.flatnonzero(followed)]
        condition(nodes, i, products, sums, white, rounded, finished_labels, lines, done)
        # the constant feature may be much larger than all others, so its line is conditioned in double precision
        here = slice(constant, constant + 1)
        condition(only, i, products[here], sums, white[here], finished, finished_labels, exact, done_exact)
        lines[constant] = exact[0]
        kernel, rows, below, square = coordinates, basis, constant, gram_begin[tree] >= 0
        if square and len(local.weight):
            kernel = grams[gram_begin[tree] : gram_begin[tree] + m * m].reshape(m, m)
        elif square:
            n_inner = local.inner_begin[tree + 1] - local.inner_begin[tree]
            kernel, rows, below = np.empty((m + n_inner + 1, m)), course.place, m
            for u in np.flatnonzero(followed):
                kernel[u] = grams[gram_begin[tree] + u * m : gram_begin[tree] + (u + 1) * m]
        opened = Opened(
            lines, white, basis, constant, i, kernel, square, rows, below, nothing, norm, products, finished, kept
        )
        if len(local.weight):
            walk_messages(course, step, last, opened, scores)
        else:
            walk_tree(course, step, last, opened, scores)
        add_row(scores, course.scoring.ends, finished_labels[i], finished[i])
        if last < end:
            _complete(course, tree, last, scores)
        step = end
        i += 1


@compiled
def condition(
    nodes: IntArray,
    i: int,
    products: FloatArray,
    sums: FloatArray,
    white: FloatArray,
    finished: FloatArray,
    finished_labels: FloatArray,
    lines: FloatArray,
    done: IntArray,
) -> None:
    """Condition lines and predictions of nodes on the first `i` rows; `done` rows are done, -1 for a new node."""
    n_classes, n = finished_labels.shape[1], lines.shape[1]
    for node in nodes:
        if done[node] < 0:
            if node < len(products):
                lines[node] = products[node]
            else:
                lines[node] = sums[node - len(products)]
            done[node] = 0
        for k in range(done[node], i):
            for c in range(n_classes):
                white[node, c] -= white[node, n_classes + k] * finished_labels[k, c]
    nodes = nodes[np.argsort(done[nodes] % 4 * (i + 1) + done[nodes])]  # so that most have a partner
    for begin in range(0, n, STRIP):
        end = min(begin + STRIP, n)
        q = 0
        while q < len(nodes):
            node, first, partner = nodes[q], done[nodes[q]], -1
            if q + 1 < len(nodes) and (done[nodes[q + 1]] - first) % 4 == 0:
                partner = nodes[q + 1]
            joint = i if partner < 0 else done[partner]
            line, w = lines[node, begin:end], white[node, n_classes : n_classes + i]
            for k in range(first, joint, 4):
                _take(line, _rows(finished, k, i, begin, end), _weights(w, k, line))
            if partner >= 0:
                other, x = lines[partner, begin:end], white[partner, n_classes : n_classes + i]
                for k in range(joint, i, 4):
                    rows = _rows(finished, k, i, begin, end)
                    _take_two(line, other, rows, _weights(w, k, line), _weights(x, k, line))
            q += 1 if partner < 0 else 2
    for node in nodes:
        done[node] = i


Four: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
Numbers: TypeAlias = tuple[float, float, float, float]


@inlined
def _rows(finished: FloatArray, k: int, i: int, begin: int, end: int) -> Four:
    """Part of the rows k to k + 3; the last of the `i` rows may be repeated."""
    p, q, r = min(k + 1, i - 1), min(k + 2, i - 1), min(k + 3, i - 1)
    return finished[k, begin:end], finished[p, begin:end], finished[q, begin:end], finished[r, begin:end]


@inlined
def _weights(w: FloatArray, k: int, like: FloatArray) -> Numbers:
    """Their weights, 0 for repeated rows, in the precision of `like`."""
    f, n = like.dtype.type, len(w)
    b = w[k + 1] if k + 1 < n else 0.0
    c = w[k + 2] if k + 2 < n else 0.0
    d = w[k + 3] if k + 3 < n else 0.0
    return f(w[k]), f(b), f(c), f(d)


@loose
def _take(line: FloatArray, rows: Four, weights: Numbers) -> None:
    """Subtract four weighted rows from a line, which is read and written only once."""
    s, t, u, v = rows
    a, b, c, d = weights
    for n in range(len(line)):
        line[n] -= (a * s[n] + b * t[n]) + (c * u[n] + d * v[n])


@loose
def _take_two(line: FloatArray, other: FloatArray, rows: Four, weights: Numbers, others: Numbers) -> None:
    """The same for two lines, so that the rows are read only once."""
    s, t, u, v = rows
    a, b, c, d = weights
    e, f, g, h = others
    for n in range(len(line)):
        w, x, y, z = s[n], t[n], u[n], v[n]
        line[n] -= (a * w + b * x) + (c * y + d * z)
        other[n] -= (e * w + f * x) + (g * y + h * z)


@compiled
def walk_primal(
    course: Course,
    coordinates: FloatArray,
    finished: FloatArray,
    validation: FloatArray,
) -> None:
    """Walk a whole order with the (d + 1, d + 1) conditional covariance of the weights.

    `coordinates`, (b, d + 1), holds the scaled features of the graph nodes, `finished`, (t, d + 1), the complete rows,
    and `validation`, (d + 1, v), the validation rows. The last feature is the constant one; it is 0 for graph nodes.
    """
    local, players, basis = course.local, course.players, course.basis
    n_classes, n = len(course.scoring.ends) - 1, validation.shape[1]
    width = coordinates.shape[1]
    scores = make_scores(course.scoring.ends, validation)
    covariance = np.eye(width)
    weights = np.zeros((width, n_classes))
    constant = finished[0, width - 1]
    to_validation = validation.copy()  # covariance @ validation
    step = 0
    while step < len(course.steps) - 1:
        last, end = _ends(local.tree, players, course.steps, course.visited, step)
        tree = local.tree[players[course.steps[step]]]
        nodes = basis[local.begin[tree] : local.begin[tree + 1]]
        m, n_inner = len(nodes), local.inner_begin[tree + 1] - local.inner_begin[tree]
        x = np.zeros((m + 1, width))
        for u in range(m):
            x[u] = coordinates[nodes[u]]
        x[m, width - 1] = constant
        gram = np.dot(np.dot(x, covariance), x.T)
        lines, predicted = np.empty((m + n_inner + 2, n)), np.empty((m + n_inner + 2, n_classes))
        kernel, mixed = np.empty((m + n_inner + 1, m)), 2 * gram[m, :m]
        lines[: m + 1], predicted[: m + 1], kernel[:m] = np.dot(x, to_validation), -np.dot(x, weights), gram[:m, :m]
        place = course.place
        opened = Opened(
            lines, predicted, place, m, 0, kernel, True, place, m, mixed, gram[m, m], lines, lines, lines[:0]
        )
        if len(local.weight):
            walk_messages(course, step, last, opened, scores)
        else:
            walk_tree(course, step, last, opened, scores)
        row = finished[tree]
        gain = np.dot(covariance, row)
        a = np.dot(row, to_validation)
        weight = 1 / (np.dot(row, gain) + course.penalty[tree])
        b = np.dot(row, weights)
        for c in range(n_classes):
            b[c] = (course.outcome[tree, c] - b[c]) * weight
        add_row(scores, course.scoring.ends, b, a)
        if last < end:
            _complete(course, tree, last, scores)
        step = end
        for j in range(width):
            for c in range(n_classes):
                weights[j, c] += gain[j] * b[c]
            for k in range(width):
                covariance[j, k] -= weight * gain[j] * gain[k]
            for i in range(n):
                to_validation[j, i] -= weight * gain[j] * a[i]
