"""Milliseconds per softmax model, a plain PyTorch loop against the trainer: python -m benchmarks.softmax [cora].

PyTorch trains one model per evaluation, as the authors' script does: dense single precision, a new `nn.Linear`,
`optim.Adam`, the paper's epochs. Both run on one thread and take turns. The trainer computes every evaluation of one
DFS order, PyTorch evenly spaced ones; then each trains the model of all players. Only the trainer's times include the
rows. Times are processor times, so that other jobs on the machine matter less, and the minimum of a few repeats.
"""

import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import numpy as np
import torch

import pcwinter as pw
from pcwinter._util.arrays import BoolArray
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.metrics import METRICS
from pcwinter.game.problem import Problem, make_problem
from pcwinter.heads.softmax import Softmax, SoftmaxWalker, softmax_for


def plain_loop(problem: Problem, recipe: Softmax, coalition: BoolArray, z: torch.Tensor) -> float:
    """Milliseconds to train one model and to predict, without computing its rows."""
    used = np.flatnonzero(coalition[problem.local.parent < 0])
    rows = problem.training_rows(coefficients(problem.local, coalition))[used]
    x, y = torch.tensor(rows.toarray(), dtype=torch.float32), torch.from_numpy(problem.labels[used])
    began = time.process_time()
    layer = torch.nn.Linear(x.shape[1], problem.n_classes)
    optimizer = torch.optim.Adam(layer.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    for _ in range(recipe.epochs):
        optimizer.zero_grad()
        torch.nn.functional.nll_loss(torch.log_softmax(layer(x), dim=1), y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        layer(z).argmax(dim=1)
    return 1e3 * (time.process_time() - began)


def main() -> None:
    """Walk an order with the trainer, train a sample of its evaluations in PyTorch, then one model with each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", nargs="?", default="cora", choices=list(pw.DATASETS))
    parser.add_argument("--sample", type=int, default=20, help="number of evaluations that PyTorch trains")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats; the minimum is printed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    graph = pw.load(options.dataset)
    tree = pw.contribution_tree(graph)
    problem, recipe = make_problem(graph, tree), softmax_for(graph)
    walker = SoftmaxWalker(problem, recipe, METRICS["accuracy"])
    z = torch.tensor(problem.rows.toarray(), dtype=torch.float32)
    everybody = np.ones(tree.n_players, dtype=bool)
    walker.utility(everybody)  # compiles
    plain_loop(problem, recipe, everybody, z)
    order = pw.sampler(tree, "dfs")(np.random.default_rng(0))
    sample = np.linspace(1, tree.n_players, options.sample, dtype=int)
    walks: list[float] = []
    plain: list[list[float]] = []
    single: list[float] = []
    plain_single: list[float] = []
    for _ in range(options.repeats):
        began = time.process_time()
        evaluations = walker.walk(order).evaluations
        walks.append(1e3 * (time.process_time() - began) / evaluations)
        coalitions = [np.isin(np.arange(tree.n_players), order.players[:k]) for k in sample]
        plain.append([plain_loop(problem, recipe, coalition, z) for coalition in coalitions])
        for _ in range(5):
            plain_single.append(plain_loop(problem, recipe, everybody, z))
            began = time.process_time()
            walker.utility(everybody)
            single.append(1e3 * (time.process_time() - began))
    print(f"{options.dataset}, {recipe.epochs} epochs{'PyTorch ms':>20}{'pcwinter ms':>13}{'ratio':>8}")
    for name, theirs, ours in (
        ("model of a walk", np.min(plain, axis=0).mean(), min(walks)),
        ("a single model", min(plain_single), min(single)),
    ):
        print(f"{name:24}{theirs:12.1f}{ours:13.2f}{theirs / ours:8.1f}")


if __name__ == "__main__":
    main()
