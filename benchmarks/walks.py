"""Time of one walk per order family: python benchmarks/walks.py cora amazon-photo [--families dfs precedence].

Prints microseconds per evaluation on one core, and the peak memory of the process so far. Null players and
players whose edge is there already are not evaluations.
"""

import argparse
import os
import resource
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import numpy as np

import pcwinter as pw
from pcwinter.orders import FAMILIES


def main() -> None:
    """Walk two orders of each family, the first to compile and to fill the caches, and time the second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", choices=list(pw.DATASETS))
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    options = parser.parse_args()
    print(f"{'dataset':18}{'orders':12}{'evaluations':>12}{'seconds':>10}{'us/evaluation':>15}{'peak MB':>9}")
    for name in options.datasets:
        graph = pw.load(name)
        tree = pw.contribution_tree(graph)
        game, _, _ = pw.graph_game(graph, tree, pw.Ridge(penalty=1.0, bias=1.0))
        for family in options.families:
            draw = pw.sampler(tree, family)
            game.walk(draw(np.random.default_rng(0)))
            order = draw(np.random.default_rng(1))
            began = time.perf_counter()
            walk = game.walk(order)
            seconds = time.perf_counter() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            each = 1e6 * seconds / walk.evaluations
            print(f"{name:18}{family:12}{walk.evaluations:12,}{seconds:10.3f}{each:15.1f}{peak:9.0f}")


if __name__ == "__main__":
    main()
