"""Every part of a graph has a hash of its own."""

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.heads import softmax
from pcwinter.runs.fingerprint import fingerprint
from run_graphs import EDGES, graph


@pytest.mark.parametrize("part", ["edges", "features", "labels", "split", "ids", "recipe"])
def test_the_fingerprint_sees_every_part(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(softmax.PAPER, "other", pw.Softmax(epochs=3))
    plain = graph()
    labels, train = plain.labels.copy(), plain.train
    features = plain.features.toarray()
    edges = EDGES + ([(1, 4)] if part == "edges" else [])
    if part == "labels":
        labels[2] = 0
    if part == "features":
        features[0, 0] += 1
    other = pw.Graph(
        [*edges, *np.argwhere(np.triu(plain.validation.toarray()))],
        features,
        labels,
        train,
        plain.val[1:] if part == "split" else plain.val,
        ids=np.arange(plain.n_nodes)[::-1] if part == "ids" else None,
        name="other" if part == "recipe" else "",
    )
    before, after = fingerprint(plain), fingerprint(other)
    assert [name for name in before if before[name] != after[name]] == [part]
