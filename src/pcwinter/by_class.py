"""Values -> edges beside others of their class: what an edge is worth more than the average of its kind.

    sum over the players p of an edge of psi_p - m(class of p's labelled node, depth of p)

with m the mean of all players of that class and depth that are not null. Where edges help the labelled nodes of one
class and harm those of another, the order by value takes the classes one after the other; this one does not.
"""

import numpy as np

from pcwinter._types import FloatArray
from pcwinter.valuation import Values


def by_class(values: Values) -> FloatArray:
    """(m,) a number for each edge of the tree; all add up to 0, up to rounding."""
    tree, value = values.tree, values.estimate.mean()
    labels = values.graph.labels[tree.node[tree.roots]][tree.tree]
    kind = np.where(tree.null, 0, 1 + labels * (tree.hops + 1) + tree.depth)  # null players are of none
    mean = np.bincount(kind, value) / np.maximum(np.bincount(kind), 1)
    live = np.flatnonzero(~tree.null & (tree.edge >= 0))
    beside = np.zeros(len(tree.edges))
    np.add.at(beside, tree.edge[live], (value - mean[kind])[live])
    return np.round(beside, 12)  # so that equal edges stay equal, in whatever order their players were added up
