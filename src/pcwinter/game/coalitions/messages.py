"""Tree and propagation -> message weights: the row of a labelled node as a weighted sum over its players.

Let S be the normalised training graph with self-loops, and H = sum over j of theta_j S^j X the rows of the model. A row
is a sum over walks that may rest at a node. All walks that visit the nodes of a player p = (r = v_0, ..., v_k) in this
order, resting anywhere, together have the weight

    w_p = prod over i of S[v_(i-1), v_i]  *  sum over j >= k of theta_j h_(j-k)(S[v_0, v_0], ..., S[v_k, v_k])

where h_m is the complete homogeneous symmetric polynomial of degree m. So h_r = sum over p of w_p x_(node of p). For a
coalition, the acting players count, and the sum is scaled so that the weights add up to the same as for all players:

    h_r(S) = W_r(all) / W_r(S)  *  sum over acting p of w_p x_(node of p),   W_r(S) = sum over acting p of w_p

A player that joins adds one vector and changes one scale.
"""

from collections.abc import Sequence

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, Sparse
from pcwinter._util.compiled import inlined
from pcwinter.game.coalitions.records import LocalGraphs, State
from pcwinter.game.tree import ContributionTree


def message_weights(tree: ContributionTree, step: Sparse, theta: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """(p,) weight of every player and, for the parents of leaves, the `reach`: its multiple of S[w, u] is their weight.

    `step` is S, (n, n), and `theta` has an entry for every power from 0 to hops.
    """
    loops = step.diagonal()
    weight = np.zeros(tree.n_players)
    product = np.ones(tree.n_players)
    rests = np.zeros((tree.n_players, tree.hops + 1))  # h_m of the self-loops along the path, for all m
    for depth in range(tree.hops + 1):
        here = np.flatnonzero(tree.depth == depth)
        above = tree.parent[here]
        if depth:
            product[here] = product[above] * np.asarray(step[tree.node[above], tree.node[here]]).ravel()
            rests[here] = rests[above]  # h_m without the last node; below, h_m = that + loop * h_(m-1)
        else:
            rests[here, 0] = 1.0
        for m in range(1, tree.hops + 1 - depth):
            rests[here, m] += loops[tree.node[here]] * rests[here, m - 1]
        weight[here] = product[here] * (rests[here, : tree.hops + 1 - depth] @ np.asarray(theta[depth:], dtype=float))
    return weight, np.where(tree.depth == tree.hops - 1, product * theta[tree.hops], 0.0)


def carriers(tree: ContributionTree, weight: FloatArray) -> BoolArray:
    """(p,) players with a message, or with a descendant that has one; and roots, whose labels count without messages.

    Without self-loops, a player of weight 0 can have descendants that need it.
    """
    found: BoolArray = (weight > 0) | (tree.depth == 0)
    for depth in range(tree.hops, 0, -1):
        found[tree.parent[found & (tree.depth == depth)]] = True
    return found


@inlined
def add_message(local: LocalGraphs, state: State, player: int) -> None:
    """Add the message of a player that now acts; it is recorded as the last change of the row."""
    tree, slot, weight = local.tree[player], local.slot[player], local.weight[player]
    state.added[tree] += 1
    if weight == 0.0:
        return
    state.inflow[local.hops, slot] += weight
    state.total[tree, local.block[slot]] += weight
    state.changes[0] += 1
    state.ends[0] = slot
    state.along[0] = weight
