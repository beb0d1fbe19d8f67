"""The whole flow on small graphs: exact values, convergence, bootstrap, warnings, bad requests."""

from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import pcwinter as pw
from any_graph import ANY_KIND, any_graph, dense, model_rows
from block_rows import block_scores
from metric_oracle import ALL, empty_of, suited, with_numbers
from oracles import accuracy, log_likelihood, make_graph, random_graph, ridge_scores
from pcwinter.game.detail import make_parts
from pcwinter.game.orders import FAMILIES, count_orders
from pcwinter.game.tree import contribution_tree
from pcwinter.valuation import prepare

RIDGE = pw.Ridge(penalty=0.3, bias=1.0, temperature=0.5)
EXACT = {  # few orders in every family
    1: make_graph([(0, 2), (0, 3), (1, 2)], [0, 1], n_val=60),
    2: make_graph([(0, 2), (2, 3)], [0, 1], n_val=60),
    3: make_graph([(0, 2), (2, 3)], [0, 1], n_val=60),
}
quiet = pytest.mark.filterwarnings("ignore:the (edges|model)")


@quiet
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("hops", EXACT)
@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
def test_estimates_agree_with_enumeration(family: str, hops: int, metric: str) -> None:
    graph = EXACT[hops]
    truth = pw.exact_value(graph, hops=hops, head=RIDGE, metric=metric, orders=family)
    guess = pw.value(graph, hops=hops, head=RIDGE, metric=metric, orders=family, permutations=400, seed=3)
    for mine, other, suffix in (
        (guess.nodes(), truth.nodes(), ""),
        (guess.nodes(), truth.nodes(), "_path"),
        (guess.edges(), truth.edges(), ""),
        (guess.edges(), truth.edges(), "_path"),
        (guess.players(), truth.players(), ""),
    ):
        value, stderr = f"value{suffix}", f"stderr{suffix}"
        assert (np.abs(mine[value] - other[value]) <= 4 * mine[stderr] + 1e-9).all()
        assert (other[stderr] == 0).all()
    assert truth.permutations == count_orders(truth.tree, family)
    assert truth.status.endswith("enumerated: the values are exact.")


@quiet
def test_a_filter_is_a_name_for_weights() -> None:
    for name, theta in {"appnp:0.2": (0.2, 0.16, 0.64), "mean": (1 / 3, 1 / 3, 1 / 3), "sgc": (0, 0, 1)}.items():
        named = pw.exact_value(EXACT[2], head=RIDGE, filter=name, metric="log-likelihood")
        given = pw.exact_value(EXACT[2], head=RIDGE, theta=theta, metric="log-likelihood")
        np.testing.assert_allclose(named.players()["value"], given.players()["value"], atol=1e-12)
    with pytest.raises(ValueError, match="use theta for weights"):
        pw.value(EXACT[2], filter=(0, 0, 1))  # type: ignore[arg-type]


@quiet
def test_values_of_blocks_equal_the_mean_over_all_orders() -> None:
    graph = EXACT[2]
    values = pw.exact_value(graph, head=RIDGE, filter="hops", metric="log-likelihood", orders="free")
    tree, targets = values.tree, graph.labels[graph.val]

    @cache
    def utility(members: frozenset[int]) -> float:
        inside = np.isin(np.arange(tree.n_players), list(members))
        if not inside[tree.roots].any():
            return float(-np.log(2))
        return log_likelihood(block_scores(graph, tree, inside, 0.3, 1.0) / 0.5, targets)

    total = np.zeros(tree.n_players)
    orders = list(permutations(range(tree.n_players)))
    for order in orders:
        for k, player in enumerate(order):
            total[player] += utility(frozenset(order[: k + 1])) - utility(frozenset(order[:k]))
    np.testing.assert_allclose(values.players()["value"], total / len(orders), atol=1e-10)
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full - values.utility_empty)
    assert "message game with filter hops" in repr(values)
    guess = pw.value(graph, head=RIDGE, filter="hops", metric="log-likelihood", permutations=40, workers=1)
    dfs = pw.exact_value(graph, head=RIDGE, filter="hops", metric="log-likelihood").players()["value"]
    mine = guess.players()
    assert (np.abs(mine["value"] - dfs) <= 4 * mine["stderr"] + 1e-9).all()


@quiet
@pytest.mark.parametrize("head", [RIDGE, pw.Softmax(learning_rate=0.1, epochs=10)], ids=["ridge", "softmax"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_null_players_get_exactly_zero_and_values_add_up(head: pw.Ridge | pw.Softmax, family: str, hops: int) -> None:
    graph = random_graph(1, n=6, probability=0.4, n_train=2, n_val=30)
    values = pw.value(graph, hops=hops, head=head, coalition="induced", orders=family, permutations=4)
    players = values.players()
    assert players["null"].any() == (hops > 1)
    assert (players.loc[players["null"], ["value", "stderr"]] == 0).all(axis=None)
    assert players["value"].sum() == pytest.approx(values.utility_full - values.utility_empty)
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full - values.utility_empty)
    roots = players.loc[players["depth"] == 0, "value"].sum()
    assert values.edges()["value"].sum() == pytest.approx(values.utility_full - values.utility_empty - roots)


@quiet
def test_siblings_with_isomorphic_subtrees_have_equal_values() -> None:
    """Leaves 2 and 3 of root 0 with the same features are interchangeable."""
    graph = make_graph([(0, 2), (0, 3), (1, 4)], [0, 1], n_val=60)
    features = graph.features.toarray()
    features[3] = features[2]
    twins = pw.Graph(graph.adjacency, features, graph.labels, graph.train, graph.val)
    values = pw.exact_value(twins, hops=1, head=RIDGE, metric="log-likelihood").nodes().set_index("node")["value"]
    assert values[2] == pytest.approx(values[3], abs=1e-12)
    assert values[2] != pytest.approx(values[4], abs=1e-6)


@quiet
def test_the_default_ends_by_convergence() -> None:
    seen: list[pw.Progress] = []
    values = pw.value(random_graph(3, n_val=100), head=RIDGE, progress=seen.append)
    assert values.status.startswith("Converged after")
    assert values.permutations == seen[-1].orders == 10 * len(seen)
    assert seen[-1].change < 0.05
    assert values.permutations < 2_000


@quiet
def test_rules_in_place_of_the_default() -> None:
    graph = random_graph(3)
    assert pw.value(graph, head=RIDGE, tolerance=1e-9, max_permutations=30).permutations == 30
    assert pw.value(graph, head=RIDGE, stop=pw.stopping.largest_stderr(0.05)).nodes()["stderr"].max() <= 0.05


@quiet
@pytest.mark.parametrize("metric", ["accuracy", "probability", "log-likelihood"])
def test_bootstrap_over_validation_nodes(metric: str) -> None:
    """Against valuing again with resampled validation nodes, on the same orders."""
    graph = random_graph(5, n_val=40)
    plain = pw.value(graph, head=RIDGE, metric=metric, permutations=10)
    values = pw.value(graph, head=RIDGE, metric=metric, permutations=10, bootstrap=2_000)
    np.testing.assert_allclose(values.nodes()["value"], plain.nodes()["value"], atol=1e-12)
    assert "stderr_validation" not in plain.nodes()
    tree, n = values.tree, len(graph.val)
    game, _, _ = pw.graph_game(graph, tree, RIDGE, metric)
    each = []
    for k in range(10):
        sink = make_parts(sp.eye_array(tree.n_players, dtype=np.int64, format="csr"), n)
        game.walk(pw.sampler(tree)(np.random.default_rng(np.random.SeedSequence(0, spawn_key=(k,)))), sink)
        each.append(sink.sums)
    for level, table in (("own", values.nodes()), ("path", values.nodes("path")), ("edge", values.edges())):
        rows = np.array([tree.incidence(level) @ parts for parts in each])  # (orders, rows, v)
        np.testing.assert_allclose(rows.mean(axis=(0, 2)), table["value"], atol=1e-12)
        centred = rows - rows.mean(axis=2, keepdims=True)
        pairs = [(a * b).mean(axis=1) for a, b in permutations(centred, 2)]  # two orders share no noise
        expected = np.sqrt(np.maximum(np.mean(pairs, axis=0), 0) / n)
        np.testing.assert_allclose(table["stderr_validation"], expected, rtol=0.12, atol=1e-9)
        np.testing.assert_allclose(table["stderr_total"] ** 2, table["stderr"] ** 2 + table["stderr_validation"] ** 2)


@quiet
def test_the_error_of_validation_nodes_does_not_depend_on_the_number_of_orders() -> None:
    """Runs of 6 orders agree on average with 2,000 orders; without subtracting the noise they are far above."""
    graph, runs, n = random_graph(5, n_val=40), 100, 6
    many = pw.value(graph, head=RIDGE, permutations=2_000, bootstrap=2_000)
    few = [pw.value(graph, head=RIDGE, permutations=n, bootstrap=200, seed=seed) for seed in range(1, runs + 1)]
    for level, truth in many.validation_stderr.items():
        found = [(run.validation_stderr[level] ** 2).mean() / (truth**2).mean() for run in few]
        noisy = [(run.estimate.tally.detail[level] / n).var(axis=1).mean() / len(graph.val) for run in few]
        error = np.std(found, ddof=1) / np.sqrt(runs)
        assert abs(np.mean(found) - 1) <= 4 * error < np.mean(noisy) / (truth**2).mean() - 1


@pytest.mark.filterwarnings("ignore:the edges harm")
def test_a_model_no_better_than_a_constant_is_told() -> None:
    graph = make_graph([(0, 2), (1, 3)], [0, 1], n_val=10)
    features = graph.features.toarray()
    features[graph.val] = 0
    blind = pw.Graph(graph.adjacency, features, graph.labels, graph.train, graph.val)
    words = {
        "accuracy": "the most frequent class",
        "f1:1": "always predicting 1",
        "r2": "the mean of the validation nodes",
    }
    for metric in ALL:
        with pytest.warns(UserWarning, match=f"no better than .*{words.get(metric, '')}"):
            values = pw.value(suited(blind, metric), head=RIDGE, permutations=2, metric=metric)
    assert "no better than" in values.warnings[0]
    assert "warning: the model" in repr(values)


@pytest.mark.filterwarnings("ignore:the model trained on everything")
def test_edges_that_harm_are_told() -> None:
    """Two roots that are right alone, each tied to three copies of the other class."""
    x = np.array([[1.0, 0], [0, 1], *[[0, 1]] * 3, *[[1, 0]] * 3, *[[1, 0], [0, 1]] * 5])
    edges = [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (1, 7)]
    labels = [0, 1, *[-1] * 6, *[0, 1] * 5]
    graph = pw.Graph(edges, x, labels, train=[0, 1], val=range(8, 18))
    with pytest.warns(UserWarning, match=r"edges harm the model.* 0\.0000 .* 1\.0000"):
        values = pw.value(graph, hops=1, head=RIDGE, permutations=2)
    assert values.utility_full < values.utility_roots


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.filterwarnings("ignore:the model trained on", "ignore:the edges harm")
def test_values_of_every_metric_add_up_and_agree_with_all_orders(metric: str) -> None:
    graph = suited(make_graph([(0, 2), (1, 3), (2, 3)], [0, 1], n_val=15), metric)
    for coalition in ("induced", "messages"):
        exactly = pw.exact_value(graph, head=RIDGE, hops=1, metric=metric, coalition=coalition)
        sampled = pw.value(graph, head=RIDGE, hops=1, metric=metric, coalition=coalition, permutations=300)
        for values in (exactly, sampled):
            gain = values.utility_full - values.utility_empty
            assert values.nodes()["value"].sum() == pytest.approx(gain, abs=1e-12)
            assert values.utility_empty == pytest.approx(empty_of(graph, metric), abs=1e-12)
        close = np.abs(sampled.estimate.mean() - exactly.estimate.mean())
        assert (close <= 4 * sampled.estimate.stderr() + 1e-12).all()
        with_constant = pw.exact_value(graph, head=RIDGE, hops=1, metric=metric, coalition=coalition, empty="constant")
        assert with_constant.utility_empty >= exactly.utility_empty - 1e-12


@quiet
def test_the_bootstrap_needs_a_mean_over_validation_nodes() -> None:
    graph = make_graph([(0, 2), (1, 3), (2, 3)], [0, 1], n_val=30)
    for metric in ALL:
        options: dict[str, Any] = {"head": RIDGE, "metric": metric, "bootstrap": 5, "permutations": 10}
        if metric in ("accuracy", "probability", "log-likelihood", "neg-mse"):
            values = pw.value(suited(graph, metric), **options)
            assert (values.nodes()["stderr_validation"] >= 0).all()
        else:
            with pytest.raises(ValueError, match=f"the bootstrap needs a metric that is a mean .*{metric} is not one"):
                pw.value(suited(graph, metric), **options)


@quiet
def test_accuracy_of_lopsided_classes_names_better_metrics() -> None:
    plain = make_graph([(0, 2), (1, 3)], [0, 1], n_val=40)
    labels = plain.labels.copy()
    labels[plain.val] = np.arange(40) < 7
    graph = pw.Graph(plain.adjacency, plain.features, labels, plain.train, plain.val)
    with pytest.warns(UserWarning, match="82% of the validation nodes") as told:
        values = pw.value(graph, head=RIDGE, permutations=2)
    assert [str(one.message) for one in told][-1] == values.warnings[-1]
    assert values.warnings[-1].startswith("82% of the validation nodes are of one class")
    assert "balanced-accuracy" in values.warnings[-1]
    assert "roc-auc" in values.warnings[-1]
    assert not [
        note for note in pw.value(graph, head=RIDGE, permutations=2, metric="roc-auc").warnings if "82%" in note
    ]


@pytest.mark.filterwarnings("ignore:the model trained on", "ignore:the edges harm")
def test_numeric_targets_need_ridge_and_their_own_metrics() -> None:
    graph = with_numbers(make_graph([(0, 2), (1, 3), (2, 3)], [0, 1, 2, 3, 4], n_val=20))
    values = pw.value(graph, permutations=2)
    assert values.request.metric == "r2"
    assert values.calibration is not None
    assert isinstance(values.calibration.head, pw.Ridge)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"head": "softmax"}, "the softmax head needs classes, but the graph has numeric targets: use head='ridge'"),
        ({"head": pw.Softmax()}, "the softmax head needs classes"),
        ({"preset": "paper"}, "preset='paper' needs classes, but the graph has numeric targets: leave preset out"),
        ({"head": pw.Ridge(class_weight="balanced")}, "class_weight is 'balanced', but the graph has numeric targets"),
        ({"metric": "accuracy"}, "metric is 'accuracy', but the graph has numeric targets"),
    ]
    for options, sentence in refused:
        with pytest.raises(ValueError, match=sentence):
            pw.value(graph, permutations=2, **options)


def test_nothing_is_told_when_all_is_well(recwarn: pytest.WarningsRecorder) -> None:
    graph = make_graph([(0, 2), (1, 3)], [0, 1], n_val=40)
    values = pw.value(graph, head=RIDGE, permutations=2)
    assert not recwarn.list
    assert not values.warnings
    assert "warning" not in repr(values)
    edges = np.vstack([np.argwhere(graph.adjacency.toarray()), [(0, 4)]])
    cut = pw.Graph(edges, graph.features, graph.labels, [0, 1], graph.val)
    assert pw.value(cut, head=RIDGE, permutations=2).graph.n_cut_edges == cut.n_cut_edges == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hops": 0}, "hops is 0"),
        ({"head": "mlp"}, "head is 'mlp', expected ridge, softmax"),
        ({"metric": "auc"}, "metric is 'auc', expected accuracy, balanced-accuracy, macro-f1, "),
        ({"orders": "bfs"}, "orders is 'bfs', expected dfs, level, "),
        ({"truncation": (0.5,)}, "one per hop"),
        ({"truncation": (0.5, 1.5)}, "below 1"),
        ({"truncation": (0.5, 0.5), "orders": "free"}, "dfs orders only"),
        ({"permutations": 0}, "permutations is 0"),
        ({"max_permutations": 0}, "max_permutations is 0"),
        ({"tolerance": -1}, "tolerance is -1"),
        ({"bootstrap": 1}, "bootstrap is 1"),
        ({"bootstrap": 10, "metric": "macro-f1"}, "mean over validation nodes"),
        ({"max_players": 3}, "max_players=3"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.0}, "seed is 1.0, expected a whole number"),
        ({"seed": None}, "seed is None"),
        ({"hops": None}, "hops is None"),
        ({"hops": True}, "hops is True"),
        ({"hops": 0, "truncation": (0.5, 0.7)}, "hops is 0"),
        ({"permutations": True}, "permutations is True"),
        ({"permutations": "10"}, "permutations is '10'"),
        ({"permutations": 7, "stop": pw.stopping.seconds(1)}, "only one of them"),
        ({"stop": 100}, "stop is 100, expected a rule"),
        ({"bootstrap": 10.0}, "bootstrap is 10.0"),
        ({"max_players": None}, "max_players is None"),
        ({"truncation": 0.5}, "one number per hop"),
        ({"coalition": "message"}, "did you mean messages"),
        ({"remainder": "all"}, "remainder is 'all'"),
        ({"theta": (0, 0, 1), "coalition": "induced"}, "coalition='messages'"),
        ({"theta": 0.5, "coalition": "messages"}, "theta is 0.5, expected a list of 3 numbers"),
        ({"theta": {0: 1}, "coalition": "messages"}, "expected a list of 3 numbers"),
        ({"preset": "letter"}, "preset is 'letter'"),
        ({"preset": "paper", "coalition": "messages"}, "coalition='induced', but coalition is 'messages'"),
        ({"preset": "paper", "head": pw.Softmax(epochs=3)}, r"head='softmax', but head is Softmax\(\.\.\.\)"),
        ({"preset": "paper", "orders": "level"}, "orders='dfs', but orders is 'level'"),
        ({"preset": "paper", "metric": "macro-f1"}, "metric='accuracy', but metric is 'macro-f1'"),
        ({"preset": "paper", "empty": "constant"}, "empty='nothing', but empty is 'constant'"),
        ({"preset": "paper", "head": "ridge"}, "head='softmax', but head is 'ridge'"),
        ({"head": pw.Ridge}, "head is <class"),
        ({"metric": ["accuracy"]}, "metric is"),
        ({"orders": None}, "orders is None"),
    ],
)
def test_bad_requests_are_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        pw.value(random_graph(1), **options)  # type: ignore[arg-type]


def test_theta_of_the_default_model_is_the_default() -> None:
    graph = random_graph(1)
    options = {"head": RIDGE, "coalition": "messages", "permutations": 5}
    plain, said = pw.value(graph, **options), pw.value(graph, theta=(0, 0, 1.0), **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(plain.estimate.mean("player"), said.estimate.mean("player"))
    assert plain.request.record() == said.request.record()


def test_a_graph_must_be_a_graph() -> None:
    for function in (pw.value, pw.exact_value):
        with pytest.raises(ValueError, match=r"graph is 'cora'.* pcwinter\.Graph"):
            function("cora")  # type: ignore[arg-type]


def test_too_many_orders_to_enumerate_are_refused() -> None:
    with pytest.raises(ValueError, match=r"about 10\^\d+ free orders"):
        pw.exact_value(random_graph(1, n=30, probability=0.5), head=RIDGE, orders="free", hops=3)
    with pytest.raises(ValueError, match=r"max_orders=100,000.* pcwinter\.value"):
        pw.exact_value(random_graph(1), head=RIDGE)


def test_exact_values_without_edges_are_those_of_shapley() -> None:
    graph = make_graph([(4, 5)], [0, 1, 2, 3], n_val=30)
    tree = contribution_tree(graph, 2)
    game, _, _ = pw.graph_game(graph, tree, RIDGE, "log-likelihood")
    values = pw.exact_value(graph, head=RIDGE, metric="log-likelihood").players()["value"]
    shapley = np.zeros(4)
    for bits in range(16):
        inside = np.array([bits >> k & 1 for k in range(4)], dtype=bool)
        for p in np.flatnonzero(~inside):
            weight = 1 / (4 * [1, 3, 3, 1][inside.sum()])
            joined = inside | (np.arange(4) == p)
            shapley[p] += weight * (game.utility(joined) - game.utility(inside))
    np.testing.assert_allclose(values, shapley, atol=1e-10)


@pytest.mark.parametrize("metric", ["accuracy", "macro-f1", "log-likelihood"])
@pytest.mark.parametrize("head", [RIDGE, pw.Softmax(epochs=5)])
@pytest.mark.parametrize("orders", ["dfs", "free"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_empty_coalition_may_predict_the_best_constant(metric: str, head: pw.Ridge, orders: str) -> None:
    graph = make_graph([(0, 2), (0, 3), (1, 2)], [0, 1], n_val=9)  # five of class 0, four of class 1
    options: dict[str, Any] = {"hops": 1, "head": head, "metric": metric, "orders": orders, "permutations": 20}
    values = pw.value(graph, empty="constant", **options)
    five = 5 / 9
    best = {
        "accuracy": five,
        "macro-f1": 2 * five / (1 + five) / 2,
        "log-likelihood": five * np.log(five) + (1 - five) * np.log(1 - five),
    }
    assert values.utility_empty == pytest.approx(best[metric])
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full - values.utility_empty, abs=1e-12)
    assert values.utility_full == pw.value(graph, **options).utility_full


@pytest.mark.parametrize("metric", ["accuracy", "log-likelihood"])
@pytest.mark.parametrize("truncation", [(), (0.5, 0.5)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_details_by_validation_node_add_up_with_shares_and_a_constant(
    metric: str, truncation: tuple[float, ...]
) -> None:
    graph = random_graph(3, n=12, probability=0.4, n_val=20)
    request = pw.Request(head=RIDGE, metric=metric, truncation=truncation, empty="constant", bootstrap=5)
    valuation = prepare(graph, request)
    for state in valuation.states(pw.stopping.permutations(10), 1):
        total = state.total
        for level in ("own", "path", "edge"):
            parts = total.detail[level].sum(axis=1) * (1 if metric == "accuracy" else 1 / 20)
            np.testing.assert_allclose(parts, total.levels[level].total, atol=1e-9)


@quiet
@ANY_KIND
@pytest.mark.parametrize("head", [RIDGE, pw.Softmax(learning_rate=0.1, epochs=10)], ids=["ridge", "softmax"])
def test_any_graph_plays_the_message_game_and_adds_up(kind: str, head: pw.Ridge | pw.Softmax) -> None:
    graph = any_graph(kind, 2, n=7, n_train=3, n_classes=3, n_val=20, probability=0.17)
    game = "messages" if kind == "plain transductive" else None  # the induced game is the default where it is defined
    values = pw.value(graph, head=head, coalition=game, permutations=4, truncation=(0.3, 0.5))
    assert values.request.coalition == "messages"
    total = values.utility_full - values.utility_empty
    assert values.players()["value"].sum() == pytest.approx(total)
    assert values.nodes()["value"].sum() == pytest.approx(total)
    roots = values.players().query("depth == 0")["value"].sum()
    assert values.edges()["value"].sum() == pytest.approx(total - roots)
    for source, target in values.edges()[["source", "target"]].to_numpy().tolist():
        assert graph.training[target, source] > 0
    if isinstance(head, pw.Ridge):  # everything is the plain model
        theta = (0.0, 0.0, 1.0)
        rows = model_rows(graph, dense(graph), theta)[graph.train]
        z = model_rows(graph, dense(graph, "validation"), theta)[graph.val]
        scale = np.mean(np.sum(rows**2, axis=1)) ** -0.5
        scores = ridge_scores(rows, graph.labels[graph.train], z, 3, 0.3, 1.0, float(scale))
        assert values.utility_full == pytest.approx(accuracy(scores, graph.labels[graph.val]))


@quiet
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("self_loop", [0.0, 1.0])
def test_estimates_of_a_directed_graph_agree_with_enumeration(family: str, self_loop: float) -> None:
    n_val = 30
    ring = [(4 + k, 4 + (k + 1) % n_val) for k in range(n_val)]
    edges, weights = [(2, 0), (3, 2), (2, 1), (0, 3), *ring], [2.0, 0.5, 1.0, 3.0, *[1.0] * n_val]
    plain = make_graph([(0, 2), (0, 3), (1, 2)], [0, 1], n_val=n_val)
    graph = pw.Graph(
        edges, plain.features, plain.labels, plain.train, plain.val, weights=weights, directed=True, self_loop=self_loop
    )
    options: dict[str, Any] = {"head": RIDGE, "metric": "log-likelihood", "orders": family}
    truth, guess = pw.exact_value(graph, **options), pw.value(graph, permutations=400, seed=3, **options)
    assert truth.players()[["step_0", "step_1", "step_2"]].to_numpy().tolist() == [
        *([0, -1, -1], [0, 2, -1], [0, 2, 3], [1, -1, -1], [1, 2, -1], [1, 2, 3])
    ]
    assert truth.edges()[["source", "target"]].to_numpy().tolist() == [[2, 0], [2, 1], [3, 2]]
    for mine, other in ((guess.nodes(), truth.nodes()), (guess.edges(), truth.edges())):
        assert (np.abs(mine["value"] - other["value"]) <= 4 * mine["stderr"] + 1e-9).all()
    assert not truth.players()["null"].any()


def test_the_induced_game_and_the_preset_are_refused_by_a_directed_graph() -> None:
    graph = any_graph("directed")
    for options in ({"coalition": "induced"}, {"preset": "paper"}):
        with pytest.raises(ValueError, match=r"coalition='induced' is .*is directed: use coalition='messages'"):
            pw.value(graph, **options)  # type: ignore[arg-type]
