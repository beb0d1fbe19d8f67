"""Labels -> train, val and test: splits drawn at random, in the paper's shape."""

import numpy as np
from numpy.typing import ArrayLike

from pcwinter._util.arrays import IntArray
from pcwinter._util.checks import whole_number
from pcwinter.graph.graph import Graph

PER_CLASS = 20  # labelled nodes of each class in every split of the paper


def random_split(
    labels: ArrayLike, *, per_class: int, val: int, test: int, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Draw `per_class` nodes of every class to train on, then `val` and `test` of the other labelled nodes.

    `labels` is (n,), -1 where unknown. The three sets come sorted.

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
        raise ValueError(f"class {scarce[0]} has {counts[scarce[0]]} labelled nodes, but per_class is {per_class}")
    spare = int(counts.sum()) - per_class * counts.size
    if val + test > spare:
        raise ValueError(f"val + test is {val + test}, but beside train only {spare} nodes are labelled")
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(known >= 0))
    train = np.concatenate([drawn[known[drawn] == c][:per_class] for c in range(counts.size)])
    rest = drawn[~np.isin(drawn, train)]
    return np.sort(train), np.sort(rest[:val]), np.sort(rest[val : val + test])


def fresh_split(graph: Graph, seed: int) -> Graph:
    """The same graph with a random split of the same shape: equally many nodes of every class to train on.

    >>> fresh_split(load("demo"), seed=5).train.tolist() == load("demo", seed=5).train.tolist()
    True
    """
    sizes = {"per_class": len(graph.train) // graph.n_classes, "val": len(graph.val), "test": len(graph.test)}
    split = random_split(graph.labels, **sizes, seed=seed)
    whole, names = (graph.adjacency, graph.features, graph.labels), graph.classes
    return Graph(*whole, *split, ids=graph.ids, classes=names, name=graph.name)
