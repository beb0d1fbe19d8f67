"""Words -> Graph: nodes, classes and sets that have names in a user's data become numbers, and the numbers a Graph.

Every reader of a user's data ends here, so that a class or a set means the same whatever it was read from.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter.graph.features import normalize_features
from pcwinter.graph.graph import Graph

Words: TypeAlias = NDArray[np.object_]  # of str
Where: TypeAlias = Callable[[int], str]  # node number -> where it stands, as in "line 3 of nodes.csv"

SETS = ("train", "val", "test")
_SET_OF = {
    **dict(zip(SETS, SETS, strict=True)),
    "valid": "val",
    "validation": "val",
    **dict.fromkeys(("", "none", "unlabelled", "unlabeled"), ""),
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")


class Named(NamedTuple):
    """A graph as a user's data has it; node i is the i-th that the data names."""

    source: str  # what the sentences call the data
    where: Where
    ids: NDArray[Any] | None  # (n,) None for the node numbers
    labels: Words  # (n,) the word for the class, "" where unknown
    sets: tuple[IntArray, IntArray, IntArray]  # node numbers of train, val, test
    features: FloatArray | Sparse  # (n, d)
    edges: IntArray  # (m, 2) node numbers, either end first
    called: str = "label"  # what the data calls the class of a node


def split_sets(words: Sequence[object] | Words, where: Where) -> tuple[IntArray, IntArray, IntArray]:
    """Words such as train, Validation or "" -> the nodes of train, val and test."""
    plain = np.array([str(word).strip().casefold() for word in words], dtype=object)
    for word in dict.fromkeys(plain.tolist()):
        if word not in _SET_OF:
            node = int(np.flatnonzero(plain == word)[0])
            raise ValueError(
                f"{where(node)} has the split {str(words[node])!r}: write train, val or test, "
                "or nothing where the node is in none of them"
            )
    sets = np.array([_SET_OF[word] for word in plain.tolist()], dtype=object)
    train, val, test = (np.flatnonzero(sets == name).astype(np.int64) for name in SETS)
    return train, val, test


def mask(given: NDArray[Any], name: str, n: int) -> NDArray[np.bool_]:
    """A mask over n nodes, of booleans or of zeros and ones."""
    if given.ndim == 2 and given.shape[0] == n and given.shape[1] > 1:
        raise ValueError(
            f"{name} has {given.shape[1]} columns, one for each of as many splits: "
            f"choose one in all masks, such as {name}[:, 0]"
        )
    if given.shape not in ((n,), (n, 1)) or given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ValueError(
            f"{name} is of type {given.dtype} and shape {given.shape}, but must be a mask of {n} booleans, one per node"
        )
    return given.reshape(n).astype(np.bool_)


def assemble(named: Named, normalize: str, class_names: Sequence[str] | None = None) -> Graph:
    """The Graph; classes are the words that occur in the three sets, any other label becomes -1.

    `class_names[c]` is the name of the class that the labels call c, where they are numbers.
    """
    for name, nodes in zip(SETS, named.sets, strict=True):
        unknown = nodes[named.labels[nodes] == ""]
        if unknown.size:
            raise ValueError(
                f"{named.where(int(unknown[0]))} is in {name}, but has no {named.called}: "
                f"give it one, or take it out of {name}"
            )
    words = _in_order(set(named.labels[np.concatenate(named.sets)].tolist()), named.source)
    untrained = set(words) - set(named.labels[named.sets[0]].tolist())
    if named.sets[0].size and untrained:
        raise ValueError(
            f"{named.source} has no node of class {min(untrained)!r} in train, so no model can learn that class: "
            "put one there, or take the class out of val and test"
        )
    if named.ids is not None and named.ids.dtype.kind not in "iu" and (named.ids == "").any():
        node = int(np.flatnonzero(named.ids == "")[0])
        raise ValueError(f"{named.where(node)} has an empty id: give every node an id of its own")
    number = {word: c for c, word in enumerate(words)}
    labels = np.array([number.get(word, -1) for word in named.labels.tolist()], dtype=np.int64)
    try:
        return Graph(
            named.edges,
            normalize_features(named.features, normalize),
            labels,
            *named.sets,
            ids=named.ids,
            classes=words if class_names is None else [class_names[int(word)] for word in words],
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{named.source}: {error}") from error


def _in_order(words: set[str], source: str) -> list[str]:
    """Sorted as numbers if all are whole numbers, else as text."""
    if not all(_WHOLE.fullmatch(word) for word in words):
        return sorted(words)
    by_number: dict[int, str] = {}
    for word in sorted(words):
        number = int(word.partition(".")[0])
        if number in by_number:
            raise ValueError(
                f"{source} has the labels {by_number[number]!r} and {word!r}, which are the same number: "
                "write a class in one way"
            )
        by_number[number] = word
    return [by_number[number] for number in sorted(by_number)]
