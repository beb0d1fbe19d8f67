"""Players that join -> coefficients: the representation of a labelled node on its local graph.

For a root r, G_r(S) is the graph of the edges that the acting players of r contribute. The representation is row r of
(D^-1/2 (A + I) D^-1/2)^K X on G_r(S), with the degrees of G_r(S). With

    outflow_0(u) = [u = r],   inflow_k(u) = sum over v in N[u] of outflow_(k-1)(v),   outflow_k(u) = inflow_k(u) / d_u

it is h_r = d_r^-1/2 g, where, by nodes or gathered by their neighbours,

    g = sum over u of d_u^-1/2 inflow_K(u) x_u
      = sum over w of outflow_(K-1)(w) T_w,   T_w = sum over u in N[w] of d_u^-1/2 x_u.

A new edge {a, b} changes the degrees of a and b and, level by level, only what they reach: about deg(a) + deg(b)
numbers for K = 2. The second form shows how g changes: along x_a, x_b and the T_w whose outflow changed, at most four
vectors for K = 2, whatever the degrees. T_w is updated only when it is needed.
"""

from typing import NamedTuple

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.compiled import compiled, inlined
from pcwinter.game.tree import ContributionTree


class LocalGraphs(NamedTuple):
    """The complete local graphs of all roots side by side, and where each player acts in them.

    A slot is one node of one local graph: a graph node has one slot per root that reaches it.
    """

    parent: IntArray  # (p,) as in the tree
    size: IntArray  # (p,)
    null: BoolArray  # (p,)
    tree: IntArray  # (p,) computation tree of each player
    slot: IntArray  # (p,) slot of each player's node
    edge: IntArray  # (p,) local edge that the player contributes, -1 for roots and null players
    root: IntArray  # (t,) slot of each root
    begin: IntArray  # (t + 1,) slots of tree i are begin[i]:begin[i + 1]
    node: IntArray  # (m,) graph node of each slot
    room: IntArray  # (m + 1,) where the neighbours of each slot are stored
    inner: IntArray  # (m,) number of an inner slot (nearer than K hops to the root) in its tree, -1 for the others
    inner_begin: IntArray  # (t + 1,) number of inner slots in earlier trees
    n_edges: int
    hops: int


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
    added: IntArray  # (t,) edges of each tree
    # what the current step did
    changes: IntArray  # (2,) edges that were added, roots that joined
    moved: IntArray  # (m,) slots whose outflow_(K-1) changed when the last of these edges was added
    shift: FloatArray  # (m,) by how much
    n_moved: IntArray  # (1,)
    ends: IntArray  # (2,) the ends of that edge
    along: FloatArray  # (2,) by how much g moved along the features of its ends


def local_graphs(tree: ContributionTree) -> LocalGraphs:
    """Slots, local edges and room for neighbours of every computation tree."""
    number = tree.tree
    n = int(tree.node.max()) + 1
    keys, slot = np.unique(number * n + tree.node, return_inverse=True)
    m = len(keys)
    real = (tree.parent >= 0) & ~tree.null
    ends = np.sort(np.stack([slot[tree.parent[real]], slot[real]], axis=1), axis=1)
    edges, which = np.unique(ends[:, 0] * m + ends[:, 1], return_inverse=True)
    edge = np.full(tree.n_players, -1, dtype=np.int64)
    edge[real] = which
    degree = np.bincount(edges // m, minlength=m) + np.bincount(edges % m, minlength=m)
    distance = np.full(m, tree.hops)
    np.minimum.at(distance, slot[~tree.null], tree.depth[~tree.null])
    begin = np.searchsorted(keys, np.arange(len(tree.roots) + 1) * n)
    before = np.r_[0, np.cumsum(distance < tree.hops)]
    inner_begin = before[begin]
    owner = np.repeat(np.arange(len(tree.roots)), np.diff(begin))
    return LocalGraphs(
        parent=tree.parent,
        size=tree.size,
        null=tree.null,
        tree=number,
        slot=slot,
        edge=edge,
        root=slot[tree.roots],
        begin=begin,
        node=keys % n,
        room=np.r_[0, np.cumsum(degree)],
        inner=np.where(distance < tree.hops, before[:-1] - inner_begin[owner], -1),
        inner_begin=inner_begin,
        n_edges=len(edges),
        hops=tree.hops,
    )


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
        changes=np.zeros(2, dtype=np.int64),
        moved=np.zeros(m, dtype=np.int64),
        shift=np.zeros(m),
        n_moved=np.zeros(1, dtype=np.int64),
        ends=np.zeros(2, dtype=np.int64),
        along=np.zeros(2),
    )


def coefficients(local: LocalGraphs, coalition: BoolArray) -> FloatArray:
    """(m,) coefficients of a coalition, given as a mask of players; 0 in the trees of absent roots."""
    state = empty_state(local)
    _join_all(local, state, np.flatnonzero(coalition))
    root_scale: FloatArray = np.repeat(state.scale[local.root], np.diff(local.begin))
    return np.asarray(root_scale * state.scale * state.inflow[-1])


def tree_coefficients(local: LocalGraphs, state: State, tree: int) -> FloatArray:
    """Coefficients c of the slots of one tree: h_r = sum over u of c_u x_u."""
    here = slice(local.begin[tree], local.begin[tree + 1])
    return np.asarray(state.scale[local.root[tree]] * state.scale[here] * state.inflow[-1, here])


@inlined
def join(local: LocalGraphs, state: State, player: int) -> None:
    """Let a player join. If all its ancestors have joined, it acts, and so do descendants that were waiting for it."""
    state.joined[player] = True
    above = local.parent[player]
    if local.null[player] or (above >= 0 and not state.acting[above]):
        return
    _act(local, state, player)
    p, end = player + 1, player + local.size[player]
    while p < end:  # in pre-order, so a parent comes first; a subtree whose root does not act is skipped
        if state.joined[p] and not local.null[p]:
            _act(local, state, p)
            p += 1
        else:
            p += local.size[p]


@compiled
def _join_all(local: LocalGraphs, state: State, players: IntArray) -> None:
    for player in players:
        join(local, state, player)


@inlined
def begin_step(state: State) -> None:
    """Reset the record of what the last step did."""
    state.changes[0] = state.changes[1] = 0


@inlined
def _act(local: LocalGraphs, state: State, player: int) -> None:
    state.acting[player] = True
    slot = local.slot[player]
    above = local.parent[player]
    if above < 0:
        state.outflow[:, slot] = 1.0
        state.inflow[1:, slot] = 1.0
        state.changes[1] += 1
    elif not state.present[local.edge[player]]:
        state.present[local.edge[player]] = True
        state.changes[0] += 1
        state.added[local.tree[player]] += 1
        _add_edge(local, state, local.slot[above], slot)


@inlined
def _add_edge(local: LocalGraphs, state: State, a: int, b: int) -> None:
    """Add the edge {a, b}: carry the change of the two degrees through the levels, then record the neighbours."""
    inflow, outflow, degree = state.inflow, state.outflow, state.degree
    last = local.hops - 1
    for k, u, v in ((0, a, b), (1, b, a)):
        degree[u] += 1
        scale = 1 / np.sqrt(degree[u])
        # the change of x_u in T_w for all w in N[u], and in T of the new neighbour, with the outflows before this edge
        state.ends[k] = u
        state.along[k] = (scale - state.scale[u]) * inflow[local.hops, u] + scale * outflow[last, v]
        state.scale[u] = scale
    state.n_moved[0] = 0
    here, there = state.frontier[0], state.frontier[1]
    here[0], here[1] = a, b
    n_here = 2
    for level in range(local.hops):
        there[0], there[1] = a, b  # their degrees matter on every level
        n_there = 2
        state.sweep[0] += 1
        mark = state.sweep[0]
        state.stamp[a] = state.stamp[b] = mark
        for k in range(n_here):
            u = here[k]
            flow = inflow[level, u] / degree[u] if level else outflow[0, u]  # the first outflow is constant
            delta = flow - outflow[level, u]
            if delta == 0.0:
                continue
            outflow[level, u] = flow
            inflow[level + 1, u] += delta
            neighbours = state.neighbour[local.room[u] : local.room[u] + state.filled[u]]
            if level == last:  # the last level: nothing to carry further
                state.moved[state.n_moved[0]] = u
                state.shift[state.n_moved[0]] = delta
                state.n_moved[0] += 1
                for v in neighbours:
                    inflow[level + 1, v] += delta
                continue
            if state.stamp[u] != mark:
                state.stamp[u] = mark
                there[n_there] = u
                n_there += 1
            for v in neighbours:
                inflow[level + 1, v] += delta
                if state.stamp[v] != mark:
                    state.stamp[v] = mark
                    there[n_there] = v
                    n_there += 1
        inflow[level + 1, a] += outflow[level, b]
        inflow[level + 1, b] += outflow[level, a]
        here, there = there, here
        n_here = n_there
    for u, v in ((a, b), (b, a)):
        state.neighbour[local.room[u] + state.filled[u]] = v
        state.filled[u] += 1
