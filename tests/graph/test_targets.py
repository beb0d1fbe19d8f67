"""Numeric targets of a graph: what is accepted, what is refused, and what follows for the graph."""

from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.graph.splits import choice_split, fresh_split
from pcwinter.graph.targets import check_targets

EDGES, FEATURES = [(0, 1), (1, 2), (2, 3), (3, 4)], np.arange(10.0).reshape(5, 2)


def build(targets: Any = (1.5, np.nan, 3, -2, 0), **options: Any) -> pw.Graph:
    given: dict[str, Any] = {"train": [0, 2], "val": [3], "test": [4]} | options
    return pw.Graph(EDGES, FEATURES, targets=targets, **given)


def test_targets_are_columns_and_unknown_where_one_is_missing() -> None:
    graph = build([[1, 2], [3, np.nan], [5, 6], [7, 8], [9, 10]])
    assert graph.regression
    np.testing.assert_array_equal(graph.targets[1], [np.nan, np.nan])
    assert graph.labels.tolist() == [0, -1, 0, 0, 0]
    assert graph.classes == ("known",)
    assert not graph.targets.flags.writeable
    assert repr(graph).startswith("Graph: 5 nodes, 4 edges, regression on 2 targets, 2 features\n")
    assert repr(build()).startswith("Graph: 5 nodes, 4 edges, regression on 1 target, 2 features\n")
    plain = pw.Graph(EDGES, FEATURES, [0, -1, 0, 0, 0], [0, 2], [3])
    assert not plain.regression
    assert plain.targets.shape == (5, 0)


def test_the_users_array_is_copied() -> None:
    mine = np.array([1.0, np.nan, 3, -2, 0])
    graph = build(mine)
    mine[0] = 100
    assert graph.targets[0] == 1


@pytest.mark.parametrize(
    ("targets", "options", "kind", "sentence"),
    [
        ([1.0, 2.0], {}, ValueError, r"targets has shape \(2,\), but must be \(5,\) or \(5, k\)"),
        (np.ones((5, 2, 2)), {}, ValueError, r"targets has shape \(5, 2, 2\)"),
        (np.ones((5, 0)), {}, ValueError, r"targets has shape \(5, 0\)"),
        (
            list("abcde"),
            {},
            TypeError,
            "targets has entries of type <U1, but must hold numbers: pass classes as labels",
        ),
        (
            [1, 2, 3, np.inf, 5],
            {},
            ValueError,
            r"node 3 has the target inf, but targets must be numbers of at most 1e\+100",
        ),
        ([1, 2, 3, -1e200, 5], {}, ValueError, r"node 3 has the target -1e\+200"),
        ([np.nan, 1, 2, 3, 4], {}, ValueError, "train holds 1 node without a target, such as node 0: give them one"),
        ([1, 1, 2, np.nan, 4], {}, ValueError, "val holds 1 node without a target, such as node 3"),
        (
            [1, 2, 3, 4, 5],
            {"labels": [0] * 5},
            ValueError,
            "both labels and targets are given: pass labels for classes",
        ),
        (None, {}, ValueError, "neither labels nor targets are given"),
        ([1, 2, 3, 4, 5], {"n_classes": 2}, ValueError, "targets are numbers and have no classes"),
        ([1, 2, 3, 4, 5], {"classes": ["a"]}, ValueError, "targets are numbers and have no classes"),
        (
            [1, 2, 3, 4, 5],
            {"val": []},
            ValueError,
            r"val is empty.* draw train, val and test with pcwinter.random_split",
        ),
        ([1, 2, 3, 4, 5], {"train": []}, ValueError, "train is empty"),
    ],
)
def test_wrong_targets_are_refused(targets: Any, options: dict[str, Any], kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        build(targets, **options)


def test_fractions_as_labels_are_sent_to_targets() -> None:
    with pytest.raises(ValueError, match=r"label 0\.5, .* pass numbers to predict as targets"):
        pw.Graph(EDGES, FEATURES, [0.5, 1, 0, 1, 0], [0, 1], [2])


def test_check_targets_takes_integers() -> None:
    assert check_targets([1, 2, 3], 3).dtype == np.float64


def test_new_splits_keep_the_targets() -> None:
    rng = np.random.default_rng(0)
    edges, x, y = rng.integers(0, 40, (60, 2)), rng.random((40, 3)), rng.random(40)
    y[:5] = np.nan
    with pytest.warns(UserWarning, match="dropped"):
        graph = pw.Graph(edges, x, targets=y, train=range(5, 10), val=range(10, 15), test=range(15, 20))
    fresh = fresh_split(graph, 3)
    assert (len(fresh.train), len(fresh.val), len(fresh.test)) == (5, 5, 5)
    assert fresh.train.min() >= 5
    np.testing.assert_array_equal(fresh.targets, graph.targets)
    choosing, confirming = choice_split(graph, 3)
    assert choosing.train.tolist() == confirming.train.tolist()
    assert choosing.regression
