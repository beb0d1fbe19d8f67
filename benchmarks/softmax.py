"""Milliseconds per softmax model, a plain PyTorch loop against the trainer: python benchmarks/softmax.py [cora].

PyTorch trains one model per evaluation, as the authors' script does: dense single precision, a new `nn.Linear`,
`optim.Adam`, the recipe's epochs. Both run on one thread, on the same evaluations of one DFS order, taking turns.
The single model is that of all players together.
"""

import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import numpy as np
import torch

import pcwinter as pw
from pcwinter.game import make_problem
from pcwinter.graph import Recipe
from pcwinter.heads.softmax import SoftmaxWalker
from pcwinter.metrics import METRICS
from pcwinter.propagation import Problem, coefficients


def plain_loop(problem: Problem, recipe: Recipe, coalition: np.ndarray, z: torch.Tensor) -> float:
    """Milliseconds that one model takes, the scores of the validation nodes included, its rows not."""
    used = np.flatnonzero(coalition[problem.local.parent < 0])
    rows = problem.training_rows(coefficients(problem.local, coalition))[used]
    x, y = torch.tensor(rows.toarray(), dtype=torch.float32), torch.from_numpy(problem.labels[used])
    began = time.perf_counter()
    layer = torch.nn.Linear(x.shape[1], problem.n_classes)
    optimizer = torch.optim.Adam(layer.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    for _ in range(recipe.epochs):
        optimizer.zero_grad()
        torch.nn.functional.nll_loss(torch.log_softmax(layer(x), dim=1), y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        layer(z).argmax(dim=1)
    return 1e3 * (time.perf_counter() - began)


def main() -> None:
    """Walk an order with the trainer; train a sample of its evaluations in PyTorch; then one model by each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="cora", choices=list(pw.DATASETS))
    parser.add_argument("--sample", type=int, default=20, help="evaluations of the order that PyTorch trains")
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph = pw.load(options.dataset)
    tree = pw.contribution_tree(graph)
    problem, recipe = make_problem(graph, tree), graph.recipe
    walker = SoftmaxWalker(problem, recipe, METRICS["accuracy"])
    z = torch.tensor(problem.rows.toarray(), dtype=torch.float32)
    everybody = np.ones(tree.n_players, dtype=bool)
    walker.utility(everybody)  # compiles
    plain_loop(problem, recipe, everybody, z)
    order = pw.sampler(tree, "dfs")(np.random.default_rng(0))
    walks, plain = [], []
    for k in np.linspace(1, tree.n_players, options.sample, dtype=int):
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[:k]] = True
        plain.append(plain_loop(problem, recipe, coalition, z))
        if len(walks) < 3 and len(plain) % (options.sample // 3) == 0:
            began = time.perf_counter()
            evaluations = walker.walk(order).evaluations
            walks.append(1e3 * (time.perf_counter() - began) / evaluations)
    single, plain_single = [], []
    for _ in range(7):
        plain_single.append(plain_loop(problem, recipe, everybody, z))
        began = time.perf_counter()
        walker.utility(everybody)
        single.append(1e3 * (time.perf_counter() - began))
    print(f"{options.dataset}, {recipe.epochs} epochs{'PyTorch ms':>20}{'pcwinter ms':>13}{'ratio':>8}")
    for name, theirs, ours in (
        ("model of a walk", np.mean(plain), min(walks)),
        ("a single model", min(plain_single), min(single)),
    ):
        print(f"{name:24}{theirs:12.1f}{ours:13.2f}{theirs / ours:8.1f}")


if __name__ == "__main__":
    main()
