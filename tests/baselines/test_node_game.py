"""The game among nodes: every prefix of a walk against the dense definition, counts, truncation."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from block_rows import block_scales, model_blocks, row_normalised
from metric_oracle import ALL, empty_of, suited, utility_of
from node_game_oracle import Mask, induced_rows, induced_scores, induced_utility, mask_of
from oracles import distances, log_likelihood, make_graph, random_graph, ridge_scores
from pcwinter import baselines, stopping
from pcwinter.baselines.node_game import PATIENCE, NodeGame, complete_head, node_game
from pcwinter.game.metrics import ACCURACY
from pcwinter.game.protocol import Order, marginals
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import Softmax
from pcwinter.valuation import value

Ints = npt.NDArray[np.int64]
RIDGE = Ridge(0.7, 0.8, 0.4)
RECIPE = Softmax(0.1, 12, 5e-4)


def game_of(
    graph: Graph, hops: int, metric: str = "accuracy", head: Ridge | Softmax = RIDGE, **options: float
) -> NodeGame:
    return node_game(graph, hops=hops, metric=metric, head=head, tolerance=options.get("tolerance", 0.0))


def order_of(players: Ints) -> Order:
    return Order(players, np.ones(len(players), dtype=np.bool_))


def some_order(game: NodeGame, seed: int) -> Order:
    return order_of(np.random.default_rng(seed).permutation(game.n_players))


def prefix(players: Ints, k: int) -> Mask:
    """The coalition of the players after step k."""
    coalition = np.zeros(len(players), dtype=np.bool_)
    coalition[players[: k + 1]] = True
    return coalition


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_prefix_equals_the_definition(hops: int, metric: str, seed: int) -> None:
    # few features: coordinates are the features themselves; many: those of an orthogonal basis
    graph = random_graph(
        seed, n=12, probability=0.2, n_train=4, n_classes=3, n_val=25, n_features=5 if seed < 3 else 20
    )
    graph = suited(graph, metric)
    game = game_of(graph, hops, metric)
    whole = mask_of(graph, game.nodes)
    for draw in range(2):
        order = some_order(game, draw)
        utility = game.walk(order).utility
        assert utility.dtype == (np.int64 if metric == "accuracy" else np.float64)
        for k in range(game.n_players):
            coalition = prefix(order.players, k)
            expected = induced_utility(graph, hops, mask_of(graph, game.nodes[coalition]), RIDGE, metric, whole)
            assert utility[k] * game.unit == pytest.approx(expected, abs=1e-10)
            assert game.utility(coalition) * game.unit == pytest.approx(expected, abs=1e-10)
    assert game.full * game.unit == pytest.approx(induced_utility(graph, hops, whole, RIDGE, metric, whole))
    assert len(np.unique(utility)) > 1 or metric == "f1:1"  # no node may be predicted to be of class 1


@pytest.mark.parametrize("head", [RIDGE, RECIPE], ids=["ridge", "softmax"])
@pytest.mark.parametrize("theta", [(0.4, 0.6), (0.2, 0.3, 0.5), (0.5, 0.5, 0.0)])
def test_other_filters(head: Ridge | Softmax, theta: tuple[float, ...]) -> None:
    graph, hops = random_graph(7, n=12, probability=0.15, n_train=4, n_classes=3, n_val=25), len(theta) - 1
    game = node_game(graph, head, hops=hops, filter=theta, metric="log-likelihood")
    whole = mask_of(graph, game.nodes)
    order = some_order(game, 0)
    utility = game.walk(order).utility
    for k in range(game.n_players):
        coalition = prefix(order.players, k)
        members = mask_of(graph, game.nodes[coalition])
        expected = induced_utility(graph, hops, members, head, "log-likelihood", whole, theta=theta)
        assert utility[k] == pytest.approx(expected, abs=1e-9)
        assert game.utility(coalition) == pytest.approx(expected, abs=1e-9)


def test_sampled_baselines_take_the_filter() -> None:
    graph = random_graph(3)
    for shapley in (baselines.data_shapley, baselines.beta_shapley):
        values = [
            shapley(graph, RIDGE, stopping.permutations(10), filter=filter, metric="log-likelihood").value
            for filter in ("mean", (1 / 3, 1 / 3, 1 / 3), "sgc")
        ]
        np.testing.assert_allclose(values[0], values[1], atol=1e-12)
        assert np.abs(values[0] - values[2]).max() > 1e-4
    named, given, plain = (
        baselines.data_banzhaf(graph, RIDGE, samples=30, filter=filter, metric="log-likelihood").value
        for filter in ("appnp:0.5", (0.5, 0.25, 0.25), "sgc")
    )
    np.testing.assert_allclose(named, given, atol=1e-12)
    assert np.abs(named - plain).max() > 1e-4


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_players_are_the_nodes_within_reach(hops: int) -> None:
    path = make_graph([(k, k + 1) for k in range(6)], [0, 7], n=8)
    assert game_of(path, hops).nodes.tolist() == [*range(hops + 1), 7]
    wider = node_game(path, hops=hops, metric="accuracy", head=RIDGE, reach=hops + 1)
    assert wider.nodes.tolist() == [*range(hops + 2), 7]


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_wider_reach_has_the_rows_of_the_whole_training_graph(hops: int) -> None:
    graph = random_graph(4, n=30, probability=0.08, n_train=3, n_classes=3, n_val=25)
    game = node_game(graph, hops=hops, metric="log-likelihood", head=RIDGE, reach=hops + 1)
    everybody = np.ones(graph.n_nodes, dtype=np.bool_)
    expected = induced_utility(graph, hops, everybody, RIDGE, "log-likelihood", everybody)
    assert game.full == pytest.approx(expected, abs=1e-12)
    assert game.walk(some_order(game, 0)).utility[-1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_sums_do_not_drift(hops: int) -> None:
    graph = random_graph(5, n=210, probability=0.05, n_train=20, n_classes=4, n_val=40, n_features=30)
    game = game_of(graph, hops, "log-likelihood")
    assert game.n_players >= 100
    order = some_order(game, 3)
    utility = game.walk(order).utility
    whole = mask_of(graph, game.nodes)
    for k in [*range(60, game.n_players - 1, 35), game.n_players - 1]:
        members = mask_of(graph, game.nodes[prefix(order.players, k)])
        expected = induced_utility(graph, hops, members, RIDGE, "log-likelihood", whole)
        assert utility[k] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("head", [RIDGE, RECIPE], ids=["ridge", "softmax"])
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_evaluations_are_the_steps_that_change_a_row(hops: int, head: Ridge | Softmax) -> None:
    graph = random_graph(6, n=14, probability=0.12, n_train=3, n_classes=3, n_val=10)
    game = game_of(graph, hops, "log-likelihood", head)
    for seed in range(4):
        order = some_order(game, seed)
        rows, expected = np.empty((0, 5)), 0
        for k in range(game.n_players):
            fresh = induced_rows(graph, hops, mask_of(graph, game.nodes[prefix(order.players, k)]))
            expected += fresh.shape != rows.shape or np.abs(fresh - rows).max(initial=0) > 1e-12
            rows = fresh
        assert game.walk(order).evaluations == expected < game.n_players


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
def test_softmax_walks(hops: int, metric: str) -> None:
    graph = random_graph(7, n=12, probability=0.15, n_train=4, n_classes=3, n_val=25)
    game = game_of(graph, hops, metric, RECIPE)
    whole = mask_of(graph, game.nodes)
    for seed in range(3):
        order = some_order(game, seed)
        utility = game.walk(order).utility
        for k in range(game.n_players):
            coalition = prefix(order.players, k)
            assert utility[k] == pytest.approx(game.utility(coalition), abs=1e-12)
            if seed == 0:
                members = mask_of(graph, game.nodes[coalition])
                expected = induced_utility(graph, hops, members, RECIPE, metric, whole)
                assert utility[k] * game.unit == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("head", [RIDGE, RECIPE], ids=["ridge", "softmax"])
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
@pytest.mark.parametrize("tolerance", [0.02, 0.3])
def test_truncation(head: Ridge | Softmax, metric: str, tolerance: float) -> None:
    graph = random_graph(8, n=40, probability=0.03, n_train=15, n_classes=3, n_val=30)
    plain = game_of(graph, 2, metric, head)
    truncated = game_of(graph, 2, metric, head, tolerance=tolerance)
    ended = 0
    for seed in range(3):
        order = some_order(plain, seed)
        long, short = plain.walk(order), truncated.walk(order)
        close = np.abs(plain.full - long.utility) <= tolerance * abs(plain.full - plain.empty)
        row = np.convolve(close, np.ones(PATIENCE + 1, dtype=int))[: len(close)] > PATIENCE
        end = int(np.argmax(row)) if row.any() else len(close) - 1  # the first step with more than PATIENCE close ones
        assert (short.utility[: end + 1] == long.utility[: end + 1]).all()
        assert (short.utility[end:] == long.utility[end]).all()
        assert short.evaluations == long.evaluations if end == len(close) - 1 else short.evaluations <= long.evaluations
        ended += end < len(close) - 1
    assert tolerance < 0.1 or ended


def test_truncation_of_a_utility_that_hardly_moves() -> None:
    # with so hot a softmax the log-likelihood is near -log 3 for all coalitions: 1 % of it is more than all changes
    graph = random_graph(9, n=30, probability=0.1, n_train=6, n_classes=3, n_val=30)
    head = replace(RIDGE, temperature=200.0)
    plain, truncated = (game_of(graph, 2, "log-likelihood", head, tolerance=t) for t in (0.0, 0.01))
    assert abs(plain.full - plain.empty) < 0.01 * abs(plain.full)
    order = some_order(plain, 1)
    short = truncated.walk(order).utility
    assert (short[:10] == plain.walk(order).utility[:10]).all()
    assert abs(short[-1] - plain.full) <= 0.01 * abs(plain.full - plain.empty)


def test_nobody_labelled_yet_and_labelled_nodes_without_edges() -> None:
    plain = make_graph([(0, 2), (2, 3)], [0, 1], n=5)  # node 1 has no edge, node 4 is no player
    for metric in ALL:
        graph = suited(plain, metric)
        game = game_of(graph, 2, metric)
        assert game.nodes.tolist() == [0, 1, 2, 3]
        walk = game.walk(order_of(np.array([3, 2, 1, 0])))
        assert (walk.utility[:2] == game.empty).all()
        assert walk.evaluations == 2
        assert game.utility(np.zeros(4, dtype=np.bool_)) == game.empty == pytest.approx(empty_of(graph, metric))
        alone = induced_utility(graph, 2, mask_of(graph, np.array([1])), RIDGE, metric, mask_of(graph, game.nodes))
        for k, players in enumerate([[1, 3, 2, 0], [3, 1, 2, 0], [2, 3, 1, 0]]):
            assert game.walk(order_of(np.array(players))).utility[k] * game.unit == pytest.approx(alone)


@pytest.mark.parametrize("penalty", [1e9, 1e-3])
def test_ties_are_relative_to_the_scores(penalty: float) -> None:
    graph = random_graph(7, n=12, probability=0.1, n_train=6, n_classes=3, n_val=24)
    head = Ridge(penalty, 0.0)
    game = game_of(graph, 2, "accuracy", head)
    everybody = mask_of(graph, game.nodes)
    scores = induced_scores(graph, 2, everybody, head, everybody)
    expected = utility_of(graph, scores / np.abs(scores).max(), "accuracy")
    assert game.full * game.unit == pytest.approx(expected)
    assert game.walk(some_order(game, 0)).utility[-1] == game.full
    assert game.full != 8  # class 0 everywhere


def test_a_utility_that_is_no_number_stops_the_walk() -> None:
    graph = random_graph(3, n=12, n_train=4, n_classes=3, n_val=25)
    game = game_of(graph, 2)
    broken = game.place.vectors.copy()
    broken[:, : len(graph.val)] = np.nan
    order = some_order(game, 0)
    with pytest.raises(FloatingPointError, match="not a finite number when player"):
        replace(game, place=game.place._replace(vectors=broken)).walk(order)


@pytest.mark.parametrize("kind", [int, float])
def test_marginals_of_a_walk_add_up(kind: type) -> None:
    graph = random_graph(3, n=12, n_train=4, n_classes=3, n_val=25)
    game = game_of(graph, 2, head=Ridge(kind(2), kind(3)))
    order = some_order(game, 0)
    steps = marginals(game, order, game.walk(order))
    assert game.metric.code == ACCURACY
    assert steps.dtype == np.int64
    assert steps.sum() == game.full


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_only_nodes_near_labelled_ones_have_vectors(hops: int) -> None:
    graph = random_graph(10, n=60, probability=0.04, n_train=4, n_classes=2, n_val=10)
    game = node_game(graph, hops=hops, metric="accuracy", head=RIDGE, reach=hops + 1)
    near = np.min([distances(graph.training.toarray(), int(r)) for r in graph.train], axis=0)
    assert len(game.place.vectors) == (near <= hops).sum() < game.n_players


def test_an_incomplete_head_is_calibrated() -> None:
    graph = random_graph(1)
    found = complete_head(graph, Ridge(penalty=1.0))
    assert isinstance(found, Ridge)
    assert found.penalty == 1.0
    assert found.bias is not None
    game = game_of(graph, 2, head=Ridge(penalty=1.0))
    assert (game.place.penalty == 1.0).all()
    assert game.place.constant == found.bias**2


@pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:calibration")
def test_heads_are_those_of_value() -> None:
    graph = random_graph(3)
    assert isinstance(complete_head(graph, "softmax"), Softmax)
    seven = Softmax(epochs=7)
    assert complete_head(graph, seven) is seven
    assert complete_head(graph, RIDGE) is RIDGE
    found = complete_head(graph, "ridge")
    used = value(graph, stop=stopping.permutations(1)).calibration
    assert used is not None
    assert found == used.head
    tempered = complete_head(graph, Ridge(penalty=10, bias=3), metric="log-likelihood")
    used = value(graph, head=Ridge(penalty=10, bias=3), metric="log-likelihood", permutations=1).calibration
    assert used is not None
    assert tempered == used.head
    assert isinstance(tempered, Ridge)
    assert (tempered.penalty, tempered.bias) == (10, 3)
    by_name = baselines.leave_one_out_nodes(graph, "ridge")
    np.testing.assert_array_equal(by_name.value, baselines.leave_one_out_nodes(graph, found).value)
    with pytest.raises(ValueError, match=r"head is 'mlp'.*ridge.*softmax"):
        baselines.data_banzhaf(graph, "mlp")


def test_the_number_of_hops_is_checked() -> None:
    with pytest.raises(ValueError, match="hops is 0"):
        game_of(random_graph(1), 0)


@pytest.mark.parametrize("hops", [1, 2])
def test_blocks_side_by_side_equal_the_definition(hops: int) -> None:
    graph = random_graph(4, n=12, probability=0.3, n_train=5, n_classes=3, n_val=25)
    game = node_game(graph, RIDGE, hops=hops, filter="hops", metric="log-likelihood")
    z, scales = model_blocks(graph, hops, "validation")[graph.val], block_scales(graph, hops)
    scale = float(np.mean(np.sum(model_blocks(graph, hops)[graph.train] ** 2, axis=1)) ** -0.5)
    for seed in range(6):
        coalition = np.random.default_rng(seed).random(game.n_players) < 0.7
        coalition[np.isin(game.nodes, graph.train[:2])] = True
        inside = np.isin(np.arange(graph.n_nodes), game.nodes[coalition])
        step = row_normalised(graph.training.toarray() * np.outer(inside, inside))
        blocks = [np.linalg.matrix_power(step, k) @ graph.features.toarray() for k in range(hops + 1)]
        known = graph.train[inside[graph.train]]
        rows = np.hstack([block * by for block, by in zip(blocks, scales, strict=True)])[known]
        assert RIDGE.penalty is not None
        assert RIDGE.bias is not None
        scores = ridge_scores(rows, graph.labels[known], z, 3, RIDGE.penalty, RIDGE.bias, scale)
        expected = log_likelihood(scores / (RIDGE.temperature or 1.0), graph.labels[graph.val])
        assert game.utility(coalition) == pytest.approx(expected, abs=1e-10)
        order = order_of(np.concatenate([np.flatnonzero(coalition), np.flatnonzero(~coalition)]))
        assert game.walk(order).utility[coalition.sum() - 1] == pytest.approx(expected, abs=1e-10)
