"""Graph -> Ranking: influence functions, a first-order estimate of leave-one-out values without retraining.

The model is a linear softmax classifier on K-step features, trained to convergence. Let the labelled node i have the
row z_i and the loss l_i(z_i; W) = -log p(y_i | z_i; W), times the weight of its class if there are class weights. The
weights W minimise

    sum over i of l_i(z_i; W) + penalty / 2 |W|^2,

with Hessian H. Without a node or an edge, the rows become z'_i. To first order, the mean validation loss L rises by

    value = sum over i of f_i(z_i) - f_i(z'_i),   f_i(z) = s . dl_i(z; W)/dW,   s = H^-1 dL/dW,

where f_i(z'_i) = 0 if the node i itself is removed. This is the estimate of Chen et al. 2022, "Characterizing the
Influence of Graph Elements". f_i depends on z only through z W and z s, so only these 2 C numbers are propagated again,
and only near the node or edge.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax, softmax

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter._util.checks import either, number
from pcwinter._util.compiled import compiled, inlined
from pcwinter._util.threads import one_thread
from pcwinter.baselines.node_game import lists, steps_to_labelled
from pcwinter.baselines.ranking import Ranking, all_edges, near_nodes
from pcwinter.game.class_weights import check_class_weight, class_weights
from pcwinter.graph.filters import SUMS, Blocks, filter_weights
from pcwinter.graph.graph import Graph
from pcwinter.graph.propagation import propagate, propagate_to
from pcwinter.heads.ridge.closed_form import inverse_norm

PENALTY = 0.1
CLOSE = 1e-10  # relative error of the weights at which training ends
RESIDUAL = 1e-12  # relative residual at which conjugate gradients end
STEPS = 100  # of Newton's method; about ten are enough
STUCK = "the penalty is too small for training to converge: choose a larger penalty"


def influence_nodes(
    graph: Graph,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    penalty: float = PENALTY,
    class_weight: str | None = None,
) -> Ranking:
    """Influence of nodes: by how much the validation log-likelihood falls without the node, to first order.

    `graph` is the graph. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of
    the powers of the propagation. `penalty` is the weight of the L2 penalty; features are scaled so that the mean
    squared norm of the labelled nodes' rows is 1, and the bias is penalised too. `class_weight` is as in `Ridge`.
    Graphs with numeric targets are refused.
    """
    return _influence(graph, hops, filter, penalty, class_weight, near_nodes(graph, hops))


def influence_edges(
    graph: Graph,
    *,
    hops: int = 2,
    filter: str | Sequence[float] = "sgc",
    penalty: float = PENALTY,
    class_weight: str | None = None,
) -> Ranking:
    """Influence of edges: by how much the validation log-likelihood falls without the edge, to first order.

    `graph` is the graph. `hops` is the number of propagation steps. `filter` is a name as in `value`, or the weights of
    the powers of the propagation. `penalty` is the weight of the L2 penalty; features are scaled so that the mean
    squared norm of the labelled nodes' rows is 1, and the bias is penalised too. `class_weight` is as in `Ridge`.
    Graphs with numeric targets are refused.
    """
    near_nodes(graph, hops)  # raises an error if it is not a graph or a number of steps
    return _influence(graph, hops, filter, penalty, class_weight, all_edges(graph))


@one_thread()
def _influence(
    graph: Graph,
    hops: int,
    filter: str | Sequence[float],
    penalty: float,
    class_weight: str | None,
    items: IntArray,
) -> Ranking:
    if graph.regression:
        raise ValueError("influence needs classes, but the graph has numeric targets: use leave-one-out values")
    penalty, theta = number("penalty", penalty), filter_weights(filter, hops)
    if isinstance(theta, Blocks):
        raise ValueError(f"influence needs a filter that adds powers up, but filter is 'hops': choose {either(SUMS)}")
    of_class = class_weights(graph.labels[graph.train], graph.n_classes, check_class_weight(class_weight))
    ends = items if items.ndim == 2 else np.stack([items, np.full(len(items), -1)], axis=1)
    values, began = np.empty(len(items)), time.perf_counter()
    place = _place(graph, hops, theta, of_class, *_model(graph, hops, theta, penalty, of_class))
    paused = time.perf_counter()
    _removals(place, ends[:0], values)  # compiles, if necessary
    began += time.perf_counter() - paused
    _removals(place, ends, values)
    seconds = time.perf_counter() - began
    return Ranking("influence", items, values, np.full(len(items), np.nan), 0, 1, seconds, "Exact to first order.")


class Place(NamedTuple):
    """What removals need. T_0 = d^e Y, T_k+1 = (A + s I) T_k / d: scores are sum_k theta_k T_k / d^e + constant.

    The exponent e is 1/2, or 1 if rows are normalised.
    """

    indptr: IntArray  # (n + 1,)
    indices: IntArray  # nodes of the training graph that a node sends to, those near a labelled node first
    weight: FloatArray  # of these edges
    directed: bool
    row: bool  # whether rows are normalised
    loop: float  # weight of the self-loops
    depth: IntArray  # (n,) steps to the nearest labelled node; K + 1 if there are more
    label: IntArray  # (n,) used for labelled nodes only
    share: FloatArray  # (C,) weights of the classes
    degree: FloatArray  # (n,) including the self-loop; 1 instead of 0
    sums: FloatArray  # (K + 1, n, 2 C) T_0 to T_K, where Y = X [W, s]
    theta: FloatArray  # (K + 1,) weights of the powers
    total: FloatArray  # (n, 2 C) sum_k theta_k T_k
    constant: FloatArray  # (2 C,) what the bias adds to z W and z s


def _model(
    graph: Graph, hops: int, theta: tuple[float, ...], penalty: float, of_class: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """W and s, (d + 1, C), for unscaled features; the last row is for the bias."""
    rows = propagate_to(graph.train, graph.training, graph.features, hops, theta, graph.scaling)
    scale = inverse_norm(rows) ** 0.5
    z = _with_bias(rows * scale)
    labels = graph.labels[graph.train]
    share = of_class[labels]
    weights = fit(z, labels, graph.n_classes, penalty, share)
    rows = propagate(graph.validation, graph.features, hops, theta, graph.scaling)[graph.val]
    z_val = _with_bias(rows * scale)
    target = np.eye(graph.n_classes)[graph.labels[graph.val]]
    gradient = _times(sp.csr_array(z_val.T), softmax(_times(z_val, weights), axis=1) - target)
    s = solve(hessian(z, weights, penalty, share), gradient / len(graph.val))
    unscaled = np.append(np.full(graph.features.shape[1], scale), 1.0)[:, None]
    return weights * unscaled, s * unscaled


def _with_bias(rows: Sparse) -> Sparse:
    return sp.csr_array(sp.hstack([rows, sp.csr_array(np.ones((rows.shape[0], 1)))]))


def fit(z: Sparse, labels: IntArray, n_classes: int, penalty: float, share: FloatArray) -> FloatArray:
    """(d, C) weights of the classifier on the rows `z`, by Newton's method from zero; `share` weights the losses."""
    target, columns = np.eye(n_classes)[labels], sp.csr_array(z.T)
    of_row = share[:, None]

    def loss(w: FloatArray) -> float:
        return float(penalty / 2 * np.sum(w * w) - np.sum(of_row * target * log_softmax(_times(z, w), axis=1)))

    weights = np.zeros((z.shape[1], n_classes))
    for _ in range(STEPS):
        slope = _times(columns, of_row * (softmax(_times(z, weights), axis=1) - target)) + penalty * weights
        # the loss is curved at least as much as the penalty, so the optimum is at most |slope| / penalty away
        if np.linalg.norm(slope) <= CLOSE * penalty * np.linalg.norm(weights):
            return weights
        step, now = solve(hessian(z, weights, penalty, share), slope), loss(weights)
        while loss(weights - step) > now * (1 + RESIDUAL):
            step /= 2
        weights -= step
    raise ValueError(STUCK)


def hessian(z: Sparse, weights: FloatArray, penalty: float, share: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The function v -> H v, for (d, C) arrays v; `share` weights the losses."""
    p, columns = softmax(_times(z, weights), axis=1), sp.csr_array(z.T)

    def product(v: FloatArray) -> FloatArray:
        moved = share[:, None] * p * _times(z, v)
        return _times(columns, moved - p * moved.sum(axis=1, keepdims=True)) + penalty * v

    return product


def solve(product: Callable[[FloatArray], FloatArray], right: FloatArray) -> FloatArray:
    """H^-1 right, by conjugate gradients."""
    found, residual = np.zeros_like(right), right.copy()
    direction, square = residual.copy(), float(np.sum(residual * residual))
    enough = RESIDUAL**2 * square
    for _ in range(right.size + STEPS):
        if square <= enough:
            return found
        image = product(direction)
        curvature = float(np.sum(direction * image))
        if curvature <= 0:
            break
        found += square / curvature * direction
        residual -= square / curvature * image
        before, square = square, float(np.sum(residual * residual))
        direction = residual + square / before * direction
    raise ValueError(STUCK)


def _times(rows: Sparse, dense: FloatArray) -> FloatArray:
    return np.asarray(rows @ dense)


def _place(
    graph: Graph, hops: int, theta: tuple[float, ...], of_class: FloatArray, weights: FloatArray, s: FloatArray
) -> Place:
    depth = steps_to_labelled(graph, hops)
    depth = np.where(depth < 0, hops + 1, depth)
    adjacency, loop, row = graph.training, graph.self_loop, graph.normalisation == "row"
    degree = np.asarray(adjacency.sum(axis=1)) + loop
    degree[degree == 0] = 1.0
    both = np.hstack([weights, s])
    sums = np.empty((hops + 1, graph.n_nodes, both.shape[1]))
    sums[0] = _times(graph.features, both[:-1]) * (degree if row else np.sqrt(degree))[:, None]
    for k in range(hops):
        message = sums[k] / degree[:, None]
        sums[k + 1] = _times(adjacency, message) + loop * message
    powers = np.array(theta or (*[0.0] * hops, 1.0))
    indptr, indices, out_weights = lists(sp.csr_array(adjacency.T) if graph.directed else adjacency)
    near_first = np.lexsort((depth[indices], np.repeat(np.arange(graph.n_nodes), np.diff(indptr))))
    return Place(
        indptr=indptr,
        indices=indices[near_first],
        weight=out_weights[near_first],
        directed=graph.directed,
        row=row,
        loop=loop,
        depth=depth,
        label=graph.labels.copy(),
        share=of_class,
        degree=degree,
        sums=sums,
        theta=powers,
        total=np.tensordot(powers, sums, axes=1) if theta else sums[-1],
        constant=both[-1],
    )


@compiled
def _removals(place: Place, items: IntArray, values: FloatArray) -> None:
    """Fill `values`. An item is an edge (a, b), or a node and -1.

    A removal changes the degrees of the ends of the edge, or of the nodes that the node sends to; a directed edge, that
    of its target. Level by level, the changes of T_k spread to the nodes that they are sent to, but only to nodes that
    are near enough to a labelled node to matter.
    """
    directed = place.directed
    hops, n, width = len(place.sums) - 1, len(place.depth), place.sums.shape[2]
    change, after = np.zeros((n, width)), np.zeros((n, width))  # of T_k and T_k+1
    moved = np.zeros((n, width))  # by how much sum_k theta_k T_k of labelled nodes changes
    near, further = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)  # the nodes whose T_k or T_k+1 changes
    lost, left = np.zeros(n), place.degree.copy()  # degrees; 1 is left instead of 0
    mark = np.zeros(n, dtype=np.int64)
    message = np.empty(width)
    stamp = 0
    for item in range(len(items)):
        a, b = items[item]
        first, begin = place.indptr[a], 1 if directed and b >= 0 else 0
        n_ends = 2 if b >= 0 else place.indptr[a + 1] - first
        between = 0.0
        if b >= 0:
            for e in range(first, place.indptr[a + 1]):
                if place.indices[e] == b:
                    between = place.weight[e]
        found = 0
        for k in range(begin, n_ends):
            u = place.indices[first + k] if b < 0 else items[item, k]
            lost[u] = place.weight[first + k] if b < 0 else between
            share = 1 - lost[u] / place.degree[u]
            left[u] = place.degree[u] - lost[u]
            if left[u] <= 0:
                left[u], share = 1.0, 1 / place.degree[u]
            if place.depth[u] <= hops:
                near[found] = u
                found += 1
                change[u] = place.sums[0, u] * ((share if place.row else share**0.5) - 1)
                if place.depth[u] == 0:
                    moved[u] = place.theta[0] * change[u]
        for level in range(hops):
            stamp += 1
            reach, spread = hops - level - 1, 0
            for k in range(begin, n_ends):  # the messages that are no longer sent
                u = place.indices[first + k] if b < 0 else items[item, k]
                w = a if b < 0 else items[item, 1 - k]
                if place.depth[u] <= reach:
                    spread = _touch(u, mark, stamp, further, spread)
                    for c in range(width):
                        after[u, c] -= lost[u] * place.sums[level, w, c] / place.degree[w]
            for k in range(found):  # the messages that change
                u = near[k]
                for c in range(width):
                    old = place.sums[level, u, c]
                    message[c] = (old + change[u, c]) / left[u] - old / place.degree[u]
                    change[u, c] = 0.0
                for e in range(place.indptr[u] - 1, place.indptr[u + 1]):
                    w = u if e < place.indptr[u] else place.indices[e]
                    if place.depth[w] > reach:
                        if w == u:
                            continue
                        break
                    if (b < 0 and w == a) or (u == a and w == b) or (not directed and u == b and w == a):
                        continue
                    weight = place.loop if e < place.indptr[u] else place.weight[e]
                    spread = _touch(w, mark, stamp, further, spread)
                    for c in range(width):
                        after[w, c] += weight * message[c]
            near, further, found = further, near, spread
            change, after = after, change
            for k in range(found):
                if place.depth[near[k]] == 0 and place.theta[level + 1] > 0:
                    moved[near[k]] += place.theta[level + 1] * change[near[k]]
        value = 0.0
        if b < 0 and place.depth[a] == 0:
            value += _slope(place, a, place.total[a] / root(place, place.degree[a]))
        for k in range(found):
            u = near[k]
            old = place.total[u]
            value += _slope(place, u, old / root(place, place.degree[u]))
            value -= _slope(place, u, (old + moved[u]) / root(place, left[u]))
            change[u] = moved[u] = 0.0
        for k in range(begin, n_ends):
            u = place.indices[first + k] if b < 0 else items[item, k]
            lost[u], left[u] = 0.0, place.degree[u]
        values[item] = value


@inlined
def root(place: Place, degree: float) -> float:
    """d^e."""
    return degree if place.row else float(degree**0.5)


@compiled
def _touch(u: int, mark: IntArray, stamp: int, nodes: IntArray, found: int) -> int:
    """Add u to the first `found` nodes, unless it is there; return their number."""
    if mark[u] == stamp:
        return found
    mark[u] = stamp
    nodes[found] = u
    return found + 1


@compiled
def _slope(place: Place, u: int, row: FloatArray) -> float:
    """f_u = sum over classes of (z s)_c (p_c - [c = y_u]), from the row [z W, z s] without the bias."""
    scores = row + place.constant
    n_classes = len(scores) // 2
    top = scores[:n_classes].max()
    mass, total = 0.0, 0.0
    for c in range(n_classes):
        odds = np.exp(scores[c] - top)
        mass += odds
        total += odds * scores[n_classes + c]
    return float(place.share[place.label[u]] * (total / mass - scores[n_classes + place.label[u]]))
