"""Every public function, class and method documents all its arguments, and refuses wrong ones in one sentence."""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pcwinter as pw
from oracles import random_graph

# Their docstrings say that the other arguments are those of `value`.
AS_VALUE = (pw.run, pw.exact_value)


def _public() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Name, function and docstring of everything that a user may call."""
    for module in (pw, pw.baselines, pw.experiments, pw.stopping):
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, ModuleType) or not callable(thing):
                continue
            title = f"{module.__name__}.{name}"
            if inspect.isclass(thing):
                if Path(inspect.getfile(thing)) == Path(thing.__init__.__code__.co_filename):  # not of a dataclass
                    yield title, thing.__init__, inspect.getdoc(thing) or ""
                for part, method in vars(thing).items():
                    if inspect.isfunction(method) and not part.startswith("_"):
                        seam = inspect.getdoc(getattr(pw.Game, part, None)) or ""  # what every game does
                        yield f"{title}.{part}", method, (inspect.getdoc(method) or "") + seam
            else:
                more = inspect.getdoc(pw.value) or "" if thing in AS_VALUE else ""
                yield title, thing, (inspect.getdoc(thing) or "") + more


PUBLIC = {name: (function, text) for name, function, text in _public()}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_documented(name: str) -> None:
    function, text = PUBLIC[name]
    parameters = set(inspect.signature(function).parameters) - {"self"}
    assert {parameter for parameter in parameters if not re.search(rf"\b{parameter}\b", text)} == set()


def test_the_rules_are_the_public_names_of_stopping() -> None:
    found = {name: getattr(pw.stopping, name) for name in pw.stopping.__all__}
    assert {inspect.signature(rule).return_annotation for rule in found.values()} == {pw.Rule}


GAME, DRAW, STOP = pw.SetGame(2, lambda players: float(len(players))), lambda rng: rng, pw.stopping.permutations(1)
GRAPH, RIDGE = random_graph(1), pw.Ridge(1.0, 1.0)
NUMBER: Any = 3
WORD: Any = "x"
YES: Any = True


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (lambda: pw.write(NUMBER, "x"), "values is 3"),
        (lambda: pw.contribution_tree(NUMBER), "graph is 3"),
        (lambda: pw.sampler(NUMBER), "tree is 3"),
        (lambda: pw.judge(WORD), "graph is 'x'"),
        (lambda: pw.judge(GRAPH, head=WORD), "head is 'x'"),
        (lambda: STOP | NUMBER, "combined with 3"),
        (lambda: STOP & NUMBER, "combined with 3"),
        (lambda: pw.estimate(NUMBER, DRAW, STOP), "game is 3"),
        (lambda: pw.exact(NUMBER, []), "game is 3"),
        (lambda: pw.estimate(GAME, NUMBER, STOP), "draw is 3"),
        (lambda: pw.estimate(GAME, DRAW, NUMBER), "stop is 3"),
        (lambda: pw.estimate(GAME, DRAW, STOP, watch="own"), "watch is 'own'"),
        (lambda: pw.estimate(GAME, DRAW, STOP, seed=-1), "seed is -1"),
        (lambda: pw.estimate(GAME, DRAW, STOP, progress=YES), "progress is True"),
        (lambda: pw.value(GRAPH, progress=YES), "progress is True"),
        (lambda: pw.baselines.data_shapley(GRAPH, RIDGE, seed=-1), "seed is -1"),
        (lambda: pw.baselines.data_shapley(GRAPH, RIDGE, progress=YES), "progress is True"),
        (lambda: pw.baselines.beta_shapley(GRAPH, RIDGE, NUMBER), "stop is 3"),
        (lambda: pw.baselines.data_banzhaf(GRAPH, RIDGE, seed=-1), "seed is -1"),
        (lambda: pw.baselines.leave_one_out_nodes(GRAPH, RIDGE, progress=YES), "progress is True"),
        (lambda: pw.baselines.leave_one_out_edges(WORD, RIDGE), "graph is 'x'"),
        (lambda: pw.baselines.influence_nodes(GRAPH, penalty=0), "penalty is 0"),
        (lambda: pw.baselines.influence_edges(WORD), "graph is 'x'"),
        (lambda: pw.baselines.random_nodes(GRAPH, seed=-1), "seed is -1"),
        (lambda: pw.baselines.degree(WORD), "graph is 'x'"),
        (lambda: pw.baselines.knn_shapley(WORD), "graph is 'x'"),
        (lambda: pw.experiments.judge_file("zz.csv", WORD, "demo"), "graph is 'x'"),
        (lambda: pw.experiments.open_study("demo", "x", on="val"), "on is 'val'"),
        (lambda: pw.experiments.open_study("demo", "x", head="rigde"), "did you mean ridge"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(call: Callable[[], object], fact: str) -> None:
    with pytest.raises((TypeError, ValueError), match=fact):
        call()


def test_a_file_that_is_missing_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"zz\.csv"):
        pw.experiments.judge_file("zz.csv", GRAPH, "demo")
