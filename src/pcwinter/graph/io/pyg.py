"""PyTorch Geometric Data -> Graph. PyTorch itself is never imported."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.checks import one_of
from pcwinter.graph.features import NORMALIZATIONS
from pcwinter.graph.graph import Graph, check_labels
from pcwinter.graph.io.assemble import SETS, Named, assemble, mask, settings

WEIGHTS = ("edge_weight", "edge_attr")


def from_pyg(
    data: Any,  # a torch_geometric.data.Data, or similar
    *,
    normalize: str = "row",
    weight: str = "edge_weight",
    directed: bool = False,
    normalisation: str | None = None,
    self_loop: float = 1.0,
    setting: str | None = None,
) -> Graph:
    """Convert a Data object of PyTorch Geometric. Nodes keep their numbers.

    `data` has the attributes x, y, edge_index, train_mask, val_mask and, optionally, test_mask. `y` is -1 for an
    unknown class. `normalize` is "row", "standard" or "none", see `normalize_features`. `weight` names the attribute
    with the weights of the edges, if there is one: "edge_weight", or "edge_attr" if that has one number for every edge.
    `directed`, `normalisation`, `self_loop` and `setting` are those of `Graph`. Without `directed`, the two directions
    of an edge must have equal weights. The default setting is inductive, with a warning if this cuts more than half of
    the edges.
    """
    one_of("weight", weight, WEIGHTS)
    one_of("normalize", normalize, NORMALIZATIONS)
    x, y, pairs = (_array(data, name) for name in ("x", "y", "edge_index"))
    if x.ndim != 2:
        raise ValueError(f"data.x has shape {x.shape}, but must be (n, d), one row per node")
    n = x.shape[0]
    if pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            f"data.edge_index is of type {pairs.dtype} and shape {pairs.shape}, but must be (2, m) integers"
        )
    weights = None
    if getattr(data, weight, None) is not None:
        weights = _array(data, weight)
        if weights.shape not in ((pairs.shape[1],), (pairs.shape[1], 1)) or weights.dtype.kind not in "biuf":
            raise ValueError(
                f"data.{weight} is of type {weights.dtype} and shape {weights.shape}, but must have one number for "
                f"each of the {pairs.shape[1]} edges"
            )
        weights = weights.astype(np.float64).ravel()
    elif weight == "edge_attr":
        raise ValueError("data has no edge_attr: set it, or leave weight out")
    elif getattr(data, "edge_attr", None) is not None and (_array(data, "edge_attr") != 1).any():
        message = "data.edge_attr is ignored: if it has the weights of the edges, pass weight='edge_attr'"
        warnings.warn(message, UserWarning, stacklevel=2)
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
        weights=weights,
    )
    return assemble(named, normalize, settings(directed, normalisation, self_loop, setting))


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
