"""Slow and obviously right twins of the library: straight from the definitions, sharing no code with it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pcwinter.game.tree import ContributionTree
from pcwinter.graph.graph import Graph

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def make_graph(
    edges: Sequence[tuple[int, int]],
    train: Sequence[int],
    *,
    n: int | None = None,
    n_val: int = 12,
    n_classes: int = 2,
    n_features: int = 5,
    seed: int = 0,
) -> Graph:
    """A small graph: the given edges among nodes 0..n-1, then validation nodes in a ring, random features."""
    rng = np.random.default_rng(seed)
    n = max([max(e) for e in edges] + list(train)) + 1 if n is None else n
    total = n + n_val
    labels = np.full(total, -1)
    labels[list(train)] = np.arange(len(train)) % n_classes
    labels[n:] = np.arange(n_val) % n_classes
    features = rng.random((total, n_features))
    features[n:] += np.eye(n_classes, n_features)[labels[n:]]
    features[list(train)] += np.eye(n_classes, n_features)[labels[list(train)]]
    ring = [(n + k, n + (k + 1) % n_val) for k in range(n_val)] if n_val > 2 else []
    return Graph([*edges, *ring], features, labels, train=train, val=np.arange(n, total), test=[], n_classes=n_classes)


def random_graph(seed: int, n: int = 12, probability: float = 0.25, n_train: int = 4, **options: int) -> Graph:
    """An Erdos-Renyi training graph, with triangles, and `n_train` labelled nodes."""
    rng = np.random.default_rng(seed)
    pairs = [(u, v) for u in range(n) for v in range(u) if rng.random() < probability]
    return make_graph(pairs or [(0, 1)], list(range(n_train)), n=n, seed=seed, **options)


def distances(adjacency: Floats, root: int) -> Floats:
    """Hop distances from the root by powers of the adjacency matrix."""
    found = np.full(len(adjacency), np.inf)
    reach = np.zeros(len(adjacency))
    reach[root] = 1
    for k in range(len(adjacency)):
        found[(reach > 0) & np.isinf(found)] = k
        reach = adjacency @ reach
    return found


def local_graph(graph: Graph, tree: ContributionTree, root: int, coalition: Mask) -> Floats:
    """Adjacency of G_r(S), dense, from the definition."""
    full = graph.training.toarray()
    distance = distances(full, root)
    paths = [tuple(int(v) for v in path if v >= 0) for path in tree.paths()]
    members = {path for path, inside in zip(paths, coalition, strict=True) if inside}
    local = np.zeros_like(full)
    for path in members:
        if path[0] != root or any(path[:k] not in members for k in range(1, len(path))):
            continue
        # a descendant of a null player is null, so every step of the path must be a contributing one
        if all(k == 1 + min(distance[path[k - 1]], distance[path[k]]) for k in range(1, len(path))) and len(path) > 1:
            local[path[-2], path[-1]] = local[path[-1], path[-2]] = 1
    return local


def dense_power(adjacency: Floats, hops: int) -> Floats:
    """(D^-1/2 (A + I) D^-1/2)^hops."""
    looped = adjacency + np.eye(len(adjacency))
    scale = np.diag(looped.sum(axis=1) ** -0.5)
    return np.asarray(np.linalg.matrix_power(scale @ looped @ scale, hops))


def filtered(adjacency: Floats, theta: Sequence[float]) -> Floats:
    """Sum over j of theta_j (D^-1/2 (A + I) D^-1/2)^j."""
    return np.asarray(np.sum([weight * dense_power(adjacency, j) for j, weight in enumerate(theta)], axis=0))


def walks_that_rest(step: Floats, root: int, theta: Sequence[float]) -> dict[tuple[int, ...], float]:
    """Total weight of all walks from the root, by the path that is left when their resting steps are taken out."""
    found: dict[tuple[int, ...], float] = {}
    level: list[tuple[tuple[int, ...], float]] = [((root,), 1.0)]
    for weight in theta:
        for path, product in level:
            found[path] = found.get(path, 0.0) + weight * product
        level = [
            (path if v == path[-1] else (*path, v), product * step[path[-1], v])
            for path, product in level
            for v in range(len(step))
            if step[path[-1], v] != 0
        ]
    return found


def message_row(graph: Graph, tree: ContributionTree, root: int, coalition: Mask, theta: Sequence[float]) -> Floats:
    """h_r(S) of the message game, from the definition."""
    paths = [tuple(int(v) for v in path if v >= 0) for path in tree.paths()]
    members = {path for path, inside in zip(paths, coalition, strict=True) if inside}
    weights = walks_that_rest(dense_power(graph.training.toarray(), 1), root, theta)
    acting = [path for path in weights if all(path[:k] in members for k in range(1, len(path) + 1))]
    total = sum(weights[path] for path in acting)
    features = graph.features.toarray()
    if total == 0:
        return np.zeros(features.shape[1])
    row = np.sum([weights[path] * features[path[-1]] for path in acting], axis=0)
    return np.asarray(row * sum(weights.values()) / total)


def training_rows(
    graph: Graph, tree: ContributionTree, coalition: Mask, theta: Sequence[float] = ()
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Representations and labels of the roots in the coalition; with `theta`, those of the message game."""
    features = graph.features.toarray()
    roots = [int(tree.node[p]) for p in tree.roots if coalition[p]]
    if theta:
        rows = [message_row(graph, tree, r, coalition, theta) for r in roots]
    else:
        rows = [dense_power(local_graph(graph, tree, r, coalition), tree.hops)[r] @ features for r in roots]
    return np.array(rows).reshape(len(roots), features.shape[1]), graph.labels[roots]


def validation_rows(graph: Graph, hops: int, theta: Sequence[float] = ()) -> Floats:
    """Representations of the validation nodes."""
    adjacency = graph.validation.toarray()
    propagation = filtered(adjacency, theta) if theta else dense_power(adjacency, hops)
    return np.asarray((propagation @ graph.features.toarray())[graph.val])


def ridge_scores(
    rows: Floats,
    labels: npt.NDArray[np.int64],
    z: Floats,
    n_classes: int,
    penalty: float,
    bias: float,
    scale: float,
) -> Floats:
    """(v, c) by the normal equations, with features scaled by `scale` and a constant feature `bias`."""
    return ridge_fit(rows, np.eye(n_classes)[labels], z, penalty, bias, scale, np.ones(len(rows)))


def ridge_fit(
    rows: Floats, outcome: Floats, z: Floats, penalty: float, bias: float, scale: float, weights: Floats
) -> Floats:
    """The same for any outcome, (t, c), of the rows, whose squared errors have the given weights."""
    phi = np.hstack([rows * scale, np.full((len(rows), 1), bias)])
    phi_z = np.hstack([z * scale, np.full((len(z), 1), bias)])
    turned = phi.T * weights
    return np.asarray(phi_z @ np.linalg.solve(turned @ phi + penalty * np.eye(phi.shape[1]), turned @ outcome))


def accuracy(scores: Floats, targets: npt.NDArray[np.int64]) -> float:
    """Share of rows whose largest score, the first one among ties, is the target's."""
    rounded = np.round(scores, 9)
    return float(np.mean(rounded.argmax(axis=1) == targets))


def ridge_prefix(
    graph: Graph, tree: ContributionTree, coalition: Mask, penalty: float, bias: float, theta: Sequence[float] = ()
) -> Floats:
    """(v, c) validation scores of the ridge head for a coalition with roots, from the definition."""
    complete, _ = training_rows(graph, tree, np.ones(tree.n_players, dtype=bool), theta)
    scale = 1 / np.sqrt(np.mean(np.sum(complete**2, axis=1)))
    rows, labels = training_rows(graph, tree, coalition, theta)
    z = validation_rows(graph, tree.hops, theta)
    return ridge_scores(rows, labels, z, graph.n_classes, penalty, bias, scale)


def log_likelihood(scores: Floats, targets: npt.NDArray[np.int64]) -> float:
    """Mean log probability of the target under a softmax of the scores."""
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return float(log_p[np.arange(len(targets)), targets].mean())
