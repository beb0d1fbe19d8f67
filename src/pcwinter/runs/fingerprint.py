"""Graph -> hashes of its parts, by which a run knows its data."""

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcwinter._util.files import digest
from pcwinter.graph.graph import Graph
from pcwinter.heads.softmax import softmax_for

RECIPE = ("learning_rate", "epochs", "weight_decay")  # what a training recipe was when fingerprints began


def fingerprint(graph: Graph) -> dict[str, str]:
    """Hashes of the parts of a graph, and of the softmax parameters that the heads use for it."""
    edges, features = graph.adjacency, graph.features
    parts: dict[str, dict[str, NDArray[Any]]] = {
        "edges": {"indptr": edges.indptr, "indices": edges.indices, **({"data": edges.data} if graph.weighted else {})},
        "features": {"indptr": features.indptr, "indices": features.indices, "data": features.data},
        "labels": {"labels": graph.labels, "classes": np.array(graph.classes)},
        "split": {"train": graph.train, "val": graph.val, "test": graph.test},
        "ids": {"ids": graph.ids},
        "recipe": {name: np.array(x) for name, x in asdict(softmax_for(graph)).items() if name in RECIPE},
    }
    if graph.regression:
        parts["labels"] = {"targets": graph.targets}
    return {name: digest(arrays) for name, arrays in parts.items()}
