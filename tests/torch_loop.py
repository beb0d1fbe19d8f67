"""The oracle of the softmax head: a plain PyTorch loop."""

import numpy as np
import torch

from pcwinter._util.arrays import FloatArray, IntArray, Sparse
from pcwinter.heads.softmax import Softmax


def torch_loop(
    rows: Sparse, labels: IntArray, n_classes: int, recipe: Softmax, weights: FloatArray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The authors' procedure, in double precision and started at zero; `weights` are those of the rows' losses."""
    layer = torch.nn.Linear(rows.shape[1], n_classes, dtype=torch.float64)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    optimizer = torch.optim.Adam(layer.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    x, y = torch.from_numpy(rows.toarray()), torch.from_numpy(labels)
    share = torch.from_numpy(np.ones(len(labels)) if weights is None else weights)
    for _ in range(recipe.epochs):
        optimizer.zero_grad()
        losses = torch.nn.functional.nll_loss(torch.log_softmax(layer(x), dim=1), y, reduction="none")
        ((losses * share).sum() / share.sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return layer.weight.detach().numpy().T, layer.bias.detach().numpy()
