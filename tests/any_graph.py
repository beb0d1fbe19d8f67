"""Graphs with weights, a direction, other self-loops or the transductive setting, and their dense twins."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from oracles import Mask, ridge_scores, walks_that_rest
from pcwinter.game.tree import ContributionTree
from pcwinter.graph.graph import Graph

Floats = npt.NDArray[np.float64]
KINDS: dict[str, dict[str, Any]] = {
    "weighted": {"weighted": True},
    "directed": {"directed": True},
    "directed weighted": {"directed": True, "weighted": True},
    "row": {"normalisation": "row", "weighted": True},
    "loops": {"self_loop": 2.5, "weighted": True},
    "no loops": {"self_loop": 0.0, "directed": True, "weighted": True},
    "transductive": {"setting": "transductive", "directed": True, "weighted": True},
    "plain transductive": {"setting": "transductive"},
}
ANY_KIND = pytest.mark.parametrize("kind", KINDS)


def any_graph(kind: str, seed: int = 0, n: int = 9, probability: float = 0.3, n_train: int = 4, **sizes: int) -> Graph:
    """A random graph of a kind: `n` nodes to train on, then validation nodes and a few test nodes, all connected."""
    options = dict(KINDS[kind])
    weighted, n_val, n_classes = options.pop("weighted", False), sizes.get("n_val", 12), sizes.get("n_classes", 2)
    rng = np.random.default_rng(seed)
    total, d = n + n_val + 4, sizes.get("n_features", 6)
    entries = np.triu(rng.random((total, total)) < probability, 1)
    if options.get("directed"):
        entries = (rng.random((total, total)) < probability) & ~np.eye(total, dtype=bool)
    edges = rng.permutation(np.argwhere(entries))
    labels = np.full(total, -1)
    labels[:n_train] = np.arange(n_train) % n_classes
    labels[n:] = np.arange(total - n) % n_classes
    features = rng.random((total, d)) + np.where(labels >= 0, 1, 0)[:, None] * np.eye(n_classes, d)[labels]
    sets: list[Any] = [np.arange(n_train), np.arange(n, n + n_val), np.arange(n + n_val, total)]
    weights = rng.uniform(0.2, 5, len(edges)) if weighted else None
    return Graph(edges, features, labels, *sets, n_classes=n_classes, weights=weights, **options)


def dense(graph: Graph, part: str = "training") -> Floats:
    """Row v has the weights of the edges that end in v, in the training, validation or test graph; from `adjacency`."""
    side = np.zeros(graph.n_nodes, dtype=int)
    side[graph.val], side[graph.test] = 1, 2
    whole = graph.adjacency.toarray().T
    if graph.setting == "transductive":
        return np.asarray(whole)
    inside = side == {"training": 0, "validation": 1, "testing": 2}[part]
    return np.asarray(whole * np.outer(inside, inside))


def operator(graph: Graph, adjacency: Floats) -> Floats:
    """S, from its definition."""
    looped = adjacency + graph.self_loop * np.eye(len(adjacency))
    degree = looped.sum(axis=1)
    inverse = np.array([1 / d if d > 0 else 0.0 for d in degree])
    if graph.normalisation == "row":
        return np.asarray(np.diag(inverse) @ looped)
    return np.asarray(np.diag(inverse**0.5) @ looped @ np.diag(inverse**0.5))


def model_rows(graph: Graph, adjacency: Floats, theta: tuple[float, ...]) -> Floats:
    """(n, d) sum over j of theta_j S^j X."""
    step = operator(graph, adjacency)
    powers = [weight * np.linalg.matrix_power(step, j) for j, weight in enumerate(theta)]
    return np.asarray(np.sum(powers, axis=0) @ graph.features.toarray())


def coalition_rows(graph: Graph, tree: ContributionTree, coalition: Mask, theta: tuple[float, ...]) -> Floats:
    """(roots in the coalition, d) rows of the message game, from the definition."""
    step, features = operator(graph, dense(graph)), graph.features.toarray()
    paths = [tuple(int(v) for v in path if v >= 0) for path in tree.paths()]
    members = {path for path, inside in zip(paths, coalition, strict=True) if inside}
    rows = []
    for root in (int(r) for r in graph.train if (int(r),) in members):
        weights = walks_that_rest(step, root, theta)
        acting = [path for path in weights if all(path[:k] in members for k in range(1, len(path) + 1))]
        total = sum(weights[path] for path in acting)
        row = np.sum([weights[path] * features[path[-1]] for path in acting], axis=0)
        rows.append(row * sum(weights.values()) / total if total else np.zeros_like(features[0]))
    return np.array(rows)


def coalition_scores(
    graph: Graph, tree: ContributionTree, coalition: Mask, penalty: float, bias: float, theta: tuple[float, ...]
) -> Floats:
    """(v, c) validation scores of the ridge head, from the definition."""
    complete = model_rows(graph, dense(graph), theta)[graph.train]
    scale = np.mean(np.sum(complete**2, axis=1)) ** -0.5
    rows = coalition_rows(graph, tree, coalition, theta)
    labels = graph.labels[graph.train[coalition[tree.roots]]]
    z = model_rows(graph, dense(graph, "validation"), theta)[graph.val]
    return ridge_scores(rows, labels, z, graph.n_classes, penalty, bias, scale)
