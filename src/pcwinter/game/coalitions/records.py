"""ContributionTree -> LocalGraphs and State: where players act, and the players that have joined so far."""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.game.tree import ContributionTree


class LocalGraphs(NamedTuple):
    """The complete local graphs of all roots side by side, and where each player acts in them.

    A slot is one node of one local graph: a graph node has one slot per root that reaches it.
    """

    parent: IntArray  # (p,) as in the tree
    size: IntArray  # (p,)
    null: BoolArray  # (p,) players that never act
    tree: IntArray  # (p,) computation tree of each player
    slot: IntArray  # (p,) slot of each player's node
    edge: IntArray  # (p,) local edge that the player contributes, -1 for roots and null players
    root: IntArray  # (t,) slot of each root
    first: IntArray  # (t,) player of each root
    begin: IntArray  # (t + 1,) slots of tree i are begin[i]:begin[i + 1]
    node: IntArray  # (m,) graph node of each slot
    block: IntArray  # (m,) block of the row that it is in; 0 if rows have one block
    room: IntArray  # (m + 1,) where the neighbours of each slot are stored
    inner: IntArray  # (m,) number of an inner slot (nearer than K hops to the root) in its tree, -1 for the others
    inner_begin: IntArray  # (t + 1,) number of inner slots in earlier trees
    n_edges: int
    hops: int
    weight: FloatArray  # (p,) message weights; empty in the induced game
    total: FloatArray  # (t, b) their sum in each tree and block
    reach: FloatArray  # (p,) weight of every leaf below a player / S between the two; 0 for all but parents of leaves


class State(NamedTuple):
    """The players that have joined so far; the compiled functions of this file change it in place."""

    joined: BoolArray  # (p,) players in the coalition
    acting: BoolArray  # (p,) those whose ancestors are all in it too
    present: BoolArray  # (e,) local edges
    degree: FloatArray  # (m,) d, with the self-loop
    scale: FloatArray  # (m,) d^-1/2
    filled: IntArray  # (m,) neighbours so far
    neighbour: IntArray  # (2 e,) slots, in the room of each slot
    inflow: FloatArray  # (hops + 1, m)
    outflow: FloatArray  # (hops, m)
    stamp: IntArray  # (m,) last sweep in which the slot was put on the frontier
    frontier: IntArray  # (2, m) slots to continue from, on this level and the next
    sweep: IntArray  # (1,)
    added: IntArray  # (t,) edges of each tree, or messages
    total: FloatArray  # (t, b) sum of the weights of these messages, by block
    # what the current step did
    changes: IntArray  # (2,) edges that were added, roots that joined
    moved: IntArray  # (m,) slots whose outflow_(K-1) changed when the last of these edges was added
    shift: FloatArray  # (m,) by how much
    n_moved: IntArray  # (1,)
    ends: IntArray  # (2,) the ends of that edge
    along: FloatArray  # (2,) by how much g moved along the features of its ends


def local_graphs(
    tree: ContributionTree, weight: FloatArray | None = None, reach: FloatArray | None = None, block_size: int = 0
) -> LocalGraphs:
    """Slots of every computation tree, with local edges, or with the `weight` and `reach`, (p,), of every player.

    With a `block_size`, a row has a block for every depth. A node then counts once per depth: at depth k it has the
    number k * block_size + node.
    """
    number, node = tree.tree, tree.node + tree.depth * block_size
    n = int(node.max()) + 1
    keys, slot = np.unique(number * n + node, return_inverse=True)
    block = keys % n // block_size if block_size else np.zeros_like(keys)
    m = len(keys)
    null = np.zeros_like(tree.null) if weight is not None else tree.null
    real = (tree.parent >= 0) & ~null & (weight is None)
    ends = np.sort(np.stack([slot[tree.parent[real]], slot[real]], axis=1), axis=1)
    edges, which = np.unique(ends[:, 0] * m + ends[:, 1], return_inverse=True)
    edge = np.full(tree.n_players, -1, dtype=np.int64)
    edge[real] = which
    degree = np.bincount(edges // m, minlength=m) + np.bincount(edges % m, minlength=m)
    distance = np.full(m, tree.hops)
    if weight is None:
        np.minimum.at(distance, slot[~null], tree.depth[~null])
    begin = np.searchsorted(keys, np.arange(len(tree.roots) + 1) * n)
    before = np.r_[0, np.cumsum(distance < tree.hops)]
    inner_begin = before[begin]
    owner = np.repeat(np.arange(len(tree.roots)), np.diff(begin))
    return LocalGraphs(
        parent=tree.parent,
        size=tree.size,
        null=null,
        tree=number,
        slot=slot,
        edge=edge,
        root=slot[tree.roots],
        first=tree.roots,
        begin=begin,
        node=keys % n,
        block=block,
        room=np.r_[0, np.cumsum(degree)],
        inner=np.where(distance < tree.hops, before[:-1] - inner_begin[owner], -1),
        inner_begin=inner_begin,
        n_edges=len(edges),
        hops=tree.hops,
        weight=np.empty(0) if weight is None else weight,
        total=np.empty((0, 1)) if weight is None else _totals(tree, weight, block[slot]),
        reach=np.zeros(tree.n_players) if reach is None else reach,
    )


def _totals(tree: ContributionTree, weight: FloatArray, block: IntArray) -> FloatArray:
    each = weight[:, None] * (block[:, None] == np.arange(int(block.max()) + 1))
    return np.asarray(np.add.reduceat(each, tree.roots))


def empty_state(local: LocalGraphs) -> State:
    """The state of the empty coalition."""
    p, m, k = len(local.slot), len(local.node), local.hops
    return State(
        joined=np.zeros(p, dtype=np.bool_),
        acting=np.zeros(p, dtype=np.bool_),
        present=np.zeros(local.n_edges, dtype=np.bool_),
        degree=np.ones(m),
        scale=np.ones(m),
        filled=np.zeros(m, dtype=np.int64),
        neighbour=np.zeros(2 * local.n_edges, dtype=np.int64),
        inflow=np.zeros((k + 1, m)),
        outflow=np.zeros((k, m)),
        stamp=np.zeros(m, dtype=np.int64),
        frontier=np.zeros((2, m), dtype=np.int64),
        sweep=np.zeros(1, dtype=np.int64),
        added=np.zeros(len(local.root), dtype=np.int64),
        total=np.zeros((len(local.root), local.total.shape[1])),
        changes=np.zeros(2, dtype=np.int64),
        moved=np.zeros(m, dtype=np.int64),
        shift=np.zeros(m),
        n_moved=np.zeros(1, dtype=np.int64),
        ends=np.zeros(2, dtype=np.int64),
        along=np.zeros(2),
    )
