"""NetworkX graph, GraphML file or GML file -> Graph. NetworkX is imported only to read the files."""

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import one_of
from pcwinter.graph.features import NORMALIZATIONS
from pcwinter.graph.graph import Graph
from pcwinter.graph.io.assemble import Named, Where, assemble, settings, split_sets


def from_networkx(
    graph: Any,  # a NetworkX graph of any kind
    *,
    label: str = "label",
    split: str = "split",
    features: str | Sequence[str] | None = None,
    normalize: str = "row",
    directed: bool | None = None,
    normalisation: str | None = None,
    self_loop: float = 1.0,
    setting: str | None = None,
) -> Graph:
    """Convert a NetworkX graph whose nodes have attributes for the class, the set and the features.

    `graph` may be directed, and may be a multigraph. `label` and `split` name the node
    attributes that hold the class and the set (train, val or test; empty for neither). `features` is a list of
    attributes that are numbers, or the name of one that is a vector; None takes all attributes except `label` and
    `split`. `normalize` is "row", "standard" or "none", see `normalize_features`.

    Ids are the nodes if all are integers, otherwise str(node). The edge attribute `weight` is the weight of an edge, 1
    by default; other edge attributes are ignored. `directed`, `normalisation`, `self_loop` and `setting` are those of
    `Graph`; by default, `directed` is as in `graph`, and the setting is inductive, with a warning if this cuts more
    than half of the edges.
    """
    one_of("normalize", normalize, NORMALIZATIONS)
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_multigraph", "is_directed")):
        raise ValueError(f"graph is of type {type(graph).__name__}, but from_networkx needs a NetworkX graph")
    given = settings(directed, normalisation, self_loop, setting)
    return _from_networkx(graph, "the NetworkX graph", label, split, features, normalize, given)


def read_networkx(path: Path, gml: bool, normalize: str, given: Mapping[str, Any]) -> Graph:
    """The graph in a file. The class is the attribute `class`; in GraphML it may be `label`."""
    kind = "GML" if gml else "GraphML"
    try:
        import networkx as nx
    except ImportError as error:
        raise ValueError(f"reading {kind} needs NetworkX: run pip install 'pcwinter[networkx]'") from error
    try:
        graph = _read_gml(nx, path) if gml else _read_graphml(nx, path)
    except OSError:
        raise
    except Exception as error:  # a damaged file may raise anything, including XML, Unicode and type errors
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} is damaged or not {kind} ({reason}): export it again as one {kind} graph") from error
    if not gml and not any("class" in attributes for _, attributes in graph.nodes(data=True)):
        return _from_networkx(graph, str(path), "label", "split", None, normalize, given)
    for _, attributes in graph.nodes(data=True):
        attributes.pop("label", None)  # the name of the node in drawings
    return _from_networkx(graph, str(path), "class", "split", None, normalize, given)


def _read_graphml(nx: Any, path: Path) -> Any:
    """Read GraphML. Unlike NetworkX, raise an error for repeated node ids, and apply the defaults in the file."""
    seen: set[str] = set()
    for _, element in ElementTree.iterparse(path):
        if element.tag.rpartition("}")[2] == "node":
            name = element.get("id", "")
            if name in seen:
                raise ValueError(f"node id {name!r} is duplicated")
            seen.add(name)
        element.clear()
    graph = nx.read_graphml(path)
    for kind, places in (("node", graph.nodes(data=True)), ("edge", graph.edges(data=True))):
        defaults = graph.graph.get(f"{kind}_default", {})
        for *_, attributes in places:
            attributes.update({name: value for name, value in defaults.items() if name not in attributes})
    return graph


def _read_gml(nx: Any, path: Path) -> Any:
    """Read GML; nodes are named by their labels if all have one, otherwise by their ids."""
    try:
        return nx.read_gml(path)
    except nx.NetworkXError as error:
        if "has no 'label' attribute" not in str(error):
            raise
    return nx.read_gml(path, label="id")


def _from_networkx(
    graph: Any,
    source: str,
    label: str,
    split: str,
    features: str | Sequence[str] | None,
    normalize: str,
    given: Mapping[str, Any],
) -> Graph:
    nodes: list[Hashable] = list(graph.nodes)
    attributes: list[Mapping[str, Any]] = [graph.nodes[node] for node in nodes]
    if not nodes:
        raise ValueError(f"{source} has no nodes: add at least one labelled node per class and one validation node")

    def where(node: int) -> str:
        return f"node {nodes[node]!r} of {source}"

    sets = split_sets([_word(a.get(split), split, where, i) for i, a in enumerate(attributes)], where)
    if sets[0].size == 0:
        raise ValueError(f"{source} has no node in train: set the attribute {split!r} of nodes to train, val or test")
    if isinstance(features, str):
        matrix = _vectors(attributes, features, where)
    else:
        every = dict.fromkeys(name for a in attributes for name in a if name not in (label, split))
        matrix = _columns(attributes, list(every if features is None else features), where)
    if matrix.shape[1] == 0:
        raise ValueError(f"{source} has no features: give every node attributes that are numbers")
    edges, weights = _edges(graph, nodes, source)
    named = Named(
        source=source,
        where=where,
        ids=_ids(nodes),
        labels=np.array([_word(a.get(label), label, where, i) for i, a in enumerate(attributes)], dtype=object),
        sets=sets,
        features=matrix,
        edges=edges,
        called=f"attribute {label!r}",
        weights=weights,
        directed=bool(graph.is_directed()),
    )
    return assemble(named, normalize, given)


def _ids(nodes: list[Hashable]) -> NDArray[Any]:
    if all(isinstance(node, Integral) and not isinstance(node, bool) and abs(node) < 2**63 for node in nodes):
        return np.array(nodes, dtype=np.int64)
    return np.array([str(node) for node in nodes], dtype=object)


def _edges(graph: Any, nodes: list[Hashable], source: str) -> tuple[IntArray, FloatArray | None]:
    """(m, 2) node numbers, including loops and repeats, and (m,) weights, if any edge has one."""
    number = {node: i for i, node in enumerate(nodes)}
    pairs, weights, weighted = [], [], False
    for u, v, attributes in graph.edges(data=True):
        weight = attributes.get("weight", 1)
        if not isinstance(weight, Real) or isinstance(weight, bool) or not 0 <= float(weight) < np.inf:
            raise ValueError(
                f"{source} has weight {weight!r} on edge ({u!r}, {v!r}), expected a finite number that is not "
                "negative: remove the edge, or correct its attribute 'weight'"
            )
        pairs.append((number[u], number[v]))
        weights.append(float(weight))
        weighted = weighted or "weight" in attributes
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(weights) if weighted else None


def _word(value: object, name: str, where: Where, node: int) -> str:
    """An attribute as text: 1 and 1.0 are "1", None and NaN are ""."""
    if value is None or (isinstance(value, Real) and value != value):
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Real):
        return str(value // 1) if isinstance(value, Integral) else str(float(value)).removesuffix(".0")
    raise ValueError(
        f"{where(node)} has a {type(value).__name__} as attribute {name!r}, but must have text or a number"
    )


def _columns(attributes: list[Mapping[str, Any]], names: list[str], where: Where) -> FloatArray:
    """(n, d) features from d attributes that are numbers."""
    matrix = np.empty((len(attributes), len(names)))
    for node, given in enumerate(attributes):
        for place, name in enumerate(names):
            value = given.get(name)
            if not (type(value) is float or isinstance(value, Real | np.bool_)):
                raise ValueError(_fault(value, name, where(node)))
            matrix[node, place] = value
    _check_finite(matrix, where)
    return matrix


def _vectors(attributes: list[Mapping[str, Any]], name: str, where: Where) -> FloatArray:
    """(n, d) features from one attribute that is a vector."""
    rows: list[NDArray[Any]] = []
    for node, given in enumerate(attributes):
        try:
            row = np.atleast_1d(np.asarray(given.get(name)))
        except ValueError:  # ragged
            row = np.empty(0, dtype=object)
        if row.dtype.kind not in "biuf" or row.ndim != 1:
            raise ValueError(_fault(given.get(name), name, where(node)))
        if rows and row.size != rows[0].size:
            raise ValueError(
                f"{where(node)} has {row.size} numbers in {name!r}, but {where(0)} has {rows[0].size}: "
                "give all nodes the same number"
            )
        rows.append(row)
    matrix = np.stack(rows).astype(np.float64)
    _check_finite(matrix, where)
    return matrix


def _check_finite(matrix: FloatArray, where: Where) -> None:
    wrong = np.argwhere(~np.isfinite(matrix))
    if wrong.size:
        node, place = wrong[0].tolist()
        raise ValueError(f"{where(node)} has the feature {matrix[node, place]}: replace NaN and infinity with numbers")


def _fault(value: object, name: str, where: str) -> str:
    if value is None:
        return f"{where} has no attribute {name!r}, but every node needs every feature: set it to a number"
    came = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
    return (
        f"{where} has {came} as attribute {name!r}, but a feature must be a number: encode it or remove it "
        "(from_networkx(..., features=[...]) chooses the attributes to use)"
    )
