"""Two checkouts -> how their speeds compare: python -m benchmarks.two_commits BEFORE AFTER.

Walks are timed in one long-lived process per checkout, start-up in fresh processes. The checkouts take turns on one
core and alternate who goes first, so that a machine that slows down affects both alike. The first round compiles and
fills the caches, and is not counted. The ratio is the median over the rounds of after / before: above 1, the second
checkout is slower. Set PCWINTER_DATA to the folder of the public graphs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path
from statistics import median

from benchmarks.checkouts import checkout_environment, checkout_folder, module_command
from benchmarks.machine import ROOT, one_core
from benchmarks.table import _table

ROUNDS = 5
STARTS = {
    "start: import and load the demo": ["-c", "import pcwinter as pw; pw.load('demo')"],
    "start: pcwinter --help": ["-m", "pcwinter", "--help"],
}
HEADER = ("seconds, median of five", "before", "after", "after / before", "lowest to highest ratio")


class Checkout:
    """A checkout with a process that measures walks; use it in a `with` statement."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.environment = checkout_environment(folder, scratch)
        command = module_command("benchmarks.one_commit", folder)
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Checkout":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def walk(self, name: str) -> float:
        """Seconds of a measurement of `one_commit`."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return float(self.answer())

    def answer(self) -> str:
        """The next line of the process."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the process with {self.environment['PYTHONPATH']} has ended: see its error message above"
            )
        return line

    def start(self, arguments: list[str]) -> float:
        """Seconds of a fresh interpreter, from start to end."""
        command = [sys.executable, *arguments]
        began = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=self.environment, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began


def in_turns(measure: Callable[[Checkout], float], before: Checkout, after: Checkout) -> list[tuple[float, float]]:
    """Seconds before and after, for every round."""
    pairs = []
    for k in range(ROUNDS + 1):
        if k % 2:
            first = measure(before)
            pairs.append((first, measure(after)))
        else:
            first = measure(after)
            pairs.append((measure(before), first))
    return pairs[1:]


def line(name: str, pairs: list[tuple[float, float]]) -> tuple[str, ...]:
    """A row of the table: medians with half of their spread, and the ratio."""
    ratios = [after / before for before, after in pairs]
    columns = [f"{median(times):.3f} ± {(max(times) - min(times)) / 2:.3f}" for times in zip(*pairs, strict=True)]
    return name, *columns, f"{median(ratios):.3f}", f"{min(ratios):.3f} to {max(ratios):.3f}"


def main() -> None:
    """Measure, with progress on stderr, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=checkout_folder, metavar="BEFORE", help="root of a checkout")
    parser.add_argument("after", type=checkout_folder, metavar="AFTER", help="root of the other checkout")
    options = parser.parse_args()
    rows = []
    with (
        tempfile.TemporaryDirectory(prefix="two-commits-") as scratch,
        one_core(),
        Checkout(options.before, Path(scratch) / "before") as before,
        Checkout(options.after, Path(scratch) / "after") as after,
    ):
        names = [checkout.answer() for checkout in (before, after)]  # the same names, because both run the same module
        measurements: dict[str, Callable[[Checkout], float]] = {
            **{name: methodcaller("walk", name) for name in json.loads(names[0])},
            **{name: methodcaller("start", arguments) for name, arguments in STARTS.items()},
        }
        for name, measure in measurements.items():
            print(name, file=sys.stderr, flush=True)
            rows.append(line(name, in_turns(measure, before, after)))
    print(_table(HEADER, rows, "lrrrr"))


if __name__ == "__main__":
    main()
