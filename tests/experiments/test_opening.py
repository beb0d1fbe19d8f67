"""A study is refused before any work if its metric, head or weights do not fit the graph."""

from pathlib import Path
from typing import Any

import pytest

from metric_oracle import with_numbers
from oracles import random_graph
from pcwinter.experiments.opening import open_study


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metric": "auc"}, "metric is 'auc', expected accuracy, .*did you mean roc-auc"),
        ({"metric": "r2"}, "metric is 'r2', but the graph has classes"),
        ({"metric": "f1:7"}, "metric is 'f1:7', but the classes of the graph are 0, 1"),
        ({"class_weight": "x"}, "class_weight is 'x', expected balanced"),
    ],
)
def test_what_does_not_fit_classes_is_refused(options: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        open_study("mine", tmp_path, graph=random_graph(1), **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"head": "softmax"}, "the softmax head needs classes"),
        ({"metric": "roc-auc"}, "metric is 'roc-auc', but the graph has numeric targets"),
        ({"class_weight": "balanced"}, "class_weight is 'balanced', but the graph has numeric targets"),
    ],
)
def test_what_does_not_fit_numbers_is_refused(options: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        open_study("mine", tmp_path, graph=with_numbers(random_graph(1)), **options)


def test_the_metric_and_the_weights_are_in_names(tmp_path: Path) -> None:
    study = open_study(
        "mine", tmp_path, graph=random_graph(1), metric="roc-auc", class_weight="balanced", on="validation"
    )
    assert study.title("drop-nodes") == "mine drop-nodes roc-auc balanced on validation"
    assert study.judges["validation"].metric.name == "roc-auc"
