"""Steps of a walk -> marginal contributions by validation node, for the bootstrap over these nodes."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, FloatArray, Incidence, IntArray
from pcwinter._util.compiled import compiled


class Parts(NamedTuple):
    """Sums of marginal contributions by validation node; each row is a graph node or edge."""

    begin: IntArray  # (p + 1,) the rows of player p are row[begin[p]:begin[p + 1]]
    row: IntArray
    sums: FloatArray  # (rows, v)
    last: FloatArray  # (v,) share of each validation node in the utility before the current step; v = 0 if not wanted
    fresh: FloatArray  # (v,) share in the utility after the step

    def of(self, begin: int, end: int) -> "Parts":
        """Empty parts for the validation nodes `begin` to `end` - 1."""
        n = end - begin
        return Parts(self.begin, self.row, np.zeros((len(self.sums), n)), np.zeros(n), np.zeros(n))


def make_parts(incidence: Incidence | None, n_nodes: int) -> Parts:
    """Empty parts for `n_nodes` validation nodes and the rows of `incidence`, (rows, players)."""
    if incidence is None:
        nothing = np.zeros(0, dtype=np.int64)
        return Parts(nothing, nothing, np.zeros((0, 0)), np.zeros(0), np.zeros(0))
    columns = sp.csc_array(incidence)
    begin, row = columns.indptr.astype(np.int64), columns.indices.astype(np.int64)
    return Parts(begin, row, np.zeros((incidence.shape[0], n_nodes)), np.zeros(n_nodes), np.zeros(n_nodes))


@compiled
def credit(parts: Parts, players: IntArray, credited: BoolArray) -> None:
    """Add the change of a step to the rows of its players, in equal shares; (p,) `credited` says who gets one."""
    n, sharing = len(parts.last), 0
    if n == 0:
        return
    for player in players:
        sharing += credited[player]
    for player in players:
        if credited[player]:
            for k in range(parts.begin[player], parts.begin[player + 1]):
                line = parts.sums[parts.row[k]]
                for i in range(n):
                    line[i] += (parts.fresh[i] - parts.last[i]) / sharing
    parts.last[:] = parts.fresh


@compiled
def settle(sums: FloatArray, total: FloatArray, squares: FloatArray) -> None:
    """End an order: add its `sums`, (rows, v), to `total`, (rows, v), and set them to 0.

    To `squares`, (rows,), add the sum over validation nodes of (x - mean of x)^2, where x are the sums of a row.
    """
    rows, n = sums.shape
    for row in range(rows):
        line, mean, spread, empty = sums[row], 0.0, 0.0, True
        for i in range(n):
            mean += line[i]
            empty &= line[i] == 0
        if empty:
            continue
        mean /= n
        for i in range(n):
            spread += (line[i] - mean) ** 2
            total[row, i] += line[i]
            line[i] = 0.0
        squares[row] += spread
