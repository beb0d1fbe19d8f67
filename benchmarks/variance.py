"""Variance of node values under other ways to draw orders: python -m benchmarks.variance cora citeseer.

Every scheme is replicated with the same budget: the evaluations of `--orders` plain orders. Its variance is that of the
node values over the replications, summed over nodes, relative to plain sampling. Below 1 is better. All schemes are
unbiased, because each single order is uniform.

- mirror: pairs of orders; the second reverses all sequences of siblings (or only the roots, or only those below them).
- rotate G: the root sequence of one order, rotated by 1/G of its length from one order to the next.
- latin G: over G orders, the sort key of every player falls once in each of G equal intervals, independently of others.
- inner R: R orders share their root sequence. A tree then has to be opened only once. The time saved, measured as the
  time of a walk of the roots only, is subtracted.
- early R: the first 2/7 of the trees are walked R times and averaged. They are either shuffled again among themselves,
  which keeps the sum of the values exact, or (free) taken from the beginning of other orders, which does not.

Cost is counted in evaluations. `time` multiplies by the processor time per evaluation; the schemes take turns.
"""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import numpy as np
import numpy.typing as npt
import scipy.stats

import pcwinter as pw
from pcwinter.estimation.stopping import WINDOW
from pcwinter.game.orders import _arrange, _descend
from pcwinter.game.problem import GraphGame
from pcwinter.game.protocol import Order, marginals

Floats = npt.NDArray[np.float64]
HEADS = {"cora": (10, 1), "citeseer": (10, 1), "amazon-photo": (0.3, 1)}  # penalty, bias
EARLY = 2 / 7  # of the trees
TOLERANCE = 0.05  # of the default convergence rule


@dataclass
class Scheme:
    """Orders that are drawn together, as sort keys of the players."""

    title: str
    size: int  # orders in a group
    keys: Callable[[np.random.Generator, int, npt.NDArray[np.bool_]], Floats]  # (size, p)
    walks: int = 1  # number of walks of the early trees
    free: bool = False  # whether the additional early walks belong to other orders
    shared: bool = False  # whether trees are opened once per group
    groups: list[Floats] = field(default_factory=list)  # (size, n) node values of each order
    replications: list[Floats] = field(default_factory=list)  # (n,) values from one budget
    evaluations: int = 0
    seconds: float = 0.0

    @property
    def cost(self) -> float:
        """Expected evaluations of a group, in plain orders."""
        return self.size * (1 + (self.walks - 1) * EARLY)


def plain(size: int) -> Callable[..., Floats]:
    """Independent keys."""
    return lambda rng, p, _: rng.random((size, p))


def mirror(which: str) -> Callable[..., Floats]:
    """Keys u, then 1 - u, for all players, only the roots, or only the players below them."""

    def keys(rng: np.random.Generator, p: int, root: npt.NDArray[np.bool_]) -> Floats:
        u = rng.random((2, p))
        turned = {"all": np.ones(p, dtype=bool), "roots": root, "inner": ~root}[which]
        u[1, turned] = 1 - u[0, turned]
        return u

    return keys


def rotate(size: int, mirrored: bool = False) -> Callable[..., Floats]:
    """Root keys u + j / size modulo 1. If `mirrored`, the second half of the orders reverses the first half."""

    def keys(rng: np.random.Generator, p: int, root: npt.NDArray[np.bool_]) -> Floats:
        u = rng.random((size, p))
        turns = size // 2 if mirrored else size
        u[:turns, root] = (u[0, root] + np.arange(turns)[:, None] / turns) % 1
        if mirrored:
            u[turns:] = 1 - u[:turns]
        return u

    return keys


def latin(size: int) -> Callable[..., Floats]:
    """Keys that fall once in each of `size` intervals, for every player."""

    def keys(rng: np.random.Generator, p: int, _: npt.NDArray[np.bool_]) -> Floats:
        strata = rng.permuted(np.tile(np.arange(size), (p, 1)), axis=1).T
        return np.asarray((strata + rng.random((size, p))) / size)

    return keys


def inner(size: int) -> Callable[..., Floats]:
    """The same root keys in all orders."""

    def keys(rng: np.random.Generator, p: int, root: npt.NDArray[np.bool_]) -> Floats:
        u = rng.random((size, p))
        u[:, root] = u[0, root]
        return u

    return keys


def schemes(few: bool) -> list[Scheme]:
    """All schemes, starting with plain; `few` leaves out variants and groups of more than 10 orders."""
    every = [
        Scheme("plain", 1, plain(1)),
        Scheme("mirror", 2, mirror("all")),
        Scheme("mirror roots", 2, mirror("roots")),
        Scheme("mirror inner", 2, mirror("inner")),
        Scheme("rotate 10", 10, rotate(10)),
        Scheme("rotate 5, mirror", 10, rotate(10, mirrored=True)),
        Scheme("latin 10", 10, latin(10)),
        Scheme("latin 20", 20, latin(20)),
        Scheme("inner 2", 2, inner(2), shared=True),
        Scheme("early 3", 1, plain(1), walks=3),
        Scheme("early 3, latin 20", 20, latin(20), walks=3),
        Scheme("early 3, free", 1, plain(1), walks=3, free=True),
    ]
    return [s for s in every if s.title in ("plain", "mirror", "latin 10", "inner 2", "early 3")] if few else every


def to_order(tree: pw.ContributionTree, key: Floats) -> Order:
    """The pre-order in which siblings are sorted by key."""
    _, before = _arrange(tree, key)
    players = np.empty(tree.n_players, dtype=np.int64)
    players[_descend(tree, before + 1) - 1] = np.arange(tree.n_players)
    return Order(players, np.ones(tree.n_players, dtype=np.bool_))


def root_sequence(tree: pw.ContributionTree, order: Order) -> npt.NDArray[np.int64]:
    """(t,) trees in the sequence in which an order visits them."""
    sequence = tree.tree[order.players]
    return sequence[np.r_[True, sequence[1:] != sequence[:-1]]]


def timed(game: GraphGame, order: Order, scheme: Scheme) -> Floats:
    """Marginal contributions of one walk; adds its cost to the scheme."""
    began = time.process_time()
    walk = game.walk(order)
    scheme.seconds += time.process_time() - began
    scheme.evaluations += walk.evaluations
    return np.asarray(marginals(game, order, walk), dtype=np.float64)


def draw_group(game: GraphGame, scheme: Scheme, rng: np.random.Generator, positions: "Positions") -> Floats:
    """(size, n) node values of the orders of one group."""
    tree = game.problem.tree
    own, root = tree.incidence("own"), tree.depth == 0
    early = round(len(tree.roots) * EARLY)
    values = []
    for j, key in enumerate(scheme.keys(rng, tree.n_players, root)):
        order = to_order(tree, key)
        steps = timed(game, order, scheme)
        if scheme.shared and j:
            began = time.process_time()
            game.walk(Order(order.players[root[order.players]], np.ones(root.sum(), dtype=np.bool_)))
            scheme.seconds -= time.process_time() - began
        if scheme.title == "plain":
            positions.add(tree, order, steps)
        trees = root_sequence(tree, order)[:early]
        repeated = np.where(np.isin(tree.tree, trees), steps, 0)
        steps -= repeated
        for _ in range(scheme.walks - 1):
            again = to_order(tree, rng.random(tree.n_players))
            used = root_sequence(tree, again)[:early] if scheme.free else trees
            players = again.players[np.isin(tree.tree[again.players], used)]
            repeated += timed(game, Order(players, np.ones(len(players), dtype=np.bool_)), scheme)
        values.append(own @ (steps + repeated / scheme.walks))
    return np.array(values)


class Positions:
    """Marginal contributions by position of the player's tree, in bins of 1, 1, 2, 4, ... trees."""

    def __init__(self, tree: pw.ContributionTree) -> None:
        n = int(np.ceil(np.log2(len(tree.roots)))) + 1
        self.count, self.total, self.squares = (np.zeros((n, tree.n_players)) for _ in range(3))

    def add(self, tree: pw.ContributionTree, order: Order, steps: Floats) -> None:
        """Add one order."""
        place = np.argsort(root_sequence(tree, order))[tree.tree]
        where = (np.ceil(np.log2(place + 1)).astype(np.int64), np.arange(tree.n_players))
        self.count[where] += 1
        self.total[where] += steps
        self.squares[where] += steps**2

    def explained(self) -> float:
        """Share of the players' variance that lies between bins, corrected for chance."""
        n, bins = self.count.sum(axis=0), (self.count > 0).sum(axis=0)
        means = self.total / np.maximum(self.count, 1)
        within = (self.squares - self.count * means**2).sum(axis=0)
        all_squares = self.squares.sum(axis=0) - self.total.sum(axis=0) ** 2 / n
        return float(1 - (within / (n - bins)).sum() / (all_squares / (n - 1)).sum())

    def early(self, trees: int) -> float:
        """Share of the squares from the first `trees` positions; `trees` is a power of two."""
        squares = self.squares.sum(axis=1)
        return float(squares[: int(np.log2(trees)) + 1].sum() / squares.sum())


def orders_to_converge(scheme: Scheme) -> float:
    """Mean cost, in plain orders, at which the default rule stops, over consecutive runs through all groups."""
    window = max(1, round(WINDOW / scheme.cost))
    ends: list[int] = []
    total, history = np.zeros_like(scheme.replications[0]), [np.zeros_like(scheme.replications[0])]
    for group in scheme.groups:
        total = total + group.mean(axis=0)
        history.append(total)
        n = len(history) - 1
        if n > window and (n * scheme.cost) % 10 < scheme.cost:  # checked once per 10 orders, as in a run
            now, earlier = total / n, history[n - window] / (n - window)
            if np.abs(now - earlier).sum() < TOLERANCE * np.abs(now).sum():
                ends.append(n)
                total, history = np.zeros_like(total), [np.zeros_like(total)]
    return float(np.mean(ends)) * scheme.cost if ends else float("nan")


def spearman(replications: list[Floats]) -> float:
    """Mean rank correlation between independent replications."""
    rho = np.corrcoef([scipy.stats.rankdata(values) for values in replications])
    return float(rho[np.triu_indices(len(rho), 1)].mean())


def chance(single: Floats, orders: int, replications: int) -> float:
    """Standard deviation of the ratio of two equal schemes, over resampled plain orders."""
    rng = np.random.default_rng(0)
    draws = (single[rng.integers(len(single), size=(replications, orders))].mean(axis=1) for _ in range(50))
    spread = [values.var(axis=0, ddof=1).sum() for values in draws]
    return float(np.sqrt(2) * np.std(spread) / np.mean(spread))


def study(name: str, orders: int, replications: int) -> None:
    """Print the table of one dataset."""
    graph = pw.load(name)
    tree = pw.contribution_tree(graph)
    penalty, bias = HEADS[name]
    game, title, _ = pw.graph_game(graph, tree, pw.Ridge(penalty=penalty, bias=bias))
    positions = Positions(tree)
    every = schemes(few=orders < 100)
    game.walk(to_order(tree, np.random.default_rng(0).random(tree.n_players)))  # compile, fill the caches
    for k in range(replications):
        for i, scheme in enumerate(every):
            rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(i, k)))
            n = max(1, round(orders / scheme.cost))
            groups = [draw_group(game, scheme, rng, positions) for _ in range(n)]
            scheme.groups += groups
            scheme.replications.append(np.concatenate(groups).mean(axis=0))

    base = every[0]
    single = np.concatenate(base.groups)
    size = np.abs(single.mean(axis=0))
    unlabelled = ~np.isin(tree.nodes, graph.train)
    sets = {"all": size >= 0, "top 10 %": size >= np.quantile(size, 0.9), "unlabelled": unlabelled}
    total = single.var(axis=0, ddof=1)
    within = np.mean([g.var(axis=0, ddof=1) for s in every if s.shared for g in s.groups], axis=0)
    print(f"\n{name}: {title}, {replications} replications of {orders} orders")
    shares = ", ".join(f"{within[nodes].sum() / total[nodes].sum():.2f} of {key}" for key, nodes in sets.items())
    print(f"variance of one order from the sequences below the roots: {shares}")
    print(
        f"explained by the position of a player's tree: {positions.explained():.2f}; "
        f"share of the squares in the first 1, 16 positions: {positions.early(1):.2f}, {positions.early(16):.2f}"
    )
    print(f"chance moves a ratio over all nodes by {chance(single, orders, replications):.2f} (standard deviation)")
    heading = "".join(f"{key:>12}" for key in sets)
    print(f"{'':20}{heading}{'all, time':>12}{'unl., time':>12}{'Spearman':>10}{'converged':>11}")
    reference = np.var(base.replications, axis=0, ddof=1) * base.evaluations
    for scheme in every:
        spread = np.var(scheme.replications, axis=0, ddof=1) * scheme.evaluations
        ratios = [spread[nodes].sum() / reference[nodes].sum() for nodes in sets.values()]
        pace = scheme.seconds / scheme.evaluations / (base.seconds / base.evaluations)
        columns = "".join(f"{ratio:12.2f}" for ratio in (*ratios, ratios[0] * pace, ratios[2] * pace))
        rho, converged = spearman(scheme.replications), orders_to_converge(scheme)
        print(f"{scheme.title:20}{columns}{rho:10.3f}{converged:11.0f}", flush=True)


def main() -> None:
    """Print one table per dataset."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", choices=list(HEADS))
    parser.add_argument(
        "--orders", type=int, default=100, help="budget, in plain orders; below 100, fewer schemes are run"
    )
    parser.add_argument("--replications", type=int, default=20)
    options = parser.parse_args()
    for name in options.datasets:
        study(name, options.orders, options.replications)


if __name__ == "__main__":
    main()
