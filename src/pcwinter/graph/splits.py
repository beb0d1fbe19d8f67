"""Labels -> train, val and test: random splits with the sizes that the paper uses."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pcwinter._util.arrays import IntArray, Sparse
from pcwinter._util.checks import whole_number
from pcwinter.graph.graph import Graph

PER_CLASS = 20  # labelled nodes per class in every split of the paper


def random_split(
    labels: ArrayLike, *, per_class: int, val: int, test: int, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Draw train, val and test at random: three sorted arrays of node numbers.

    `labels` is (n,), with -1 for an unknown label; only labelled nodes are drawn. `per_class` is the number of training
    nodes of each class. `val` and `test` are the sizes of the other two sets. `seed` determines the split.

    >>> train, val, test = random_split([0, 1, 0, 1, -1, 0, 1], per_class=1, val=2, test=2, seed=0)
    >>> train.size, val.size, test.size
    (2, 2, 2)
    """
    for name, option, least in (("per_class", per_class, 1), ("val", val, 0), ("test", test, 0), ("seed", seed, 0)):
        whole_number(name, option, least)
    known = np.asarray(labels)
    counts = np.bincount(known[known >= 0])
    scarce = np.flatnonzero(counts < per_class)
    if scarce.size:
        raise ValueError(
            f"class {scarce[0]} has {counts[scarce[0]]} labelled nodes, but per_class is {per_class}: lower it"
        )
    spare = int(counts.sum()) - per_class * counts.size
    if val + test > spare:
        raise ValueError(
            f"val + test is {val + test}, but after train only {spare} labelled nodes are left: lower val or test"
        )
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(known >= 0))
    train = np.concatenate([drawn[known[drawn] == c][:per_class] for c in range(counts.size)])
    rest = drawn[~np.isin(drawn, train)]
    return np.sort(train), np.sort(rest[:val]), np.sort(rest[val : val + test])


def fresh_split(graph: Graph, seed: int) -> Graph:
    """The same graph with a new random split of the same sizes, and the same number of training nodes per class.

    >>> from pcwinter import load
    >>> fresh_split(load("demo"), seed=5).train.tolist() == load("demo", seed=5).train.tolist()
    True
    """
    split = _same_sizes(graph, graph.labels, seed)
    return _again(graph, graph.adjacency, split)


def choice_split(graph: Graph, seed: int) -> tuple[Graph, Graph]:
    """A fresh split with a fourth part, `choice`, on which methods are compared without looking at test nodes.

    `graph` has the split of the paper, or your own. Returned are two graphs with the same train, val and training
    graph. The test nodes of the first are the choice nodes: as many as val, and none of them a test node of `graph`.
    The test nodes of the second are a fresh test set. Neither graph contains edges of the other's test nodes.

    >>> from pcwinter import load
    >>> choosing, confirming = choice_split(load("demo"), seed=0)
    >>> choosing.test.size, confirming.test.size
    (500, 1000)
    """
    whole_number("seed", seed, 0)
    candidates = np.setdiff1d(np.flatnonzero(graph.labels >= 0), graph.test)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    choice = np.sort(rng.permutation(candidates)[: len(graph.val)])
    rest = graph.labels.copy()
    rest[choice] = -1
    train, val, test = _same_sizes(graph, rest, seed)

    def without(hidden: IntArray, shown: IntArray) -> Graph:
        keep = sp.diags_array(~np.isin(np.arange(graph.n_nodes), hidden) * 1.0)
        edges = sp.csr_array(keep @ graph.adjacency @ keep)
        edges.eliminate_zeros()
        return _again(graph, edges, (train, val, shown))

    return without(test, choice), without(choice, test)


def _again(graph: Graph, edges: Sparse, split: tuple[IntArray, IntArray, IntArray]) -> Graph:
    """The same nodes with other edges and another split."""
    if graph.regression:
        known: dict[str, Any] = {"targets": graph.targets}
    else:
        known = {"labels": graph.labels, "classes": graph.classes}
    train, val, test = split
    return Graph(edges, graph.features, train=train, val=val, test=test, ids=graph.ids, name=graph.name, **known)


def _same_sizes(graph: Graph, labels: IntArray, seed: int) -> tuple[IntArray, IntArray, IntArray]:
    """A random split of the nodes with `labels`, with the sizes of the split of `graph`."""
    per_class, val, test = len(graph.train) // graph.n_classes, len(graph.val), len(graph.test)
    found = np.bincount(labels[labels >= 0], minlength=graph.n_classes)
    scarce, needed = int(found.argmin()), per_class * graph.n_classes + val + test
    if found[scarce] < per_class or found.sum() < needed:
        raise ValueError(
            f"a new split of the same sizes needs {needed:,} labelled nodes, {per_class:,} or more of every class, but "
            f"there are {found.sum():,}, {found[scarce]:,} of class {graph.classes[scarce]}: give more nodes a label, "
            "or make val and test smaller"
        )
    return random_split(labels, per_class=per_class, val=val, test=test, seed=seed)
