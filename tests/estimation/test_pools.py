"""The number of workers changes the time and nothing else."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pcwinter as pw
from jobs import Compiling, Deadly, Diary, Failing, OwnError, Patient, Sharing, compiled_types
from oracles import make_graph
from pcwinter.estimation.estimator import BLOCK, Estimate, Sample
from pcwinter.estimation.jobs import Interruptible
from pcwinter.estimation.pools import open_pool
from pcwinter.estimation.processes import AHEAD, DEATHS, Processes

HEAD = pw.Ridge(penalty=1.0, bias=1.0)
REQUESTS: dict[str, dict[str, Any]] = {
    "dfs": {"permutations": 25},
    "precedence": {"permutations": 12, "orders": "precedence", "metric": "log-likelihood", "hops": 1},
    "softmax": {"permutations": 3, "head": pw.Softmax(epochs=3), "truncation": (0.5, 0.7)},
    "converged": {"tolerance": 0.5, "metric": "probability", "truncation": (0.5, 0.7)},
    "bootstrap": {"permutations": 21, "bootstrap": 50, "truncation": (0.5, 0.7)},
}


def blocks(n: int) -> Iterator[tuple[int, int]]:
    return ((begin, begin + BLOCK) for begin in range(0, n * BLOCK, BLOCK))


def same_bits(first: Estimate, second: Estimate) -> bool:
    assert first.status == second.status
    assert first.tally.orders == second.tally.orders
    assert first.tally.evaluations == second.tally.evaluations
    assert first.tally.levels.keys() == second.tally.levels.keys()
    assert first.tally.detail.keys() == second.tally.detail.keys()
    pairs = [(first.change, second.change)]
    for level in first.tally.levels:
        pairs += [(first.mean(level), second.mean(level)), (first.stderr(level), second.stderr(level))]
    pairs += [(sums, second.tally.detail[level]) for level, sums in first.tally.detail.items()]
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.filterwarnings("ignore:the edges harm", "ignore:the model trained on everything")
@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_the_same_bits_for_any_number_of_workers(request_: dict[str, Any]) -> None:
    graph = pw.load("demo")
    one, two, three = (pw.value(graph, **{"head": HEAD, **request_}, seed=4, workers=n) for n in (1, 2, 3))
    for other in (two, three):
        assert same_bits(one.estimate, other.estimate)
        for level, spread in one.validation_stderr.items():
            assert spread.tobytes() == other.validation_stderr[level].tobytes()


def test_any_set_function_goes_to_workers() -> None:
    tree = pw.contribution_tree(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), 1)
    weights = np.random.default_rng(0).normal(size=(4, tree.n_players))
    game = pw.SetGame(tree.n_players, lambda coalition: float(np.sin(weights @ coalition).sum()))
    one, two = (pw.estimate(game, pw.sampler(tree), pw.stopping.permutations(95), workers=n) for n in (1, 2))
    assert same_bits(one, two)


def test_a_killed_worker_changes_no_bit() -> None:
    graph = pw.load("demo")
    killed: list[int] = []
    with open_pool(2) as pool:
        assert isinstance(pool, Processes)

        def kill(progress: pw.Progress) -> None:
            if progress.orders in (10, 30):
                process = pool.workers[len(killed)].process
                process.kill()
                killed.append(process.pid)

        two = pw.value(graph, head=HEAD, permutations=60, workers=pool, progress=kill)
    assert len(set(killed)) == 2
    assert same_bits(two.estimate, pw.value(graph, head=HEAD, permutations=60).estimate)


def test_answers_come_in_the_order_of_the_blocks_and_a_killed_worker_costs_its_block_only(tmp_path: Path) -> None:
    answers = []
    with open_pool(3) as pool:
        assert isinstance(pool, Processes)
        for number, answer in enumerate(pool.run(Diary(tmp_path, 0.05), ((k, k + 1) for k in range(40)))):
            answers.append(answer)
            if number == 10:
                pool.workers[1].process.kill()
    assert [begin for begin, _ in answers] == list(range(40))
    assert len({pid for _, pid in answers}) >= 3
    begun = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    assert set(begun) == set(range(40))
    assert len(begun) <= 41


def test_a_pool_runs_ahead_by_few_blocks(tmp_path: Path) -> None:
    asked = []

    def endless() -> Iterator[tuple[int, int]]:
        for begin in count():
            asked.append(begin)
            yield begin, begin + 1

    with open_pool(2) as pool, closing(pool.run(Diary(tmp_path), endless())) as answers:
        assert [next(answers)[0] for _ in range(5)] == list(range(5))
        time.sleep(0.2)
        assert len(asked) == 4 + 2 * AHEAD
        began = time.perf_counter()
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("workers", [1, 2])
def test_blocks_end_when_the_run_is_late(workers: int, tmp_path: Path) -> None:
    def late() -> bool:
        return (tmp_path / "0").exists()

    with open_pool(workers) as pool:
        assert isinstance(pool, Interruptible)
        with closing(pool.run_until(Patient(tmp_path), blocks(3), late)) as answers:
            assert list(answers) == [0, 10, 20]


def test_a_new_worker_knows_that_the_run_is_late(tmp_path: Path) -> None:
    killed: list[int] = []
    with open_pool(2) as pool:
        assert isinstance(pool, Processes)

        def late() -> bool:
            if len(list(tmp_path.iterdir())) < 2:
                return False
            if not killed:
                killed.append(pool.workers[0].process.pid)
                pool.workers[0].process.kill()
            return True

        with closing(pool.run_until(Patient(tmp_path), blocks(2), late)) as answers:
            assert list(answers) == [0, 10]
    assert killed


def test_a_block_that_kills_every_worker_ends_the_run() -> None:
    with open_pool(2) as pool, closing(pool.run(Deadly(), blocks(9))) as answers:
        assert [next(answers), next(answers)] == [0, 10]
        with pytest.raises(RuntimeError, match=rf"died {DEATHS} times .*20 to 29.*farewell"):
            next(answers)


@pytest.mark.parametrize(
    ("error", "raised"), [(KeyError, KeyError), (SystemExit, SystemExit), (OwnError, RuntimeError)]
)
def test_an_error_in_a_block_is_raised_in_its_turn(error: type[BaseException], raised: type[BaseException]) -> None:
    with open_pool(2) as pool, closing(pool.run(Failing(error), blocks(9))) as answers:
        assert [next(answers), next(answers)] == [0, 10]
        with pytest.raises(raised, match="20") as caught:
            next(answers)
    assert error is OwnError or "in a worker process" in caught.value.__notes__[0]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_errors_as_without_workers(workers: int) -> None:
    tree = pw.contribution_tree(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), 1)
    game = pw.SetGame(tree.n_players, lambda s: float("nan") if s[1] else 0.0)
    with pytest.raises(FloatingPointError, match=r"orders 0 to 9 of seed 0: .*not a finite number"):
        pw.estimate(game, pw.sampler(tree), pw.stopping.permutations(20), workers=workers)
    other = pw.contribution_tree(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), 2)
    with pytest.raises(ValueError, match=r"length 10 .* 5 players"):
        pw.estimate(game, pw.sampler(other), pw.stopping.permutations(20), workers=workers)
    problem, _, _ = pw.graph_game(make_graph([(0, 2), (0, 3), (1, 2)], [0, 1]), tree, HEAD)
    with pytest.raises(ValueError, match=r"length 10 .* 5 players"):
        pw.estimate(problem, pw.sampler(other), pw.stopping.permutations(20), workers=workers)


def test_a_game_that_cannot_be_sent() -> None:
    tree = pw.contribution_tree(make_graph([(0, 2)], [0, 1]), 1)
    lock = threading.Lock()
    game = pw.SetGame(tree.n_players, lambda s: float(lock.locked()))
    with pytest.raises(ValueError, match=r"cannot be sent .*lock.*workers=1"):
        pw.estimate(game, pw.sampler(tree), pw.stopping.permutations(20), workers=2)


@pytest.mark.parametrize("workers", [0, -1, 2.0, "two", True, None])
def test_a_number_of_workers_is_checked(workers: Any) -> None:
    with pytest.raises(ValueError, match=r"workers is .* at least 1"):
        pw.value(pw.load("demo"), workers=workers)


def test_arrays_are_mapped_and_not_copied() -> None:
    plain = np.arange(2_500_001, dtype=np.float64)
    frozen = plain[:-7].copy()
    frozen.flags.writeable = False
    job = Sharing(plain, frozen, np.asfortranarray(plain[:-1].reshape(2, -1)), np.empty((0, 3)))
    expected = [float(plain.sum()), float(frozen.sum()), float(job.shaped.sum())]
    with open_pool(2) as pool:
        answers = list(pool.run(job, blocks(4)))
    for answer in answers:
        memory = answer.pop("memory")
        assert answer == {
            "sums": expected,
            "types": {np.ndarray},
            "mapped": [True, True, True],
            "writeable": [True, False, True],
            "aligned": [0, 0, 0],
            "columns first": [True, True, True],
            "empty": (0, 3),
            "shared memory": False,
        }
        assert isinstance(memory, dict)
        assert memory["Rss"] >= 58_000
        assert memory["Anonymous"] == 0  # pages of its own


@pytest.mark.parametrize(
    ("family", "head"), [("dfs", HEAD), ("precedence", HEAD), ("dfs", pw.Softmax(epochs=1))], ids=str
)
def test_all_that_workers_need_is_compiled_before_they_begin(family: str, head: pw.Ridge | pw.Softmax) -> None:
    graph = pw.load("demo")
    tree = pw.contribution_tree(graph, hops=1)
    game, _, _ = pw.graph_game(graph, tree, head)
    job = Compiling(Sample(game, pw.sampler(tree, family), {"own": tree.incidence("own")}, 0, detail=["own"]))
    with open_pool(2) as pool:
        there = list(pool.run(job, [(0, 1), (1, 2)]))
    assert all(types and types <= compiled_types() for types in there)
