"""PyTorch Geometric data: the same graph comes back; a refusal names the attribute."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import pcwinter as pw
from graph_forms import assert_same, pyg


def test_pyg_data_keep_the_demo(demo: pw.Graph) -> None:
    assert_same(demo, pw.from_pyg(pyg(demo), normalize="none", setting="inductive"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"x": None}, "data has no x"),
        ({"x": torch.ones(4)}, "data.x has shape (4,), but must be (n, d)"),
        ({"x": torch.eye(4).to_sparse()}, "data.x cannot become a NumPy array ("),
        ({"x": torch.eye(4, dtype=torch.bfloat16)}, "data.x cannot become a NumPy array ("),
        ({"x": -torch.eye(4)}, "data: features has negative entries, the first in row 0"),
        ({"y": torch.eye(4)}, "data.y: labels has shape (4, 4), but must be (4,)"),
        ({"y": torch.tensor([0, 1, -1, 0])}, "node 2 of data is in val, but has no class in data.y"),
        ({"edge_index": torch.ones(3, 2)}, "data.edge_index is of type float32 and shape (3, 2), but must be (2, m)"),
        ({"edge_index": torch.tensor([[0], [4]])}, "data: adjacency names node 4, but features has 4 rows"),
        ({"edge_weight": torch.tensor([-2.0])}, "data: adjacency has weight -2 on edge (0, 1)"),
        (
            {"edge_weight": torch.tensor([2.0, 1.0])},
            "data.edge_weight is of type float32 and shape (2,), but must",
        ),
        ({"val_mask": None}, "data has no val_mask"),
        ({"val_mask": torch.ones(4, 10, dtype=torch.bool)}, "data.val_mask has 10 columns"),
        ({"val_mask": torch.tensor([2, 3])}, "data.val_mask is of type int64 and shape (2,)"),
        ({"val_mask": torch.tensor([0, 1, 1, 0])}, "data: train and val share 1 node,"),
    ],
)
def test_pyg_data_that_are_refused(change: dict[str, Any], sentence: str) -> None:
    masks = {
        "train_mask": torch.tensor([True, True, False, False]),
        "val_mask": torch.tensor([False, False, True, False]),
    }
    plain = {
        "x": torch.eye(4),
        "y": torch.tensor([[0], [1], [0], [7]]),
        "edge_index": torch.tensor([[0], [1]]),
        **masks,
    }
    graph = pw.from_pyg(SimpleNamespace(**plain, edge_weight=torch.ones(1), test_mask=None))
    assert graph.labels.tolist() == [0, 1, 0, -1]
    with pytest.raises(ValueError, match=re.escape(sentence)):
        pw.from_pyg(SimpleNamespace(**plain | change))
