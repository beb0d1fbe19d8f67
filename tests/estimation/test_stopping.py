"""Stopping rules: each on its own, composed, and inside a run."""

import numpy as np
import pytest

from oracles import make_graph
from pcwinter import stopping
from pcwinter.estimation.estimator import Estimate, estimate
from pcwinter.estimation.stopping import Progress, Rule
from pcwinter.game.orders import sampler
from pcwinter.game.protocol import SetGame
from pcwinter.game.tree import contribution_tree


def progress(**changes: object) -> Progress:
    known: dict[str, object] = {
        "orders": 40,
        "seconds": 3.0,
        "evaluations": 100,
        "values": np.array([1.0, -1.0, 0.0]),
        "stderr": np.array([0.1, 0.2, 0.0]),
        "earlier": np.array([1.1, -1.0, 0.0]),
        "halves": (np.array([3.0, 1.0, 2.0]), np.array([30.0, 1.0, 2.0])),
    }
    return Progress(**{**known, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        (stopping.permutations(40), True),
        (stopping.permutations(41), False),
        (stopping.at_most(40), True),
        (stopping.seconds(3), True),
        (stopping.seconds(3.1), False),
        (stopping.converged(0.051), True),
        (stopping.converged(0.05), False),
        (stopping.converged(0.034, literal=True), True),
        (stopping.converged(0.033, literal=True), False),
        (stopping.largest_stderr(0.2), True),
        (stopping.largest_stderr(0.19), False),
        (stopping.rank_stability(1.0), True),
    ],
)
def test_each_rule(rule: Rule, met: bool) -> None:
    sentence = rule.check(progress())
    assert (sentence is not None) == met
    if sentence:
        assert sentence[0].isupper()
        assert sentence.endswith(".")


def test_an_unknown_error_is_not_small() -> None:
    unknown = progress(stderr=np.array([0.1, np.nan, 0.0]))
    assert stopping.largest_stderr(1.0).check(unknown) is None
    assert stopping.converged(0.051).check(unknown)
    assert stopping.rank_stability(1.0).check(unknown)


def test_convergence_of_zeros() -> None:
    nothing, something = np.zeros(3), np.array([0.0, 0.1, 0.0])
    for literal in (False, True):
        rule = stopping.converged(literal=literal)
        assert rule.check(progress(values=nothing, earlier=nothing))
        assert not rule.check(progress(values=nothing, earlier=something))
        assert not rule.check(progress(earlier=None))


def test_the_literal_rule_is_never_met_while_a_value_passes_through_zero() -> None:
    p = progress(values=np.array([1e6, 0.0]), earlier=np.array([1e6, 1e-9]))
    assert stopping.converged(0.05).check(p)
    assert not stopping.converged(0.05, literal=True).check(p)


def test_ranks_of_constant_halves_say_nothing() -> None:
    flat = np.zeros(3)
    assert not stopping.rank_stability(0.1).check(progress(halves=(flat, flat)))
    assert not stopping.rank_stability(0.9).check(progress(halves=(np.arange(3.0), -np.arange(3.0))))


def test_composition() -> None:
    yes, no = stopping.permutations(1), stopping.permutations(100)
    p = progress()
    assert (yes | no).check(p)
    assert not (yes & no).check(p)
    assert (yes & stopping.seconds(1)).check(p) == f"{yes.check(p)} {stopping.seconds(1).check(p)}"
    assert (yes | no).limit == 1
    assert (yes & no).limit == 100
    assert (yes & stopping.seconds(1)).limit is None
    assert (yes | stopping.seconds(1)).limit == 1


def test_time_includes_preparation() -> None:
    assert not stopping.seconds(5).check(progress())
    assert stopping.seconds(5).check(progress(setup=2.0))


def test_a_block_ends_early_only_if_the_run_is_sure_to_stop() -> None:
    time, few = stopping.seconds(5), stopping.permutations(100)
    assert [time.late(seconds, 0) for seconds in (4.9, 5.0)] == [False, True]
    assert (time | few).late(5.0, 0)
    assert not (time & few).late(5.0, 90)
    assert (time & few).late(5.0, 100)
    for rule in (
        stopping.converged(),
        stopping.evaluations(1),
        stopping.largest_stderr(1.0),
        Rule(lambda p: "Enough."),
    ):
        assert not rule.late(1e9, 10**9)
        assert not (rule & time).late(1e9, 10**9)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: stopping.permutations(0), "permutations is 0, expected a whole number of at least 1"),
        (lambda: stopping.permutations(2.5), "expected a whole number"),  # type: ignore[arg-type]
        (lambda: stopping.at_most(-3), "max_permutations is -3"),
        (lambda: stopping.seconds(0), "seconds is 0, expected a positive number"),
        (lambda: stopping.converged(0), "tolerance is 0"),
        (lambda: stopping.largest_stderr(-1), "expected a positive number"),
        (lambda: stopping.rank_stability(1.5), "at most 1"),
    ],
)
def test_bad_rules_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()  # type: ignore[operator]


def run(rule: Rule) -> Estimate:
    tree = contribution_tree(make_graph([(0, 2), (2, 3)], [0, 1]), 2)
    weights = np.arange(tree.n_players)
    game = SetGame(tree.n_players, lambda s: float(np.sqrt(weights @ s)))
    return estimate(game, sampler(tree), rule, seed=1)


@pytest.mark.parametrize("n", [1, 9, 10, 33])
def test_a_run_draws_exactly_what_was_asked_for(n: int) -> None:
    assert run(stopping.permutations(n)).tally.orders == n


def test_a_run_ends_by_convergence_and_says_so() -> None:
    result = run(stopping.converged(0.05) | stopping.at_most(2_000))
    assert 30 <= result.tally.orders < 2_000
    assert result.status.startswith(f"Converged after {result.tally.orders} orders")
    assert result.change[-1] < 0.05
    assert (result.change[:-1] >= 0.05).all()


def test_a_run_that_does_not_converge_says_so() -> None:
    result = run(stopping.converged(1e-9) | stopping.at_most(45))
    assert result.tally.orders == 45
    assert "45 orders was reached" in result.status


def test_a_run_ends_by_ranks_and_by_standard_error() -> None:
    assert "Spearman" in run(stopping.rank_stability(0.9) | stopping.at_most(2_000)).status
    result = run(stopping.largest_stderr(0.05) | stopping.at_most(2_000))
    assert "largest standard error" in result.status
    assert result.stderr().max() <= 0.05


def test_a_run_ends_by_time() -> None:
    assert "time limit" in run(stopping.seconds(1e-6)).status
