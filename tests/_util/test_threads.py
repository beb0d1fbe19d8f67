"""One BLAS thread, and the user's number afterwards."""

import os
import subprocess
import sys

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import pcwinter as pw
from oracles import make_graph


def test_one_thread_in_all_processes_and_the_users_number_afterwards() -> None:
    tree = pw.contribution_tree(make_graph([(0, 2), (0, 3)], [0, 1]), 1)

    def utility(coalition: np.typing.NDArray[np.bool_]) -> float:
        seen = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
        return 0.0 if not coalition.any() else float(max(seen))

    game = pw.SetGame(tree.n_players, utility)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        for workers in (1, 2):
            result = pw.estimate(game, pw.sampler(tree), pw.stopping.permutations(20), workers=workers)
            assert result.mean().sum() == 1
            assert blas_threads() == before
    assert max(before) == 2


def test_the_number_of_threads_in_the_environment_changes_no_bit() -> None:
    seen = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
        )
        seen.add(done.stdout)
    assert len(seen) == 1


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


THREADS = """
import hashlib, sys, warnings
import pcwinter as pw
warnings.simplefilter("ignore")
digest = hashlib.sha256()
for options in ({"head": "ridge"}, {"head": pw.Softmax(epochs=3), "truncation": (0.9, 0.9)}):
    values = pw.value(pw.load("demo"), metric="log-likelihood", permutations=3, bootstrap=5, **options)
    digest.update(values.estimate.mean().tobytes() + values.validation_stderr["own"].tobytes())
    digest.update(repr((values.utility_full, values.calibration)).encode())
print(digest.hexdigest())
"""
