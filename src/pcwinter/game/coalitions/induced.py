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

import numpy as np

from pcwinter._util.compiled import inlined
from pcwinter.game.coalitions.records import LocalGraphs, State


@inlined
def add_edge(local: LocalGraphs, state: State, a: int, b: int) -> None:
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
