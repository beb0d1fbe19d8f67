"""A small graph as tables, arrays, a NetworkX graph or PyTorch Geometric data, and how two graphs are compared."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

import pcwinter as pw

WORDS = {"train": "train", "val": "Validation", "test": "TEST"}


def make(ids: Any) -> pw.Graph:
    features = [[1.0, 0.1], [0.5, 0.2], [0.2, 0.9], [0.1, 1 / 3], [0.9, 1e-17], [0.3, 2.0]]
    edges = [(0, 1), (1, 2), (2, 3), (3, 5)]
    return pw.Graph(edges, features, [0, -1, 1, 1, 0, 1], [0, 2], [4, 5], [3], ids=ids)


def words(graph: pw.Graph) -> list[str]:
    split = [""] * graph.n_nodes
    for name, word in WORDS.items():
        for node in getattr(graph, name):
            split[node] = word
    return split


def pairs(graph: pw.Graph) -> Any:  # (m, 2)
    upper = sp.triu(graph.adjacency, format="coo")
    return np.stack([upper.row, upper.col], axis=1)


def write_tables(graph: pw.Graph, folder: Path) -> Path:
    nodes = pd.DataFrame(graph.features.toarray()).add_prefix("x")
    nodes.insert(0, "id", graph.ids)
    nodes["label"] = [graph.classes[c] if c >= 0 else "" for c in graph.labels]
    nodes["split"] = words(graph)
    nodes.to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame(graph.ids[pairs(graph)], columns=["source", "target"]).to_csv(folder / "edges.csv", index=False)
    return folder


def arrays_of(graph: pw.Graph) -> dict[str, Any]:
    upper = sp.csr_array(sp.triu(graph.adjacency))  # directed
    parts = {"adj": upper, "attr": graph.features}
    names = ("data", "indices", "indptr", "shape")
    layout = {f"{part}_{name}": np.asarray(getattr(m, name)) for part, m in parts.items() for name in names}
    return {**layout, "labels": graph.labels, **{name: getattr(graph, name) for name in WORDS}}


def to_networkx(graph: pw.Graph, label: str, kind: Any = nx.Graph) -> Any:
    result = kind()
    dense = graph.features.toarray()
    for node, split in enumerate(words(graph)):
        attributes = {f"x{i}": value for i, value in enumerate(dense[node].tolist())}
        known = {label: graph.classes[graph.labels[node]]} if graph.labels[node] >= 0 else {}
        result.add_node(graph.ids[node].item(), **attributes, split=split, **known)
    result.add_edges_from(graph.ids[pairs(graph)].tolist())
    return result


def assert_same(graph: pw.Graph, other: pw.Graph, ids: Any = None) -> None:
    for name in ("adjacency", "features"):
        one, two = getattr(graph, name), getattr(other, name)
        assert one.shape == two.shape
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    for name in ("labels", "train", "val", "test"):
        np.testing.assert_array_equal(getattr(graph, name), getattr(other, name))
    assert graph.classes == other.classes
    expected = graph.ids if ids is None else ids
    assert other.ids.tolist() == list(expected)
    assert other.ids.dtype.kind == np.asarray(expected).dtype.kind


def pyg(graph: pw.Graph) -> SimpleNamespace:
    nodes = np.arange(graph.n_nodes)
    masks = {f"{name}_mask": torch.tensor(np.isin(nodes, getattr(graph, name))) for name in WORDS}
    edges = torch.tensor(np.stack(graph.adjacency.nonzero()))  # both directions
    x = torch.tensor(graph.features.toarray(), requires_grad=True)
    return SimpleNamespace(x=x, y=torch.tensor(graph.labels.copy()), edge_index=edges, **masks)


def refusal(path: Path, kind: type[Exception] = ValueError) -> str:
    with pytest.raises(kind) as caught:
        pw.read_graph(path)
    message = str(caught.value)
    assert "\n" not in message
    return message
