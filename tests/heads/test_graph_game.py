"""Head and metric by name -> a game: parameters that are missing are filled in, all others are kept."""

import pytest

from oracles import random_graph
from pcwinter.game.metrics import METRICS
from pcwinter.game.tree import contribution_tree
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.graph_game import check_head, describe, graph_game
from pcwinter.heads.ridge.head import Ridge, RidgeWalker
from pcwinter.heads.softmax import Softmax, SoftmaxWalker

GRAPH = random_graph(2, n_val=20)
TREE = contribution_tree(GRAPH, 1)


def test_the_softmax_head_is_calibrated_or_has_the_parameters_given() -> None:
    given = Softmax(0.3, 7, 0.0)
    game, title, calibration = graph_game(GRAPH, TREE, given)
    assert isinstance(game.walker, SoftmaxWalker)
    assert (title, calibration) == (describe(given), None)
    game, title, calibration = graph_game(GRAPH, TREE, "softmax")
    assert calibration is not None
    assert isinstance(game.walker, SoftmaxWalker)
    assert game.walker.head == calibration.head
    assert title == describe(calibration.head)


def test_an_earlier_calibration_is_used_again() -> None:
    earlier = Calibration(Ridge(0.123, 0.5))
    game, _, calibration = graph_game(GRAPH, TREE, "ridge", calibration=earlier)
    assert calibration is earlier
    assert isinstance(game.walker, RidgeWalker)
    assert game.walker.penalty == 0.123


@pytest.mark.parametrize("metric", METRICS)
def test_what_a_ridge_head_lacks_is_calibrated(metric: str) -> None:
    given = Ridge(penalty=0.25, bias=2.0)
    game, title, calibration = graph_game(GRAPH, TREE, given, metric)
    assert isinstance(game.walker, RidgeWalker)
    assert "penalty 0.25, bias 2" in title
    assert game.metric is METRICS[metric]
    assert (calibration is not None) == ("temperature" in title) == METRICS[metric].tempered
    if calibration is not None:
        assert isinstance(calibration.head, Ridge)
        assert (calibration.head.penalty, calibration.head.bias) == (0.25, 2.0)
    complete = Ridge(penalty=0.25, bias=2.0, temperature=0.5)
    assert graph_game(GRAPH, TREE, complete, metric)[2] is None


def test_descriptions_hold_the_parameters() -> None:
    assert all(word in describe(Softmax(0.3, 7, 0.01)) for word in ("0.3", "7", "0.01"))
    assert all(word in describe(Ridge(0.3, 7)) for word in ("0.3", "7"))


@pytest.mark.parametrize("head", ["mlp", "Ridge", None, Ridge, 1.0, ["ridge"]])
def test_heads_that_are_refused(head: object) -> None:
    with pytest.raises(ValueError, match="ridge, softmax") as caught:
        check_head(head)
    assert repr(head) in str(caught.value)
