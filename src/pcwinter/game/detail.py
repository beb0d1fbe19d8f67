"""Marginal contributions by validation node: what the bootstrap over validation nodes needs."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import FloatArray, Incidence, IntArray
from pcwinter._util.compiled import compiled


class Parts(NamedTuple):
    """Marginal contributions split by validation node, added up in rows (nodes, edges) as the walks go on."""

    begin: IntArray  # (p + 1,) the rows of player p are row[begin[p]:begin[p + 1]]
    row: IntArray
    sums: FloatArray  # (rows, v)
    last: FloatArray  # (v,) part of each validation node in the utility before the current step; v = 0 for none
    fresh: FloatArray  # (v,) in the utility after it

    def of(self, begin: int, end: int) -> "Parts":
        """Room for the parts of some of the validation nodes."""
        n = end - begin
        return Parts(self.begin, self.row, np.zeros((len(self.sums), n)), np.zeros(n), np.zeros(n))


def make_parts(incidence: Incidence | None, n_nodes: int) -> Parts:
    """Room for the parts of `n_nodes` validation nodes in the rows of `incidence`, (rows, players)."""
    if incidence is None:
        nothing = np.zeros(0, dtype=np.int64)
        return Parts(nothing, nothing, np.zeros((0, 0)), np.zeros(0), np.zeros(0))
    columns = sp.csc_array(incidence)
    begin, row = columns.indptr.astype(np.int64), columns.indices.astype(np.int64)
    return Parts(begin, row, np.zeros((incidence.shape[0], n_nodes)), np.zeros(n_nodes), np.zeros(n_nodes))


@compiled
def credit(parts: Parts, player: int) -> None:
    """Add what the current step changed to the rows of the player, to none if it is -1."""
    n = len(parts.last)
    if n == 0:
        return
    if player >= 0:
        for k in range(parts.begin[player], parts.begin[player + 1]):
            line = parts.sums[parts.row[k]]
            for i in range(n):
                line[i] += parts.fresh[i] - parts.last[i]
    parts.last[:] = parts.fresh
