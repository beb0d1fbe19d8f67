"""The judge against a graph built without what was left out, dense propagation and a PyTorch loop."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from any_graph import ANY_KIND, any_graph, dense, model_rows
from block_rows import block_scales, model_blocks, row_normalised
from metric_oracle import balanced, learnt, lopsided, utility_of, with_numbers
from oracles import dense_power, filtered, random_graph, ridge_fit, validation_rows
from pcwinter.baselines.ranking import all_edges
from pcwinter.experiments.curves import judged as judged_curve
from pcwinter.experiments.judge import Judge, judge, judging_head
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import Ridge
from pcwinter.heads.softmax import PAPER, Softmax
from torch_loop import torch_loop

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
RECIPE = Softmax(0.2, 40, 5e-4)
N, N_TRAIN, N_VAL, N_TEST = 30, 9, 6, 60
TOTAL = N + N_VAL + N_TEST


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train the graphs of this file as RECIPE says."""
    monkeypatch.setitem(PAPER, "toy", RECIPE)


def edges_of(seed: int) -> list[tuple[int, int]]:
    """Random edges, mostly inside a class; also across the split, where the inductive graphs have none."""
    rng = np.random.default_rng(seed)
    return [(u, v) for u in range(TOTAL) for v in range(u) if rng.random() < (0.02 if (u - v) % 3 else 0.12)]


def build(edges: list[tuple[int, int]], train: npt.NDArray[np.int64]) -> Graph:
    rng = np.random.default_rng(1)
    labels = np.arange(TOTAL) % 3
    features = rng.random((TOTAL, 8)) + 0.6 * np.eye(3, 8)[labels]
    val, test = np.arange(N, N + N_VAL), np.arange(N + N_VAL, TOTAL)
    return Graph(edges, features, labels, train=train, val=val, test=test, n_classes=3, name="toy")


def expected(
    graph: Graph,
    hops: int,
    training: Floats | None = None,
    recipe: Softmax = RECIPE,
    theta: tuple[float, ...] = (),
) -> float:
    """Test accuracy, dense and with PyTorch."""
    features = graph.features.toarray()
    adjacency = graph.training.toarray() if training is None else training
    powers = theta or (*[0.0] * hops, 1.0)
    rows = (filtered(adjacency, powers) @ features)[graph.train]
    weights, bias = torch_loop(sp.csr_array(rows), graph.labels[graph.train], graph.n_classes, recipe)
    scores = (filtered(graph.testing.toarray(), powers) @ features)[graph.test] @ weights + bias
    return float(np.mean(np.round(scores, 9).argmax(axis=1) == graph.labels[graph.test]))


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_the_whole_graph(hops: int) -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    whole = expected(graph, hops)
    assert judge(graph, hops=hops) == Judge(graph, hops=hops).score() == whole
    assert Judge(graph, hops=hops).score(keep=np.ones(TOTAL, dtype=np.bool_)) == whole
    assert whole > 0.4


def test_other_filters() -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    seen = {expected(graph, 2)}
    for filter, theta in {"appnp:0.6": (0.6, 0.24, 0.16), "mean": (1 / 3, 1 / 3, 1 / 3)}.items():
        accuracy = judge(graph, filter=filter)
        assert accuracy == Judge(graph, filter=theta).score() == expected(graph, 2, theta=theta)
        assert Judge(graph, filter=filter).score(keep=np.ones(TOTAL, dtype=np.bool_)) == accuracy
        seen.add(accuracy)
    assert len(seen) > 1


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_nodes_that_are_left_out(hops: int) -> None:
    edges = edges_of(0)
    judged = Judge(build(edges, np.arange(N_TRAIN)), hops=hops)
    seen = set()
    for seed in range(6):
        keep = np.random.default_rng(seed).random(TOTAL) < 0.6
        keep[:3] = True  # a graph needs a labelled node of every class
        keep[N:] = True  # the test graph is not the judge's to change
        left = build([(u, v) for u, v in edges if keep[u] and keep[v]], np.flatnonzero(keep[:N_TRAIN]))
        accuracy = judged.score(keep=keep)
        assert accuracy == expected(left, hops)
        seen.add(accuracy)
    assert len(seen) > 2
    assert judged.score() == expected(judged.graph, hops)  # nothing is left over


def test_validation_and_test_nodes_do_not_count_in_the_training_graph() -> None:
    judged = Judge(build(edges_of(0), np.arange(N_TRAIN)))
    assert judged.score(keep=np.arange(TOTAL) < N) == judged.score()


def test_a_class_without_labelled_nodes() -> None:
    edges = edges_of(0)
    graph = build(edges, np.arange(N_TRAIN))
    keep = (np.arange(TOTAL) >= N_TRAIN) | (graph.labels != 1)
    features = graph.features.toarray()
    train = np.flatnonzero(keep[:N_TRAIN])
    rows = (dense_power(graph.training.toarray() * np.outer(keep, keep), 2) @ features)[train]
    weights, bias = torch_loop(sp.csr_array(rows), graph.labels[train], 3, RECIPE)
    scores = (dense_power(graph.testing.toarray(), 2) @ features)[graph.test] @ weights + bias
    assert Judge(graph).score(keep=keep) == np.mean(scores.argmax(axis=1) == graph.labels[graph.test])


def test_without_labelled_nodes_class_0_is_named() -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    keep = np.arange(TOTAL) >= N_TRAIN
    assert Judge(graph).score(keep=keep) == np.mean(graph.labels[graph.test] == 0)
    assert Judge(graph).score(keep=np.zeros(TOTAL, dtype=np.bool_)) == np.mean(graph.labels[graph.test] == 0)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_edges_are_added(hops: int) -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    judged = Judge(graph, hops=hops)
    upper = np.argwhere(np.triu(graph.training.toarray()))
    seen = set()
    for count in (0, 5, 15, len(upper)):
        some = np.zeros((TOTAL, TOTAL))
        some[tuple(upper[:count].T)] = 1
        some += some.T
        accuracy = judged.score(training=sp.csr_array(some))
        assert accuracy == judge(graph, hops=hops, training=sp.csr_array(some)) == expected(graph, hops, some)
        seen.add(accuracy)
    assert len(seen) > 1
    assert accuracy == judged.score()


def test_edges_and_nodes_together() -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    keep = np.arange(TOTAL) % 5 != 4
    some = graph.training.toarray()
    some[:5, :] = some[:, :5] = 0
    left = build(edges_of(0), np.flatnonzero(keep[:N_TRAIN]))
    assert Judge(graph).score(keep=keep, training=sp.csr_array(some)) == expected(left, 2, some * np.outer(keep, keep))


def test_a_given_head_replaces_the_recipe_of_the_graph() -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    other = replace(RECIPE, epochs=1)
    assert judge(graph, head=other) == expected(graph, 2, recipe=other) != judge(graph)


def test_choices_are_judged_on_the_validation_graph() -> None:
    graph = build(edges_of(0), np.arange(N_TRAIN))
    swapped = Graph(
        edges_of(0), graph.features, graph.labels, train=graph.train, val=graph.test, test=graph.val, name="toy"
    )
    keep = np.arange(TOTAL) != 3
    judged = Judge(graph, on="validation")
    assert judged.score() == Judge(swapped).score() == expected(swapped, 2) != Judge(graph).score()
    assert judged.score(keep=keep) == Judge(swapped).score(keep=keep)
    with pytest.raises(ValueError, match=r"on is 'val'.* test or validation"):
        Judge(graph, on="val")


def test_what_is_no_mask_is_refused() -> None:
    judged = Judge(build(edges_of(0), np.arange(N_TRAIN)))
    for keep in (np.ones(TOTAL, dtype=np.int64), np.ones(3, dtype=np.bool_)):
        with pytest.raises(ValueError, match="expected a mask"):
            judged.score(keep=keep)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="hops is 0"):
        Judge(judged.graph, hops=0)


def any_toy(kind: str) -> Graph:
    return any_graph(kind, 5, n=14, n_train=6, n_classes=3, n_val=20, probability=0.12).replace(name="toy")


def dense_accuracy(graph: Graph, training: Floats, labelled: npt.NDArray[np.int64], judged: Floats) -> float:
    rows = model_rows(graph, training, (0.0, 0.0, 1.0))[labelled]
    weights, bias = torch_loop(sp.csr_array(rows), graph.labels[labelled], graph.n_classes, RECIPE)
    predicted = np.round(judged @ weights + bias, 9).argmax(axis=1)
    return float(np.mean(predicted == graph.labels[graph.val]))


@ANY_KIND
@pytest.mark.parametrize("remaining", [False, True])
def test_dropping_nodes_and_edges_of_any_graph(kind: str, remaining: bool) -> None:
    graph, theta = any_toy(kind), (0.0, 0.0, 1.0)
    if remaining and graph.setting == "inductive":
        with pytest.raises(ValueError, match="remaining=True needs setting='transductive'"):
            Judge(graph, on="validation", remaining=True)
        return
    judge = Judge(graph, on="validation", remaining=remaining)
    whole, fixed = dense(graph), model_rows(graph, dense(graph, "validation"), theta)[graph.val]
    assert judge.score() == dense_accuracy(graph, whole, graph.train, fixed)
    moved = []
    for seed in range(4):
        keep = np.random.default_rng(seed).random(graph.n_nodes) < 0.6
        keep[graph.train[0]] = True
        labelled = graph.train[keep[graph.train]]
        silent = whole * keep  # dropped nodes send nothing; what they still receive changes scored rows only
        judged = model_rows(graph, silent, theta)[graph.val] if remaining else fixed
        expected = dense_accuracy(graph, whole * np.outer(keep, keep), labelled, judged)
        assert judge.score(keep=keep) == expected
        moved.append(np.abs(judged - fixed).max())
        edges = all_edges(graph)[: 5 * seed]
        some = np.zeros_like(whole)
        for source, target in edges.tolist():
            some[target, source] = whole[target, source]
            some[source, target] = some[source, target] if graph.directed else whole[source, target]
        judged = model_rows(graph, some, theta)[graph.val] if remaining else fixed
        curve = judged_curve(judge, all_edges(graph), points=len(all_edges(graph)) + 1)
        assert curve.accuracy[len(edges)] == dense_accuracy(graph, some, graph.train, judged)
    assert (min(moved) > 0.01) == remaining


def test_remaining_is_true_or_false() -> None:
    with pytest.raises(ValueError, match="remaining is 1, expected True or False"):
        Judge(any_toy("transductive"), remaining=1)  # type: ignore[arg-type]


def test_numbers_are_judged_by_ridge_and_r2() -> None:
    """Against the normal equations, with the parameters that leave-one-out errors choose."""
    plain = random_graph(5, n=24, n_train=10, n_val=20, n_features=4)
    graph = with_numbers(plain, 2)
    judged = Judge(graph, on="validation")
    assert isinstance(judged.head, Ridge)
    keep = np.ones(graph.n_nodes, dtype=np.bool_)
    keep[[0, 3, 12, 15]] = False
    whole = (dense_power(graph.training.toarray(), 2) @ graph.features.toarray())[graph.train]
    scale = np.mean(np.sum(whole**2, axis=1)) ** -0.5
    known = graph.train[keep[graph.train]]
    rows = (dense_power(graph.training.toarray() * np.outer(keep, keep), 2) @ graph.features.toarray())[known]
    z = validation_rows(graph, 2)
    assert judged.head.penalty is not None
    assert judged.head.bias is not None
    fitted = ridge_fit(rows, learnt(graph, known), z, judged.head.penalty, judged.head.bias, scale, np.ones(len(known)))
    assert judged.score(keep=keep) == pytest.approx(utility_of(graph, fitted, "r2"))
    assert judged.score(keep=np.isin(np.arange(graph.n_nodes), graph.train, invert=True)) == 0
    mse = Judge(graph, on="validation", metric="neg-mse", head=Ridge(2.0, 0.5))
    assert mse.head == Ridge(2.0, 0.5)
    with pytest.raises(ValueError, match=r"head is Softmax.*, expected a pcwinter.Ridge"):
        Judge(graph, on="validation", head=Softmax())
    with pytest.raises(ValueError, match="class_weight is 'balanced', but the graph has numeric targets"):
        judging_head(graph, "balanced")


def test_other_metrics_and_class_weights() -> None:
    graph = lopsided(random_graph(5, n=24, n_train=10, n_classes=3, n_val=20, n_features=4))
    for metric in ("balanced-accuracy", "roc-auc", "average-precision", "f1:1", "macro-f1"):
        head = judging_head(graph, "balanced")
        assert isinstance(head, Softmax)
        judged = Judge(graph, on="validation", metric=metric, head=head)
        rows = sp.csr_array((dense_power(graph.training.toarray(), 2) @ graph.features.toarray())[graph.train])
        weights, bias = torch_loop(rows, graph.labels[graph.train], 3, head, balanced(graph, graph.train))
        wanted = utility_of(graph, validation_rows(graph, 2) @ weights + bias, metric)
        assert judged.score() == pytest.approx(wanted, abs=1e-9)
    assert judging_head(graph, None) is None


def test_the_old_name_of_score_still_works() -> None:
    judged = Judge(random_graph(1), on="validation")
    with pytest.warns(DeprecationWarning, match=r"Judge\.accuracy is now called Judge\.score"):
        assert judged.accuracy() == judged.score()


def test_blocks_side_by_side_are_judged() -> None:
    graph = random_graph(5, n=24, n_train=10, n_classes=3, n_val=20, n_features=4)
    judged = Judge(graph, on="validation", filter="hops", head=RECIPE)
    keep = np.ones(graph.n_nodes, dtype=np.bool_)
    keep[[0, 3, 12, 15]] = False
    step = row_normalised(graph.training.toarray() * np.outer(keep, keep))
    blocks = [np.linalg.matrix_power(step, k) @ graph.features.toarray() for k in range(3)]
    known = graph.train[keep[graph.train]]
    rows = np.hstack([block * by for block, by in zip(blocks, block_scales(graph, 2), strict=True)])[known]
    weights, bias = torch_loop(sp.csr_array(rows), graph.labels[known], 3, RECIPE)
    scores = model_blocks(graph, 2, "validation")[graph.val] @ weights + bias
    assert judged.score(keep=keep) == np.mean(np.round(scores, 9).argmax(axis=1) == graph.labels[graph.val])
