"""Coalitions -> accuracies, one PyTorch model each: the loop that every ratio is measured against.

It follows the authors' procedure. For each player that joins: propagate on the root's local graph, append the row to
those of the finished roots, train a new linear softmax classifier by Adam, score the validation nodes. It differs from
their script in two points. The local graph is a small sparse matrix, not a mask over all pairs of nodes, which makes
the loop faster. Weights start at zero, so that accuracies can be compared with those of the softmax head.
"""

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

import pcwinter as pw
from pcwinter.heads.softmax import softmax_for

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The input of one evaluation: the rows of the finished roots, and the local graph of the current root."""

    root: int  # graph node
    edges: Ints  # (m, 2) edges of its local graph as graph nodes, each once
    rows: Tensor  # (t, d) rows of the roots that joined before, finished
    labels: Tensor  # (t + 1,) labels of these roots, then of this root


class PlainLoop:
    """One model per evaluation, in single precision on one thread."""

    def __init__(self, graph: pw.Graph, tree: pw.ContributionTree) -> None:
        torch.set_num_threads(1)
        self.graph, self.tree = graph, tree
        self.features = torch.from_numpy(graph.features.toarray()).float()
        inside = graph.validation.tocoo()
        pairs = np.stack([inside.row, inside.col], axis=1).astype(np.int64)
        validation = propagate(pairs[pairs[:, 0] < pairs[:, 1]], self.features, tree.hops)
        self.val_rows = validation[torch.tensor(graph.val)]
        self.val_labels = torch.tensor(graph.labels[graph.val])

    def prepare(self, order: pw.Order, ends: list[int]) -> list[Evaluation]:
        """The evaluations after the first `end` players of a DFS order, for ascending `ends`; not timed."""
        tree = self.tree
        number = tree.tree[order.players]  # by position
        finished: dict[int, Tensor] = {}  # tree -> row
        found = []
        for end in ends:
            here = int(number[end - 1])
            begins = np.flatnonzero(np.r_[True, number[1:end] != number[: end - 1]])  # a DFS order: one block per tree
            for begin, after in pairwise(begins.tolist()):
                past = int(number[begin])
                if past not in finished:
                    finished[past] = self.row(int(tree.node[tree.roots[past]]), self._edges(order.players[begin:after]))
            others = number[begins[:-1]].tolist()
            labels = self.graph.labels[tree.node[tree.roots[[*others, here]]]]
            rows = [finished[other] for other in others]
            found.append(
                Evaluation(
                    root=int(tree.node[tree.roots[here]]),
                    edges=self._edges(order.players[begins[-1] : end]),
                    rows=torch.stack(rows) if rows else torch.empty(0, self.features.shape[1]),
                    labels=torch.from_numpy(labels),
                )
            )
        return found

    def _edges(self, players: Ints) -> Ints:
        """(m, 2) edges that these players of one tree contribute; in a DFS order all of them act."""
        real = players[(self.tree.parent[players] >= 0) & ~self.tree.null[players]]
        return np.unique(self.tree.edges[self.tree.edge[real]], axis=0)

    def row(self, root: int, edges: Ints) -> Tensor:
        """(d,) representation of a root on its local graph."""
        nodes = np.unique(np.append(edges, root))
        local = np.searchsorted(nodes, edges)
        propagated = propagate(local, self.features[torch.from_numpy(nodes)], self.tree.hops)
        return propagated[int(np.searchsorted(nodes, root))]

    def evaluate(self, evaluation: Evaluation) -> float:
        """Validation accuracy of a new model: propagate, train, score."""
        rows = torch.cat([evaluation.rows, self.row(evaluation.root, evaluation.edges)[None]])
        recipe = softmax_for(self.graph)
        model = torch.nn.Linear(rows.shape[1], self.graph.n_classes)
        torch.nn.init.zeros_(model.weight)
        torch.nn.init.zeros_(model.bias)
        optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
        for _ in range(recipe.epochs):
            optimizer.zero_grad()
            loss = torch.nn.functional.nll_loss(torch.log_softmax(model(rows), dim=1), evaluation.labels)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        with torch.no_grad():
            named = model(self.val_rows).argmax(dim=1)
        return float((named == self.val_labels).float().mean())

    def timed(self, evaluations: list[Evaluation]) -> tuple[float, list[float]]:
        """Seconds for all of them, and their accuracies."""
        began = time.perf_counter()
        accuracies = [self.evaluate(evaluation) for evaluation in evaluations]
        return time.perf_counter() - began, accuracies


def propagate(edges: Ints, features: Tensor, hops: int) -> Tensor:
    """(n, d) rows of (D^-1/2 (A + I) D^-1/2)^hops X; `edges` is (m, 2), each undirected edge once."""
    loops = torch.arange(len(features))
    ends = torch.from_numpy(np.ascontiguousarray(edges.T, dtype=np.int64))
    source, target = torch.cat([ends[0], ends[1], loops]), torch.cat([ends[1], ends[0], loops])
    scale = torch.bincount(source, minlength=len(features)).float().rsqrt()
    step = torch.sparse_coo_tensor(torch.stack([source, target]), scale[source] * scale[target], check_invariants=False)
    for _ in range(hops):
        features = torch.sparse.mm(step, features)
    return features
