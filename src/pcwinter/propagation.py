"""Players that join -> coefficients: the representation of a labelled node on its local graph.

For a root r, G_r(S) is the graph of the edges that the acting players of r contribute. The
representation is row r of (D^-1/2 (A + I) D^-1/2)^K X on G_r(S), degrees counted inside it:
h_r = sum over u of c_u x_u. Edges only join, so c is kept up to date edge by edge. With

    outflow_0(u) = [u = r] d_u^-1/2,    inflow_k(u) = sum over v in N[u] of outflow_(k-1)(v),
    outflow_k(u) = inflow_k(u) / d_u,   c_u = d_u^-1/2 inflow_K(u),

a new edge {a, b} changes the degrees of a and b, and from level to level only what they reach:
about deg(a) + deg(b) entries for K = 2.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from pcwinter._jit import compiled
from pcwinter._types import BoolArray, FloatArray, IntArray, Sparse
from pcwinter.tree import ContributionTree


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
    room: IntArray  # (m + 1,) where the neighbours of each slot are kept
    n_edges: int
    hops: int


class State(NamedTuple):
    """What has joined so far; changed in place by the compiled functions of this file."""

    joined: BoolArray  # (p,) players in the coalition
    acting: BoolArray  # (p,) those whose ancestors are all in it too
    present: BoolArray  # (e,) local edges
    degree: FloatArray  # (m,) with the self-loop
    filled: IntArray  # (m,) neighbours so far
    neighbour: IntArray  # (2 e,) slots, in the room of each slot
    inflow: FloatArray  # (hops + 1, m)
    outflow: FloatArray  # (hops, m)
    coefficient: FloatArray  # (m,) c
    before: FloatArray  # (m,) c when the current step began
    changed: IntArray  # (m,) slots whose coefficient changed in the current step
    noted: IntArray  # (m,) last step in which the slot was put on that list
    stamp: IntArray  # (m,) last sweep in which the slot was put on the frontier
    frontier: IntArray  # (2, m) slots to go on from, this level and the next
    counter: IntArray  # (3,) number of changed slots; the current step; the current sweep


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
    return LocalGraphs(
        parent=tree.parent,
        size=tree.size,
        null=tree.null,
        tree=number,
        slot=slot,
        edge=edge,
        root=slot[tree.roots],
        begin=np.searchsorted(keys, np.arange(len(tree.roots) + 1) * n),
        node=keys % n,
        room=np.r_[0, np.cumsum(degree)],
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
        filled=np.zeros(m, dtype=np.int64),
        neighbour=np.zeros(2 * local.n_edges, dtype=np.int64),
        inflow=np.zeros((k + 1, m)),
        outflow=np.zeros((k, m)),
        coefficient=np.zeros(m),
        before=np.zeros(m),
        changed=np.zeros(m, dtype=np.int64),
        noted=np.zeros(m, dtype=np.int64),
        stamp=np.zeros(m, dtype=np.int64),
        frontier=np.zeros((2, m), dtype=np.int64),
        counter=np.zeros(3, dtype=np.int64),
    )


def coefficients(local: LocalGraphs, coalition: BoolArray) -> FloatArray:
    """(m,) coefficients of a coalition, given as a mask of players; 0 in the trees of absent roots."""
    state = empty_state(local)
    _join_all(local, state, np.flatnonzero(coalition))
    return state.coefficient


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """All that a head needs: what the rows are made of, and what they are scored on."""

    tree: ContributionTree
    local: LocalGraphs
    features: Sparse  # (n, d) of the whole graph
    labels: IntArray  # (t,) classes of the roots
    n_classes: int
    rows: Sparse  # (v, d) representations of the validation nodes, sorted by class
    targets: IntArray  # (v,) their classes, ascending

    def training_rows(self, coefficient: FloatArray) -> Sparse:
        """(t, d) rows of all roots from the coefficients of their slots; zero for absent roots."""
        shape = (len(self.labels), self.n_nodes)
        weights: Sparse = sp.csr_array((coefficient, self.local.node, self.local.begin), shape=shape)
        return sp.csr_array(weights @ self.features)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the whole graph."""
        return int(self.features.shape[0])


def propagate(adjacency: Sparse, features: Sparse, hops: int) -> Sparse:
    """(D^-1/2 (A + I) D^-1/2)^hops X on a whole graph; (n, d)."""
    looped = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    scale = sp.diags_array(1 / np.sqrt(looped.sum(axis=1)))
    step = scale @ looped @ scale
    for _ in range(hops):
        features = sp.csr_array(step @ features)
    return features


@compiled
def join(local: LocalGraphs, state: State, player: int) -> None:
    """Let a player join: it, and what waits behind it, acts if all its ancestors are there."""
    state.joined[player] = True
    above = local.parent[player]
    if local.null[player] or (above >= 0 and not state.acting[above]):
        return
    _act(local, state, player)
    p, end = player + 1, player + local.size[player]
    while p < end:  # in pre-order a parent comes first; a subtree whose root does not act is skipped
        if state.joined[p] and not local.null[p]:
            _act(local, state, p)
            p += 1
        else:
            p += local.size[p]


@compiled
def begin_step(state: State) -> None:
    """Forget which coefficients the last step changed."""
    state.counter[0] = 0
    state.counter[1] += 1


@compiled
def _join_all(local: LocalGraphs, state: State, players: IntArray) -> None:
    for p in players:
        begin_step(state)
        join(local, state, p)


@compiled
def _act(local: LocalGraphs, state: State, player: int) -> None:
    state.acting[player] = True
    slot = local.slot[player]
    above = local.parent[player]
    if above < 0:
        state.outflow[:, slot] = 1.0
        state.inflow[1:, slot] = 1.0
        _change(state, slot, 1.0)
    elif not state.present[local.edge[player]]:
        state.present[local.edge[player]] = True
        _add_edge(local, state, local.root[local.tree[player]], local.slot[above], slot)


@compiled
def _change(state: State, slot: int, value: float) -> None:
    if state.noted[slot] != state.counter[1]:
        state.noted[slot] = state.counter[1]
        state.before[slot] = state.coefficient[slot]
        state.changed[state.counter[0]] = slot
        state.counter[0] += 1
    state.coefficient[slot] = value


@compiled
def _add_edge(local: LocalGraphs, state: State, root: int, a: int, b: int) -> None:
    """Add {a, b}: carry the change of the two degrees through the levels, then note the neighbours."""
    state.degree[a] += 1
    state.degree[b] += 1
    inflow, outflow, degree = state.inflow, state.outflow, state.degree
    here, there = state.frontier[0], state.frontier[1]
    here[0], here[1] = a, b
    n_here = 2
    for level in range(local.hops):
        there[0], there[1] = a, b  # their degrees count again on every level
        n_there = 2
        state.counter[2] += 1
        mark = state.counter[2]
        state.stamp[a] = state.stamp[b] = mark
        for k in range(n_here):
            u = here[k]
            flow = inflow[level, u] / degree[u]
            if level == 0:
                flow = 1 / np.sqrt(degree[u]) if u == root else 0.0
            delta = flow - outflow[level, u]
            if delta == 0.0:
                continue
            outflow[level, u] = flow
            start = local.room[u]
            for j in range(-1, state.filled[u]):
                v = u if j < 0 else state.neighbour[start + j]
                inflow[level + 1, v] += delta
                if state.stamp[v] != mark:
                    state.stamp[v] = mark
                    there[n_there] = v
                    n_there += 1
        inflow[level + 1, a] += outflow[level, b]
        inflow[level + 1, b] += outflow[level, a]
        here, there = there, here
        n_here = n_there
    for k in range(n_here):
        u = here[k]
        _change(state, u, inflow[local.hops, u] / np.sqrt(degree[u]))
    for u, v in ((a, b), (b, a)):
        state.neighbour[local.room[u] + state.filled[u]] = v
        state.filled[u] += 1
