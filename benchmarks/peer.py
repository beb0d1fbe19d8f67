"""Dataset -> comparison with pyDVL: permutation Shapley values of the labelled rows, by both libraries.

The players are the labelled nodes with their complete rows. The utility is the accuracy of the ridge head. For
pcwinter, this game is a graph without edges. pyDVL needs NumPy 1, so it gets a separate environment.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import pcwinter as pw
from benchmarks.machine import ROOT, Result
from pcwinter.game.coalitions.acting import coefficients

PEER = "pydvl==0.10.0"
FOLDER = ROOT / ".venv-peer"


def interpreter() -> Path:
    """The interpreter that has pyDVL; its environment is created on the first call."""
    python = FOLDER / "bin" / "python"
    done = FOLDER / ".installed"
    if not done.exists() or done.read_text() != PEER:
        print(f"  installing {PEER} into {FOLDER.name} (only once) ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", PEER]
        subprocess.run(pip, check=True, stdout=sys.stderr, env={**os.environ, "PYTHONPATH": ""})
        done.write_text(PEER)
    return python


def rows_alone(graph: pw.Graph, hops: int = 2) -> pw.Graph:
    """A graph without edges: the labelled nodes with their complete rows, and the validation nodes with theirs."""
    game, _, _ = pw.graph_game(graph, pw.contribution_tree(graph, hops), pw.Ridge(penalty=1.0, bias=1.0))
    problem = game.problem
    train = problem.training_rows(coefficients(problem.local, np.ones(game.n_players, dtype=np.bool_)))
    n, v = train.shape[0], len(problem.targets)
    return pw.Graph(
        adjacency=sp.csr_array((n + v, n + v)),
        features=sp.vstack([train, problem.rows]),
        labels=np.concatenate([problem.labels, problem.targets]),
        train=np.arange(n),
        val=np.arange(n, n + v),
        n_classes=graph.n_classes,
        name=graph.name,
    )


def peer(dataset: str, permutations: int, ours: int) -> Result:
    """Time both libraries, one after the other; `ours` is the number of orders for pcwinter."""
    graph = pw.load(dataset)
    _, _, chosen = pw.graph_game(graph, pw.contribution_tree(graph))
    assert chosen is not None
    rows = rows_alone(graph)
    head = chosen.head
    assert isinstance(head, pw.Ridge)
    assert head.penalty is not None
    assert head.bias is not None
    tree = pw.contribution_tree(rows, hops=1)
    game, title, _ = pw.graph_game(rows, tree, head)
    pw.estimate(game, pw.sampler(tree), pw.stopping.permutations(2), seed=1)  # compile
    began = time.perf_counter()
    mine = pw.estimate(game, pw.sampler(tree), pw.stopping.permutations(ours))
    seconds = time.perf_counter() - began
    theirs = _ask_peer(rows, head.penalty, head.bias, permutations)
    values, stderr = np.array(theirs.pop("values")), np.array(theirs.pop("stderr"))
    gap = (mine.mean() - values) / np.hypot(mine.stderr(), stderr)
    return {
        "dataset": dataset,
        "game": f"{len(rows.train)} labelled rows, {len(rows.val)} validation rows, {title}",
        "pcwinter": {
            "permutations": ours,
            "evaluations": mine.tally.evaluations,
            "seconds": seconds,
            "us_per_evaluation": 1e6 * seconds / mine.tally.evaluations,
        },
        "pydvl": {
            "version": PEER,
            **theirs,
            "us_per_evaluation": 1e6 * float(theirs["seconds"]) / int(theirs["evaluations"]),
        },
        "gap_in_standard_errors": {
            "root_mean_square": float(np.sqrt(np.mean(gap**2))),
            "largest": float(abs(gap).max()),
        },
        "correlation": float(np.corrcoef(mine.mean(), values)[0, 1]),
    }


def _ask_peer(rows: pw.Graph, penalty: float, bias: float, permutations: int) -> Result:
    """Run pyDVL on the game, passed in a file: scaled rows with the constant feature, as the ridge head uses them."""
    features = rows.features.toarray()
    scale = 1 / np.sqrt(np.mean(np.sum(features[rows.train] ** 2, axis=1)))
    phi = np.hstack([features * scale, np.full((len(features), 1), bias)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.npz"
        np.savez(
            path,
            train=phi[rows.train],
            train_labels=rows.labels[rows.train],
            val=phi[rows.val],
            val_labels=rows.labels[rows.val],
            penalty=penalty,
            n_classes=rows.n_classes,
        )
        script = Path(__file__).with_name("peer_pydvl.py")
        env = {**os.environ, "PYTHONPATH": ""}
        done = subprocess.run(
            [str(interpreter()), str(script), str(path), str(permutations)], env=env, capture_output=True, text=True
        )
    if done.returncode:
        raise RuntimeError(f"pyDVL ended with {done.stderr.strip().splitlines()[-1]}")
    result: Result = json.loads(done.stdout)
    return result
