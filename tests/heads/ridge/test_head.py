"""The closed-form head: every walk against the definition, dual against primal, normal equations."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from any_graph import ANY_KIND, any_graph, coalition_scores
from oracles import accuracy, log_likelihood, make_graph, random_graph, ridge_prefix
from pcwinter.game.detail import make_parts
from pcwinter.game.metrics import METRICS
from pcwinter.game.orders import FAMILIES, sampler
from pcwinter.game.protocol import Order
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.graph_game import graph_game
from pcwinter.heads.ridge.head import BIASES, PENALTIES, Ridge
from ridge_walks import walker

THETAS = [(0, 1), (0, 0, 1), (0.1, 0.2, 0.7), (0.5, 0, 0.2), (0, 0.4, 0, 0.6)]  # of the message game


GAMES = [(1, ()), (2, ()), (3, ()), *((len(theta) - 1, theta) for theta in THETAS)]


@pytest.mark.parametrize(("hops", "theta"), GAMES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("primal", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_prefix_equals_the_definition(
    hops: int, family: str, primal: bool, seed: int, theta: tuple[float, ...]
) -> None:
    graph = random_graph(seed, n=7, probability=0.35, n_train=3, n_classes=3, n_val=30)
    counting, smooth = (walker(graph, hops, metric, primal, theta) for metric in ("accuracy", "log-likelihood"))
    tree, targets = counting.problem.tree, graph.labels[graph.val]
    order = FAMILIES[family](tree, np.random.default_rng(seed))
    counts, logs = counting.walk(order).utility, smooth.walk(order).utility
    coalition = np.zeros(tree.n_players, dtype=bool)
    checked = np.random.default_rng(seed).permutation(tree.n_players)[:40]
    for k in np.sort(np.r_[checked, tree.n_players - 1]):
        coalition[order.players[: k + 1]] = True
        if not coalition[tree.roots].any():
            assert counts[k] == counting.utility(coalition) == 0
            assert logs[k] == smooth.utility(coalition) == -np.log(3)
            continue
        scores = ridge_prefix(graph, tree, coalition, 0.7, 0.8, theta)
        assert counts[k] == counting.utility(coalition) == round(30 * accuracy(scores, targets))
        assert logs[k] == pytest.approx(log_likelihood(scores, targets), abs=1e-10)
        assert smooth.utility(coalition) == pytest.approx(log_likelihood(scores, targets), abs=1e-10)
    assert len(np.unique(np.round(logs, 9))) >= 3


@pytest.mark.parametrize("primal", [False, True])
def test_whole_numbers_as_parameters(primal: bool) -> None:
    graph = random_graph(3, n_classes=3, n_val=25)
    whole, real = (walker(graph, 2, "probability", primal, penalty=kind(2), bias=kind(3)) for kind in (int, float))
    order = FAMILIES["dfs"](whole.problem.tree, np.random.default_rng(0))
    assert (whole.walk(order).utility == real.walk(order).utility).all()


@pytest.mark.parametrize("metric", ["macro-f1", "probability", "log-likelihood"])
@pytest.mark.parametrize("family", FAMILIES)
def test_other_metrics_along_a_walk(metric: str, family: str) -> None:
    graph = random_graph(3, n_classes=3, n_val=25)
    games = [walker(graph, 2, metric, primal, temperature=0.3) for primal in (False, True)]
    order = FAMILIES[family](games[0].problem.tree, np.random.default_rng(0))
    walks = [game.walk(order) for game in games]
    np.testing.assert_allclose(walks[0].utility, walks[1].utility, atol=1e-9)
    coalition = np.zeros(len(order.players), dtype=bool)
    for k in range(0, len(order.players), 5):
        coalition[order.players[: k + 1]] = True
        assert walks[0].utility[k] == pytest.approx(games[0].utility(coalition), abs=1e-9)


def test_the_temperature_divides_the_scores() -> None:
    graph = random_graph(3, n_classes=3, n_val=25)
    game = walker(graph, 2, "log-likelihood", temperature=0.5)
    everybody = np.ones(game.problem.tree.n_players, dtype=bool)
    scores = ridge_prefix(graph, game.problem.tree, everybody, 0.7, 0.8)
    assert game.utility(everybody) == pytest.approx(log_likelihood(scores / 0.5, graph.labels[graph.val]))


@pytest.mark.parametrize("penalty", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("family", FAMILIES)
def test_ties_scale_with_the_scores(penalty: float, family: str) -> None:
    graph = make_graph([(0, 4), (1, 5), (2, 4)], [0, 1, 2, 3], n_val=60)
    game = walker(graph, 2, penalty=penalty)
    order = FAMILIES[family](game.problem.tree, np.random.default_rng(0))
    everybody = np.ones(len(order.players), dtype=bool)
    scores = penalty * ridge_prefix(graph, game.problem.tree, everybody, penalty, 0.8)
    assert scores.argmax(axis=1).any()  # not class 0 everywhere, as if all were tied
    expected = round(60 * accuracy(scores, graph.labels[graph.val]))
    assert game.walk(order).utility[-1] == game.utility(everybody) == expected


def test_a_score_that_is_not_finite_stops_the_walk() -> None:
    game = walker(random_graph(3, n_val=30), 2)
    game.products(0, 30)[:] = np.nan
    for family in FAMILIES:
        with pytest.raises(FloatingPointError, match="not a finite number when player"):
            game.walk(FAMILIES[family](game.problem.tree, np.random.default_rng(0)))


def test_the_two_walks_agree_on_an_order_that_both_can_walk() -> None:
    """A DFS order with one player moved to the front of the last tree is interleaved by one place."""
    graph = random_graph(5, n_classes=3, n_val=40)
    game = walker(graph, 2, "probability", temperature=0.5)
    tree = game.problem.tree
    order = FAMILIES["dfs"](tree, np.random.default_rng(2))
    null = np.flatnonzero(tree.null)[0]  # moving a null player changes no utility
    elsewhere = tree.tree[order.players] != tree.tree[null]
    rest = order.players[order.players != null]
    moved = Order(np.r_[null, rest] if elsewhere[0] else np.r_[rest, null], order.visited)
    assert np.count_nonzero(np.diff(tree.tree[moved.players])) + 1 > len(tree.roots)
    here, there = game.walk(order), game.walk(moved)
    keep = order.players != null
    keep_moved = moved.players != null
    np.testing.assert_allclose(here.utility[keep], there.utility[keep_moved], atol=1e-9)


@pytest.mark.parametrize("metric", ["accuracy", "probability", "log-likelihood"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_detail_adds_up_to_the_utility(metric: str, family: str) -> None:
    graph = random_graph(6, n_classes=3, n_val=25)
    game = walker(graph, 2, metric)
    order = FAMILIES[family](game.problem.tree, np.random.default_rng(0))
    plain = game.walk(order)
    n = len(order.players)
    parts = make_parts(sp.eye_array(n, dtype=np.int64, format="csr"), 25)
    for _ in range(2):  # the parts of two walks add up
        walk = game.walk(order, parts)
    np.testing.assert_allclose(walk.utility, plain.utility, atol=1e-12)
    steps = np.diff(walk.utility, prepend=METRICS[metric].empty(game.ends)[0])
    total = parts.sums.sum(axis=1) if metric == "accuracy" else parts.sums.mean(axis=1)
    np.testing.assert_allclose(total[order.players], 2 * steps, atol=1e-12)


def test_primal_is_chosen_when_there_are_more_rows_than_features() -> None:
    assert walker(make_graph([(0, 10)], list(range(10)), n_features=3), 1).primal
    assert not walker(make_graph([(0, 10)], list(range(10)), n_features=30), 1).primal


def test_all_zero_representations_are_refused() -> None:
    graph = Graph([(0, 1)], np.r_[np.zeros((2, 3)), np.ones((1, 3))], [0, 1, 0], train=[0, 1], val=[2])
    with pytest.raises(ValueError, match=r"mean squared norm .* is 0,"):
        walker(graph, 1)
    for size in (1e160, 1e-160):
        extreme = Graph([(0, 1)], np.full((3, 3), size), [0, 1, 0], train=[0, 1], val=[2])
        with pytest.raises(ValueError, match="cannot scale them"):
            walker(extreme, 1)


@pytest.mark.parametrize(
    "options", [{"penalty": 0.0}, {"penalty": -1.0}, {"bias": -1.0}, {"temperature": float("inf")}]
)
def test_bad_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} is .*, expected"):
        Ridge(**options)
    assert Ridge(bias=0.0).bias == 0


@pytest.mark.parametrize("primal", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_little_memory_gives_the_same_utilities_tile_by_tile(family: str, primal: bool) -> None:
    graph = random_graph(4, n_classes=3, n_val=200)
    game = walker(graph, 2, primal=primal)
    order = FAMILIES[family](game.problem.tree, np.random.default_rng(0))
    incidence = sp.eye_array(len(order.players), dtype=np.int64, format="csr")
    interleaved, plenty = family in ("precedence", "free"), make_parts(incidence, 200)
    expected, detailed = game.walk(order), game.walk(order, plenty)
    for single, parts, walk in ((True, None, expected), (False, make_parts(incidence, 200), detailed)):
        each, fixed = game.footprint(interleaved, single and not primal)
        game.memory = fixed + 70 * each  # three tiles
        tiled = game.walk(order, parts)
        assert tiled.utility.tolist() == walk.utility.tolist()
        assert (tiled.evaluations, tiled.baselines) == (walk.evaluations, walk.baselines)
        if parts is not None:
            assert (parts.sums == plenty.sums).all()
    game.memory = fixed + 63 * each
    with pytest.raises(ValueError, match=r"at least .* MB .* MB"):
        game.walk(order, parts)


@pytest.mark.parametrize("metric", ["macro-f1", "probability", "log-likelihood"])
def test_metrics_that_are_no_counts_need_all_validation_nodes_at_once(metric: str) -> None:
    game = walker(random_graph(4, n_classes=3, n_val=90), 2, metric)
    order = FAMILIES["dfs"](game.problem.tree, np.random.default_rng(0))
    each, fixed = game.footprint(False, False)
    game.memory = fixed + 90 * each
    game.walk(order)
    game.memory -= 1
    with pytest.raises(ValueError, match=f"{metric} .*all validation nodes"):
        game.walk(order)


def test_scores_that_are_all_zero_are_tied() -> None:
    """Class 0 wins; with a bias of 0 and validation features that no row has, the width of a tie is 0, too."""
    graph = Graph([(0, 1)], [[1, 0], [1, 0], [0, 1]], [0, 1, 0], train=[0, 1], val=[2], test=[], n_classes=2)
    game = walker(graph, 1, bias=0.0)
    order = FAMILIES["dfs"](game.problem.tree, np.random.default_rng(0))
    assert game.walk(order).utility.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        ({"penalty": 1e-6, "bias": 3}, "penalty is 1e-06 and bias is 3, expected a penalty of at least 0.0001,"),
        ({"penalty": 1e-6}, "penalty is 1e-06, expected a penalty of at least 1e-05,"),
        ({"bias": 50000}, "bias is 50000, expected a penalty of at least 25000,"),
    ],
)
def test_parameters_with_which_rounding_would_decide_ties_are_refused(head: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        Ridge(**head)
    assert str(caught.value).endswith("so that rounding does not decide ties: raise penalty or lower bias")


@pytest.mark.parametrize("bias", [0.0, 0.7, 3.0, 31.4, 1000.0])
def test_the_penalty_that_an_error_asks_for_is_accepted(bias: float) -> None:
    with pytest.raises(ValueError, match="at least") as caught:
        Ridge(penalty=1e-9, bias=bias)
    asked = float(str(caught.value).split("at least ")[1].split(",")[0])
    assert Ridge(penalty=asked, bias=bias).points() == [(asked, bias)]
    assert Ridge(penalty=1e12, bias=bias).points() == [(1e12, bias)]


def test_calibration_keeps_to_the_parameters_that_are_accepted() -> None:
    assert len(Ridge().points()) == len(PENALTIES) * len(BIASES)
    assert Ridge(penalty=2e-5).points() == [(2e-5, bias) for bias in (0.0, 0.1, 0.3, 1.0)]
    assert Ridge(bias=1000).points() == [(p, 1000) for p in PENALTIES if p >= 10]
    assert {penalty for penalty, _ in Ridge().points(2e6)} == {p for p in PENALTIES if p >= 0.3}


def test_features_that_are_far_larger_than_the_complete_rows_need_a_larger_penalty() -> None:
    """Both roots and their neighbours nearly cancel, so the complete rows are a millionth of the nodes."""
    features = np.array([[1.0, 0.0], [-1.0, 1e-6], [0.0, 1.0], [1e-6, -1.0], [1.0, 2.0]])
    graph = Graph([(0, 1), (2, 3)], features, [0, -1, 1, -1, 0], train=[0, 2], val=[4], test=[])
    tree = contribution_tree(graph, 1)
    with pytest.raises(
        ValueError, match=r"penalty is 1 and bias is 1, expected .* because the features of a node have"
    ):
        graph_game(graph, tree, Ridge(penalty=1.0, bias=1.0))
    graph_game(graph, tree, Ridge(penalty=1e6, bias=1.0))
    with pytest.raises(ValueError, match=r"^the features of a node have .* make the features more even$"):
        graph_game(graph, tree)


@ANY_KIND
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("theta", [(0.0, 1.0), (0.0, 0.0, 1.0), (0.1, 0.2, 0.7)])
def test_prefixes_on_any_graph_equal_the_definition(kind: str, family: str, theta: tuple[float, ...]) -> None:
    graph = any_graph(kind, 2, n=7, n_train=3, n_classes=3, n_val=20, probability=0.17)
    targets = graph.labels[graph.val]
    for primal in (False, True):
        counting, smooth = (
            walker(graph, len(theta) - 1, metric, primal, theta) for metric in ("accuracy", "log-likelihood")
        )
        tree = counting.problem.tree
        order = FAMILIES[family](tree, np.random.default_rng(0))
        counts, logs = counting.walk(order).utility, smooth.walk(order).utility
        for k in [*np.random.default_rng(1).permutation(tree.n_players)[:12], tree.n_players - 1]:
            coalition = np.zeros(tree.n_players, dtype=bool)
            coalition[order.players[: k + 1]] = True
            if coalition[tree.roots].any():
                scores = coalition_scores(graph, tree, coalition, 0.7, 0.8, theta)
                assert counts[k] == counting.utility(coalition) == round(20 * accuracy(scores, targets))
                assert logs[k] == pytest.approx(log_likelihood(scores, targets), abs=1e-9)


@pytest.mark.parametrize("family", ["dfs", "level"])
def test_very_different_weights_keep_their_precision(family: str) -> None:
    """Weights from 1 to 10^6, as of payments; a sum over neighbours minus a heavy one would lose the light ones."""
    graph = any_graph("directed weighted", 3, n=7, n_train=3, n_classes=3, n_val=20, probability=0.17)
    adjacency = graph.adjacency.copy()
    adjacency.data = 10.0 ** np.random.default_rng(0).uniform(0, 6, adjacency.nnz)
    graph = graph.replace(adjacency=adjacency)
    game = walker(graph, 2, "log-likelihood", False, (0.0, 0.0, 1.0))
    tree = game.problem.tree
    order = sampler(tree, family, (0.5, 0.7) if family == "dfs" else ())(np.random.default_rng(0))
    utility = game.walk(order).utility
    for step, end in enumerate(order.steps()[1:]):
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[:end]] = True
        if coalition[tree.roots].any():
            scores = coalition_scores(graph, tree, coalition, 0.7, 0.8, (0.0, 0.0, 1.0))
            assert utility[step] == pytest.approx(log_likelihood(scores, graph.labels[graph.val]), abs=1e-9)
