"""Named nodes, classes and sets -> Graph: names become numbers, and the numbers become a Graph.

Every reader ends here, so classes and sets follow the same rules in all formats.
"""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter.graph.features import normalize_features
from pcwinter.graph.graph import Graph

Words: TypeAlias = NDArray[np.object_]  # of str
Where: TypeAlias = Callable[[int], str]  # node number -> its place in the data, such as "line 3 of nodes.csv"

SETS = ("train", "val", "test")
_SET_OF = {
    **dict(zip(SETS, SETS, strict=True)),
    "valid": "val",
    "validation": "val",
    **dict.fromkeys(("", "none", "unlabelled", "unlabeled"), ""),
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")


class Named(NamedTuple):
    """A graph as it is in the user's data; node i is the i-th node there."""

    source: str  # what error messages call the data
    where: Where
    ids: NDArray[Any] | None  # (n,) or None to use the node numbers
    labels: Words  # (n,) name of the class, "" if unknown
    sets: tuple[IntArray, IntArray, IntArray]  # node numbers of train, val, test
    features: FloatArray | Sparse  # (n, d)
    edges: IntArray  # (m, 2) node numbers: source, target
    called: str = "label"  # what the data calls a node's class
    targets: FloatArray | None = None  # (n, k) numbers instead of classes, NaN where unknown
    weights: FloatArray | None = None  # (m,)
    directed: bool = False  # whether the data says so


def settings(
    directed: bool | None = None,
    normalisation: str | None = None,
    self_loop: float = 1.0,
    setting: str | None = None,
) -> dict[str, Any]:
    """Arguments of `Graph` that all readers have. None: directed as the data says, inductive, the usual normalisation.

    If `setting` is None and the inductive split cuts most edges, a warning names the option.
    """
    return {"directed": directed, "normalisation": normalisation, "self_loop": self_loop, "setting": setting}


def split_sets(words: Sequence[object] | Words, where: Where) -> tuple[IntArray, IntArray, IntArray]:
    """Words such as "train", "Validation" or "" -> the node numbers of train, val and test."""
    plain = np.array([str(word).strip().casefold() for word in words], dtype=object)
    for word in dict.fromkeys(plain.tolist()):
        if word not in _SET_OF:
            node = int(np.flatnonzero(plain == word)[0])
            raise ValueError(
                f"{where(node)} has the split {str(words[node])!r}: write train, val or test, "
                "or leave it empty if the node is in none of them"
            )
    sets = np.array([_SET_OF[word] for word in plain.tolist()], dtype=object)
    train, val, test = (np.flatnonzero(sets == name).astype(np.int64) for name in SETS)
    return train, val, test


def mask(given: NDArray[Any], name: str, n: int) -> NDArray[np.bool_]:
    """Booleans, or zeros and ones, for n nodes -> a boolean mask."""
    if given.ndim == 2 and given.shape[0] == n and given.shape[1] > 1:
        raise ValueError(
            f"{name} has {given.shape[1]} columns, one per split: "
            f"choose the same column in every mask, for example {name}[:, 0]"
        )
    if given.shape not in ((n,), (n, 1)) or given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ValueError(
            f"{name} is of type {given.dtype} and shape {given.shape}, but must be a mask: {n} booleans, one per node"
        )
    return given.reshape(n).astype(np.bool_)


def assemble(named: Named, normalize: str, given: Mapping[str, Any], class_names: Sequence[str] | None = None) -> Graph:
    """The Graph. Its classes are the labels that occur in the three sets; any other label becomes -1.

    `given` has the `settings`. When the labels are numbers, `class_names[c]` is the name of class c.
    """
    if named.ids is not None and named.ids.dtype.kind not in "iu" and (named.ids == "").any():
        node = int(np.flatnonzero(named.ids == "")[0])
        raise ValueError(f"{named.where(node)} has an empty id: give every node a unique id")
    for name, nodes in zip(SETS, named.sets, strict=True):
        lacking = named.labels[nodes] == "" if named.targets is None else np.isnan(named.targets[nodes]).any(axis=1)
        unknown = nodes[lacking]
        if unknown.size:
            raise ValueError(
                f"{named.where(int(unknown[0]))} is in {name}, but has no {named.called}: "
                f"give it one, or remove it from {name}"
            )
    if named.targets is not None:
        return _graph(named, normalize, given, targets=named.targets)
    words = _in_order(set(named.labels[np.concatenate(named.sets)].tolist()), named.source)
    untrained = set(words) - set(named.labels[named.sets[0]].tolist())
    if named.sets[0].size and untrained:
        raise ValueError(
            f"{named.source} has no node of class {min(untrained)!r} in train, so a model cannot learn it: "
            "add a node of this class to train, or remove the class from val and test"
        )
    number = {word: c for c, word in enumerate(words)}
    labels = np.array([number.get(word, -1) for word in named.labels.tolist()], dtype=np.int64)
    names = words if class_names is None else [class_names[int(word)] for word in words]
    return _graph(named, normalize, given, labels=labels, classes=names)


def _graph(named: Named, normalize: str, given: Mapping[str, Any], **known: Any) -> Graph:
    """The Graph with what is `known` about its nodes: labels and classes, or targets."""
    chosen = {
        "directed": named.directed if given["directed"] is None else given["directed"],
        "setting": given["setting"] or "inductive",
    }
    train, val, test = named.sets
    try:
        graph = Graph(
            named.edges,
            normalize_features(named.features, normalize),
            train=train,
            val=val,
            test=test,
            ids=named.ids,
            weights=named.weights,
            **{**given, **chosen, **known},
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{named.source}: {error}") from error
    if given["setting"] is None and graph.looks_transductive:
        message = (
            f"the inductive split cuts {graph.n_cut_edges:,} of the {graph.n_edges:,} edges of {named.source}: if the "
            "sets are meant to share one graph, use setting='transductive' (--setting transductive), otherwise "
            "setting='inductive' (--setting inductive)"
        )
        warnings.warn(message, UserWarning, stacklevel=5)
    return graph


def _in_order(words: set[str], source: str) -> list[str]:
    """Class names sorted as numbers if all are whole numbers, otherwise as text."""
    if not all(_WHOLE.fullmatch(word) for word in words):
        return sorted(words)
    by_number: dict[int, str] = {}
    for word in sorted(words):
        number = int(word.partition(".")[0])
        if number in by_number:
            raise ValueError(
                f"{source} has the labels {by_number[number]!r} and {word!r}, which are the same number: "
                "write each class in one way only"
            )
        by_number[number] = word
    return [by_number[number] for number in sorted(by_number)]
