"""Curves of dropping and adding, with known answers."""

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.baselines.ranking import Ranking
from pcwinter.experiments.curves import Curve, addable, droppable, judged, steps
from pcwinter.experiments.judge import Judge


def ranking(items: list[int] | list[tuple[int, int]]) -> Ranking:
    """Best first, as listed."""
    value = np.arange(len(items), 0.0, -1)
    return Ranking("mine", np.array(items), value, np.full(len(items), np.nan))


def drop_nodes(judge: Judge, some: Ranking, which: str = "unlabelled") -> Curve:
    return judged(judge, droppable(judge.graph, some, which, 0))


def test_dropping_what_helps_harms(graph: pw.Graph) -> None:
    judge = Judge(graph)
    curve = drop_nodes(judge, ranking([2, 3, 4, 5, 6, 7, 0, 1]))
    assert curve.count.tolist() == [0, 1, 2, 3, 4, 5, 6]  # labelled nodes stay
    assert curve.accuracy[0] == 1.0
    assert curve.accuracy[-1] == 0.0  # the labelled nodes alone mislead
    assert (np.diff(curve.accuracy) <= 0).all()


def test_dropping_labelled_nodes_leaves_no_model(graph: pw.Graph) -> None:
    curve = drop_nodes(Judge(graph), ranking([2, 0, 1]), which="labelled")
    assert curve.count.tolist() == [0, 1, 2]
    assert curve.accuracy.tolist() == [1.0, 0.5, 0.5]  # one class is named everywhere
    mixed = drop_nodes(Judge(graph), ranking([2, 0, 1]), which="mixed")
    assert mixed.count.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"which is 'all'.* unlabelled, labelled or mixed"):
        drop_nodes(Judge(graph), ranking([2]), which="all")


def test_adding_what_helps_helps(graph: pw.Graph) -> None:
    curve = judged(Judge(graph), addable(graph, ranking([(0, 2), (1, 5)]), 0))
    assert curve.count.tolist() == [0, 1, 2, 3, 4, 5, 6]  # the others have the value 0
    assert curve.accuracy[0] == 0.0
    assert curve.accuracy[2] == curve.accuracy[-1] == 1.0


def test_a_curve_is_the_same_from_two_workers(graph: pw.Graph) -> None:
    heard: list[tuple[int, int]] = []

    def hear(done: int, of: int) -> None:
        heard.append((done, of))

    for order in (np.arange(2, 8), np.array([(0, 2), (1, 5), (0, 3)])):
        here, there = judged(Judge(graph), order), judged(Judge(graph), order, workers=2, progress=hear)
        np.testing.assert_array_equal(here.accuracy, there.accuracy)
    assert heard == [(4, 7), (7, 7), (4, 4)]


def test_edges_that_are_not_ranked_stand_between_good_and_bad(graph: pw.Graph) -> None:
    mixed = Ranking("mine", np.array([(0, 2), (1, 5)]), np.array([-1.0, 1.0]), np.full(2, np.nan))
    order = [tuple(edge) for edge in addable(graph, mixed, 0).tolist()]
    assert (order[0], order[-1]) == ((1, 5), (0, 2))
    assert sorted(order) == [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (1, 7)]
    assert any(order != [tuple(edge) for edge in addable(graph, mixed, seed).tolist()] for seed in range(1, 5))
    with pytest.raises(ValueError, match=r"mine ranks edges .*not in"):
        addable(graph, ranking([(0, 2), (0, 5)]), 0)
    apart = pw.Graph([(0, 9)], graph.features, graph.labels, [0, 1], [9, 10], [11])
    with pytest.raises(ValueError, match="no edges"):
        addable(apart, ranking([]), 0)


def test_a_curve_sums_itself_up() -> None:
    curve = Curve(np.arange(11), np.array([0.9, 0.8, 0.7, *[0.5] * 7, 0.6]))
    assert curve.mean == pytest.approx((0.9 + 0.8 + 0.7 + 3.5 + 0.6) / 11)
    assert curve.early == pytest.approx(0.8)
    assert curve.rebound == pytest.approx(0.1)
    assert [curve.at(share) for share in (0, 0.05, 0.1, 1)] == pytest.approx([0.9, 0.85, 0.8, 0.6])
    assert curve.reach == 0.0
    assert Curve(np.array([0, 2, 8, 10]), np.array([0.1, 0.4, 0.7, 0.6])).reach == pytest.approx(0.8)
    assert steps(444).tolist()[:3] == [0, 4, 9]
    assert len(steps(444)) == 101
    assert steps(3).tolist() == [0, 1, 2, 3]
