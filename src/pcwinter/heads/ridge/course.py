"""The records that are the input and output of compiled ridge walks.

`Course` is the input of every walk and `Walked` its result. `Opened` is the current tree, and `Row` its current row.
`Scoring` says how scores become a utility, and `Scores` holds them.
"""

from typing import NamedTuple

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.game.coalitions.induced import LocalGraphs, State
from pcwinter.game.coalitions.row_updates import Moves
from pcwinter.game.detail import Parts


class Scoring(NamedTuple):
    """What the validation nodes are, and how their scores become a utility."""

    code: int
    ends: IntArray  # (c + 1,) where each class begins
    temperature: float
    tie: float
    empty: float  # utility of the empty coalition
    error: float  # of `a`, at most; 0 in double precision


class Scores(NamedTuple):
    """Scores of the finished rows, and scratch."""

    exact: FloatArray  # (c, v)
    rounded: FloatArray  # (c, v) in the precision of `a`
    whole: FloatArray  # (c, v)
    best: FloatArray  # (v,) in the precision of `a`


class Walked(NamedTuple):
    """Outcome of a compiled walk, by step."""

    utility: FloatArray  # (s,)
    counts: IntArray  # (2,) evaluations, baselines
    parts: Parts


class Course(NamedTuple):
    """What every walk needs, whatever its algebra."""

    local: LocalGraphs
    state: State
    moves: Moves
    players: IntArray  # (p,) the order
    visited: BoolArray
    labels: IntArray  # (t,)
    basis: IntArray  # (m,) graph node of each slot, numbered without gaps
    place: IntArray  # (m,) number of each slot in its tree
    penalty: float
    scoring: Scoring
    walked: Walked


class Row(NamedTuple):
    """The row that the open tree has come to, from which any entry of `a` can be had in double precision."""

    scale: float
    weight: FloatArray  # (m,) of the tree's slots
    node: IntArray  # (m,) their rows in `products`
    products: FloatArray  # (b + 1, v) kernel between nodes and validation nodes, the constant feature's last
    white: FloatArray  # (i,) L^-1 k(H, h)
    finished: FloatArray  # (t, v) L^-1 k(H, Z)
    kept: FloatArray  # (KEPT, >= m + i) columns of both, of the slots and of the first i rows, as far as there are any
    whose: IntArray  # (KEPT,) validation nodes whose columns these are, or -1


class Opened(NamedTuple):
    """What one tree needs while it is open: lines of three kinds.

    Each has rows for the x_u of the slots and one for the constant feature, and below these one for every T_w
    and one for g. `lines` and `white` have a row per graph node, `kernel` has one per slot of the tree or graph node.
    """

    lines: FloatArray  # (.., v) k_c(Z, x), in single precision if it is only counted
    white: FloatArray  # (.., c + t) less the predictions at x, then L^-1 k(H, x)
    where: IntArray  # (m,) their rows that belong to the slots
    constant: int  # the row of the constant feature
    i: int  # finished rows, which have their entry in the second part of `white`; 0 in the primal
    kernel: FloatArray  # kernel values between the slots of the tree or, if it has many, the features of all nodes
    square: bool  # whether these are kernel values
    rows: IntArray  # (m,) their rows that belong to the slots
    below: int  # the row of the first T_w
    mixed: FloatArray  # (slots,) twice the kernel between them and the constant feature; empty where it is 0
    norm: float  # kernel of the constant feature with itself
    products: FloatArray  # (b + 1, v) as in `Row`
    finished: FloatArray  # (t, v)
    kept: FloatArray  # room for the `kept` of `Row`
