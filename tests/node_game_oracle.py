"""The game among nodes from its definition, dense and from scratch: the slow twin of `pcwinter.baselines`."""

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from metric_oracle import balanced, empty_of, learnt, utility_of
from oracles import filtered, make_graph, ridge_fit, validation_rows
from pcwinter.baselines.ranking import Ranking, near_nodes
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax
from torch_loop import torch_loop

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
RIDGE = Ridge(0.7, 0.8, 0.4)
TINY = make_graph([(0, 2), (0, 3), (1, 3), (3, 4), (2, 4)], [0, 1], n=6, n_val=20)  # five players; 5 is out of reach


def induced_rows(
    graph: Graph, hops: int, members: Mask, training: Floats | None = None, theta: tuple[float, ...] = ()
) -> Floats:
    """(labelled members, f) rows of the subgraph that the members, a mask of all nodes, induce."""
    full = graph.training.toarray() if training is None else training
    powers = theta or (*[0.0] * hops, 1.0)
    propagated = filtered(full * np.outer(members, members), powers) @ graph.features.toarray()
    return np.asarray(propagated[graph.train[members[graph.train]]])


def induced_scores(
    graph: Graph,
    hops: int,
    members: Mask,
    head: Ridge | Softmax,
    whole: Mask,
    training: Floats | None = None,
    theta: tuple[float, ...] = (),
) -> Floats:
    """(v, c) scores of the members; ridge scales by the rows of `whole` in the whole training graph."""
    rows = induced_rows(graph, hops, members, training, theta)
    known = graph.train[members[graph.train]]
    z = validation_rows(graph, hops, theta)
    weights = balanced(graph, known) if head.class_weight else np.ones(len(known))
    if isinstance(head, Softmax):
        matrix, bias = torch_loop(sp.csr_array(rows), graph.labels[known], graph.n_classes, head, weights)
        return np.asarray(z @ matrix + bias)
    assert head.penalty is not None
    assert head.bias is not None
    scale = np.mean(np.sum(induced_rows(graph, hops, whole, theta=theta) ** 2, axis=1)) ** -0.5
    return ridge_fit(rows, learnt(graph, known), z, head.penalty, head.bias, scale, weights)


def induced_utility(
    graph: Graph,
    hops: int,
    members: Mask,
    head: Ridge | Softmax,
    metric: str,
    whole: Mask,
    training: Floats | None = None,
    theta: tuple[float, ...] = (),
) -> float:
    """Utility of a mask of all nodes, in plain numbers."""
    if not members[graph.train].any():
        return empty_of(graph, metric)
    scores = induced_scores(graph, hops, members, head, whole, training, theta)
    temperature = (head.temperature if isinstance(head, Ridge) else None) or 1.0
    return utility_of(graph, scores, metric, temperature)


def mask_of(graph: Graph, nodes: npt.NDArray[np.int64]) -> Mask:
    """A mask of all nodes."""
    mask = np.zeros(graph.n_nodes, dtype=np.bool_)
    mask[nodes] = True
    return mask


def coalitions(n: int) -> npt.NDArray[np.bool_]:
    """(2^n, n) all coalitions."""
    return np.array(list(product([False, True], repeat=n)))


def semivalue(graph: Graph, metric: str, weight: Callable[[int], float], hops: int = 2) -> Floats:
    """(p,) sum over S without i of weight(|S|) (U(S + i) - U(S)), with U from its dense definition."""
    nodes = near_nodes(graph, hops)
    whole = mask_of(graph, nodes)
    utility = {
        tuple(c): induced_utility(graph, hops, mask_of(graph, nodes[c]), RIDGE, metric, whole)
        for c in coalitions(len(nodes))
    }
    total = np.zeros(len(nodes))
    for i in range(len(nodes)):
        for without in coalitions(len(nodes)):
            if not without[i]:
                joined = without.copy()
                joined[i] = True
                total[i] += weight(int(without.sum())) * (utility[tuple(joined)] - utility[tuple(without)])
    return total


def within(ranking: Ranking, expected: Floats, stderrs: float = 4.0) -> bool:
    """Whether every value lies within some standard errors of the expected one."""
    return bool((np.abs(ranking.value - expected) <= stderrs * ranking.stderr + 1e-12).all())
