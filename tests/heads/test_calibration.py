"""Calibration: the ridge head imitates the softmax head."""

import pytest

import pcwinter as pw
from oracles import random_graph

quiet = pytest.mark.filterwarnings("ignore:the (edges|model)")


@quiet
def test_calibration_chooses_what_is_left_open() -> None:
    graph = random_graph(2, n_val=40)
    free = pw.value(graph, permutations=1).calibration
    assert isinstance(free, pw.Calibration)
    assert 0.01 <= free.temperature < 1  # ridge scores are flatter than the logits of a trained softmax
    assert 0.5 < free.agreement <= 1
    half = pw.value(graph, head=pw.Ridge(penalty=0.123), permutations=1).calibration
    assert half is not None
    assert half.penalty == 0.123
    assert pw.value(graph, head=pw.Ridge(penalty=1, bias=1), permutations=1).calibration is None
    warm = pw.value(graph, head=pw.Ridge(penalty=1, bias=1), metric="probability", permutations=1).calibration
    assert warm is not None
    assert (warm.penalty, warm.bias) == (1, 1)
    assert pw.value(graph, permutations=1, seed=9).calibration == free  # it belongs to the data, not to the run
