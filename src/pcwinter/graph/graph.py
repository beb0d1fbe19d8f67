"""Arrays -> Graph: checks the user's data and makes the training, validation and test graphs.

A Graph holds the whole graph and the three graphs that the game is played on: training, validation, testing.
All three use the same node numbers. In the inductive setting, no edge connects two of them, and in the transductive
setting, all three are the whole graph.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pcwinter._util.arrays import IntArray, Sparse
from pcwinter._util.checks import count, instance, noun, number, one_of
from pcwinter.graph.adjacency import check_adjacency, parts
from pcwinter.graph.features import SparseLike, as_array, check_features
from pcwinter.graph.propagation import NORMALISATIONS, Scaling

LONGEST = 1_000  # characters allowed in an id
SETTINGS = ("inductive", "transductive")


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Graph:
    """A graph with features, labels and three disjoint node sets.

    `adjacency` is a SciPy sparse (n, n) array or matrix, whose entries are the weights of the edges, or an edge list: m
    pairs of node numbers. In an undirected graph, (u, v) and (v, u) name the same edge. An (m, 2) array is always an
    edge list, even when m = 2. `weights` are the weights of the listed edges, (m,); 1 by default.
    `features` is (n, d), dense or sparse. `labels` is (n,), with -1 or NaN for an unknown label. `train`, `val`
    and `test` are arrays of node numbers, or masks. `n_classes` defaults to 1 + the largest label in these sets.
    `ids` are your names for the nodes, integers or strings; results use them to name nodes. `classes` are the names
    of the classes, in the order of the labels. `name` is the name of the graph: it appears in titles, and a public
    graph has the name that `load` takes.

    With `directed=True`, the pair (u, v) and the entry in row u and column v are the edge from the source u to the
    target v, as in NetworkX, and messages go from u to v. `normalisation` is "symmetric", D^-1/2 (A + s I) D^-1/2, the
    default of undirected graphs, or "row", D^-1 (A + s I), the default of directed graphs and the only one they can
    have. D counts the edges that end in a node. `self_loop` is s, the weight of every self-loop. If edges have weights,
    results depend on the unit of the weights compared with s.

    `setting` is "inductive" or "transductive". The inductive setting cuts all edges between two of these three: the
    nodes of val, the nodes of test, and all others. The transductive setting cuts nothing, and val and test nodes are
    unlabelled nodes of the training graph.

    The input is copied, and every array of a Graph is read-only. Self-loops and edges of weight 0 are dropped. Repeated
    edges are merged, or added up if they have weights. One warning has the numbers. Any other fault raises an error.

    >>> features = [[1.0], [0.0], [2.0], [1.0]]
    >>> graph = Graph([(0, 1), (1, 2), (2, 3)], features, labels=[0, 1, -1, 0], train=[0, 1], val=[3])
    >>> graph
    Graph: 4 nodes, 3 edges, 2 classes, 1 feature
      training    2 labelled nodes, 2 edges
      validation  1 node, 0 edges
      testing     0 nodes, 0 edges
      the inductive split cuts 1 of the 3 edges
    >>> graph.training.toarray()[2]
    array([0., 1., 0., 0.])
    """

    adjacency: Sparse  # (n, n) the whole graph, [source, target]: no loops or zeros, canonical; indices are int64
    features: Sparse  # (n, d) canonical, without explicit zeros
    labels: IntArray  # (n,) -1 where unknown, else below n_classes
    train: IntArray  # sorted node numbers of the labelled nodes, every class among them
    val: IntArray  # sorted node numbers, not empty
    test: IntArray  # sorted node numbers
    n_classes: int
    # the graphs of the game, (n, n), [target, source]: row v has the nodes that v receives from
    training: Sparse  # edges between nodes that are neither in val nor in test; if transductive, all edges
    validation: Sparse  # edges inside val; if transductive, all edges
    testing: Sparse  # edges inside test; if transductive, all edges
    ids: NDArray[Any]  # (n,) the user's names for the nodes: int64 or strings, all different; default 0..n-1
    classes: tuple[str, ...]  # names of the classes
    name: str
    directed: bool
    normalisation: str  # one of NORMALISATIONS
    self_loop: float
    setting: str  # one of SETTINGS

    def __init__(
        self,
        adjacency: ArrayLike | SparseLike,
        features: ArrayLike | SparseLike,
        labels: ArrayLike,
        train: ArrayLike,
        val: ArrayLike,
        test: ArrayLike = (),
        *,
        n_classes: int | None = None,
        ids: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
        name: str = "",
        weights: ArrayLike | None = None,
        directed: bool = False,
        normalisation: str | None = None,
        self_loop: float = 1.0,
        setting: str = "inductive",
    ) -> None:
        instance("directed", directed, (bool, np.bool_), "True or False")
        checked_features = check_features(features)
        n = checked_features.shape[0]
        whole, dropped = check_adjacency(adjacency, weights, n, bool(directed))
        checked_labels = check_labels(labels, n)
        splits = {part: check_nodes(nodes, part, n) for part, nodes in (("train", train), ("val", val), ("test", test))}
        one_of("setting", setting, SETTINGS)
        sides = np.zeros(n, dtype=np.int64)
        if setting == "inductive":
            sides[splits["val"]], sides[splits["test"]] = 1, 2
            graphs = parts(whole, sides, 3)
        else:
            graphs = parts(whole, sides, 1) * 3
        n_found = _check_classes(checked_labels, splits, n_classes)
        names = tuple(map(str, range(n_found) if classes is None else classes))
        if len(names) != n_found:
            raise ValueError(
                f"classes has {count(len(names), 'name')}, but there are {n_found} classes: give one name per class"
            )
        fields = {
            "adjacency": whole,
            "features": checked_features,
            "labels": checked_labels,
            **splits,
            "n_classes": n_found,
            **dict(zip(("training", "validation", "testing"), graphs, strict=True)),
            "ids": np.arange(n) if ids is None else _check_ids(ids, n),
            "classes": names,
            "name": str(name),
            "directed": bool(directed),
            "normalisation": _check_normalisation(normalisation, bool(directed)),
            "self_loop": number("self_loop", self_loop, zero=True),
            "setting": setting,
        }
        for field, value in fields.items():
            _make_read_only(value)
            object.__setattr__(self, field, value)
        if dropped:
            warnings.warn(dropped, UserWarning, stacklevel=2)

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the whole graph."""
        return self.labels.size

    @property
    def n_edges(self) -> int:
        """Number of edges in the whole graph."""
        return self.count_edges(self.adjacency)

    @property
    def n_cut_edges(self) -> int:
        """Number of edges that the inductive split cuts: they are in none of the three graphs."""
        if self.setting == "transductive":
            return 0
        return self.n_edges - sum(map(self.count_edges, (self.training, self.validation, self.testing)))

    @property
    def weighted(self) -> bool:
        """Whether an edge has another weight than 1."""
        return bool((self.adjacency.data != 1).any())

    @property
    def scaling(self) -> Scaling:
        """How the adjacency is normalised."""
        return Scaling(self.normalisation, self.self_loop)

    @property
    def settings(self) -> dict[str, Any]:
        """Direction, normalisation, self-loops and setting, where they differ from those of a plain graph."""
        plain = {"directed": False, "normalisation": "symmetric", "self_loop": 1.0, "setting": "inductive"}
        return {name: getattr(self, name) for name, usual in plain.items() if getattr(self, name) != usual}

    def count_edges(self, adjacency: Sparse) -> int:
        """Number of edges in an adjacency of this graph; an undirected one has every edge in both directions."""
        return int(adjacency.nnz) if self.directed else int(adjacency.nnz) // 2

    def replace(self, **changes: Any) -> "Graph":
        """The same graph, except for the `changes`, which are arguments of `Graph`.

        >>> from pcwinter import load
        >>> load("demo").replace(setting="transductive").training.nnz // 2
        5278
        """
        names = ("adjacency", "features", "labels", "train", "val", "test", "n_classes", "ids", "classes", "name")
        settings = ("directed", "normalisation", "self_loop", "setting")
        given = {name: getattr(self, name) for name in (*names, *settings)}
        if "directed" in changes:
            given["normalisation"] = None
        return Graph(**given | changes)

    def __repr__(self) -> str:
        kind = "directed " * self.directed + "weighted " * self.weighted
        cut = f"the inductive split cuts {self.n_cut_edges} of the {self.n_edges} {noun(self.n_edges, 'edge')}"
        if self.setting == "transductive":
            cut = "the setting is transductive: all three have all edges"
        elif self.looks_transductive and not self.name:
            cut += "; setting='transductive' cuts none"
        if self.normalisation != "symmetric" or self.self_loop != 1:
            cut += f"\n  {self.normalisation} normalisation, self-loops of weight {self.self_loop:g}"
        training, validation, testing = map(self.count_edges, (self.training, self.validation, self.testing))
        return (
            f"Graph: {_size(self.n_nodes, self.n_edges, edge=f'{kind}edge')}, "
            f"{self.n_classes} {noun(self.n_classes, 'class')}, "
            f"{self.features.shape[1]} {noun(self.features.shape[1], 'feature')}\n"
            f"  training    {_size(self.train.size, training, 'labelled node')}\n"
            f"  validation  {_size(self.val.size, validation)}\n"
            f"  testing     {_size(self.test.size, testing)}\n"
            f"  {cut}"
        )

    @property
    def looks_transductive(self) -> bool:
        """Whether the inductive split cuts more than half of the edges: the sets may be meant to share one graph."""
        return 2 * self.n_cut_edges > self.n_edges


def check_graph(graph: object) -> None:
    """Raise an error unless the argument is a Graph."""
    instance("graph", graph, Graph, "a pcwinter.Graph: build one, or load one with pcwinter.load")


def _size(nodes: int, edges: int, node: str = "node", edge: str = "edge") -> str:
    return f"{nodes} {noun(nodes, node)}, {edges} {noun(edges, edge)}"


def _check_normalisation(normalisation: str | None, directed: bool) -> str:
    if normalisation is None:
        return "row" if directed else "symmetric"
    if one_of("normalisation", normalisation, NORMALISATIONS) == "symmetric" and directed:
        raise ValueError(
            "normalisation is 'symmetric', which needs one degree for every node, but a directed graph has two: use "
            "'row', or leave normalisation out"
        )
    return normalisation


def check_labels(labels: ArrayLike, n: int) -> IntArray:
    """(n,) integers, or whole floats in which NaN means unknown -> int64 with -1 for unknown."""
    given = as_array(labels, "labels", "an array of n integers")
    if given.dtype.kind not in "biuf":
        raise TypeError(
            f"labels has entries of type {given.dtype}, but must hold integers: number the classes, "
            "for example with numpy.unique(labels, return_inverse=True)"
        )
    if given.shape != (n,):
        raise ValueError(
            f"labels has shape {given.shape}, but must be ({n},), one integer for each row of features "
            "(labels.argmax(axis=1) turns one-hot rows into integers)"
        )
    known = np.where(np.isnan(given), -1, given)
    bad = np.flatnonzero((known != np.floor(known)) | (known < -1) | (known > np.iinfo(np.int32).max))
    if bad.size:
        raise ValueError(f"node {bad[0]} has label {given[bad[0]]}, but labels must be 0, 1, 2, ..., or -1 if unknown")
    return known.astype(np.int64)


def check_nodes(nodes: ArrayLike, name: str, n: int) -> IntArray:
    """Node numbers or a mask -> sorted node numbers."""
    given = as_array(nodes, name, "an array of node numbers or a boolean mask")
    if given.ndim != 1:
        raise ValueError(f"{name} has shape {given.shape}, but must be 1-D: node numbers, or a mask of length {n}")
    if given.dtype.kind == "b":
        if given.size != n:
            raise ValueError(
                f"{name} is a mask of length {given.size}, but features has {count(n, 'row')}: pass one boolean each"
            )
        return np.flatnonzero(given).astype(np.int64)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name} has entries of type {given.dtype}, but must be integer node numbers or a boolean mask")
    wrong = given[(given < 0) | (given >= n)]
    if wrong.size:
        raise ValueError(f"{name} names node {wrong[0]}, but node numbers must lie in 0..{n - 1}")
    result: IntArray = np.sort(given.astype(np.int64))
    repeated = result[1:][result[1:] == result[:-1]]
    if repeated.size:
        raise ValueError(f"{name} names node {repeated[0]} more than once: pass each node once")
    return result


def _check_classes(labels: IntArray, splits: dict[str, IntArray], n_classes: int | None) -> int:
    """The number of classes, after checking that labels and splits agree."""
    if splits["train"].size == 0:
        raise ValueError(
            "train is empty, but the model needs labelled nodes to learn from: pass at least one node per class"
        )
    if splits["val"].size == 0:
        raise ValueError("val is empty, but the utility is measured on validation nodes: pass at least one")
    for first, second in (("train", "val"), ("train", "test"), ("val", "test")):
        both = np.intersect1d(splits[first], splits[second], assume_unique=True)
        if both.size:
            raise ValueError(
                f"{first} and {second} share {count(both.size, 'node')}, such as node {both[0]}: "
                "put each node in one set only"
            )
    for name, nodes in splits.items():
        unknown = nodes[labels[nodes] < 0]
        if unknown.size:
            raise ValueError(
                f"{name} holds {count(unknown.size, 'node')} without a label, such as node {unknown[0]}: "
                f"label them or remove them from {name}"
            )
    used = np.concatenate(list(splits.values()))
    n_found = 1 + int(labels[used].max()) if n_classes is None else n_classes
    if isinstance(n_found, bool) or not isinstance(n_found, (int, np.integer)) or n_found < 1:
        raise ValueError(f"n_classes is {n_classes!r}, but must be a positive integer or None")
    beyond = np.flatnonzero(labels >= n_found)
    if beyond.size:
        raise ValueError(
            f"node {beyond[0]} has label {labels[beyond[0]]}, but with {count(n_found, 'class')} "
            f"({'counted in train, val and test' if n_classes is None else 'as n_classes says'}) "
            f"labels must lie in 0..{n_found - 1}: correct the label, or set it to -1 if the node is in no set"
        )
    present = np.unique(labels[splits["train"]])
    if present.size < n_found:
        missing = next((c for c, label in enumerate(present.tolist()) if c != label), present.size)
        raise ValueError(
            f"class {missing} of {n_found} has no node in train, so a model cannot learn it: "
            "add a node of this class to train, or number the classes without gaps"
        )
    return int(n_found)


def _check_ids(ids: ArrayLike, n: int) -> NDArray[Any]:
    """(n,) integers or strings, all different."""
    given = as_array(ids, "ids", "an array of n integers or strings")
    if given.shape != (n,):
        raise ValueError(f"ids has shape {given.shape}, but must be ({n},), one id for each row of features")
    if given.dtype.kind not in "iuUO" or (given.dtype.kind == "O" and not all(isinstance(i, str) for i in given)):
        raise TypeError(f"ids has entries of type {given.dtype}, but must hold integers or strings")
    if given.dtype.kind not in "iu":
        longest = max(map(len, given))
        if longest > LONGEST:
            raise ValueError(f"an id has {longest:,} characters, but at most {LONGEST:,} are allowed: shorten it")
        try:
            "".join(given).encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"an id is not valid Unicode ({error.reason}): correct it") from None
    result = given.astype(np.int64 if given.dtype.kind in "iu" else str)
    values, times = np.unique(result, return_counts=True)
    if values.size < n:
        raise ValueError(f"two nodes have the id {values[times > 1][0]!s}, but ids must be unique: rename one")
    return result


def _make_read_only(value: object) -> None:
    for array in (value.data, value.indices, value.indptr) if isinstance(value, sp.csr_array) else (value,):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
