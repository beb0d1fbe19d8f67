"""Costs: counts, seconds and evaluations."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from pcwinter._util.arrays import BoolArray
from pcwinter.baselines.node_game import NodeGame
from pcwinter.experiments import costs
from pcwinter.game.orders import every_order
from pcwinter.game.tree import contribution_tree
from stub_study import GRAPH, Stub


@pytest.mark.parametrize("head", ["ridge", "softmax"])
def test_seconds_of_orders_and_evaluations(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "_softmax_models", lambda study, walked: (0.02, 0.1 if walked == 40 else np.nan))
    mine, theirs = ((10, 1000, 5.0), (20, 4000, 60.0)), ((5, 100, 10.0), (5, 300, 10.0))
    ((_, rows),) = costs.efficiency(Stub(mine=mine, theirs=theirs, head=head), 2).tables.items()
    names = ("orders", "seconds an order", "seconds in total", "microseconds an evaluation")
    found = {row["method"]: [row[name] for name in names] for row in rows}
    expected = {"PC-Winter": (15, 1.75, 32.5, 10_000), "Data Shapley": (5, 2, 10, 2e5 / 3)}
    if head == "ridge":
        expected |= {"PC-Winter, softmax": (15, 3, 50, 20_000), "Data Shapley, softmax": (5, 4, 20, 100_000)}
    assert found == {method: pytest.approx(numbers) for method, numbers in expected.items()}


def test_models_of_nodes_are_those_of_a_truncated_walk() -> None:
    sizes = []

    class Game:
        n_players, place = 300, SimpleNamespace(hops=2)

        def changes(self, start: list[int], steps: int, coalition: BoolArray) -> bool:
            assert coalition[start].all()
            return coalition.sum() % 2 == 0 and steps == 3  # every other step changes a row

        def utility(self, coalition: BoolArray) -> float:
            sizes.append(int(coalition.sum()))
            return 0.0

    order = np.random.default_rng(0).permutation(300)
    assert costs._node_seconds(cast(NodeGame, Game()), order, 20.5) > 0
    assert sizes == list(range(2, 43, 2))
    sizes.clear()
    costs._node_seconds(cast(NodeGame, Game()), order, 1000.0)
    assert len(sizes) == 100
    assert (sizes[0], sizes[-1]) == (2, 300)


def test_players_and_visits_are_counted() -> None:
    ((_, rows),) = costs.counts(Stub(truncation=(0.5, 0.7)), 2).tables.items()
    paths = contribution_tree(GRAPH, 2).paths().tolist()
    assert (rows[0]["here"], rows[0]["paper"]) == (len(paths), 2241)  # the stub calls itself cora
    assert "0.5-0.7" in rows[1]["what"]
    every = [order.visited.sum() for order in every_order(contribution_tree(GRAPH, 2), "dfs", (0.5, 0.7))]
    assert rows[1]["here"] == pytest.approx(np.mean(every))
    assert abs(rows[1]["mean of 40 orders"] - rows[1]["here"]) <= 4 * np.std(every) / np.sqrt(40) + 1e-12
    assert rows[2]["here"] == sum(len(set(path) - {-1}) < len([v for v in path if v >= 0]) for path in paths)
