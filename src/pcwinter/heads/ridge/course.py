"""The records that are the input and output of compiled ridge walks.

`Course` is the input of every walk and `Walked` its result. `Opened` is the current tree, and `Row` its current row.
`Scoring` says how scores become a utility, and `Scores` holds them.
"""

from typing import NamedTuple

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.game.coalitions.plans import Plan
from pcwinter.game.coalitions.records import LocalGraphs, State
from pcwinter.game.coalitions.row_updates import Moves
from pcwinter.game.detail import Parts
from pcwinter.game.metrics import ANSWERS


class Scoring(NamedTuple):
    """The classes of the validation nodes, and how scores become a utility."""

    code: int
    ends: IntArray  # (c + 1,) where each class begins
    temperature: float
    tie: float
    empty: float  # utility of the empty coalition
    error: FloatArray  # (v,) bounds on the errors of `a`, in its precision; 0 in double precision
    answers: FloatArray = ANSWERS  # (c, v) numeric targets; empty with classes


class Scores(NamedTuple):
    """Scores of the finished rows, and scratch."""

    exact: FloatArray  # (c, v)
    others: FloatArray  # (c, v) in the precision of `a`; -inf in the true class
    mine: FloatArray  # (v,) scores of the true class, in the precision of `a`
    whole: FloatArray  # (c, v)
    best: FloatArray  # (v,) in the precision of `a`: of the wrong classes; then see `leads`
    doubtful: BoolArray  # (c,) classes in which a lead is unclear
    largest: FloatArray  # (1,) largest absolute entry that `exact` has had


class Walked(NamedTuple):
    """Outcome of a compiled walk, by step."""

    utility: FloatArray  # (s,)
    counts: IntArray  # (2,) evaluations, baselines
    parts: Parts


class Course(NamedTuple):
    """The input of every walk, contiguous or interleaved."""

    local: LocalGraphs
    state: State
    moves: Moves
    plan: Plan  # of the message game; empty in the induced game
    players: IntArray  # (p,) the order
    visited: BoolArray  # (p,) by position
    steps: IntArray  # (s + 1,) positions where steps begin, then the end
    credited: BoolArray  # (p,) by player: who gets credit, or a share of it
    outcome: FloatArray  # (t, c) E
    basis: IntArray  # (m,) graph node of each slot, numbered without gaps
    place: IntArray  # (m,) number of each slot in its tree
    penalty: FloatArray  # (t,) of each row
    scoring: Scoring
    walked: Walked


class Row(NamedTuple):
    """The current row of the open tree; any entry of `a` can be computed from it in double precision."""

    scale: FloatArray  # (1,)
    weight: FloatArray  # (m,) weights of the tree's slots
    node: IntArray  # (m,) their rows in `products`
    products: FloatArray  # (b + 1, v) kernel between nodes and validation nodes; the constant feature comes last
    white: FloatArray  # (i,) L^-1 k(H, h)
    finished: FloatArray  # (t, v) L^-1 k(H, Z)
    kept: FloatArray  # (KEPT, >= m + i) cached columns: `products` of the slots, then `finished` of the first i rows
    whose: IntArray  # (KEPT,) validation node of each cached column, or -1


class Opened(NamedTuple):
    """What one tree needs while it is open: lines of three kinds.

    Each kind has rows for the x_u of the slots, then one for the constant feature, one for every T_w and one for g.
    `lines` and `white` have a row per graph node; `kernel` has a row per slot of the tree, or per graph node.
    """

    lines: FloatArray  # (.., v) k_c(Z, x); in single precision if predictions are only counted
    white: FloatArray  # (.., c + t) minus the predictions at x, then L^-1 k(H, x)
    where: IntArray  # (m,) rows of the slots in `lines` and `white`
    constant: int  # the row of the constant feature
    i: int  # number of finished rows, that is, of entries in the second part of `white`; 0 in the primal form
    kernel: FloatArray  # kernel values between the slots of the tree or, if it has many, the features of all nodes
    square: bool  # whether `kernel` holds kernel values
    rows: IntArray  # (m,) rows of the slots in `kernel`
    below: int  # the row of the first T_w in `kernel`
    mixed: FloatArray  # (slots,) twice the kernel between the slots and the constant feature; empty if it is 0
    norm: float  # kernel of the constant feature with itself
    products: FloatArray  # (b + 1, v) as in `Row`
    finished: FloatArray  # (t, v)
    kept: FloatArray  # room for the `kept` of `Row`
