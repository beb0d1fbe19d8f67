"""PyTorch Geometric Data -> Graph. PyTorch itself is never imported."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.checks import one_of
from pcwinter.graph.features import NORMALIZATIONS
from pcwinter.graph.graph import Graph, check_labels
from pcwinter.graph.io.assemble import SETS, Named, assemble, mask


def from_pyg(data: Any, *, normalize: str = "row") -> Graph:  # a torch_geometric.data.Data, or similar
    """Convert a Data object of PyTorch Geometric. Nodes keep their numbers.

    `data` has the attributes x, y, edge_index, train_mask, val_mask and, optionally, test_mask. `y` is -1 for an
    unknown class. Edge weights must be absent or 1. `normalize` is "row", "standard" or "none", see
    `normalize_features`.
    """
    one_of("normalize", normalize, NORMALIZATIONS)
    x, y, pairs = (_array(data, name) for name in ("x", "y", "edge_index"))
    if x.ndim != 2:
        raise ValueError(f"data.x has shape {x.shape}, but must be (n, d), one row per node")
    n = x.shape[0]
    if pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"data.edge_index is of type {pairs.dtype} and shape {pairs.shape}, but must be (2, m) integers"
        )
    for name in ("edge_weight", "edge_attr"):
        if getattr(data, name, None) is not None and (_array(data, name) != 1).any():
            raise ValueError(
                f"data.{name} is not 1 everywhere, but edge weights are not supported: set data.{name} = None"
            )
    missing = [name for name in SETS[:2] if getattr(data, f"{name}_mask", None) is None]
    if missing:
        raise ValueError(
            f"data has no {missing[0]}_mask: set it to a boolean mask, for example with RandomNodeSplit of PyG"
        )
    masks = (
        mask(_array(data, f"{name}_mask"), f"data.{name}_mask", n)
        if getattr(data, f"{name}_mask", None) is not None
        else np.zeros(n, dtype=np.bool_)
        for name in SETS
    )
    train, val, test = (np.flatnonzero(chosen).astype(np.int64) for chosen in masks)
    try:
        labels = check_labels(y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y, n)
    except (ValueError, TypeError) as error:
        raise ValueError(f"data.y: {error}") from error
    named = Named(
        source="data",
        where=lambda node: f"node {node} of data",
        ids=None,
        labels=np.where(labels < 0, "", labels.astype(str)).astype(object),
        sets=(train, val, test),
        features=x,
        edges=pairs.T,
        called="class in data.y",
    )
    return assemble(named, normalize)


def _array(data: Any, name: str) -> NDArray[Any]:
    """Attribute of `data` -> NumPy array; a tensor is detached and moved to the CPU first."""
    value = getattr(data, name, None)
    if value is None:
        raise ValueError(f"data has no {name}: from_pyg needs x, y, edge_index, train_mask and val_mask")
    try:
        for step in ("detach", "cpu"):
            value = getattr(value, step)() if hasattr(value, step) else value
        return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"data.{name} cannot become a NumPy array ({reason}): make it a dense CPU tensor") from error
