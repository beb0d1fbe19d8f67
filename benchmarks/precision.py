"""Rounding errors of the ridge head by penalty and bias: python -m benchmarks.precision.

Every prefix of one order per family is compared with a solve in extended precision (`numpy.longdouble`), in both
coalition games and in the dual and the primal form. The error is that of the mean log-likelihood of the scores divided
by their size, so an error above 1e-9 can decide a tie. `wrong` counts prefixes with another accuracy. The three graphs
have random features, features with exact ties, and labelled nodes that are copies of each other.
"""

import os
from collections.abc import Iterator

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import numpy as np
import numpy.typing as npt

from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.metrics import METRICS, TIE
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import Problem, make_problem
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.closed_form import inverse_norm
from pcwinter.heads.ridge.head import STEEPEST, RidgeWalker

Long = npt.NDArray[np.longdouble]
PENALTIES, BIASES = (1e-6, 1e-4, 1e-3, 0.01, 0.1, 1.0, 1e3, 1e6), (0.0, 3.0, 30.0, 100.0, 1e3)
EVERY = 7  # prefixes


def graphs(n: int = 90, n_train: int = 30, n_val: int = 40) -> Iterator[Graph]:
    """Random features, four kinds of nodes, and pairs of equal labelled nodes; three classes."""
    rng = np.random.default_rng(0)
    edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.03]
    labels = np.r_[np.arange(n_train) % 3, np.full(n - n_train, -1), np.arange(n_val) % 3]
    plain = rng.random((n + n_val, 12))
    twins, half = plain.copy(), n_train // 2
    twins[half:n_train] = twins[:half]
    for features in (plain, np.eye(4)[rng.integers(0, 4, n + n_val)], twins):
        yield Graph(edges, features, labels, train=range(n_train), val=range(n, n + n_val), test=[], n_classes=3)


def solve(matrix: Long, right: Long) -> Long:
    """Gaussian elimination of a positive definite system, which numpy.linalg does not offer in this precision."""
    a, b = matrix.copy(), right.copy()
    for k in range(len(a)):
        factor = a[k + 1 :, k] / a[k, k]
        a[k + 1 :] -= np.outer(factor, a[k])
        b[k + 1 :] -= np.outer(factor, b[k])
    for k in range(len(a) - 1, -1, -1):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k]
    return b


def scores(problem: Problem, coalition: npt.NDArray[np.bool_], penalty: float, bias: float) -> Long:
    """(v, c) scores of a coalition with labelled nodes."""
    local = problem.local
    used = np.flatnonzero(coalition[problem.tree.roots])
    weights = coefficients(local, coalition)
    scale = np.sqrt(np.longdouble(inverse_norm(problem.complete)))
    spans = [slice(local.begin[r], local.begin[r + 1]) for r in used]
    nodes = problem.features.toarray().astype(np.longdouble) * scale
    rows = np.array([weights[span].astype(np.longdouble) @ nodes[local.node[span]] for span in spans])
    z, constant = problem.rows.toarray().astype(np.longdouble) * scale, np.longdouble(bias) ** 2
    kernel = rows @ rows.T + constant + np.longdouble(penalty) * np.eye(len(rows))
    one_hot = np.eye(problem.n_classes, dtype=np.longdouble)[problem.labels[used]]
    return np.asarray((z @ rows.T + constant) @ solve(kernel, one_hot))


def compare(problem: Problem, penalty: float, bias: float) -> dict[str, tuple[int, float]]:
    """By walk: the number of prefixes with a wrong accuracy, and the largest error."""
    y, n = problem.targets, problem.tree.n_players
    size = float(np.abs(scores(problem, np.ones(n, dtype=bool), penalty, bias)).max())
    found: dict[str, tuple[int, float]] = {}
    for family in FAMILIES:
        order = FAMILIES[family](problem.tree, np.random.default_rng(0))
        interleaved = family in ("precedence", "free")
        at, expected = [], []
        for k in range(0, n, EVERY):
            coalition = np.zeros(n, dtype=np.bool_)
            coalition[order.players[: k + 1]] = True
            if coalition[problem.tree.roots].any():
                exact = scores(problem, coalition, penalty, bias) / size
                right = (exact + TIE >= exact.max(axis=1, keepdims=True)).argmax(axis=1) == y
                surprise = np.log(np.exp(exact).sum(axis=1)) - exact[np.arange(len(y)), y]
                at.append(k)
                expected.append((float(right.sum()), -float(surprise.mean())))
        counts, logs = np.array(expected).T
        for primal in (False,) if interleaved else (False, True):
            accuracy, smooth = (
                RidgeWalker(problem, penalty, bias, METRICS[metric], temperature=size, primal=primal).walk(order)
                for metric in ("accuracy", "log-likelihood")
            )
            name = "interleaved" if interleaved else "primal" if primal else "dual"
            wrong, error = found.get(name, (0, 0.0))
            wrong += int((accuracy.utility[at] != counts).sum())
            found[name] = wrong, max(error, float(np.abs(smooth.utility[at] - logs).max()))
    return found


def main() -> None:
    """Print one line per penalty and bias."""
    problems = [
        make_problem(graph, contribution_tree(graph, 2), coalition, theta)
        for graph in graphs()
        for coalition, theta in (("induced", ()), ("messages", (0.1, 0.2, 0.7)))
    ]
    names = ("dual", "primal", "interleaved")
    print("| penalty | bias | (bias^2 + 1) / penalty | accepted | " + " | ".join(names) + " | wrong |")
    print("| --: | --: | --: | :-- | --: | --: | --: | --: |")
    for penalty in PENALTIES:
        for bias in BIASES:
            all_found = [compare(problem, penalty, bias) for problem in problems]
            errors = (max(found[name][1] for found in all_found) for name in names)
            wrong = sum(found[name][0] for found in all_found for name in names)
            steepness = (bias**2 + 1) / penalty
            cells = [f"{penalty:g}", f"{bias:g}", f"{steepness:.0e}", "yes" if steepness <= STEEPEST else "no"]
            print("| " + " | ".join([*cells, *(f"{error:.0e}" for error in errors), f"{wrong}"]) + " |", flush=True)


if __name__ == "__main__":
    main()
