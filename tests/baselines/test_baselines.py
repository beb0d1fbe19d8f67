"""The other rankings: against enumeration of orders, of subsets and of shortest paths."""

from collections.abc import Callable
from itertools import combinations, pairwise, permutations, product
from math import comb, factorial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import beta as beta_function

from node_game_oracle import induced_utility, mask_of
from oracles import dense_power, distances, make_graph, random_graph, validation_rows
from pcwinter import baselines, stopping
from pcwinter.baselines.banzhaf import banzhaf_from
from pcwinter.baselines.knn import knn_values
from pcwinter.baselines.node_game import node_game
from pcwinter.baselines.ranking import Ranking, of_values
from pcwinter.baselines.shapley import Weighted, beta_weights
from pcwinter.estimation.estimator import State, exact
from pcwinter.experiments.judge_file import read_ranking
from pcwinter.game.metrics import METRICS
from pcwinter.game.protocol import Order
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax
from pcwinter.valuation import value

Floats = npt.NDArray[np.float64]
RIDGE = Ridge(0.7, 0.8, 0.4)
RECIPE = Softmax(0.1, 10, 5e-4)
TINY = make_graph([(0, 2), (0, 3), (1, 3), (3, 4), (2, 4)], [0, 1], n=6, n_val=20)  # five players, node 5 is none
LEVELS = ("accuracy", "log-likelihood")


def every_order(n: int) -> list[Order]:
    return [Order(np.array(players), np.ones(n, dtype=np.bool_)) for players in permutations(range(n))]


def coalitions(n: int) -> npt.NDArray[np.bool_]:
    """(2^n, n) all coalitions."""
    return np.array(list(product([False, True], repeat=n)))


def semivalue(graph: Graph, metric: str, weight: Callable[[int], float], hops: int = 2) -> Floats:
    """Sum over S without i of weight(|S|) (U(S + i) - U(S)), U from its dense definition."""
    nodes = baselines.near_nodes(graph, hops)
    whole = mask_of(graph, nodes)
    utility = {
        tuple(c): induced_utility(graph, hops, mask_of(graph, nodes[c]), RIDGE, metric, whole)
        for c in coalitions(len(nodes))
    }
    total = np.zeros(len(nodes))
    for i in range(len(nodes)):
        for without in coalitions(len(nodes)):
            if not without[i]:
                joined = without.copy()
                joined[i] = True
                total[i] += weight(int(without.sum())) * (utility[tuple(joined)] - utility[tuple(without)])
    return total


def shapley_weight(n: int) -> Callable[[int], float]:
    return lambda s: factorial(s) * factorial(n - s - 1) / factorial(n)


def within(ranking: Ranking, expected: Floats, stderrs: float = 4.0) -> bool:
    return bool((np.abs(ranking.value - expected) <= stderrs * ranking.stderr + 1e-12).all())


@pytest.mark.parametrize("metric", LEVELS)
def test_data_shapley_equals_enumeration(metric: str) -> None:
    game = node_game(TINY, hops=2, metric=METRICS[metric], head=RIDGE)
    enumerated = exact(game, every_order(5)).mean()
    expected = semivalue(TINY, metric, shapley_weight(5))
    np.testing.assert_allclose(enumerated, expected, atol=1e-10)
    sampled = baselines.data_shapley(TINY, RIDGE, stopping.permutations(200), metric=metric, tolerance=0.0, seed=3)
    assert sampled.items.tolist() == [0, 1, 2, 3, 4]
    assert within(sampled, expected)
    assert sampled.orders == 200
    assert (sampled.stderr[:2] > 0).all()


@pytest.mark.parametrize("head", [RIDGE, RECIPE], ids=["ridge", "softmax"])
@pytest.mark.parametrize("metric", METRICS)
def test_data_shapley_adds_up(metric: str, head: Ridge | Softmax) -> None:
    graph = random_graph(2, n=10, n_train=4, n_val=20)
    game = node_game(graph, hops=2, metric=METRICS[metric], head=head)
    ranking = baselines.data_shapley(graph, head, stopping.permutations(3), metric=metric, tolerance=0.0)
    assert ranking.value.sum() == pytest.approx((game.full - game.empty) * game.unit, abs=1e-12)
    assert 0 < ranking.evaluations <= 3 * game.n_players


def test_data_shapley_with_tolerance_takes_fewer_evaluations() -> None:
    graph = random_graph(2, n=40, probability=0.08, n_train=12, n_val=20)
    few, all_of_them = (baselines.data_shapley(graph, RIDGE, stopping.permutations(5), tolerance=t) for t in (0.5, 0.0))
    assert few.evaluations < all_of_them.evaluations


def test_data_shapley_goes_on_from_a_kept_state() -> None:
    graph = random_graph(2, n=10, n_train=4, n_val=20)
    kept: list[State] = []
    whole = baselines.data_shapley(graph, RIDGE, stopping.permutations(40), metric="probability", keep=kept.append)
    assert [state.total.orders for state in kept] == [10, 20, 30, 40]
    again = baselines.data_shapley(graph, RIDGE, stopping.permutations(40), metric="probability", begin=kept[1])
    assert (again.value == whole.value).all()
    assert (again.stderr == whole.stderr).all()
    assert again.evaluations == whole.evaluations


def test_two_workers_give_the_same_bits() -> None:
    graph = random_graph(2, n=10, n_train=4, n_val=20)
    one, two = (
        baselines.data_shapley(graph, RIDGE, stopping.permutations(40), metric="probability", workers=w) for w in (1, 2)
    )
    assert (one.value == two.value).all()
    assert (one.stderr == two.stderr).all()
    assert one.evaluations == two.evaluations


@pytest.mark.parametrize("parameters", [(1, 1), (16, 1), (1, 4), (2.5, 0.5)])
@pytest.mark.parametrize("n", [1, 2, 7, 600])
def test_beta_weights(parameters: tuple[float, float], n: int) -> None:
    weights = beta_weights(n, *parameters)
    assert weights.mean() == pytest.approx(1)
    if parameters == (1, 1):
        np.testing.assert_allclose(weights, 1, rtol=1e-10)
    if parameters == (16, 1):
        assert (np.diff(weights) < 0).all()


@pytest.mark.parametrize("metric", LEVELS)
@pytest.mark.parametrize("parameters", [(1, 1), (16, 1), (1, 4), (2.5, 0.5)])
def test_beta_shapley_equals_enumeration(metric: str, parameters: tuple[float, float]) -> None:
    alpha, beta = parameters
    # the weight of Kwon and Zou (2022), for a coalition of s others
    expected = semivalue(
        TINY, metric, lambda s: float(beta_function(s + beta, 5 - s - 1 + alpha) / beta_function(alpha, beta))
    )
    game = node_game(TINY, hops=2, metric=METRICS[metric], head=RIDGE)
    enumerated = exact(Weighted(game, beta_weights(5, alpha, beta)), every_order(5)).mean()
    np.testing.assert_allclose(enumerated, expected, atol=1e-10)
    stop = stopping.permutations(200)
    sampled = baselines.beta_shapley(TINY, RIDGE, stop, alpha=alpha, beta=beta, metric=metric, seed=3)
    assert within(sampled, expected)
    if parameters == (1, 1):
        plain = baselines.data_shapley(TINY, RIDGE, stop, metric=metric, tolerance=0.0, seed=3)
        np.testing.assert_allclose(sampled.value, plain.value, atol=1e-12)
        np.testing.assert_allclose(sampled.stderr, plain.stderr, atol=1e-12)


@pytest.mark.parametrize("metric", LEVELS)
def test_banzhaf_equals_enumeration(metric: str) -> None:
    game = node_game(TINY, hops=2, metric=METRICS[metric], head=RIDGE)
    inside = coalitions(5)
    value, _ = banzhaf_from(inside, np.array([game.utility(c) for c in inside]) * game.unit)
    expected = semivalue(TINY, metric, lambda s: 1 / 16)
    np.testing.assert_allclose(value, expected, atol=1e-10)
    sampled = baselines.data_banzhaf(TINY, RIDGE, samples=400, metric=metric, seed=1)
    assert within(sampled, expected)
    assert not within(sampled, expected, 0.1)
    assert (sampled.items == game.nodes).all()


def test_banzhaf_from_two_workers_has_the_same_bits() -> None:
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    here = baselines.data_banzhaf(TINY, RIDGE, samples=120, seed=1)
    there = baselines.data_banzhaf(TINY, RIDGE, samples=120, seed=1, workers=2, progress=hear)
    np.testing.assert_array_equal(here.value, there.value)
    np.testing.assert_array_equal(here.stderr, there.stderr)
    assert heard == [(50, 120), (100, 120), (120, 120)]


def test_a_ranking_can_be_judged_from_a_file(tmp_path: Path) -> None:
    graph = random_graph(5)
    named = Graph(
        graph.adjacency,
        graph.features,
        graph.labels,
        graph.train,
        graph.val,
        ids=[f"n{k}" for k in range(graph.n_nodes)],
    )
    alone = Graph([], [[1.0], [1.0]], [0, 0], train=[0], val=[1])
    assert baselines.random_edges(alone).table(alone).columns.tolist() == ["source", "target", "value", "stderr"]
    for ranking in (baselines.knn_shapley(named), baselines.betweenness(named)):
        ranking.table(named).to_csv(tmp_path / "mine.csv", index=False)
        found = read_ranking(tmp_path / "mine.csv", named)
        np.testing.assert_array_equal(found.items, ranking.items)
        np.testing.assert_array_equal(found.value, ranking.value)


@pytest.mark.parametrize("method", [baselines.data_shapley, baselines.beta_shapley])
def test_without_a_rule_sampling_ends_as_values_do(method: Callable[..., baselines.Ranking]) -> None:
    ranking = method(TINY, RIDGE)
    assert ranking.status.startswith("Converged after ")
    usual = stopping.converged() | stopping.at_most(2_000)
    np.testing.assert_array_equal(ranking.value, method(TINY, RIDGE, usual).value)


def test_banzhaf_of_players_that_were_seen_on_one_side() -> None:
    inside = np.array([[True, True, False], [True, False, False], [True, False, True]])
    value, stderr = banzhaf_from(inside, np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(value, [np.nan, -2.0, 2.5])
    assert np.isnan(stderr).all()
    _, stderr = banzhaf_from(np.array([[True], [True], [False], [False]]), np.array([1.0, 3.0, 0.0, 0.0]))
    assert stderr == pytest.approx(1.0)  # variance 2, two of them
    with pytest.raises(ValueError, match="samples is 1"):
        baselines.data_banzhaf(TINY, RIDGE, samples=1)


def shapley(n: int, game: Callable[[tuple[int, ...]], float]) -> Floats:
    """Shapley values by the sum over subsets."""
    total = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for size in range(n):
            for subset in combinations(others, size):
                gain = game(tuple(sorted((*subset, i)))) - game(subset)
                total[i] += gain / (n * comb(n - 1, size))
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_knn_values_equal_enumeration(k: int, n: int) -> None:
    right = np.random.default_rng(n).integers(0, 2, (4, n)).astype(np.float64)
    values = knn_values(right, k)
    for line, correct in zip(values, right, strict=True):
        expected = shapley(n, lambda members, c=correct: float(sum(c[i] for i in members[:k]) / k))  # type: ignore[misc]
        np.testing.assert_allclose(line, expected, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 9])
def test_knn_shapley_of_a_graph(k: int) -> None:
    graph = random_graph(4, n=12, n_train=5, n_val=8, n_classes=3)
    ranking = baselines.knn_shapley(graph, k=k)
    rows = (dense_power(graph.training.toarray(), 2) @ graph.features.toarray())[graph.train]
    expected = np.zeros(5)
    for z, target in zip(validation_rows(graph, 2), graph.labels[graph.val], strict=True):
        near = np.argsort(np.linalg.norm(rows - z, axis=1)).tolist()
        right = graph.labels[graph.train] == target

        def votes(members: tuple[int, ...], near: list[int] = near, right: Floats = right) -> float:
            return float(sum(right[i] for i in [j for j in near if j in members][:k]) / k)

        expected += shapley(5, votes) / len(graph.val)
    assert ranking.items.tolist() == graph.train.tolist()
    np.testing.assert_allclose(ranking.value, expected, atol=1e-12)


def test_degree_and_random() -> None:
    graph = random_graph(5, n=20, probability=0.1)
    nodes = baselines.near_nodes(graph, 2)
    degree = baselines.degree(graph)
    assert (degree.items == nodes).all()
    assert (degree.value == graph.training.toarray().sum(axis=1)[nodes]).all()
    for draw, items in (
        (baselines.random_nodes, nodes),
        (baselines.random_edges, np.argwhere(np.triu(graph.training.toarray()))),
    ):
        first, again, other = draw(graph, seed=1), draw(graph, seed=1), draw(graph, seed=2)
        assert (first.items == items).all()
        assert (first.value == again.value).all()
        assert (first.value != other.value).any()
        assert np.isnan(first.stderr).all()


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_near_nodes(hops: int) -> None:
    graph = random_graph(5, n=30, probability=0.05)
    far = np.min([distances(graph.training.toarray(), int(r)) for r in graph.train], axis=0)
    assert baselines.near_nodes(graph, hops).tolist() == np.flatnonzero(far <= hops).tolist()
    with pytest.raises(ValueError, match=r"hops is 2\.5, expected a whole number of at least 1"):
        baselines.degree(graph, hops=2.5)  # type: ignore[arg-type]


def shortest_paths(adjacency: Floats, source: int, target: int) -> list[list[int]]:
    """All shortest paths, by trying all paths of the right length."""
    distance = distances(adjacency, source)[target]
    paths = [[source]]
    for _ in range(int(distance) if np.isfinite(distance) else 0):
        paths = [[*path, int(w)] for path in paths for w in np.flatnonzero(adjacency[path[-1]])]
    return [path for path in paths if path[-1] == target]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_betweenness_counts_shortest_paths(seed: int) -> None:
    # a square has two shortest paths between opposite corners, which share one
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (5, 6)]
    graph = make_graph(edges, [0, 1], n=8) if seed == 0 else random_graph(seed, n=9, probability=0.3)
    ranking = baselines.betweenness(graph)
    n = graph.n_nodes - len(graph.val)
    adjacency = graph.training.toarray()
    expected = np.zeros(len(ranking.items))
    place = {tuple(edge): k for k, edge in enumerate(ranking.items.tolist())}
    several = 0
    for source, target in combinations(range(n), 2):
        paths = shortest_paths(adjacency, source, target)
        several += len(paths) > 1
        for path in paths:
            for u, v in pairwise(path):
                expected[place[min(u, v), max(u, v)]] += 1 / len(paths)
    np.testing.assert_allclose(ranking.value, expected / comb(n, 2), atol=1e-12)
    assert several


def test_best_first() -> None:
    scores = np.array([0.0, 3.0, 0.0, -1.0, 0.0, 5.0, 0.0, np.nan])
    ranking = Ranking("any", np.arange(8), scores, np.full(8, np.nan))
    place = ranking.best_first()
    assert sorted(place.tolist()) == list(range(8))
    assert place[:2].tolist() == [5, 1]
    assert place[-2:].tolist() == [3, 7]
    assert (place == ranking.best_first(seed=0)).all()
    ties = {tuple(ranking.best_first(seed)[2:6].tolist()) for seed in range(20)}
    assert len(ties) > 10
    assert all(sorted(tie) == [0, 2, 4, 6] for tie in ties)


def test_of_values() -> None:
    graph = random_graph(5)
    values = value(graph, head=RIDGE, stop=stopping.permutations(20))
    nodes, edges = values.nodes(), values.edges()
    for level, table, suffix in (
        ("own", nodes, ""),
        ("path", nodes, "_path"),
        ("edge", edges, ""),
        ("edge path", edges, "_path"),
    ):
        ranking = of_values(values, level, "pc-winter")
        names = table[["source", "target"]] if level.startswith("edge") else table["node"]
        assert (ranking.items == names.to_numpy()).all()
        assert (ranking.value == table[f"value{suffix}"].to_numpy()).all()
        assert (ranking.stderr == table[f"stderr{suffix}"].to_numpy()).all()
        assert ranking.orders == 20
        assert ranking.evaluations > 0


def test_edges_beside_others_of_their_class() -> None:
    graph = random_graph(5)
    values = value(graph, head=RIDGE, stop=stopping.permutations(20))
    live = values.players().query("not null and depth > 0")
    assert live["depth"].nunique() == 2
    label = live["step_0"].map(lambda node: int(graph.labels[node]))
    assert label.nunique() == 2
    excess = live["value"] - live.groupby([label, live["depth"]])["value"].transform("mean")
    last = np.where(live["depth"] == 2, live["step_1"], live["step_0"])
    ends = np.sort(np.stack([last, live["node"]], axis=1), axis=1)
    expected = {tuple(edge): excess[(ends == edge).all(axis=1)].sum() for edge in values.tree.edges.tolist()}
    found = of_values(values, "edge by class", "pc-winter")
    np.testing.assert_allclose(found.value, [expected[tuple(edge)] for edge in found.items.tolist()], atol=1e-12)
    assert found.value.std() > 0
    assert (found.value == np.round(found.value, 12)).all()  # or rounding would part what is equal
    assert np.isnan(found.stderr).all()
    assert found.orders == 20


@pytest.mark.filterwarnings("ignore:the edges harm the model")
def test_heads_are_those_of_value() -> None:
    graph = random_graph(3)
    assert baselines.head_of(graph, "softmax") == baselines.head_of(graph, Softmax()) == graph.recipe
    seven = baselines.head_of(graph, Softmax(epochs=7))
    assert isinstance(seven, Softmax)
    assert seven.epochs == 7
    assert baselines.head_of(graph, RIDGE) is RIDGE
    found = baselines.head_of(graph, "ridge")
    used = value(graph, stop=stopping.permutations(1)).calibration
    assert isinstance(found, Ridge)
    assert used is not None
    assert (found.penalty, found.bias) == (used.penalty, used.bias)
    tempered = baselines.head_of(graph, Ridge(penalty=10, bias=3), metric="log-likelihood")
    used = value(graph, head=Ridge(penalty=10, bias=3), metric="log-likelihood", permutations=1).calibration
    assert used is not None
    assert tempered == Ridge(10, 3, used.temperature)
    by_name = baselines.leave_one_out_nodes(graph, "ridge")
    np.testing.assert_array_equal(by_name.value, baselines.leave_one_out_nodes(graph, found).value)
    with pytest.raises(ValueError, match="head is 'mlp', expected ridge, softmax"):
        baselines.data_banzhaf(graph, "mlp")


def test_options_are_checked() -> None:
    stop = stopping.permutations(1)
    with pytest.raises(ValueError, match="metric is 'precision'"):
        baselines.data_shapley(TINY, RIDGE, stop, metric="precision")
    with pytest.raises(ValueError, match="tolerance is -1, expected 0 or a positive number"):
        baselines.data_shapley(TINY, RIDGE, stop, tolerance=-1)
    with pytest.raises(ValueError, match="alpha is 0"):
        baselines.beta_shapley(TINY, RIDGE, stop, alpha=0)
    with pytest.raises(ValueError, match="k is 0"):
        baselines.knn_shapley(TINY, k=0)
