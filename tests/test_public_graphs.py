"""The public graphs: counts of the paper, walks against the definition, the judge."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import pcwinter as pw
from oracles import dense_power, ridge_scores
from pcwinter import baselines
from pcwinter.experiments.curves import droppable, judged
from pcwinter.experiments.judge import Judge, judge
from pcwinter.game.coalitions.acting import coefficients
from pcwinter.game.detail import make_parts
from pcwinter.game.orders import FAMILIES
from pcwinter.game.problem import GraphGame, make_problem
from pcwinter.game.protocol import marginals
from pcwinter.graph.propagation import propagate
from pcwinter.heads.softmax import Softmax
from torch_loop import torch_loop

pytestmark = pytest.mark.real_data

FIGURES = {  # nodes, edges, players, train, val, test, truncation, expected visits
    "cora": (2708, 5278, 2241, 140, 500, 1000, (0.5, 0.7), 750.4),
    "citeseer": (3327, 4552, 1388, 120, 500, 1000, (0.5, 0.7), 532.5),
    "amazon-photo": (7650, 119081, 147664, 160, 1530, 1530, (0.7, 0.9), 6184.7),
    "amazon-computers": (13752, 245861, 317959, 200, 2750, 2750, (0.7, 0.9), 12124.0),
    "coauthor-physics": (34493, 247962, 11178, 100, 6898, 6898, (0.7, 0.9), 841.4),
}


@pytest.mark.parametrize("name", FIGURES)
def test_counts(name: str, data_dir: Path) -> None:
    nodes, edges, players, train_, val, test, truncation, visits = FIGURES[name]
    graph = pw.load(name, data=data_dir)
    assert (graph.n_nodes, graph.n_edges) == (nodes, edges)
    assert (len(graph.train), len(graph.val), len(graph.test)) == (train_, val, test)
    tree = pw.contribution_tree(graph)
    assert tree.n_players == players
    assert pw.DATASETS[name].truncation == truncation
    assert pw.expected_visits(tree, truncation) == pytest.approx(visits, abs=0.1)
    draw = pw.sampler(tree, "dfs", truncation)
    drawn = [int(draw(np.random.default_rng(seed)).visited.sum()) for seed in range(40)]
    assert abs(np.mean(drawn) - visits) <= 4 * np.std(drawn, ddof=1) / np.sqrt(40)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("coalition", ["induced", "messages"])
def test_truncated_values_add_up_exactly(name: str, coalition: str, data_dir: Path) -> None:
    """Steps in whole numbers of validation nodes, and the tables of nodes up to rounding."""
    graph, truncation = pw.load(name, data=data_dir), FIGURES[name][-2]
    tree = pw.contribution_tree(graph)
    game = pw.graph_game(graph, tree, pw.Ridge(penalty=1.0, bias=1.0), coalition=coalition)[0]
    everybody = round(game.utility(np.ones(tree.n_players, dtype=bool)) / game.unit)
    draw, change = pw.sampler(tree, "dfs", truncation), np.zeros(tree.n_players)
    for seed in range(2):
        order = draw(np.random.default_rng(seed))
        utility = game.walk(order).utility
        assert utility.dtype == np.int64
        assert np.diff(utility, prepend=0).sum() == utility[-1] == everybody
        change += marginals(game, order, pw.Walk(utility, 0)) / 2
    total = float(np.asarray(tree.incidence("own") @ change).sum()) * game.unit
    assert total == pytest.approx(everybody * game.unit, abs=1e-12)


def complete_rows(graph: pw.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Rows of all roots on their complete local graphs, built node by node: edges within two hops of the root."""
    features = graph.features.toarray()
    rows = []
    for r in graph.train:
        first = graph.training[[r]].indices
        pairs = {tuple(sorted((int(u), int(v)))) for u in [r, *first] for v in graph.training[[u]].indices}
        nodes = sorted({u for pair in pairs for u in pair} | {int(r)})
        adjacency = np.eye(len(nodes))
        for u, v in pairs:
            adjacency[nodes.index(u), nodes.index(v)] = adjacency[nodes.index(v), nodes.index(u)] = 1
        scale = np.diag(adjacency.sum(axis=1) ** -0.5)
        row = np.linalg.matrix_power(scale @ adjacency @ scale, 2)[nodes.index(int(r))]
        rows.append(row @ features[nodes])
    return np.array(rows), graph.labels[graph.train]


def prefix_rows(graph: pw.Graph, tree: pw.ContributionTree, coalition: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a coalition for two hops, from the paths of its acting players."""
    paths = [tuple(int(v) for v in path if v >= 0) for path in tree.paths()]
    members = {path for path, inside in zip(paths, coalition, strict=True) if inside}
    edges: dict[int, set[tuple[int, int]]] = {path[0]: set() for path in members if len(path) == 1}
    for path in members:
        if len(path) > 1 and all(path[:k] in members for k in range(1, len(path))) and path[2:3] != path[:1]:
            edges[path[0]].add((min(path[-2:]), max(path[-2:])))
    rows, labels = [], []
    for r, pairs in edges.items():
        nodes = sorted({u for pair in pairs for u in pair} | {r})
        adjacency = np.eye(len(nodes))
        for u, v in pairs:
            adjacency[nodes.index(u), nodes.index(v)] = adjacency[nodes.index(v), nodes.index(u)] = 1
        scale = np.diag(adjacency.sum(axis=1) ** -0.5)
        power = np.linalg.matrix_power(scale @ adjacency @ scale, 2)[nodes.index(r)]
        rows.append(np.asarray(power @ graph.features[nodes]).ravel())
        labels.append(int(graph.labels[r]))
    return np.array(rows), np.array(labels)


def validation(graph: pw.Graph) -> np.ndarray:
    """Rows of the validation nodes, by a dense power of the graph among them."""
    inside = graph.adjacency[graph.val][:, graph.val].toarray()
    return np.asarray(dense_power(inside, 2) @ graph.features[graph.val].toarray())


def ridge_count(graph: pw.Graph, rows: np.ndarray, labels: np.ndarray, norm: float, penalty: float, bias: float) -> int:
    """Correct validation nodes of an independent dual solve."""
    z = validation(graph)
    kernel = rows @ rows.T / norm + bias**2 + penalty * np.eye(len(rows))
    weights = scipy.linalg.solve(kernel, np.eye(graph.n_classes)[labels], assume_a="pos")
    named = np.round((z @ rows.T / norm + bias**2) @ weights, 9).argmax(axis=1)
    return int(np.sum(named == graph.labels[graph.val]))


def softmax_count(graph: pw.Graph, rows: np.ndarray, labels: np.ndarray) -> int:
    """Correct validation nodes of one model trained by PyTorch; columns without any entry would stay at zero."""
    active = rows.any(axis=0)
    weights, bias = torch_loop(sp.csr_array(rows[:, active]), labels, graph.n_classes, Softmax())
    score = validation(graph)[:, active] @ weights + bias
    return int(np.sum(np.round(score, 9).argmax(axis=1) == graph.labels[graph.val]))


@pytest.fixture(scope="module")
def cora(data_dir: Path) -> pw.Graph:
    return pw.load("cora", data=data_dir)


@pytest.fixture(scope="module")
def ridge_game(cora: pw.Graph) -> GraphGame:
    return pw.graph_game(cora, pw.contribution_tree(cora), pw.Ridge(penalty=3, bias=3), coalition="induced")[0]


@pytest.fixture(scope="module")
def softmax_game(cora: pw.Graph) -> GraphGame:
    return pw.graph_game(cora, pw.contribution_tree(cora), Softmax(), coalition="induced")[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_ridge_prefixes_on_cora(family: str, cora: pw.Graph, ridge_game: GraphGame) -> None:
    """200 random prefixes of two orders, and the last one, by independent solves."""
    tree = ridge_game.problem.tree
    complete, labels = complete_rows(cora)
    norm = float(np.mean(np.sum(complete**2, axis=1)))
    for seed in range(2):
        rng = np.random.default_rng(seed)
        order = FAMILIES[family](tree, rng)
        utility = ridge_game.walk(order).utility
        assert utility[-1] == ridge_count(cora, complete, labels, norm, 3, 3)
        for k in rng.choice(tree.n_players, 100, replace=False):
            coalition = np.zeros(tree.n_players, dtype=bool)
            coalition[order.players[: k + 1]] = True
            rows, mine = prefix_rows(cora, tree, coalition)
            assert utility[k] == (ridge_count(cora, rows, mine, norm, 3, 3) if len(rows) else 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_softmax_prefixes_on_cora(family: str, cora: pw.Graph, softmax_game: GraphGame) -> None:
    """200 random prefixes of one order, and the last one, each trained by PyTorch on its own."""
    tree = softmax_game.problem.tree
    complete, labels = complete_rows(cora)
    rng = np.random.default_rng(0)
    order = FAMILIES[family](tree, rng)
    utility = softmax_game.walk(order).utility
    assert utility[-1] == softmax_count(cora, complete, labels)
    for k in rng.choice(tree.n_players, 200, replace=False):
        coalition = np.zeros(tree.n_players, dtype=bool)
        coalition[order.players[: k + 1]] = True
        rows, mine = prefix_rows(cora, tree, coalition)
        assert utility[k] == (softmax_count(cora, rows, mine) if len(rows) else 0)


@pytest.mark.parametrize(
    ("name", "family", "orders"),
    [
        ("cora", "dfs", 10),
        ("citeseer", "dfs", 10),
        ("amazon-photo", "dfs", 1),
        ("cora", "precedence", 10),
        ("citeseer", "free", 10),
        ("amazon-photo", "precedence", 1),
    ],
)
def test_counting_in_single_precision_agrees_with_double(name: str, family: str, orders: int, data_dir: Path) -> None:
    """All utilities of some orders; the parts by node ask for double precision, every score written out."""
    graph = pw.load(name, data=data_dir)
    tree = pw.contribution_tree(graph)
    game, _, _ = pw.graph_game(graph, tree, pw.Ridge(penalty=3.0, bias=1.0))
    nobody = make_parts(sp.csr_array((0, tree.n_players), dtype=np.int64), len(graph.val))
    steps = differ = 0
    for seed in range(orders):
        order = pw.sampler(tree, family)(np.random.default_rng(seed))
        double = game.walk(order, nobody).utility
        steps += len(double)
        differ += int((game.walk(order).utility != double).sum())
    print(f"{name}, {family}: {differ} of {steps:,} utilities differ between single and double precision")
    assert differ == 0


def test_the_judge_on_cora(cora: pw.Graph) -> None:
    assert pw.judge(cora) == pytest.approx(0.713, abs=0.002)
    assert pw.judge(cora, training=sp.csr_array(cora.training.shape)) == pytest.approx(0.669, abs=0.002)


def calibrated(graph: pw.Graph, coalition: str = "messages") -> pw.Ridge:
    found = pw.graph_game(graph, pw.contribution_tree(graph), coalition=coalition)[2]
    assert found is not None
    assert not found.edge
    assert isinstance(found.head, pw.Ridge)
    return found.head


def renumbered(graph: pw.Graph, seed: int) -> pw.Graph:
    """The same graph with nodes and classes in another order, and all features multiplied by a number."""
    rng = np.random.default_rng(seed)
    place, names = rng.permutation(graph.n_nodes), rng.permutation(graph.n_classes)
    back = np.argsort(place)
    labels = np.where(graph.labels >= 0, names[graph.labels], -1)[back]
    adjacency = sp.csr_array(graph.adjacency[back][:, back])
    features = sp.csr_array(graph.features[back] * rng.uniform(0.1, 10))
    return pw.Graph(adjacency, features, labels, *(place[part] for part in (graph.train, graph.val, graph.test)))


@pytest.mark.parametrize("name", ["demo", "cora", "citeseer", "amazon-photo"])
def test_calibration_does_not_depend_on_numbers_names_and_units(name: str, data_dir: Path) -> None:
    graph = pw.load(name, data=data_dir)
    for coalition in ("messages", "induced"):
        expected = calibrated(graph, coalition)
        for seed in range(10 if coalition == "messages" or name != "amazon-photo" else 2):
            assert calibrated(renumbered(graph, seed), coalition) == expected


@pytest.mark.parametrize(("name", "least"), [("amazon-photo", 0.87), ("amazon-computers", 0.76)])
def test_arrays_of_ones_own_get_a_good_head(name: str, least: float, data_dir: Path) -> None:
    """The name of a public graph must not matter, nor the numbers of its nodes."""
    game = pw.graph_game(
        own := renumbered(pw.load(name, data=data_dir), 0), pw.contribution_tree(own), coalition="messages"
    )[0]
    assert game.utility(np.ones(game.n_players, dtype=np.bool_)) >= least


@pytest.mark.parametrize("name", ["demo", "cora"])
def test_calibration_of_the_softmax_head_does_not_depend_on_them_either(name: str, data_dir: Path) -> None:
    graph = pw.load(name, data=data_dir)
    found = []
    for one in (graph, renumbered(graph, 0), renumbered(graph, 1)):
        chosen = pw.graph_game(one, pw.contribution_tree(one), "softmax", coalition="messages")[2]
        assert chosen is not None
        assert isinstance(chosen.head, pw.Softmax)
        found.append(replace(chosen.head, scale=1.0))
    assert found[0] == found[1] == found[2]


def test_cora_converges_as_the_paper_says(cora: pw.Graph) -> None:
    """The paper needs 325 orders. With a calibrated head the edges help."""
    values = pw.value(cora)
    assert values.status.startswith("Converged")
    assert 200 <= values.permutations <= 450
    assert values.utility_full > values.utility_roots
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full)


def drawn(name: str, data_dir: Path, seed: int = 0) -> pw.Graph:
    """A binary graph with 20 labelled nodes per class, drawn by seed; val and test have the sizes of the file."""
    arrays = np.load(data_dir / "more" / f"{name}.npz")
    sizes = {"val": len(arrays["val"]), "test": len(arrays["test"])}
    split = pw.random_split(arrays["labels"], per_class=20, seed=seed, **sizes)
    features = pw.normalize_features(arrays["features"], "standard")
    return pw.Graph(arrays["edges"], features, arrays["labels"], *split, name=name)


@pytest.mark.parametrize(("name", "truncation"), [("tolokers", (0.9, 0.95)), ("minesweeper", ())])
@pytest.mark.filterwarnings("ignore:the edges harm", "ignore:the model trained")
def test_rare_classes_by_roc_auc(name: str, truncation: tuple[float, ...], data_dir: Path) -> None:
    """U(all) is scikit-learn's area, of scores from the normal equations; the values add up to it minus a half."""
    graph, head = drawn(name, data_dir), pw.Ridge(penalty=1.0, bias=1.0)
    options: dict[str, Any] = {"head": head, "coalition": "messages", "truncation": truncation, "permutations": 2}
    values = pw.value(graph, metric="roc-auc", **options)
    assert values.utility_empty == 0.5
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full - 0.5, abs=1e-12)
    rows = propagate(graph.training, graph.features, 2)[graph.train].toarray()
    z, labels = propagate(graph.validation, graph.features, 2)[graph.val].toarray(), graph.labels
    scale = np.mean(np.sum(rows**2, axis=1)) ** -0.5
    scores = ridge_scores(rows, labels[graph.train], z, 2, 1.0, 1.0, scale)
    area = roc_auc_score(labels[graph.val], np.round(scores[:, 1] - scores[:, 0], 9))
    assert values.utility_full == pytest.approx(area, abs=1e-9)


@pytest.mark.filterwarnings("ignore:the (edges harm|inductive split)")
def test_dropping_counties_by_value_lowers_r2_faster_than_random_and_degree(data_dir: Path) -> None:
    graph = pw.read_graph(data_dir / "more" / "county-election.npz", features="none")
    assert repr(graph).startswith("Graph: 3111 nodes, 9234 edges, regression on 1 target, 7 features")
    assert graph.ids[0] == 1001
    values = pw.value(graph, coalition="messages", permutations=100)
    assert values.nodes()["value"].sum() == pytest.approx(values.utility_full, abs=1e-12)
    judge = Judge(graph)
    others = [baselines.degree(graph), *(baselines.random_nodes(graph, seed=seed) for seed in range(3))]
    for which in ("unlabelled", "labelled", "mixed"):
        means = [judged(judge, droppable(graph, ranking, which, 0), 21).mean for ranking in others]
        for level in ("own", "path"):
            ranking = baselines.of_values(values, level, level)
            assert judged(judge, droppable(graph, ranking, which, 0), 21).mean < min(means) - 0.1


@pytest.mark.filterwarnings("ignore:the (model|edges)")
def test_chameleon_as_a_directed_graph(data_dir: Path) -> None:
    """13,584 links, of which 50 are self-loops; the model with everything is the plain model with row normalisation."""
    path = data_dir / "more" / "chameleon-directed.npz"
    with pytest.warns(UserWarning, match=r"dropped 50 self-loops.*|the inductive split cuts") as caught:
        inductive = pw.read_graph(path, directed=True)
    assert len(caught) == 2
    with pytest.warns(UserWarning, match="dropped 50 self-loops"):
        graph = pw.read_graph(path, directed=True, setting="transductive")
    assert (graph.n_nodes, graph.n_edges, graph.n_cut_edges, inductive.n_edges) == (890, 13_534, 0, 13_534)
    with np.load(path) as arrays:
        source, target = arrays["edges"].T
    looped = sp.csr_array((np.ones(len(source)), (target, source)), shape=(890, 890))
    looped.setdiag(1)
    step = sp.csr_array(sp.diags_array(1 / looped.sum(axis=1)) @ looped).toarray()
    rows = step @ step @ graph.features.toarray()
    values = pw.value(inductive, hops=1, head=pw.Ridge(1.0, 1.0), permutations=2)
    total = values.utility_full - values.utility_empty
    assert values.nodes()["value"].sum() == pytest.approx(total, abs=1e-12)
    ends = values.edges()[["source", "target"]].to_numpy()
    given = set(zip(source.tolist(), target.tolist(), strict=True))
    assert {tuple(edge) for edge in ends.tolist()} <= given
    few = graph.replace(train=graph.train[np.unique(graph.labels[graph.train], return_index=True)[1]])
    problem = make_problem(few, pw.contribution_tree(few, 2), "messages")
    np.testing.assert_allclose(problem.complete.toarray(), rows[few.train], atol=1e-10)
    everybody = np.ones(problem.tree.n_players, dtype=bool)
    built = problem.training_rows(coefficients(problem.local, everybody)).toarray()
    np.testing.assert_allclose(built, rows[few.train], atol=1e-10)


def test_cora_transductive_has_all_edges(data_dir: Path) -> None:
    graph = pw.load("cora", data=data_dir).replace(setting="transductive")
    assert graph.training.nnz == graph.validation.nnz == graph.testing.nnz == 2 * 5278
    step = graph.adjacency.toarray() + np.eye(graph.n_nodes)
    scale = step.sum(axis=1) ** -0.5
    step *= np.outer(scale, scale)
    model = step @ (step @ graph.features.toarray())
    values = pw.value(graph, coalition="messages", head=pw.Ridge(1.0, 1.0), truncation=(0.5, 0.7), permutations=2)
    nodes = values.nodes()
    assert np.isin(nodes["node"], np.concatenate([graph.val, graph.test])).sum() > 100  # they are players like others
    assert nodes["value"].sum() == pytest.approx(values.utility_full, abs=1e-12)
    rows, z = model[graph.train], model[graph.val]
    scaled = 1 / np.mean(np.sum(rows**2, axis=1))
    weights = scipy.linalg.solve(
        rows @ rows.T * scaled + 1 + np.eye(140), np.eye(7)[graph.labels[graph.train]], assume_a="pos"
    )
    named = np.round((z @ rows.T * scaled + 1) @ weights, 9).argmax(axis=1)
    assert values.utility_full == np.mean(named == graph.labels[graph.val])
    assert values.utility_full > 0.75
    assert judge(graph) > 0.78  # the accuracy of SGC that is usually reported
