"""Arrays -> Graph: checks the user's data and makes the inductive split.

A Graph holds the whole graph and the three graphs that the game is played on: training, validation, testing.
All three use the same node numbers. No edge connects two of them.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter._util.checks import count, instance, noun
from pcwinter.graph.features import SparseLike, as_array, check_features
from pcwinter.graph.targets import check_targets

LONGEST = 1_000  # characters allowed in an id


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Graph:
    """An undirected, unweighted graph with features, labels and three disjoint node sets.

    `adjacency` is a SciPy sparse (n, n) array or matrix, or an edge list: m pairs of node numbers, where (u, v) and (v,
    u) name the same edge. An (m, 2) array is always an edge list, even when m = 2. `features` is (n, d), dense or
    sparse. `labels` is (n,), with -1 or NaN for an unknown label. `train`, `val` and `test` are arrays of node numbers,
    or masks. `n_classes` defaults to 1 + the largest label in these sets. `ids` are your names for the nodes, integers
    or strings; results use them to name nodes. `classes` are the names of the classes, in the order of the labels.
    `targets` are numbers instead of `labels`, for regression: (n,), or (n, k) for several at once, with NaN where
    unknown. `name` is the name of the graph: it appears in titles, and a public graph has the name that `load` takes.

    The input is copied, and every array of a Graph is read-only. Self-loops are dropped and repeated edges merged,
    with one warning. Any other fault raises an error.

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

    adjacency: Sparse  # (n, n) the whole graph: symmetric, ones, no loops, canonical; all indices are int64
    features: Sparse  # (n, d) canonical, without explicit zeros
    labels: IntArray  # (n,) -1 where unknown, else below n_classes; with targets, 0 where they are known
    targets: FloatArray  # (n, k) numbers, NaN where unknown; (n, 0) if there are classes
    train: IntArray  # sorted node numbers of the labelled nodes, every class among them
    val: IntArray  # sorted node numbers, not empty
    test: IntArray  # sorted node numbers
    n_classes: int
    training: Sparse  # (n, n) edges between nodes that are neither in val nor in test
    validation: Sparse  # (n, n) edges inside val
    testing: Sparse  # (n, n) edges inside test
    ids: NDArray[Any]  # (n,) the user's names for the nodes: int64 or strings, all different; default 0..n-1
    classes: tuple[str, ...]  # names of the classes
    name: str

    def __init__(
        self,
        adjacency: ArrayLike | SparseLike,
        features: ArrayLike | SparseLike,
        labels: ArrayLike | None = None,
        train: ArrayLike = (),
        val: ArrayLike = (),
        test: ArrayLike = (),
        *,
        targets: ArrayLike | None = None,
        n_classes: int | None = None,
        ids: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
        name: str = "",
    ) -> None:
        checked_features = check_features(features)
        n = checked_features.shape[0]
        row, col = _check_adjacency(adjacency, n)
        if (labels is None) == (targets is None):
            came = "neither labels nor targets are given" if labels is None else "both labels and targets are given"
            raise ValueError(f"{came}: pass labels for classes, or targets for numbers")
        numbers = np.empty((n, 0)) if targets is None else check_targets(targets, n)
        if labels is None:
            if n_classes is not None or classes is not None:
                raise ValueError("targets are numbers and have no classes: leave out n_classes and classes")
            labels, classes = -np.isnan(numbers[:, 0]).astype(np.int64), ["known"]
        checked_labels = check_labels(labels, n)
        splits = {part: check_nodes(nodes, part, n) for part, nodes in (("train", train), ("val", val), ("test", test))}
        whole, loops, repeats = _simple_graph(row, col, n)
        graphs = _inductive(whole, splits["val"], splits["test"])
        n_found = _check_classes(checked_labels, splits, n_classes, "label" if targets is None else "target")
        names = tuple(map(str, range(n_found) if classes is None else classes))
        if len(names) != n_found:
            raise ValueError(
                f"classes has {count(len(names), 'name')}, but there are {n_found} classes: give one name per class"
            )
        fields = {
            "adjacency": whole,
            "features": checked_features,
            "labels": checked_labels,
            "targets": numbers,
            **splits,
            "n_classes": n_found,
            **dict(zip(("training", "validation", "testing"), graphs, strict=True)),
            "ids": np.arange(n) if ids is None else _check_ids(ids, n),
            "classes": names,
            "name": str(name),
        }
        for field, value in fields.items():
            _make_read_only(value)
            object.__setattr__(self, field, value)
        if loops or repeats:
            message = f"dropped {count(loops, 'self-loop')} and merged {count(repeats, 'repeated edge')} of adjacency"
            warnings.warn(message, UserWarning, stacklevel=2)

    @property
    def regression(self) -> bool:
        """Whether the targets are numbers, not classes."""
        return bool(self.targets.shape[1])

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the whole graph."""
        return self.labels.size

    @property
    def n_edges(self) -> int:
        """Number of undirected edges in the whole graph."""
        return self.adjacency.nnz // 2

    @property
    def n_cut_edges(self) -> int:
        """Number of undirected edges that the inductive split cuts: they are in none of the three graphs."""
        return self.n_edges - (self.training.nnz + self.validation.nnz + self.testing.nnz) // 2

    def __repr__(self) -> str:
        predicted = f"{self.n_classes} {noun(self.n_classes, 'class')}"
        if self.regression:
            predicted = f"regression on {count(self.targets.shape[1], 'target')}"
        return (
            f"Graph: {_size(self.n_nodes, self.n_edges)}, {predicted}, "
            f"{self.features.shape[1]} {noun(self.features.shape[1], 'feature')}\n"
            f"  training    {_size(self.train.size, self.training.nnz // 2, 'labelled node')}\n"
            f"  validation  {_size(self.val.size, self.validation.nnz // 2)}\n"
            f"  testing     {_size(self.test.size, self.testing.nnz // 2)}\n"
            f"  the inductive split cuts {self.n_cut_edges} of the {self.n_edges} {noun(self.n_edges, 'edge')}"
        )


def check_graph(graph: object) -> None:
    """Raise an error unless the argument is a Graph."""
    instance("graph", graph, Graph, "a pcwinter.Graph: build one, or load one with pcwinter.load")


def _size(nodes: int, edges: int, node: str = "node") -> str:
    return f"{nodes} {noun(nodes, node)}, {edges} {noun(edges, 'edge')}"


def _check_adjacency(adjacency: ArrayLike | SparseLike, n: int) -> tuple[IntArray, IntArray]:
    """Sparse matrix or edge list -> the two ends of every listed edge, including loops and repeats."""
    if sp.issparse(adjacency):
        return _check_matrix(adjacency, n)
    pairs = as_array(adjacency, "adjacency", "a SciPy sparse (n, n) array or an edge list of m pairs")
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        advice = "pass a SciPy sparse (n, n) array or an edge list (m, 2)"
        if pairs.shape == (n, n):
            advice = "pass scipy.sparse.csr_array(adjacency), or an edge list (m, 2)"
        elif pairs.ndim == 2 and pairs.shape[0] == 2:
            advice = "an edge list has one edge per row: pass adjacency.T, which is (m, 2)"
        raise ValueError(f"adjacency is a dense array of shape {pairs.shape}: {advice}")
    if pairs.dtype.kind not in "iu":
        raise TypeError(f"the edge list has entries of type {pairs.dtype}, but must hold integer node numbers")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        wrong = pairs[(pairs < 0) | (pairs >= n)][0]
        raise ValueError(
            f"adjacency names node {wrong}, but features has {count(n, 'row')}: node numbers must lie in 0..{n - 1}"
        )
    row, col = pairs.astype(np.int64).T
    return row, col


def _check_matrix(adjacency: Any, n: int) -> tuple[IntArray, IntArray]:
    """Sparse (n, n) -> row and column of every entry; each edge appears in both directions."""
    if adjacency.shape != (n, n):
        raise ValueError(
            f"adjacency has shape {adjacency.shape}, but features has {count(n, 'row')}: adjacency must be ({n}, {n})"
        )
    coo: Any = sp.coo_array(adjacency)
    stored = coo.data != 0
    weights, row, col = coo.data[stored], coo.row[stored].astype(np.int64), coo.col[stored].astype(np.int64)
    if not (weights == 1).all():
        at = np.flatnonzero(weights != 1)[0]
        raise ValueError(
            f"adjacency has weight {weights[at]} on edge ({row[at]}, {col[at]}), but edge "
            "weights are not supported: drop the weights with (adjacency != 0).astype(float)"
        )
    forth, back = np.unique(row * n + col), np.unique(col * n + row)
    alone = np.setdiff1d(forth, back, assume_unique=True)
    if alone.size:
        u, v = divmod(int(alone[0]), n)
        raise ValueError(
            f"adjacency is not symmetric: entry ({u}, {v}), one of {alone.size:,}, has no counterpart in the "
            "other direction; if direction does not matter, pass adjacency.maximum(adjacency.T)"
        )
    return row, col


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
        raise ValueError(
            f"node {bad[0]} has label {given[bad[0]]}, but labels must be 0, 1, 2, ..., or -1 if unknown: "
            "number the classes, or pass numbers to predict as targets"
        )
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


def _check_classes(labels: IntArray, splits: dict[str, IntArray], n_classes: int | None, word: str) -> int:
    """The number of classes, after checking that labels and splits agree; `word` is what a node may lack."""
    if splits["train"].size == 0:
        raise ValueError(
            "train is empty, but the model needs labelled nodes to learn from: pass at least one node per class"
        )
    if splits["val"].size == 0:
        raise ValueError(
            "val is empty, but the utility is measured on validation nodes: pass at least one, or draw train, val and "
            "test with pcwinter.random_split(labels, per_class=20, val=500, test=1000, seed=0)"
        )
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
                f"{name} holds {count(unknown.size, 'node')} without a {word}, such as node {unknown[0]}: "
                f"{'label them' if word == 'label' else 'give them one'} or remove them from {name}"
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


def _simple_graph(row: IntArray, col: IntArray, n: int) -> tuple[Sparse, int, int]:
    """Ends of edges, in either direction -> the simple graph, the loops dropped and the repeats merged.

    An edge listed a times as (u, v) and b times as (v, u) counts as max(a, b) - 1 repeats.
    """
    proper = row != col
    u, v = row[proper], col[proper]
    keys, times = np.unique(u * n + v, return_counts=True)
    u, v = keys // n, keys % n
    edges, edge_of = np.unique(np.minimum(u, v) * n + np.maximum(u, v), return_inverse=True)
    most = np.zeros(edges.size, dtype=np.int64)
    np.maximum.at(most, edge_of, times)
    return _from_edges(edges // n, edges % n, n), row.size - int(proper.sum()), int(most.sum()) - edges.size


def _inductive(whole: Sparse, val: IntArray, test: IntArray) -> tuple[Sparse, Sparse, Sparse]:
    """The training, validation and test graphs: each keeps the edges with both ends in its own set of nodes."""
    n = whole.shape[0]
    side = np.zeros(n, dtype=np.int64)
    side[val], side[test] = 1, 2
    upper = sp.triu(whole, format="coo")
    u, v = upper.row.astype(np.int64), upper.col.astype(np.int64)
    training, validation, testing = (
        _from_edges(u[keep], v[keep], n) for keep in ((side[u] == k) & (side[v] == k) for k in range(3))
    )
    return training, validation, testing


def _from_edges(u: IntArray, v: IntArray, n: int) -> Sparse:
    """Each undirected edge once -> canonical symmetric adjacency of ones."""
    ends = np.concatenate([u, v]), np.concatenate([v, u])
    return sp.csr_array((np.ones(2 * u.size), ends), shape=(n, n))


def _make_read_only(value: object) -> None:
    for array in (value.data, value.indices, value.indptr) if isinstance(value, sp.csr_array) else (value,):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
