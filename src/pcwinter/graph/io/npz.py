"""An npz file -> Graph: CSR arrays adj_* and attr_*, as in gnn-benchmark, or features and edges; labels; a split.

The plain arrays `edges` and `features` may take the place of the CSR arrays, and numeric `target` that of labels.

The file is not trusted: every index is checked, and pickles are never loaded.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter._util.checks import count
from pcwinter.graph.graph import Graph, check_labels, check_nodes
from pcwinter.graph.io.assemble import SETS, Named, assemble, mask
from pcwinter.graph.splits import PER_CLASS, random_split
from pcwinter.graph.targets import check_targets

_NAMES = ("class_names", "node_names")
PLAIN = ("features", "edges", "ids")  # plain arrays instead of those of the layout
_KNOWN = (
    *("adj_data", "adj_indices", "adj_indptr", "adj_shape"),
    *("attr_data", "attr_indices", "attr_indptr", "attr_shape", "attr_matrix"),
    *PLAIN,
    "weights",
    "directed",
    *("labels", "target", *_NAMES, *SETS, *(f"{name}_mask" for name in SETS)),
)


def read_archive(path: Path, normalize: str, given: Mapping[str, Any]) -> Graph:
    """The graph in an npz file. If it has no split, one is drawn with seed 0, and a warning says so."""
    arrays = _read(path)
    try:
        if "adj_shape" in arrays or "attr_shape" in arrays:  # then these names may stand for something else
            arrays = {name: array for name, array in arrays.items() if name not in PLAIN}
        plain = next((name for name in ("attr_matrix", "features") if name in arrays), None)
        features = arrays[plain] if plain else _csr(arrays, "attr")
        n = features.shape[0] if features.ndim == 2 else 0
        if n == 0:
            raise ValueError(f"the features have shape {features.shape}, but must be (n, d), one row per node")
        edges, weights = _edges(arrays, n)
        directed = arrays.get("directed", np.array(False))
        if directed.shape != () or directed.dtype.kind != "b":
            raise ValueError(f"directed is of type {directed.dtype} and shape {directed.shape}, expected one boolean")
        numeric = "target" in arrays and "labels" not in arrays
        targets = check_targets(arrays["target"], n) if numeric else None
        labels = check_labels(_take(arrays, "labels"), n) if targets is None else np.zeros(n, dtype=np.int64)
        sets = _sets(arrays, n)
        class_names = arrays["class_names"].tolist() if "class_names" in arrays else None
        if class_names is not None and labels.max() >= len(class_names):
            raise ValueError(
                f"labels go up to {labels.max()}, but class_names has {count(len(class_names), 'name')}: "
                "name every class"
            )
        if sets is None:
            if targets is not None:
                raise ValueError("there is no split: add arrays train, val and test, node numbers or masks")
            sets, given = _draw(labels), {**given, "setting": given["setting"] or "inductive"}
            message = (
                f"{path} has no split, so one was drawn with seed 0: {PER_CLASS} training nodes per class, and a fifth "
                "of all nodes each for val and test; add arrays train, val and test to choose your own"
            )
            warnings.warn(message, UserWarning, stacklevel=3)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    named = Named(
        source=str(path),
        where=lambda node: f"node {node} of {path}",
        ids=arrays.get("node_names", arrays.get("ids")),
        labels=np.where(labels < 0, "", labels.astype(str)).astype(object),
        sets=sets,
        features=features,
        edges=edges,
        weights=weights,
        directed=bool(directed),
        called="label" if targets is None else "target",
        targets=targets,
    )
    return assemble(named, normalize, given, class_names)


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of the layout that are in the file. Names that are not strings are ignored, with a warning."""
    with path.open("rb") as file:
        if not is_zipfile(file):
            raise ValueError(f"{path} is not an .npz archive: save plain arrays with numpy.savez")
        file.seek(0)
        try:
            archive = np.load(file, allow_pickle=False)
            found: dict[str, NDArray[Any]] = {}
            for name in [name for name in _KNOWN if name in archive.files]:
                try:
                    found[name] = archive[name]
                except ValueError as error:
                    if name not in _NAMES or "allow_pickle" not in str(error):
                        raise ValueError(f"array {name}: {error}") from error
                    found[name] = np.empty(0)  # pickled Python objects
        except Exception as error:  # a damaged file may raise anything
            reason = " ".join(str(error).split())
            raise ValueError(
                f"{path} cannot be read ({reason}): save plain arrays of numbers and strings with numpy.savez"
            ) from error
    for name in [name for name in _NAMES if name in found and (found[name].dtype.kind, found[name].ndim) != ("U", 1)]:
        del found[name]
        message = (
            f"{name} in {path} is not an array of strings, so it is ignored: save it as numpy.array(..., dtype=str)"
        )
        warnings.warn(message, UserWarning, stacklevel=4)
    return found


def _take(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in arrays:
        raise ValueError(
            f"there is no array {name}: the file needs labels, and data, indices, indptr and shape of two "
            "SciPy csr_arrays, named adj_data, ..., attr_shape, or arrays features and edges"
        )
    return arrays[name]


def _csr(arrays: dict[str, NDArray[Any]], part: str) -> Sparse:
    """The matrix `part`, after checking every index in it."""
    shape, indptr, indices, data = (_take(arrays, f"{part}_{name}") for name in ("shape", "indptr", "indices", "data"))
    for name, array in (("shape", shape), ("indptr", indptr), ("indices", indices)):
        if array.dtype.kind not in "iu" or array.ndim != 1 or (name == "shape" and array.size != 2):
            raise ValueError(
                f"{part}_{name} is of type {array.dtype} and shape {array.shape}, but must be 1-D with "
                f"{'two ' if name == 'shape' else ''}integers"
            )
    if data.dtype.kind not in "biuf":
        raise ValueError(f"{part}_data is of type {data.dtype}, but must hold numbers")
    try:
        parts = (data.astype(np.float64), indices.astype(np.int64), indptr.astype(np.int64))
        matrix: Sparse = sp.csr_array(parts, shape=(int(shape[0]), int(shape[1])))
        matrix.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"the arrays {part}_* do not fit together ({error}): save all four from one csr_array"
        ) from error
    return matrix


def _edges(arrays: dict[str, NDArray[Any]], n: int) -> tuple[IntArray, FloatArray | None]:
    """(m, 2) row and column of every entry of the adjacency, which may be directed, and (m,) weights, if not all 1."""
    if "weights" in arrays and "edges" not in arrays:
        raise ValueError("there is an array weights, but no array edges that it belongs to: put weights into adj_data")
    if "edges" in arrays:
        return arrays["edges"], arrays.get("weights")
    matrix = _csr(arrays, "adj")
    if matrix.shape != (n, n):
        raise ValueError(
            f"the adjacency is {matrix.shape}, but features has {count(n, 'row')}: the adjacency must be ({n}, {n})"
        )
    entries = matrix.tocoo()
    weights = None if (entries.data == 1).all() else entries.data
    return np.stack([entries.row, entries.col], axis=1).astype(np.int64), weights


def _sets(arrays: dict[str, NDArray[Any]], n: int) -> tuple[IntArray, IntArray, IntArray] | None:
    """Train, val and test, or None if the file names none of them."""
    given = {}
    for name in SETS:
        both = [key for key in (name, f"{name}_mask") if key in arrays]
        if len(both) == 2:
            raise ValueError(f"there are both {name} and {name}_mask: keep one of them")
        if both:
            array = arrays[both[0]]
            given[name] = check_nodes(mask(array, both[0], n) if both[0] != name else array, name, n)
    if not given:
        return None
    for name in ("train", "val"):
        if name not in given:
            raise ValueError(f"there is an array {next(iter(given))}, but no array {name}: add it")
    return given["train"], given["val"], given.get("test", np.empty(0, dtype=np.int64))


def _draw(labels: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """A random split with the sizes of the public ones."""
    known, numbers = np.unique(labels[labels >= 0], return_inverse=True)
    dense = np.full(labels.size, -1)
    dense[labels >= 0] = numbers
    counts = np.bincount(numbers)
    fifth = labels.size // 5
    advice = "add arrays train, val and test, node numbers or masks"
    if (counts < PER_CLASS).any():
        scarce = int(np.flatnonzero(counts < PER_CLASS)[0])
        raise ValueError(
            f"there is no split, and none can be drawn: class {known[scarce]} has "
            f"{count(int(counts[scarce]), 'node')}, but train needs {PER_CLASS} per class; {advice}"
        )
    if int(counts.sum()) - PER_CLASS * counts.size < 2 * fifth or fifth == 0:
        raise ValueError(f"there is no split, and too few labelled nodes to draw one; {advice}")
    return random_split(dense, per_class=PER_CLASS, val=fifth, test=fifth, seed=0)
