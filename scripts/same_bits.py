"""Two checkouts -> whether they compute the same bits: python -m scripts.same_bits BEFORE AFTER [--quick].

Each checkout computes the cases of `scripts.same_bits_cases` in a separate process. Both run at the same time, with the
same interpreter and packages. The tables and arrays that they write are compared byte by byte. The exit status is 0 if
every case is the same, otherwise 1. Set PCWINTER_DATA unless you use --quick.
"""

import argparse
import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

import numpy as np
from benchmarks.checkouts import checkout_environment, checkout_folder, module_command
from benchmarks.machine import ROOT

TABLES, ARRAYS = ("nodes.csv", "edges.csv"), ("players.npz", "ranking.npz")


def main() -> int:
    """Print one line per case, and how many differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=checkout_folder, metavar="BEFORE", help="root of a checkout")
    parser.add_argument("after", type=checkout_folder, metavar="AFTER", help="root of the other checkout")
    parser.add_argument("--quick", action="store_true", help="leave out the public graphs")
    options = parser.parse_args()
    checkouts = (options.before, options.after)
    n = differ = 0
    with tempfile.TemporaryDirectory(prefix="same-bits-") as scratch:
        folders = [Path(scratch) / side for side in ("before", "after")]
        processes = [start(*place, options.quick) for place in zip(checkouts, folders, strict=True)]
        try:
            for names in zip_longest(*(process.stdout or () for process in processes)):
                case = next(name.rstrip("\n") for name in names if name)  # a process that has died prints nothing
                difference = first_difference(*(folder / "cases" / case for folder in folders))
                n, differ = n + 1, differ + (difference is not None)
                print(f"{case}: {difference or 'same'}", flush=True)
        except BaseException:
            for process in processes:
                process.kill()
            raise
        ended = [process.wait() for process in processes]
    for checkout, status in zip(checkouts, ended, strict=True):
        if status:
            print(f"the process for {checkout} ended early, with exit status {status}")
    print(f"{n} cases, {differ} differ")
    return 1 if differ or any(ended) else 0


def start(checkout: Path, folder: Path, quick: bool) -> "subprocess.Popen[str]":
    """Start a process that computes the cases into `folder`, and prints the name of each when it is done."""
    (folder / "cases").mkdir(parents=True)
    command = module_command("scripts.same_bits_cases", checkout, folder / "cases", *(["--quick"] if quick else []))
    return subprocess.Popen(
        command, cwd=ROOT, env=checkout_environment(checkout, folder), stdout=subprocess.PIPE, text=True
    )


def first_difference(before: Path, after: Path) -> str | None:
    """The first difference between the two folders of a case, or None."""
    folders = {"before": before, "after": after}
    for side, folder in folders.items():
        if not folder.exists():
            return f"missing {side}"
        if (folder / "error.txt").exists():
            return f"failed {side}: {(folder / 'error.txt').read_text()}"
    here, there = ({path.name for path in folder.iterdir()} & {*TABLES, *ARRAYS} for folder in (before, after))
    if here != there or not here:
        return f"files {sorted(here)} before, {sorted(there)} after"
    for name in sorted(here):
        compare = table_difference if name in TABLES else array_difference
        difference = compare(before / name, after / name)
        if difference is not None:
            return f"{name}, {difference}"
    return None


def table_difference(before: Path, after: Path) -> str | None:
    """The first line and column that differ between two tables."""
    one, other = (path.read_bytes().decode().split("\n") for path in (before, after))
    if one == other:
        return None
    if one[0] != other[0] or len(one) != len(other):
        return f"columns {one[0]}, {len(one):,} lines before; columns {other[0]}, {len(other):,} lines after"
    at = next(k for k in range(len(one)) if one[k] != other[k])
    cells = zip(one[0].split(","), one[at].split(","), other[at].split(","), strict=True)
    column, mine, theirs = next(cell for cell in cells if cell[1] != cell[2])
    return f"line {at + 1}, {column}: {mine} before, {theirs} after"


def array_difference(before: Path, after: Path) -> str | None:
    """The first array and element that differ between two archives; NaN equals NaN if the bits are equal."""
    with np.load(before, allow_pickle=False) as one, np.load(after, allow_pickle=False) as other:
        if one.files != other.files:
            return f"arrays {one.files} before, {other.files} after"
        for name in one.files:
            a, b = one[name], other[name]
            if (a.dtype, a.shape) != (b.dtype, b.shape):
                return f"{name}: {a.dtype} {a.shape} before, {b.dtype} {b.shape} after"
            if a.tobytes() != b.tobytes():
                at = next(i for i in range(a.size) if a.flat[i].tobytes() != b.flat[i].tobytes())
                return f"{name}, element {at} of {a.size}: {a.flat[at]} before, {b.flat[at]} after"
    return None


if __name__ == "__main__":
    sys.exit(main())
