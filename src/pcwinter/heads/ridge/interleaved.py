"""Any order -> utilities: compiled ridge walks in which a player may change a row that is in use.

In precedence and free orders, several trees are open at once, and each evaluation changes one row. Evaluations are
computed in blocks. First the players of a block join and the rows are updated. Then the block is solved from the
kernel itself (`block`), which gives the scores of every evaluation as a combination of lines k(Z, .). One matrix
product combines the lines for the whole block, and the result is scored (`block_scores`). Rows and their kernel pass
from block to block, but no inverse does, so none drifts. Cost per evaluation: 2 (t + block) v + t d multiply-adds in
matrix products, plus the updates of the rows.
"""

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.compiled import compiled
from pcwinter.game.coalitions.acting import begin_step, join, row_scale
from pcwinter.game.coalitions.records import LocalGraphs
from pcwinter.game.coalitions.row_updates import Moves, apply, plan
from pcwinter.heads.ridge.block import changes
from pcwinter.heads.ridge.block_scores import make_lines, note_line, score_block
from pcwinter.heads.ridge.course import Course

BLOCK = 48  # evaluations; longer blocks cost more to combine, shorter ones are solved more often
STEEP = 500.0  # steepness up to which blocks are full
FEW = 4  # evaluations in a block just above it; errors shrink only when blocks are this short


def block_size(penalty: float, constant: float, norm: float) -> int:
    """Evaluations in a block, where `norm` is the largest squared norm of a graph node.

    The updates in a block divide rounding errors of the kernel by the penalty, twice. A block of one needs no updates.
    """
    steepness = (constant + max(2.0, norm / 10)) / penalty
    return BLOCK if steepness <= STEEP else max(1, int(FEW * STEEP / steepness))


@compiled
def _add_blocks(local: LocalGraphs, moves: Moves, basis: IntArray, lines: FloatArray, first: int) -> None:
    """Make the planned additions of messages, each to the g of its block; these begin at the row `first`."""
    for j in range(moves.end[0]):
        slot = moves.source[j]
        to, line = lines[first + local.block[slot]], lines[basis[slot]]
        for i in range(len(to)):
            to[i] += moves.weight[j] * line[i]


@compiled
def walk_rows(course: Course, lines: FloatArray, constant: float, size: int, single: bool) -> None:
    """Walk a whole order of single players, in blocks of `size` evaluations.

    `lines` holds the inner products with the validation rows, then the features, of every graph node. Below these
    there is room for the T_w of all inner slots and the g of all rows, or of the blocks of all rows.
    """
    local, state, moves, players = course.local, course.state, course.moves, course.players
    outcome, penalty, scoring = course.outcome, course.penalty, course.scoring
    n_classes, n = len(scoring.ends) - 1, int(scoring.ends[-1])
    t, width = len(outcome), lines.shape[1]
    n_blocks = local.total.shape[1]
    first = len(lines) - t * n_blocks
    sums, g = first - local.inner_begin[t], lines[first:]
    used, last, scale = np.zeros(t, dtype=np.bool_), np.zeros(t, dtype=np.int64), np.zeros(t * n_blocks)
    rows, kernel = np.zeros((t + size, width - n)), np.zeros((t, t))
    known = make_lines(t, size, n_classes, n, single)
    steps, roots = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    utility = scoring.empty
    position = 0
    while position < len(players):
        begin, b = position, 0
        while position < len(players) and b < size:
            begin_step(state)
            join(local, state, players[position])
            if state.changes[0] or state.changes[1]:
                r = local.tree[players[position]]
                steps[b], roots[b], last[r] = position, r, b
                row, delta, begin_r = rows[t + b], known.exact[t + b], r * n_blocks
                delta[:] = 0.0
                row[:] = 0.0
                for q in range(begin_r, begin_r + n_blocks):
                    for i in range(n):
                        delta[i] -= scale[q] * g[q, i]
                plan(local, state, r, moves, False)
                if n_blocks == 1:
                    apply(moves, course.basis, lines, sums + local.inner_begin[r], first + r, width)
                else:
                    _add_blocks(local, moves, course.basis, lines, first + begin_r)
                for k in range(n_blocks):
                    q = begin_r + k
                    scale[q] = row_scale(local, state, r, k)
                    for i in range(n):
                        delta[i] += scale[q] * g[q, i]
                    for f in range(width - n):
                        row[f] += scale[q] * g[q, n + f]
                note_line(known, t + b)
                b += 1
            position += 1
        if b:
            new = np.dot(rows[t : t + b], rows[: t + b].T)
            for i in range(b):
                for j in range(t + b):
                    new[i, j] = new[i, j] + constant if j >= t or used[j] else 0.0
            block = changes(roots[:b], used, outcome, kernel, new, penalty)
            utilities = score_block(course, players[steps[:b]], known, block, constant)
            for i in range(b):
                r = roots[i]
                used[r] = True
                if last[r] == i:
                    rows[r] = rows[t + i]
                    line = known.exact[r]
                    line[:] = 0.0
                    for q in range(r * n_blocks, (r + 1) * n_blocks):
                        for f in range(n):
                            line[f] += scale[q] * g[q, f]
                    note_line(known, r)
                    kernel[r] = new[i, :t]
                    kernel[:, r] = new[i, :t]
            for i in range(b):
                for j in range(b):
                    if last[roots[i]] == i and last[roots[j]] == j:
                        kernel[roots[i], roots[j]] = new[i, t + j]
        k = 0
        for step in range(begin, position):
            if k < b and steps[k] == step:
                utility = utilities[k]
                k += 1
            course.walked.utility[step] = utility
