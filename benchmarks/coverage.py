"""Coverage of 95 % intervals, value ± t stderr: python -m benchmarks.coverage > benchmarks/results/coverage.md.

The orders of a run are cut into replications of n orders. The interval of a replication is compared with the mean of
all other orders, which is independent of it; the standard error of that mean is added in quadrature. Orders are
truncated, and silent players share what they change. So the reference is the expectation of the truncated estimator.
A row of a table of values is a node or an edge.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import stdtrit

import pcwinter as pw
from pcwinter.estimation.estimator import block_of_orders
from pcwinter.estimation.moments import Moments
from pcwinter.game.protocol import marginals

Floats = npt.NDArray[np.float64]
LEVELS = ("own", "path", "edge")
GAMES = ("induced", "messages")
EVENTS = 2  # rows with fewer events in a replication are rare
HEADER = """| game | values | orders | rows | constant | coverage | coverage, common | coverage, rare | rare rows |
| --- | --- | --: | --: | --: | --: | --: | --: | --: |"""
LEGEND = f"""- constant: rows with the same value in all orders. They have no interval and are left out.
- coverage: the share of intervals that contain the reference, over all replications and all other rows.
- rare: rows with fewer than {EVENTS} expected events per replication; common: the others. A row that changes in a
  share p of the orders, by the same amount each time, has a kurtosis of about 1 / p. So orders / kurtosis counts its
  events."""


@dataclass(frozen=True)
class Sampled:
    """Sums over blocks of orders, for all rows of all levels."""

    blocks: list[Moments]
    kurtosis: Floats  # (rows,) over all orders; NaN for constant rows
    levels: dict[str, slice]  # where the rows of a level are
    unit: float


def sample(graph: pw.Graph, coalition: str, truncation: Sequence[float], orders: int, size: int) -> Sampled:
    """Walk the orders of seed 0, and add them up in blocks of `size`."""
    tree = pw.contribution_tree(graph)
    game, _, _ = pw.graph_game(graph, tree, "ridge", coalition=coalition)
    incidence = [tree.incidence(level) for level in LEVELS]
    matrix = sp.csr_array(sp.vstack(incidence))
    draw = pw.sampler(tree, truncation=truncation)
    blocks, powers = [], np.zeros((5, matrix.shape[0]))
    for begin in range(0, orders, size):
        rows = [matrix @ marginals(game, o, game.walk(o)) for o in block_of_orders(draw, 0, begin, begin + size)]
        blocks.append(reduce(add, map(Moments.of, rows)))
        powers += [np.sum(np.array(rows, dtype=np.float64) ** k, axis=0) for k in range(5)]
    ends = np.cumsum([0, *(part.shape[0] for part in incidence)]).tolist()
    levels = {level: slice(*ends[k : k + 2]) for k, level in enumerate(LEVELS)}
    return Sampled(blocks, _kurtosis(powers), levels, game.unit)


def _kurtosis(powers: Floats) -> Floats:
    """Fourth central moment over the square of the second, from sums of powers."""
    _, m, m2, m3, m4 = powers / powers[0]
    variance, fourth = m2 - m**2, m4 - 4 * m * m3 + 6 * m**2 * m2 - 3 * m**4
    constant = variance <= 1e-12 * np.maximum(m2, 1e-12)
    return np.where(constant, np.nan, fourth / np.where(constant, 1, variance) ** 2)


def covered(sampled: Sampled, together: int) -> Floats:
    """(rows,) share of replications, each of `together` blocks, whose interval contains the mean of all others."""
    blocks, unit = sampled.blocks, sampled.unit
    whole, n = reduce(add, blocks), blocks[0].n * together
    rest = whole.n - n
    hits = []
    for begin in range(0, len(blocks) - together + 1, together):
        mine = reduce(add, blocks[begin : begin + together])
        reference = (whole.total - mine.total) / rest * unit
        error = np.hypot(mine.stderr(unit), whole.stderr(unit) * np.sqrt(whole.n / rest))
        hits.append(np.abs(mine.mean(unit) - reference) <= stdtrit(n - 1, 0.975) * error)
    return np.asarray(np.mean(hits, axis=0))


def lines(sampled: Sampled, title: str, sizes: Iterable[int]) -> Iterator[str]:
    """Rows of the table, for one game."""
    for n in sizes:
        share = covered(sampled, n // sampled.blocks[0].n)
        for level, rows in sampled.levels.items():
            kurtosis, hit = sampled.kurtosis[rows], share[rows]
            varies = ~np.isnan(kurtosis)
            rare = varies & (n < EVENTS * np.nan_to_num(kurtosis))
            parts = [_percent(hit[which]) for which in (varies, varies & ~rare, rare)]
            numbers = [f"{n:,}", f"{len(hit):,}", f"{len(hit) - varies.sum():,}", *parts, _percent(rare[varies])]
            yield f"| {title} | {level} | {' | '.join(numbers)} |"


def _percent(x: Floats | npt.NDArray[np.bool_]) -> str:
    return f"{np.mean(x):.1%}" if len(x) else ""


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", default="demo")
    parser.add_argument("--truncation", type=float, nargs=2, default=(0.5, 0.7))
    parser.add_argument("--sizes", type=int, nargs="+", default=(100, 300), help="orders; multiples of the first")
    parser.add_argument("--orders", type=int, default=21_000, help="of all replications; a multiple of the sizes")
    options = parser.parse_args()
    replications = " and ".join(f"{options.orders // n:,} replications of {n:,} orders" for n in options.sizes)
    shares = " and ".join(f"{share:g}" for share in options.truncation)
    print("# Coverage of 95 % intervals\n")
    print(f"Command: `{' '.join(['python -m benchmarks.coverage', *sys.argv[1:]])}`.\n")
    print(f"{options.graph}, ridge head, accuracy, truncation {shares}, {replications}.\n\n{HEADER}")
    for coalition in GAMES:
        sampled = sample(pw.load(options.graph), coalition, options.truncation, options.orders, options.sizes[0])
        print("\n".join(lines(sampled, coalition, options.sizes)), flush=True)
    print(f"\n{LEGEND}")


if __name__ == "__main__":
    main()
