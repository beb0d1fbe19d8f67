"""ContributionTree -> orders: the sequences in which the players join.

An order is permissible for PC-Winter (`dfs`) when every player follows its parent and every
subtree is contiguous, that is, when it is a pre-order. `level` requires only contiguity, `precedence`
only that ancestors come first, `free` neither. Each family can be sampled uniformly and enumerated.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import TypeAlias, TypeVar

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter._util.checks import count, one_of
from pcwinter.game.protocol import Order
from pcwinter.game.tree import ContributionTree, check_tree

Truncation: TypeAlias = Sequence[float]
REMAINDERS = ("silent", "nobody")  # who gets the change of utility that silent players cause
A = TypeVar("A", IntArray, FloatArray)


def dfs(
    tree: ContributionTree, rng: np.random.Generator, truncation: Truncation = (), remainder: str = "silent"
) -> Order:
    """A uniformly random pre-order. With `truncation`, the late children of every player join silently."""
    rank, before = _arrange(tree, rng.random(tree.n_players))
    start = _descend(tree, before + 1) - 1
    visited = np.ones(tree.n_players, dtype=np.bool_)
    if len(truncation):
        visited = _descend_all(tree, rank < _visited_children(tree, truncation))
    players = np.empty(tree.n_players, dtype=np.int64)
    players[start] = np.arange(tree.n_players)
    owner = _owners(tree, visited)[players] if len(truncation) and remainder == "silent" else None
    return Order(players, visited[players], owner)


def level(tree: ContributionTree, rng: np.random.Generator) -> Order:
    """A uniformly random order with contiguous subtrees; a player may come before, between or after its children."""
    as_child, as_self = rng.random(tree.n_players), rng.random(tree.n_players)
    _, before = _arrange(tree, as_child)
    inner = tree.parent >= 0
    own_before = np.zeros(
        tree.n_players, dtype=np.int64
    )  # players in the children's subtrees that come before the player itself
    above = tree.parent[inner]
    self_first = as_self[above] < as_child[inner]
    np.add.at(own_before, above[~self_first], tree.size[inner][~self_first])
    before[inner] += self_first
    players = np.empty(tree.n_players, dtype=np.int64)
    players[_descend(tree, before) + own_before] = np.arange(tree.n_players)
    return Order(players, np.ones(tree.n_players, dtype=np.bool_))


def precedence(tree: ContributionTree, rng: np.random.Generator) -> Order:
    """A uniformly random order in which ancestors come first: a linear extension of the forest.

    Every player starts a clock of rate `size` when its parent joins. So the next player is one of the available
    players, with probability proportional to the size of its subtree, which makes all extensions equally likely.
    """
    time = _descend(tree, rng.standard_exponential(tree.n_players) / tree.size)
    return Order(np.argsort(time, kind="stable"), np.ones(tree.n_players, dtype=np.bool_))


def free(tree: ContributionTree, rng: np.random.Generator) -> Order:
    """A uniformly random permutation of the players, as for the Shapley value."""
    return Order(rng.permutation(tree.n_players), np.ones(tree.n_players, dtype=np.bool_))


FAMILIES: dict[str, Callable[[ContributionTree, np.random.Generator], Order]] = {
    "dfs": dfs,
    "level": level,
    "precedence": precedence,
    "free": free,
}


def sampler(
    tree: ContributionTree, family: str = "dfs", truncation: Truncation = (), remainder: str = "silent"
) -> Callable[[np.random.Generator], Order]:
    """A function that takes a `numpy.random.Generator` and draws one order, uniformly from the family.

    `tree` is the contribution tree. `family` is "dfs", "level", "precedence" or "free". `truncation` has one ratio per
    hop, for "dfs" only: with ratio t, the last share t of the children of a player join silently. `remainder` says who
    gets the change of utility that they cause: the "silent" players themselves, in equal shares, or "nobody".
    """
    check_tree(tree)
    truncation = check_truncation(tree.hops, family, truncation)
    one_of("remainder", remainder, REMAINDERS)
    if truncation:
        return partial(dfs, tree, truncation=truncation, remainder=remainder)
    return partial(FAMILIES[family], tree)


def check_truncation(hops: int, family: str, truncation: Truncation) -> tuple[float, ...]:
    """The truncation as a tuple of floats, after checking it and the name of the family."""
    one_of("orders", family, FAMILIES)
    try:
        ratios = tuple(float(t) for t in truncation)
    except (TypeError, ValueError):
        raise ValueError(f"truncation is {truncation!r}, expected one number per hop, such as (0.5, 0.7)") from None
    if not ratios:
        return ratios
    if family != "dfs":
        raise ValueError(
            f"truncation is defined for dfs orders only, but orders is {family!r}: leave out truncation, or use dfs"
        )
    if len(ratios) != hops:
        raise ValueError(f"truncation has {count(len(ratios), 'ratio')}, expected {hops}, one per hop")
    if not all(0 <= t < 1 for t in ratios):
        raise ValueError(f"truncation is {list(ratios)}, but every ratio must be at least 0 and below 1")
    return ratios


def expected_visits(tree: ContributionTree, truncation: Truncation = ()) -> float:
    """Expected number of players that a DFS order visits, including null players: the paper's retraining count.

    `tree` is the contribution tree, and `truncation` is as in `sampler`.
    """
    check_tree(tree)
    truncation = check_truncation(tree.hops, "dfs", truncation)
    if not truncation:
        return float(tree.n_players)
    share = np.ones(tree.n_players)
    inner = tree.parent >= 0
    share[inner] = _visited_children(tree, truncation)[inner] / tree.children[tree.parent[inner]]
    return float(np.exp(_descend(tree, np.log(share))).sum())


def count_orders(tree: ContributionTree, family: str = "dfs") -> int:
    """Number of orders in the family.

    `tree` is the contribution tree, and `family` is as in `sampler`.
    """
    check_tree(tree)
    check_truncation(tree.hops, family, ())
    if family == "free":
        return math.factorial(tree.n_players)
    if family == "precedence":  # the hook length formula for forests
        hooks: int = math.prod(tree.size.tolist())
        return math.factorial(tree.n_players) // hooks
    blocks = tree.children + (family == "level")
    return math.prod(math.factorial(n) for n in [len(tree.roots), *blocks.tolist()])


def every_order(
    tree: ContributionTree, family: str = "dfs", truncation: Truncation = (), remainder: str = "silent"
) -> Iterator[Order]:
    """Every order of the family, once. There are `count_orders(tree, family)` of them.

    `tree`, `family`, `truncation` and `remainder` are as in `sampler`.
    """
    check_tree(tree)
    truncation = check_truncation(tree.hops, family, truncation)
    one_of("remainder", remainder, REMAINDERS)
    limit = _visited_children(tree, truncation) if truncation else np.full(tree.n_players, tree.n_players)
    children = [np.flatnonzero(tree.parent == p).tolist() for p in range(tree.n_players)]

    def blocks(p: int, visited: bool) -> Iterator[list[tuple[int, bool]]]:
        for arrangement in permutations([p, *children[p]] if family == "level" else children[p]):
            parts = [
                [[(p, visited)]] if child == p else list(blocks(child, visited and rank < limit[child]))
                for rank, child in enumerate(arrangement)
            ]
            for chosen in product(*parts):
                head = [] if family == "level" else [(p, visited)]
                yield head + [item for part in chosen for item in part]

    def extensions(placed: list[int], available: list[int]) -> Iterator[list[int]]:
        if not available:
            yield placed
        for p in available:
            yield from extensions([*placed, p], [q for q in available if q != p] + children[p])

    if family == "free":
        sequences: Iterator[Sequence[int]] = permutations(range(tree.n_players))
    elif family == "precedence":
        sequences = extensions([], tree.roots.tolist())
    else:
        for arrangement in permutations(tree.roots.tolist()):
            for chosen in product(*(list(blocks(root, True)) for root in arrangement)):
                items = [item for part in chosen for item in part]
                players, seen = np.array([p for p, _ in items]), np.array([visited for _, visited in items])
                owner = None
                if truncation and remainder == "silent":
                    owner = _owners(tree, seen[np.argsort(players)])[players]
                yield Order(players, seen, owner)
        return
    for sequence in sequences:
        yield Order(np.array(sequence), np.ones(tree.n_players, dtype=np.bool_))


def _arrange(tree: ContributionTree, key: FloatArray) -> tuple[IntArray, IntArray]:
    """Sort siblings by `key`: (p,) rank among siblings, and (p,) number of players in the subtrees before it."""
    sequence = np.lexsort((key, tree.parent))
    parents, sizes = tree.parent[sequence], tree.size[sequence]
    first = np.flatnonzero(np.r_[True, parents[1:] != parents[:-1]])
    family = np.repeat(first, np.diff(np.r_[first, len(sequence)]))
    passed = np.cumsum(sizes) - sizes
    rank, before = np.empty_like(sequence), np.empty_like(sequence)
    rank[sequence] = np.arange(len(sequence)) - family
    before[sequence] = passed - passed[family]
    return rank, before


def _descend(tree: ContributionTree, step: A) -> A:
    """(p,) sum of `step` along the path from the labelled node to each player."""
    total = step.copy()
    for depth in range(1, tree.hops + 1):
        here = tree.depth == depth
        total[here] += total[tree.parent[here]]
    return total


def _descend_all(tree: ContributionTree, ok: BoolArray) -> BoolArray:
    """(p,) whether `ok` holds for every player on the path, except the labelled node, which is always visited."""
    broken: IntArray = np.where(tree.parent < 0, 0, ~ok)
    return np.equal(_descend(tree, broken), 0)


def _owners(tree: ContributionTree, visited: BoolArray) -> IntArray:
    """(p,) every visited player itself, and of every other one the deepest ancestor that is visited."""
    owner = np.where(visited, np.arange(tree.n_players), -1)
    for depth in range(1, tree.hops + 1):
        here = np.flatnonzero((tree.depth == depth) & ~visited)
        owner[here] = owner[tree.parent[here]]
    return owner


def _visited_children(tree: ContributionTree, truncation: Truncation) -> IntArray:
    """(p,) how many of the n children of its parent are visited: ceil(n (1 - t)), exactly.

    The ratio is rounded to a simple fraction, because 10 * (1 - 0.7) is not 3 in binary.
    """
    kept = [1 - Fraction(float(t)).limit_denominator(10_000) for t in truncation]
    above, below = (np.array([getattr(k, part) for k in kept]) for part in ("numerator", "denominator"))
    inner = tree.parent >= 0
    hop, siblings = tree.depth[inner] - 1, tree.children[tree.parent[inner]]
    limit = np.full(tree.n_players, tree.n_players)
    limit[inner] = -(-siblings * above[hop] // below[hop])
    return limit
