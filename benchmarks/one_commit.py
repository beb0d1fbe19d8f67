"""Names of measurements on stdin -> seconds on stdout, with one checkout: python -m benchmarks.one_commit CHECKOUT.

The process stays alive, so that compiling, loading and filling caches are measured only once. It uses only public
names, so that it runs on any commit.
"""

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pcwinter as pw
from benchmarks.checkouts import check_import

RIDGE = pw.Ridge(penalty=10.0, bias=1.0)  # fixed, because calibration is not measured
SOFTMAX = pw.Softmax(learning_rate=0.01, epochs=50, weight_decay=5e-4)
load = functools.cache(pw.load)


def walk(dataset: str, **options: Any) -> float:
    """Seconds that `value` spends on walking orders, without preparation."""
    return pw.value(load(dataset), **{"coalition": "induced", **options}).estimate.seconds


def data_shapley(dataset: str, permutations: int) -> float:
    """Seconds that Data Shapley spends on walking orders, without preparation."""
    return pw.baselines.data_shapley(load(dataset), RIDGE, pw.stopping.permutations(permutations)).seconds


MEASUREMENTS: dict[str, Callable[[], float]] = {
    "ridge, cora": lambda: walk("cora", head=RIDGE, permutations=120),
    "ridge, cora, messages": lambda: walk("cora", head=RIDGE, coalition="messages", permutations=200),
    "ridge, cora, truncated 0.5, 0.7": lambda: walk("cora", head=RIDGE, truncation=(0.5, 0.7), permutations=150),
    "ridge, amazon-photo, truncated 0.7, 0.9": lambda: walk(
        "amazon-photo", head=RIDGE, truncation=(0.7, 0.9), permutations=10
    ),
    "ridge, cora, free orders": lambda: walk("cora", head=RIDGE, orders="free", permutations=60),
    "softmax, cora, truncated 0.5, 0.7": lambda: walk("cora", head=SOFTMAX, truncation=(0.5, 0.7), permutations=2),
    "Data Shapley, cora": lambda: data_shapley("cora", permutations=40),
}


def main() -> None:
    """Print the names of all measurements, then answer until stdin ends."""
    check_import(Path(sys.argv[1]))
    print(json.dumps(list(MEASUREMENTS)), flush=True)
    for name in sys.stdin:
        print(MEASUREMENTS[name.rstrip("\n")](), flush=True)


if __name__ == "__main__":
    main()
