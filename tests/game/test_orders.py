"""Orders: constraints, uniformity, enumeration and truncation."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from oracles import make_graph, random_graph
from pcwinter.game.orders import FAMILIES, count_orders, every_order, expected_visits, sampler
from pcwinter.game.protocol import Order
from pcwinter.game.tree import ContributionTree, contribution_tree

SMALL = {  # trees with few orders, also for the free family
    1: contribution_tree(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), 1),
    2: contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 2),
    3: contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 3),
}


def is_contiguous(tree: ContributionTree, order: Order) -> bool:
    """Every subtree takes neighbouring places."""
    place = np.argsort(order.players)
    blocks = (place[p : p + tree.size[p]] for p in range(tree.n_players))
    return all(np.ptp(block) + 1 == len(block) for block in blocks)


def is_preceded(tree: ContributionTree, order: Order) -> bool:
    """Every player follows its parent."""
    place = np.argsort(order.players)
    inner = tree.parent >= 0
    return bool((place[tree.parent[inner]] < place[inner]).all())


@given(
    seed=st.integers(0, 2**32 - 1),
    graph_seed=st.integers(0, 50),
    hops=st.integers(1, 3),
    family=st.sampled_from(list(FAMILIES)),
)
def test_every_sampled_order_satisfies_its_constraints(seed: int, graph_seed: int, hops: int, family: str) -> None:
    tree = contribution_tree(random_graph(graph_seed, n=8), hops)
    order = FAMILIES[family](tree, np.random.default_rng(seed))
    assert sorted(order.players) == list(range(tree.n_players))
    assert order.visited.all()
    if family in ("dfs", "level"):
        assert is_contiguous(tree, order)
    if family in ("dfs", "precedence"):
        assert is_preceded(tree, order)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("hops", SMALL)
def test_enumeration_is_complete_and_without_repeats(family: str, hops: int) -> None:
    tree = SMALL[hops]
    orders = list(every_order(tree, family))
    assert len({tuple(order.players) for order in orders}) == len(orders) == count_orders(tree, family)
    if family in ("dfs", "level"):
        assert all(is_contiguous(tree, order) for order in orders)
    if family in ("dfs", "precedence"):
        assert all(is_preceded(tree, order) for order in orders)
    everything = {tuple(o.players) for o in every_order(tree, "free")}
    wanted: Callable[[Order], bool] = {
        "dfs": lambda o: is_contiguous(tree, o) and is_preceded(tree, o),
        "level": lambda o: is_contiguous(tree, o),
        "precedence": lambda o: is_preceded(tree, o),
        "free": lambda o: True,
    }[family]
    visited = np.ones(tree.n_players, dtype=bool)
    assert len(orders) == sum(wanted(Order(np.array(o), visited)) for o in everything)


@pytest.mark.parametrize("family", ["dfs", "level", "precedence"])
@pytest.mark.parametrize("hops", SMALL)
def test_sampling_is_uniform(family: str, hops: int) -> None:
    tree = SMALL[hops]
    names = [tuple(order.players.tolist()) for order in every_order(tree, family)]
    rng = np.random.default_rng(7)
    drawn = Counter(tuple(FAMILIES[family](tree, rng).players.tolist()) for _ in range(20 * len(names) + 2_000))
    assert set(drawn) <= set(names)
    if len(names) > 1:
        assert scipy.stats.chisquare([drawn[name] for name in names]).pvalue > 1e-3


def test_linear_extensions_are_uniform_on_a_lopsided_forest() -> None:
    tree = contribution_tree(make_graph([(0, 2), (0, 3), (0, 4)], [0, 1]), 1)
    names = [tuple(order.players.tolist()) for order in every_order(tree, "precedence")]
    rng = np.random.default_rng(3)
    drawn = Counter(tuple(FAMILIES["precedence"](tree, rng).players.tolist()) for _ in range(9_000))
    assert scipy.stats.chisquare([drawn[name] for name in names]).pvalue > 1e-3


@given(
    seed=st.integers(0, 2**32 - 1),
    graph_seed=st.integers(0, 50),
    ratios=st.sampled_from([(0.5, 0.7), (0.7, 0.9)]),
)
def test_truncation_visits_the_first_children_only(seed: int, graph_seed: int, ratios: tuple[float, float]) -> None:
    tree = contribution_tree(random_graph(graph_seed, n=9, probability=0.5), 2)
    order = sampler(tree, "dfs", ratios)(np.random.default_rng(seed))
    assert is_contiguous(tree, order)
    assert is_preceded(tree, order)
    place = np.argsort(order.players)
    visited = order.visited[place]
    assert visited[tree.roots].all()
    for p in np.flatnonzero(tree.children):
        children = np.flatnonzero(tree.parent == p)
        children = children[np.argsort(place[children])]
        tenths = round(10 * (1 - ratios[tree.depth[p]]))
        kept = ceil(len(children) * tenths / 10)
        expected = (np.arange(len(children)) < kept) & visited[p]
        assert visited[children].tolist() == expected.tolist()


@given(seed=st.integers(0, 2**32 - 1), graph_seed=st.integers(0, 50), hops=st.integers(1, 3))
def test_the_silent_players_of_an_owner_are_one_step_at_the_end_of_its_block(
    seed: int, graph_seed: int, hops: int
) -> None:
    tree = contribution_tree(random_graph(graph_seed, n=8, probability=0.4), hops)
    order = sampler(tree, "dfs", [0.5, 0.7, 0.3][:hops], "silent")(np.random.default_rng(seed))
    place = np.argsort(order.players)
    visited, steps = order.visited[place], order.steps()
    sets: dict[int, set[int]] = {}
    for p in np.flatnonzero(~visited).tolist():
        q = int(tree.parent[p])
        while not visited[q]:
            q = int(tree.parent[q])
        sets.setdefault(q, set()).add(p)
    found = [set(order.players[a:b].tolist()) for a, b in pairwise(steps.tolist()) if not order.visited[a]]
    assert sorted(map(sorted, found)) == sorted(map(sorted, sets.values()))
    for q, silent in sets.items():
        ends = {int(place[p]) for p in silent}
        assert max(ends) == place[q : q + tree.size[q]].max()
        assert max(ends) - min(ends) + 1 == len(silent)


@pytest.mark.parametrize(
    ("n", "ratio", "kept"), [(10, np.float32(0.7), 3), (10, 1 - 0.9, 9), (3, 1 / 3, 2), (3, 2 / 3, 1), (7, 0.0, 7)]
)
def test_computed_ratios_keep_what_was_meant(n: int, ratio: float, kept: int) -> None:
    tree = contribution_tree(make_graph([(0, 2 + k) for k in range(n)], [0, 1]), 1)
    assert sampler(tree, "dfs", (ratio,))(np.random.default_rng(0)).visited.sum() == 2 + kept


def test_ten_children_at_seven_tenths_keep_three() -> None:
    tree = contribution_tree(make_graph([(0, k) for k in range(2, 12)], [0, 1]), 1)
    assert expected_visits(tree, (0.7,)) == pytest.approx(2 + 3)
    assert sampler(tree, "dfs", (0.7,))(np.random.default_rng(0)).visited.sum() == 5


@pytest.mark.parametrize("truncation", [(0.5, 0.7), (0.3, 0.0), (0.0, 0.0)])
def test_expected_visits_against_enumeration(truncation: tuple[float, float]) -> None:
    tree = contribution_tree(make_graph([(0, 2), (0, 3), (2, 3), (1, 4)], [0, 1]), 2)
    visits = [order.visited.sum() for order in every_order(tree, "dfs", truncation)]
    assert expected_visits(tree, truncation) == pytest.approx(np.mean(visits))


@pytest.mark.parametrize(
    ("family", "truncation", "sentence"),
    [
        ("dfs", (0.5, 1.0), "at least 0 and below 1"),
        ("dfs", (-0.1, 0.5), "at least 0 and below 1"),
        ("dfs", (float("nan"), 0.5), "at least 0 and below 1"),
        ("dfs", (0.5,), "has 1 ratio,.* 2"),
        ("level", (0.5, 0.7), "for dfs orders only"),
        ("precedence", (0.5, 0.7), "for dfs orders only"),
        ("free", (0.5, 0.7), "for dfs orders only"),
        ("bfs", (), "expected dfs, level, precedence or free"),
        ("dfs", 0.5, "per hop"),
        ("dfs", "0.5,0.7", "per hop"),
    ],
)
def test_bad_requests_are_refused(family: str, truncation: tuple[float, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        sampler(SMALL[2], family, truncation)


def test_counting_refuses_what_sampling_refuses() -> None:
    with pytest.raises(ValueError, match=r"'bfs'.*did you mean dfs"):
        count_orders(SMALL[2], "bfs")
    for function in (sampler, count_orders, expected_visits):
        with pytest.raises(ValueError, match="tree is 3"):
            function(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="below 1"):
        expected_visits(SMALL[2], (1.5, 0.5))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_generator_alone_decides(family: str) -> None:
    tree = contribution_tree(random_graph(1), 2)
    first, again, other = (FAMILIES[family](tree, np.random.default_rng(seed)).players for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
