"""One tree of an order -> utilities: the compiled ridge walk of the message game.

Every message moves a block of the row along one vector: a line of inner products with validation rows, a whitened line,
and the norm. All are planned before the walk (`game.coalitions.plans`). Blocks have no features in common, so the lines
and norms of the row are the sums of those of its blocks, each with its own scale. Most rows have one block.
"""

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined, loose
from pcwinter.game.detail import credit
from pcwinter.game.metrics import ACCURACY
from pcwinter.heads.ridge.counting import doubt, leads, score, unclear
from pcwinter.heads.ridge.course import Course, Opened, Row, Scores


@loose
def dot(x: FloatArray, y: FloatArray) -> float:
    """Inner product, without the overhead of a call to BLAS."""
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    return total


@loose
def add(to: FloatArray, line: FloatArray, weight: float) -> None:
    """Add `weight` times a line."""
    rate = to.dtype.type(weight)
    for i in range(len(to)):
        to[i] += rate * line[i]


@compiled
def walk_messages(course: Course, first: int, last: int, opened: Opened, scores: Scores) -> None:
    """Walk the steps `first` to `last` - 1, which belong to one tree."""
    local, plan, scoring, walked, steps = course.local, course.plan, course.scoring, course.walked, course.steps
    tree = local.tree[course.players[steps[first]]]
    begin, m = local.begin[tree], local.begin[tree + 1] - local.begin[tree]
    n_classes, n = scores.exact.shape
    n_white = n_classes + opened.i
    lines, whites, kernel = opened.lines, opened.white[:, :n_white], opened.kernel
    constant, white_constant = lines[opened.constant], whites[opened.constant]
    n_blocks = plan.scale.shape[1]
    line, a, white, white_h = np.zeros_like(constant), np.empty_like(constant), np.zeros(n_white), np.empty(n_white)
    more_lines, more_white = np.zeros((n_blocks - 1, n), dtype=line.dtype), np.zeros((n_blocks - 1, n_white))
    more_norms, scaled = np.zeros(n_blocks - 1), np.empty(m)  # of the blocks after the first
    weights, sums, b = np.zeros(m), np.zeros(0 if opened.square else kernel.shape[1]), np.empty(n_classes)
    rests = white_h[n_classes:]
    scale, whose = np.empty(1), np.full(len(opened.kept), -1)
    nodes = opened.where[begin : begin + m]
    shown = weights if n_blocks == 1 else scaled
    row = Row(scale, shown, nodes, opened.products, rests, opened.finished, opened.kept, whose)
    utility = walked.utility[first - 1] if first else scoring.empty
    slots, sizes, messages, square = local.slot, local.size, local.weight, opened.square
    counting = scoring.code == ACCURACY and not len(walked.parts.fresh)
    tie, error, ends, largest = scoring.tie, scoring.error, scoring.ends, scores.largest[0]
    others, mine, best, doubtful = scores.others, scores.mine, scores.best, scores.doubtful
    norm = 0.0
    for step in range(first, last):
        if plan.changed[step]:
            for k in range(plan.end[step], plan.end[step + 1]):
                source, weight = plan.row[k], plan.weight[k]
                block = local.block[slots[plan.player[k]]] - 1 if n_blocks > 1 else -1
                add(line if block < 0 else more_lines[block], lines[source], weight)
                add(white if block < 0 else more_white[block], whites[source], weight)
                change = _move(
                    slots, sizes, messages, begin, plan.player[k], weight, kernel, source, square, weights, sums
                )
                if block < 0:
                    norm += change
                else:
                    more_norms[block] += change
            now = plan.scale[step, 0]
            scale[0] = now
            for k in range(n_white):
                white_h[k] = now * white[k] + white_constant[k]
            squared = opened.norm + now * now * norm
            for block in range(n_blocks - 1):
                rate = plan.scale[step, block + 1]
                add(white_h, more_white[block], rate)
                squared += rate * rate * more_norms[block]
            if n_blocks > 1:
                scale[0] = 1.0
                for k in range(m):
                    scaled[k] = plan.scale[step, local.block[begin + k]] * weights[k]
                if len(opened.mixed):  # the primal form: finished rows connect the blocks
                    squared = opened.norm
                    for k in range(m):
                        squared += scaled[k] * dot(kernel[k], scaled)
            squared -= dot(rests, rests)
            if len(opened.mixed):
                squared += scale[0] * np.dot(shown, opened.mixed)
            rate = 1 / (max(squared, 0.0) + course.penalty[tree])  # rounding may make a norm of 0 negative
            for c in range(n_classes):
                b[c] = (course.outcome[tree, c] + white_h[c]) * rate
            slope = a.dtype.type(now)
            for i in range(n):
                a[i] = slope * line[i] + constant[i]
            for block in range(n_blocks - 1):
                add(a, more_lines[block], plan.scale[step, block + 1])
            if counting:  # `score`, written out: passing records costs as much as counting
                base, per_error = doubt(tie, largest, b, a)
                utility = float(leads(others, mine, best, doubtful, ends, a, b, error, base, per_error))
                if doubtful.any():
                    utility += unclear(scoring, scores, a, b, row)
            else:
                utility = score(scoring, scores, a, b, row, walked.parts.fresh)
            if len(walked.parts.last):
                credit(walked.parts, course.players[steps[step] : steps[step + 1]], course.credited)
            walked.counts[0 if course.visited[steps[step]] else 1] += 1
        walked.utility[step] = utility


@inlined
def _move(
    slots: IntArray,
    sizes: IntArray,
    messages: FloatArray,
    begin: int,
    player: int,
    weight: float,
    kernel: FloatArray,
    source: int,
    square: bool,
    weights: FloatArray,
    sums: FloatArray,
) -> float:
    """Move the row along one vector x; returns by how much its squared norm changes, 2 weight g.x + weight^2 x.x.

    With stored kernel values, g.x comes from the weights of the slots; otherwise from the features of the row, `sums`.
    """
    change, one = 0.0, player >= 0
    for p in range(player if one else ~player + 1, player + 1 if one else ~player + sizes[~player]):
        slot, part = slots[p] - begin, weight if one else messages[p]
        if square:
            x = kernel[slot]
            change += part * (2 * dot(weights, x) + part * x[slot])
        weights[slot] += part
    if not square:
        x = kernel[source]
        change = weight * (2 * dot(sums, x) + weight * dot(x, x))
        add(sums, x, weight)
    return change
