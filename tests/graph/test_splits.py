"""Random splits: their sizes, their seed, and what cannot be drawn."""

import numpy as np
import pytest

import pcwinter as pw
from any_graph import any_graph
from pcwinter.graph.splits import choice_split, fresh_split, random_split


def test_a_random_split_has_the_shape_asked_for() -> None:
    labels = np.random.default_rng(0).integers(-1, 4, 300)
    train, val, test = random_split(labels, per_class=5, val=30, test=40, seed=7)
    assert np.bincount(labels[train]).tolist() == [5] * 4
    assert (val.size, test.size) == (30, 40)
    together = np.concatenate([train, val, test])
    assert np.unique(together).size == together.size
    assert (labels[together] >= 0).all()
    for nodes in (train, val, test):
        assert (np.diff(nodes) > 0).all()


def test_a_random_split_is_a_function_of_its_seed() -> None:
    labels = np.arange(200) % 3
    first, same, other = (random_split(labels, per_class=4, val=20, test=20, seed=s) for s in (1, 1, 2))
    for a, b in zip(first, same, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_every_labelled_node_is_as_likely_in_a_random_split() -> None:
    labels = np.arange(30) % 2
    splits = [random_split(labels, per_class=3, val=10, test=14, seed=seed) for seed in range(600)]
    for nodes, share in zip(zip(*splits, strict=True), (6 / 30, 10 / 30, 14 / 30), strict=True):
        counts = np.bincount(np.concatenate(nodes), minlength=30)
        assert abs(counts - 600 * share).max() < 4 * (600 * share * (1 - share)) ** 0.5


@pytest.mark.parametrize(
    ("labels", "size", "sentence"),
    [
        ([0, 0, 1], 2, "class 1 has 1 labelled nodes, but per_class is 2"),
        ([0, 0, 2, 2], 2, "class 1 has 0 labelled nodes"),
        ([0, 1, 0, 1, -1], 1, r"val \+ test is 3, .* only 2"),
    ],
)
def test_a_split_that_cannot_be_drawn(labels: list[int], size: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        random_split(labels, per_class=size, val=2, test=1, seed=0)


def test_a_choice_part_shares_nothing_with_the_other_parts_or_the_public_test_nodes() -> None:
    graph = pw.load("demo")
    choosing, confirming = choice_split(graph, seed=3)
    parts = [choosing.train, choosing.val, choosing.test, confirming.test]
    assert [len(part) for part in parts] == [140, 500, 500, 1000]
    assert np.unique(np.concatenate(parts)).size == 2140
    assert not np.isin(choosing.test, graph.test).any()
    assert np.isin(confirming.test, graph.test).any()  # only the choice part keeps away from them
    assert np.bincount(graph.labels[choosing.train]).tolist() == [20] * 7
    for part in ("train", "val"):
        np.testing.assert_array_equal(getattr(choosing, part), getattr(confirming, part))
    assert abs(choosing.training - confirming.training).nnz == 0
    assert abs(choosing.validation - confirming.validation).nnz == 0
    inside = graph.adjacency[choosing.test][:, choosing.test]
    assert choosing.testing.nnz == inside.nnz > 0
    assert choosing.training[confirming.test].nnz == choosing.training[choosing.test].nnz == 0


def test_a_choice_part_is_a_function_of_its_seed() -> None:
    graph = pw.load("demo")
    first, same, other = (choice_split(graph, seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.test, same.test)
    np.testing.assert_array_equal(first.train, same.train)
    assert not np.array_equal(first.test, other.test)


def test_a_new_split_needs_labels() -> None:
    few = pw.Graph([(0, 4)], np.ones((6, 1)), [0, 1, 0, 1, -1, -1], [0, 1], [2], [3])
    assert fresh_split(few, 0).test.size == 1
    with pytest.raises(ValueError, match=r"needs 4 labelled nodes, 1 or more of every class, but there are 3, "):
        choice_split(few, 0)  # the choice node is one of the four
    rare = pw.Graph([(0, 4)], np.ones((6, 1)), [0, 0, 0, 1, 0, 0], [0, 1, 2, 3], [4])
    with pytest.raises(ValueError, match=r"2 or more .* 1 of class 1: give more nodes a label, or make val and test"):
        fresh_split(rare, 0)
    lost = pw.Graph([(0, 4)], np.ones((6, 1)), [0, 0, 0, 1, 0, 0], [0, 3], [4])
    with pytest.raises(ValueError, match="0 of class 1"):  # it is the choice node of some split
        [choice_split(lost, seed) for seed in range(30)]


@pytest.mark.parametrize("kind", ["directed weighted", "loops", "row", "transductive", "plain transductive"])
def test_new_splits_keep_weights_direction_and_setting(kind: str) -> None:
    graph = any_graph(kind, n=12, n_train=6, n_val=16, n_classes=2, n_features=3)
    labels = np.where(graph.labels < 0, 0, graph.labels)
    graph = graph.replace(labels=labels, ids=[f"n{k}" for k in range(graph.n_nodes)])
    fresh = fresh_split(graph, 3)
    choosing, confirming = choice_split(graph.replace(test=graph.test[:2], val=graph.val[:3]), 3)
    for other in (fresh, choosing, confirming):
        assert other.settings == graph.settings
        assert other.ids.tolist() == graph.ids.tolist()
        assert len(other.train) == len(graph.train)
    assert (abs(fresh.adjacency - graph.adjacency)).nnz == 0
    if graph.setting == "transductive":
        assert choosing.n_edges == confirming.n_edges == graph.n_edges
    else:
        assert not np.isin(confirming.test, np.concatenate(choosing.adjacency.nonzero())).any()
    np.testing.assert_array_equal(choosing.training.toarray(), confirming.training.toarray())
