"""A run that is cut anywhere and goes on comes to the same bits; a damaged checkpoint is never believed."""

from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from oracles import random_graph
from pcwinter.estimation import estimator
from pcwinter.estimation.estimator import Checkpoint, Sample
from pcwinter.estimation.moments import Tally
from pcwinter.estimation.stopping import at_most, converged, permutations, rank_stability
from pcwinter.game.tree import LEVELS
from pcwinter.runs.checkpoints import NAMES, Checkpoints, pack, unpack
from pcwinter.runs.directory import RESULTS, CheckpointWarning
from pcwinter.valuation import prepare

pytestmark = pytest.mark.filterwarnings("ignore:the edges harm the model")
HEAD = pw.Ridge(penalty=0.3, bias=1.0, temperature=0.5)


def play(
    begin: Checkpoint | None, rule: pw.Rule, *, metric: str = "accuracy", bootstrap: int = 0, workers: int = 1
) -> tuple[pw.Values, list[Checkpoint]]:
    """The values of a run from a checkpoint on, and every checkpoint on its way."""
    kept: list[Checkpoint] = []
    valuation = prepare(random_graph(3), pw.Request(head=HEAD, metric=metric, bootstrap=bootstrap))
    with closing(valuation.states(rule, workers, begin)) as found:
        for state in found:
            kept.append(unpack(pack(state.checkpoint, "it"), "it"))
            if status := rule.check(valuation.sample.progress(state)):
                return valuation.values(state, status, rule), kept
    raise AssertionError


def states(rule: pw.Rule, metric: str = "accuracy", **options: int) -> tuple[pw.Values, list[Checkpoint]]:
    return play(None, rule, metric=metric, **options)


def same(a: pw.Values, b: pw.Values) -> None:
    assert a.status == b.status
    done, other = a.estimate.tally, b.estimate.tally
    assert (done.visited, done.evaluations, done.baselines) == (other.visited, other.evaluations, other.baselines)
    for level in ("player", *LEVELS):
        np.testing.assert_array_equal(a.estimate.mean(level), b.estimate.mean(level))
        np.testing.assert_array_equal(a.estimate.stderr(level), b.estimate.stderr(level))
    np.testing.assert_array_equal(a.estimate.change, b.estimate.change)
    for level, spread in a.validation_stderr.items():
        np.testing.assert_array_equal(spread, b.validation_stderr[level])


def test_a_run_with_other_sums_is_refused(tmp_path: Path) -> None:
    pw.run(random_graph(3), tmp_path, head=HEAD, permutations=20)
    for path in (tmp_path / name for name in NAMES):
        with np.load(path) as archive:
            about = str(archive["about"])
        state = unpack(path.read_bytes(), about).state
        assert state is not None
        fewer = {name: state.total.levels[name] for name in ("player", "own")}
        path.write_bytes(pack(replace(state, total=replace(state.total, levels=fewer)).checkpoint, about))
    with pytest.raises(ValueError, match="holds a run of another version"):
        pw.run(random_graph(3), tmp_path, head=HEAD, permutations=30, resume=True)


def without_errors(tally: Tally) -> Tally:
    """The tally as versions up to 0.2.0 stored it."""
    levels = {name: replace(moments, visits=None) for name, moments in tally.levels.items()}
    return replace(tally, levels=levels, squares={})


@pytest.mark.parametrize("stop", [7, 20, 25])
@pytest.mark.parametrize("options", [{"bootstrap": 5}, {"truncation": (0.5, 0.5), "remainder": "nobody"}], ids=str)
def test_an_old_run_ends_with_the_same_bits(options: dict[str, Any], stop: int, tmp_path: Path) -> None:
    """Checkpoints up to 0.2.0 lack visits, which are counted again; without sums of a bootstrap, a run starts over."""
    pw.run(random_graph(3), tmp_path / "old", head=HEAD, permutations=stop, **options)
    for path in tmp_path.glob("old/checkpoint*"):
        with np.load(path) as archive:
            about = str(archive["about"])
        found = unpack(path.read_bytes(), about)
        state = found.state and replace(found.state, total=without_errors(found.state.total))
        part = found.part and without_errors(found.part)
        path.write_bytes(pack(replace(found, state=state, part=part), about))
    orders: list[int] = []
    again = r"lack sums of the bootstrap\. .* continues from the beginning"
    with pytest.warns(CheckpointWarning, match=again) if "bootstrap" in options else nullcontext():
        old: dict[str, Any] = {**options, "progress": lambda now: orders.append(now.orders)}
        pw.run(random_graph(3), tmp_path / "old", head=HEAD, permutations=30, resume=True, **old)
    assert orders[0] == (10 if "bootstrap" in options else stop)
    pw.run(random_graph(3), tmp_path / "new", head=HEAD, permutations=30, **options)
    for name in RESULTS:
        assert (tmp_path / "old" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()
    has_column = b"stderr_validation,stderr_total" in (tmp_path / "new" / "nodes.csv").read_bytes()
    assert has_column == ("bootstrap" in options)


@pytest.mark.parametrize(
    ("metric", "rule", "bootstrap"),
    [
        ("accuracy", permutations(45), 0),
        ("log-likelihood", permutations(45), 0),
        ("probability", permutations(40), 5),
        ("accuracy", converged(0.2) | at_most(2_000), 0),
        ("log-likelihood", converged(0.1) | at_most(2_000), 0),
    ],
)
def test_from_every_state_to_the_same_bits(metric: str, rule: pw.Rule, bootstrap: int) -> None:
    whole, kept = states(rule, metric, bootstrap=bootstrap)
    same(whole, pw.value(random_graph(3), head=HEAD, metric=metric, stop=rule, bootstrap=bootstrap))
    assert len(kept) == -(-whole.permutations // 10)
    for state in kept:
        again, _ = play(state, rule, metric=metric, bootstrap=bootstrap)
        same(whole, again)


def test_two_workers_go_on_to_the_same_bits() -> None:
    whole, kept = states(permutations(60), "log-likelihood")
    again, _ = play(kept[2], permutations(60), metric="log-likelihood", workers=2)
    same(whole, again)


def test_rank_stability_sees_the_same_halves() -> None:
    tree = pw.contribution_tree(random_graph(1), hops=1)
    game = pw.SetGame(tree.n_players, lambda members: float(members @ np.arange(tree.n_players)) ** 2)
    sample = Sample(game, pw.sampler(tree), {})
    rule = rank_stability(0.9) | permutations(200)

    def play(begin: Checkpoint | None) -> tuple[str, list[Checkpoint]]:
        passed: list[Checkpoint] = []
        for state in estimator.states(sample, limit=rule.limit, begin=begin):
            passed.append(state.checkpoint)
            if status := rule.check(sample.progress(state)):
                return status, passed
        raise AssertionError

    status, kept = play(None)
    assert "two halves" in status
    assert status == pw.estimate(game, pw.sampler(tree), rule).status
    for state in kept:
        assert play(state)[0] == status


def test_more_can_be_asked_for_later_but_not_less() -> None:
    _, kept = states(permutations(30))
    more, _ = play(kept[-1], permutations(50))
    same(more, states(permutations(50))[0])
    with pytest.raises(ValueError, match="30 orders, but the limit is now 20"):
        play(kept[-1], permutations(20))


def test_a_rule_of_ones_own_ends_the_run() -> None:
    enough = pw.Rule(lambda now: "Enough." if now.orders == 20 else None)
    values = pw.value(random_graph(3), head=HEAD, stop=enough, progress=lambda now: "ignored")
    assert values.status == "Enough."
    assert values.permutations == 20


def test_a_rule_that_is_not_met_at_its_limit_is_refused(tmp_path: Path) -> None:
    wrong = pw.Rule(lambda now: None, limit=20)
    game, draw = pw.SetGame(1, lambda members: 0.0), lambda rng: pw.Order(np.zeros(1, int), np.ones(1, bool))
    for call in (
        lambda: pw.value(random_graph(3), head=HEAD, stop=wrong),
        lambda: pw.run(random_graph(3), tmp_path / "run", head=HEAD, stop=wrong),
        lambda: pw.estimate(game, draw, wrong),
    ):
        with pytest.raises(ValueError, match="limit"):
            call()


def test_no_damage_is_believed() -> None:
    _, kept = states(permutations(20), "log-likelihood", bootstrap=2)
    content = pack(kept[-1], "it")
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(len(content), size=400):
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        try:
            state = unpack(bytes(damaged), "it")
        except Exception:
            refused += 1
            continue
        assert pack(state, "it") == content  # a bit of the archive that means nothing, such as a date
    assert refused > 300
    for length in (0, 1, 100, len(content) // 2, len(content) - 1):
        with pytest.raises(Exception):  # noqa: B017, PT011  whatever NumPy says
            unpack(content[:length], "it")
    with pytest.raises(ValueError, match="it belongs to another run"):
        unpack(content, "that")


def test_the_last_good_checkpoint_is_used_and_not_written_over(tmp_path: Path) -> None:
    _, kept = states(permutations(50))
    notes = Checkpoints(tmp_path, "it")
    assert notes.load() == (None, [])
    for state in kept[:3]:
        notes.save(state)
    assert [unpack((tmp_path / name).read_bytes(), "it").orders for name in NAMES] == [30, 20]

    newest = tmp_path / NAMES[0]
    newest.write_bytes(newest.read_bytes()[:-100])
    again = Checkpoints(tmp_path, "it")
    good, complaints = again.load()
    assert good is not None
    assert good.orders == 20
    assert len(complaints) == 1
    assert f"{newest} is damaged" in complaints[0]
    again.save(kept[3])
    assert unpack(newest.read_bytes(), "it").orders == 40
    assert unpack((tmp_path / NAMES[1]).read_bytes(), "it").orders == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


def test_a_checkpoint_does_not_grow() -> None:
    _, kept = states(permutations(200), "log-likelihood", bootstrap=2)
    assert len(pack(kept[-1], "it")) - len(pack(kept[3], "it")) < 50 * len(kept)


def test_converged_at_once_when_the_state_already_is() -> None:
    _, kept = states(converged(0.2) | at_most(2_000))
    stopped, _ = play(kept[-1], converged(0.9))
    assert stopped.permutations == kept[-1].orders
