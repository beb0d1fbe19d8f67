"""A run that is cut anywhere and goes on comes to the same bits; a damaged checkpoint is never believed."""

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from oracles import random_graph
from pcwinter._util.files import replace_file
from pcwinter.estimation.estimator import State, estimate
from pcwinter.estimation.stopping import converged, permutations, rank_stability
from pcwinter.game.tree import LEVELS
from pcwinter.runs.checkpoints import NAMES, Checkpoints, pack, unpack

pytestmark = pytest.mark.filterwarnings("ignore:the edges harm the model")
HEAD = pw.Ridge(penalty=0.3, bias=1.0, temperature=0.5)


class Notebook:
    """A keeper that remembers every state, and begins from a given one."""

    def __init__(self, begin: State | None = None) -> None:
        self.first, self.states = begin, list[State]()

    def begin(self, asked: object) -> State | None:
        return self.first

    def keep(self, state: State) -> None:
        self.states.append(unpack(pack(state, "it"), "it"))


def states(metric: str = "accuracy", **options: Any) -> tuple[pw.Values, list[State]]:
    notebook = Notebook()
    values = pw.value(random_graph(3), head=HEAD, metric=metric, keeper=notebook, **options)
    return values, notebook.states


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
        state = unpack(path.read_bytes(), about)
        fewer = {name: state.total.levels[name] for name in ("player", "own")}
        path.write_bytes(pack(replace(state, total=replace(state.total, levels=fewer)), about))
    with pytest.raises(ValueError, match="holds a run of another version, with other sums: name another directory"):
        pw.run(random_graph(3), tmp_path, head=HEAD, permutations=30, resume=True)


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("accuracy", {"permutations": 45}),
        ("log-likelihood", {"permutations": 45}),
        ("probability", {"permutations": 40, "bootstrap": 5}),
        ("accuracy", {"tolerance": 0.2}),
        ("log-likelihood", {"tolerance": 0.1}),
    ],
)
def test_from_every_state_to_the_same_bits(metric: str, options: dict[str, Any]) -> None:
    whole, kept = states(metric, **options)
    assert len(kept) == whole.permutations // 10
    for state in kept:
        again = pw.value(random_graph(3), head=HEAD, metric=metric, keeper=Notebook(state), **options)
        same(whole, again)


def test_two_workers_go_on_to_the_same_bits() -> None:
    whole, kept = states("log-likelihood", permutations=60)
    graph = random_graph(3)
    again = pw.value(graph, head=HEAD, metric="log-likelihood", permutations=60, workers=2, keeper=Notebook(kept[2]))
    same(whole, again)


def test_rank_stability_sees_the_same_halves() -> None:
    tree = pw.contribution_tree(random_graph(1), hops=1)
    game = pw.SetGame(tree.n_players, lambda members: float(members @ np.arange(tree.n_players)) ** 2)
    draw, kept = pw.sampler(tree), list[State]()
    rule = rank_stability(0.9) | permutations(200)
    whole = estimate(game, draw, rule, keep=kept.append)
    assert "The ranks of two halves" in whole.status
    for state in kept:
        assert estimate(game, draw, rule, begin=state).status == whole.status


def test_more_can_be_asked_for_later_but_not_less() -> None:
    _, kept = states(permutations=30)
    more = pw.value(random_graph(3), head=HEAD, permutations=50, keeper=Notebook(kept[-1]))
    same(more, states(permutations=50)[0])
    with pytest.raises(ValueError, match="the run has 30 orders already, more than the 20 that are asked for now"):
        pw.value(random_graph(3), head=HEAD, permutations=20, keeper=Notebook(kept[-1]))


def test_a_sentence_from_progress_ends_the_run() -> None:
    values = pw.value(random_graph(3), head=HEAD, progress=lambda now: "Enough." if now.orders == 20 else None)
    assert values.status == "Enough."
    assert values.permutations == 20
    met = pw.value(random_graph(3), head=HEAD, permutations=20, progress=lambda now: "Enough.")
    assert met.status == "Enough."
    assert met.permutations == 10


def test_no_damage_is_believed() -> None:
    _, kept = states("log-likelihood", permutations=20, bootstrap=2)
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
    _, kept = states(permutations=50)
    notes = Checkpoints(tmp_path, "it")
    assert notes.load() == (None, [])
    for state in kept[:3]:
        notes.save(state)
    assert [unpack((tmp_path / name).read_bytes(), "it").total.orders for name in NAMES] == [30, 20]

    newest = tmp_path / NAMES[0]
    newest.write_bytes(newest.read_bytes()[:-100])
    again = Checkpoints(tmp_path, "it")
    good, complaints = again.load()
    assert good is not None
    assert good.total.orders == 20
    assert len(complaints) == 1
    assert f"{newest} is damaged" in complaints[0]
    again.save(kept[3])
    assert unpack(newest.read_bytes(), "it").total.orders == 40
    assert unpack((tmp_path / NAMES[1]).read_bytes(), "it").total.orders == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)


def test_a_checkpoint_does_not_grow() -> None:
    _, kept = states("log-likelihood", permutations=200, bootstrap=2)
    assert len(pack(kept[-1], "it")) - len(pack(kept[3], "it")) < 50 * len(kept)


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    replace_file(path, b"old")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"could not write .*file \(No space left on device\); what was there before"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_converged_at_once_when_the_state_already_is() -> None:
    _, kept = states(tolerance=0.2)
    stopped = pw.value(random_graph(3), head=HEAD, stop=converged(0.9), keeper=Notebook(kept[-1]))
    assert stopped.permutations == kept[-1].total.orders
