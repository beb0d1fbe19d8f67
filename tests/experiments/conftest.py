"""A toy graph with known answers, and a quick study of the demo."""

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.experiments.opening import open_study
from pcwinter.experiments.study import Study
from pcwinter.heads.softmax import PAPER


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train the toy graph quickly."""
    monkeypatch.setitem(PAPER, "toy", pw.Softmax(learning_rate=0.1, epochs=50))


@pytest.fixture(scope="module")
def graph() -> pw.Graph:
    """Two labelled nodes whose own features are swapped between the classes: only their neighbours know better.

    Nodes 2, 3 and 4 are neighbours of node 0, with features of its class, nodes 5, 6 and 7 of node 1; node 8 is apart.
    The test nodes have clean features and no edges.
    """
    features = np.array(
        [[0.45, 0.55], [0.55, 0.45]] + [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3 + [[0.5, 0.5]] + [[1, 0], [0, 1]] * 4
    )
    labels = [0, 1, *[-1] * 7, *[0, 1] * 4]
    edges = [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (1, 7)]
    return pw.Graph(edges, features, labels, [0, 1], [9, 10], np.arange(11, 17), name="toy")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return open_study("demo", tmp_path_factory.mktemp("study"), quick=True, quiet=True)
