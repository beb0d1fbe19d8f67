"""ContributionTree -> orders: in which sequence the players join.

An order is permissible for PC-Winter (`dfs`) when every player follows its parent and every
subtree is contiguous, that is, when it is a pre-order. `level` keeps only contiguity, `precedence`
only "ancestors first", `free` neither. Each family is sampled uniformly, and can be enumerated.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import TypeAlias, TypeVar

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray, IntArray
from pcwinter.game.protocol import Order
from pcwinter.game.tree import ContributionTree

Truncation: TypeAlias = Sequence[float]
A = TypeVar("A", IntArray, FloatArray)


def dfs(tree: ContributionTree, rng: np.random.Generator, truncation: Truncation = ()) -> Order:
    """A uniformly random pre-order; with `truncation`, late children of a node join silently."""
    rank, before = _arrange(tree, rng.random(tree.n_players))
    start = _descend(tree, before + 1) - 1
    visited = np.ones(tree.n_players, dtype=np.bool_)
    if len(truncation):
        visited = _descend_all(tree, rank < _visited_children(tree, truncation))
    players = np.empty(tree.n_players, dtype=np.int64)
    players[start] = np.arange(tree.n_players)
    return Order(players, visited[players])


def level(tree: ContributionTree, rng: np.random.Generator) -> Order:
    """Subtrees contiguous, the node itself one more block among its children's blocks, uniformly random."""
    as_child, as_self = rng.random(tree.n_players), rng.random(tree.n_players)
    _, before = _arrange(tree, as_child)
    inner = tree.parent >= 0
    own_before = np.zeros(tree.n_players, dtype=np.int64)  # players of children's blocks before the node itself
    above = tree.parent[inner]
    self_first = as_self[above] < as_child[inner]
    np.add.at(own_before, above[~self_first], tree.size[inner][~self_first])
    before[inner] += self_first
    players = np.empty(tree.n_players, dtype=np.int64)
    players[_descend(tree, before) + own_before] = np.arange(tree.n_players)
    return Order(players, np.ones(tree.n_players, dtype=np.bool_))


def precedence(tree: ContributionTree, rng: np.random.Generator) -> Order:
    """Ancestors first, uniform among the linear extensions of the forest.

    Every player starts a clock of rate `size` when its parent has joined: the next to join is an
    available player with probability proportional to its subtree, which makes the extensions
    equally likely.
    """
    time = _descend(tree, rng.standard_exponential(tree.n_players) / tree.size)
    return Order(np.argsort(time, kind="stable"), np.ones(tree.n_players, dtype=np.bool_))


def free(tree: ContributionTree, rng: np.random.Generator) -> Order:
    """Any permutation of the players: plain Shapley."""
    return Order(rng.permutation(tree.n_players), np.ones(tree.n_players, dtype=np.bool_))


FAMILIES: dict[str, Callable[[ContributionTree, np.random.Generator], Order]] = {
    "dfs": dfs,
    "level": level,
    "precedence": precedence,
    "free": free,
}


def sampler(
    tree: ContributionTree, family: str = "dfs", truncation: Truncation = ()
) -> Callable[[np.random.Generator], Order]:
    """A function that draws one order of the family from a generator."""
    truncation = check_truncation(tree.hops, family, truncation)
    if truncation:
        return partial(dfs, tree, truncation=truncation)
    return partial(FAMILIES[family], tree)


def check_truncation(hops: int, family: str, truncation: Truncation) -> tuple[float, ...]:
    """The truncation as a tuple, after checking it and the name of the family."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(f"orders is {family!r}, expected one of {', '.join(FAMILIES)}")
    try:
        ratios = tuple(float(t) for t in truncation)
    except (TypeError, ValueError):
        raise ValueError(f"truncation is {truncation!r}, expected one ratio per hop, such as (0.5, 0.7)") from None
    if not ratios:
        return ratios
    if family != "dfs":
        raise ValueError(f"truncation is defined for dfs orders only, not for {family} orders: leave one of them out")
    if len(ratios) != hops:
        raise ValueError(f"truncation has {len(ratios)} ratios, expected one per hop, that is {hops}")
    if not all(0 <= t < 1 for t in ratios):
        raise ValueError(f"truncation is {list(ratios)}, but every ratio must be at least 0 and below 1")
    return ratios


def expected_visits(tree: ContributionTree, truncation: Truncation = ()) -> float:
    """Expected number of players that a DFS order visits, null ones included: the paper's retraining count."""
    truncation = check_truncation(tree.hops, "dfs", truncation)
    if not truncation:
        return float(tree.n_players)
    share = np.ones(tree.n_players)
    inner = tree.parent >= 0
    share[inner] = _visited_children(tree, truncation)[inner] / tree.children[tree.parent[inner]]
    return float(np.exp(_descend(tree, np.log(share))).sum())


def count_orders(tree: ContributionTree, family: str = "dfs") -> int:
    """Number of orders in the family."""
    check_truncation(tree.hops, family, ())
    if family == "free":
        return math.factorial(tree.n_players)
    if family == "precedence":  # the hook length formula for forests
        hooks: int = math.prod(tree.size.tolist())
        return math.factorial(tree.n_players) // hooks
    blocks = tree.children + (family == "level")
    return math.prod(math.factorial(n) for n in [len(tree.roots), *blocks.tolist()])


def every_order(tree: ContributionTree, family: str = "dfs", truncation: Truncation = ()) -> Iterator[Order]:
    """All orders of the family, each once; there are `count_orders(tree, family)` of them."""
    truncation = check_truncation(tree.hops, family, truncation)
    limit = _visited_children(tree, truncation) if truncation else np.full(tree.n_players, tree.n_players)
    children = [np.flatnonzero(tree.parent == p).tolist() for p in range(tree.n_players)]

    def blocks(p: int, heard: bool) -> Iterator[list[tuple[int, bool]]]:
        for arrangement in permutations([p, *children[p]] if family == "level" else children[p]):
            parts = [
                [[(p, heard)]] if child == p else list(blocks(child, heard and rank < limit[child]))
                for rank, child in enumerate(arrangement)
            ]
            for chosen in product(*parts):
                head = [] if family == "level" else [(p, heard)]
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
                yield Order(np.array([p for p, _ in items]), np.array([heard for _, heard in items]))
        return
    for sequence in sequences:
        yield Order(np.array(sequence), np.ones(tree.n_players, dtype=np.bool_))


def _arrange(tree: ContributionTree, key: FloatArray) -> tuple[IntArray, IntArray]:
    """Sort siblings by key: (p,) rank among them, and players in the subtrees of those before it."""
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
    """(p,) sum of `step` over the path from the labelled node to each player."""
    total = step.copy()
    for depth in range(1, tree.hops + 1):
        here = tree.depth == depth
        total[here] += total[tree.parent[here]]
    return total


def _descend_all(tree: ContributionTree, ok: BoolArray) -> BoolArray:
    """(p,) whether `ok` holds for every player on the path, the labelled node (always visited) aside."""
    broken: IntArray = np.where(tree.parent < 0, 0, ~ok)
    return np.equal(_descend(tree, broken), 0)


def _visited_children(tree: ContributionTree, truncation: Truncation) -> IntArray:
    """(p,) how many of its siblings are visited, itself among the candidates: ceil(n (1 - t)), exactly.

    The ratio is read as the simple fraction that was meant, since 10 * (1 - 0.7) is not 3 in binary.
    """
    kept = [1 - Fraction(float(t)).limit_denominator(10_000) for t in truncation]
    above, below = (np.array([getattr(k, part) for k in kept]) for part in ("numerator", "denominator"))
    inner = tree.parent >= 0
    hop, siblings = tree.depth[inner] - 1, tree.children[tree.parent[inner]]
    limit = np.full(tree.n_players, tree.n_players)
    limit[inner] = -(-siblings * above[hop] // below[hop])
    return limit
