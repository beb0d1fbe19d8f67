"""Rows of the filter "hops" from their definition, dense: the slow twin of blocks in the message game."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from any_graph import dense
from oracles import Mask, ridge_scores
from pcwinter.game.tree import ContributionTree
from pcwinter.graph.graph import Graph

Floats = npt.NDArray[np.float64]


def row_normalised(adjacency: Floats) -> Floats:
    """A with rows that sum to 1, or to 0."""
    degree = adjacency.sum(axis=1)
    return np.asarray(adjacency / np.where(degree > 0, degree, 1)[:, None])


def plain_blocks(graph: Graph, hops: int, part: str) -> list[Floats]:
    """X, A X, ..., A^K X of all nodes."""
    step = row_normalised(dense(graph, part))
    return [np.linalg.matrix_power(step, k) @ graph.features.toarray() for k in range(hops + 1)]


def block_scales(graph: Graph, hops: int) -> list[float]:
    """1 / the root mean square norm of every block over the complete rows."""
    blocks = [block[graph.train] for block in plain_blocks(graph, hops, "training")]
    norms = [float(np.sqrt(np.mean(np.sum(block**2, axis=1)))) for block in blocks]
    return [1 / norm if norm else 1.0 for norm in norms]


def model_blocks(graph: Graph, hops: int, part: str = "training") -> Floats:
    """(n, (K + 1) d) rows of the model."""
    blocks, scales = plain_blocks(graph, hops, part), block_scales(graph, hops)
    return np.hstack([block * scale for block, scale in zip(blocks, scales, strict=True)])


def block_rows(graph: Graph, tree: ContributionTree, coalition: Mask) -> Floats:
    """(roots in the coalition, (K + 1) d) rows: a player of depth k adds to block k, with its own sum of weights."""
    step, features = row_normalised(dense(graph)), graph.features.toarray()
    scales = block_scales(graph, tree.hops)
    paths = [tuple(int(v) for v in path if v >= 0) for path in tree.paths()]
    members = {path for path, inside in zip(paths, coalition, strict=True) if inside}
    rows = []
    for root in (int(r) for r in graph.train if (int(r),) in members):
        row = np.zeros((tree.hops + 1, features.shape[1]))
        for depth in range(tree.hops + 1):
            whole = acting = 0.0
            for path in (path for path in paths if path[0] == root and len(path) == depth + 1):
                weight = float(np.prod([step[a, b] for a, b in pairwise(path)]))
                whole += weight
                if all(path[:k] in members for k in range(1, len(path) + 1)):
                    acting += weight
                    row[depth] += weight * features[path[-1]]
            row[depth] *= scales[depth] * whole / acting if acting else 0.0
        rows.append(row.ravel())
    return np.array(rows)


def block_scores(graph: Graph, tree: ContributionTree, coalition: Mask, penalty: float, bias: float) -> Floats:
    """(v, c) validation scores of the ridge head, from the definition."""
    complete = model_blocks(graph, tree.hops)[graph.train]
    scale = np.mean(np.sum(complete**2, axis=1)) ** -0.5
    labels = graph.labels[graph.train[coalition[tree.roots]]]
    z = model_blocks(graph, tree.hops, "validation")[graph.val]
    return ridge_scores(block_rows(graph, tree, coalition), labels, z, graph.n_classes, penalty, bias, scale)
