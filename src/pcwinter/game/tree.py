"""Graph -> ContributionTree: the players of the game in pre-order, so that every subtree is a slice.

A player is a path (r, v1, ..., vk), 0 <= k <= K, from a labelled node r along edges of the training graph. A path may
turn back. The player's node is the last node of the path; its parent is the path without that node. In a directed
graph, paths go against the edges, from the target to the source, because messages go the other way.

A player contributes its last step {u, v} only if its depth is 1 + min(dist(r, u), dist(r, v)). Every other player, and
every descendant of one, is a null player: its value is exactly 0.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pcwinter._util.arrays import BoolArray, Incidence, IntArray
from pcwinter._util.checks import count, instance, one_of, whole_number
from pcwinter._util.compiled import compiled
from pcwinter.graph.graph import Graph, check_graph

LEVELS = ("own", "path", "edge", "edge path")


@dataclass(frozen=True, slots=True, eq=False)
class ContributionTree:
    """The computation trees of all labelled nodes, one after the other, each in pre-order."""

    hops: int
    node: IntArray  # (p,) graph node of each player; a node may occur many times
    parent: IntArray  # (p,) parent player, -1 for a labelled node
    depth: IntArray  # (p,) steps from the labelled node
    size: IntArray  # (p,) players in its subtree, itself included
    null: BoolArray  # (p,) players that can never change a utility
    roots: IntArray  # (t,) the players of depth 0
    nodes: IntArray  # (n,) distinct graph nodes that have players, ascending
    edge: IntArray  # (p,) row of `edges` with the last step, -1 for a labelled node
    edges: IntArray  # (m, 2) distinct edges that have players: (source, target), with source < target if undirected

    @property
    def n_players(self) -> int:
        """Number of players."""
        return len(self.node)

    @property
    def tree(self) -> IntArray:
        """(p,) number of the computation tree that each player belongs to."""
        return np.repeat(np.arange(len(self.roots)), self.size[self.roots])

    @property
    def children(self) -> IntArray:
        """(p,) number of children of each player."""
        return np.bincount(self.parent[self.parent >= 0], minlength=self.n_players)

    def paths(self) -> IntArray:
        """(p, hops + 1) graph nodes from the labelled node to the player's own, padded with -1."""
        paths = np.full((self.n_players, self.hops + 1), -1, dtype=np.int64)
        for depth in range(self.hops + 1):
            here = np.flatnonzero(self.depth == depth)
            if depth:
                paths[here, :depth] = paths[self.parent[here], :depth]
            paths[here, depth] = self.node[here]
        return paths

    def incidence(self, level: str) -> Incidence:
        """0/1 matrix (nodes or edges, players) that sums player values.

        `level` is "own" (players whose node it is), "path" (players whose path contains the node), "edge" (players
        whose last step is the edge) or "edge path" (players whose path contains the edge).
        """
        if one_of("level", level, LEVELS).startswith("edge"):
            place, height = self.edge, len(self.edges)
        else:
            place, height = np.searchsorted(self.nodes, self.node), len(self.nodes)
        players = np.arange(self.n_players)
        keys, at = [], players
        for _ in range(self.hops + 1 if level.endswith("path") else 1):
            row = np.where(at >= 0, place[at], -1)
            keys.append((row * self.n_players + players)[row >= 0])
            at = np.where(at >= 0, self.parent[at], -1)
        rows, columns = np.divmod(np.unique(np.concatenate(keys)), self.n_players)  # once per path
        ones = np.ones(len(rows), dtype=np.int64)
        return sp.csr_array((ones, (rows, columns)), shape=(height, self.n_players))

    def __repr__(self) -> str:
        return (
            f"ContributionTree({count(self.n_players, 'player')} of {count(len(self.roots), 'labelled node')}, "
            f"hops={self.hops}; {int(self.null.sum()):,} of them null, "
            f"on {count(len(self.nodes), 'node')} and {count(len(self.edges), 'edge')})"
        )


def check_tree(tree: object) -> None:
    """Raise an error unless the argument is a ContributionTree."""
    instance("tree", tree, ContributionTree, "a ContributionTree: build one with pcwinter.contribution_tree")


def contribution_tree(graph: Graph, hops: int = 2, *, max_players: int = 10_000_000) -> ContributionTree:
    """Build the contribution tree: all players within `hops` steps of the labelled nodes.

    `graph` is the graph, and `hops` the number of propagation steps K. `max_players` limits the memory: the number of
    players grows like degree ** hops. Players are counted first; if there are more than `max_players`, an error is
    raised before anything is allocated.
    """
    check_graph(graph)
    hops, max_players = whole_number("hops", hops, 1), whole_number("max_players", max_players, 1)
    n = count_players(graph, hops)
    # about 270 + 75 hops bytes per player: the tree, its incidence matrices, one order and its marginals
    if n > max_players:
        raise ValueError(
            f"the contribution tree would have {n:.4g} players (about {n * (270 + 75 * hops) / 1e9:.3g} GB) with "
            f"hops={hops}, more than max_players={max_players:,}: use fewer hops or labelled nodes, "
            "or raise max_players if you have the memory"
        )
    training = graph.training
    indptr, indices = training.indptr.astype(np.int64), training.indices.astype(np.int64)
    node, parent, depth, size = (np.empty(int(n), dtype=np.int64) for _ in range(4))
    null = np.empty(int(n), dtype=np.bool_)
    _grow(indptr, indices, graph.train, hops, node, parent, depth, size, null)

    inner = parent >= 0
    ends = np.stack([node[inner], node[parent[inner]]], axis=1)
    ends = ends if graph.directed else np.sort(ends, axis=1)
    keys, which = np.unique(ends[:, 0] * graph.n_nodes + ends[:, 1], return_inverse=True)
    edge = np.full(int(n), -1, dtype=np.int64)
    edge[inner] = which
    edges = np.stack([keys // graph.n_nodes, keys % graph.n_nodes], axis=1)
    arrays = (node, parent, depth, size, null, np.flatnonzero(~inner), np.unique(node), edge, edges)
    for array in arrays:
        array.flags.writeable = False
    return ContributionTree(hops, *arrays)


def count_players(graph: Graph, hops: int) -> float:
    """Number of players, that is, of walks of 0 to `hops` steps, without building the tree."""
    training, walks = graph.training, np.ones(graph.n_nodes)
    steps = sp.csr_array((np.ones(training.nnz), training.indices, training.indptr), shape=training.shape)
    total = float(len(graph.train))
    for _ in range(hops):
        walks = np.asarray(steps @ walks)
        more = float(walks[graph.train].sum())
        if more == 0 or total == np.inf:
            break
        total += more
    return total


@compiled
def _grow(
    indptr: IntArray,
    indices: IntArray,
    labelled: IntArray,
    hops: int,
    node: IntArray,
    parent: IntArray,
    depth: IntArray,
    size: IntArray,
    null: BoolArray,
) -> None:
    """Fill the pre-order arrays, one labelled node at a time."""
    distance = np.full(len(indptr) - 1, hops + 1)
    reached = np.empty(len(indptr) - 1, dtype=np.int64)
    stack = np.empty(hops + 1, dtype=np.int64)  # the player at each depth of the current path
    cursor = np.empty(hops + 1, dtype=np.int64)  # its next neighbour to visit
    p = 0
    for root in labelled:
        reached[0] = root
        distance[root] = 0
        n_reached = 1
        k = 0
        while k < n_reached and distance[reached[k]] < hops:
            u = reached[k]
            for v in indices[indptr[u] : indptr[u + 1]]:
                if distance[v] > hops:
                    distance[v] = distance[u] + 1
                    reached[n_reached] = v
                    n_reached += 1
            k += 1

        node[p], parent[p], depth[p], null[p] = root, -1, 0, False
        stack[0], cursor[0] = p, indptr[root]
        p += 1
        k = 0
        while k >= 0:
            above = stack[k]
            u = node[above]
            if k == hops or cursor[k] == indptr[u + 1]:
                size[above] = p - above
                k -= 1
                continue
            v = indices[cursor[k]]
            cursor[k] += 1
            k += 1
            node[p], parent[p], depth[p] = v, above, k
            null[p] = null[above] or distance[u] != k - 1 or distance[v] < k - 1
            stack[k], cursor[k] = p, indptr[v]
            p += 1
        for u in reached[:n_reached]:
            distance[u] = hops + 1
