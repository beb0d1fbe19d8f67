"""A study that makes up rankings and curves, so that the numbers of tables are known in advance."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pcwinter as pw
from oracles import make_graph
from pcwinter.baselines.ranking import Ranking
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.study import Study

Spent = tuple[int, int, float]  # orders, evaluations, seconds
GRAPH = make_graph([(0, 2), (2, 4), (4, 6), (1, 3), (3, 5)], [0, 1])  # node 6 is three steps away
LEAD = {"PC-Winter (own)": ([0, 1], [0, 4]), "data-shapley": ([0, 1], [0, 1])}  # the best two nodes, by seed


@dataclass(eq=False)
class Stub(Study):
    """Makes up rankings, what they cost, and curves; keeps what it was asked for."""

    dataset: str = "cora"
    graph: pw.Graph = GRAPH
    out: Path = Path()
    mine: tuple[Spent, ...] = ((100, 1000, 20.0), (100, 1000, 4.0))  # of PC-Winter, by seed
    theirs: tuple[Spent, ...] = ((40, 4000, 8.0), (50, 250, 8.0))  # of Data Shapley
    added: dict[tuple[str, str, float], list[float]] = field(default_factory=dict)  # by method, on and rest
    sizes: tuple[int, ...] = (0, 1, 4, 10, 20)  # numbers of edges added
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def pc_winter(self, level: str, seed: int, *, method: str | None = None, **options: Any) -> Ranking:
        self.asked.append((level, options))
        name = method or f"PC-Winter ({level})"
        orders = self.mine[seed][0]
        return self._made(name, seed, self.mine[seed], (options.get("permutations") or orders) / orders)

    def data_shapley(self, seed: int, **limits: Any) -> Ranking:
        self.asked.append(("Data Shapley", limits))
        _, evaluations, took = self.theirs[seed]
        share = limits.get("most", evaluations) / evaluations * limits.get("time_limit", took) / took
        return self._made("data-shapley", seed, self.theirs[seed], share)

    def baseline(self, method: str, seed: int) -> Ranking:
        return self._made(method, seed, (0, 0, 1.0))

    def dropping(self, ranking: Ranking, seed: int, which: str = "unlabelled") -> Curve:
        return Curve(np.array([0, 5, 10]), ranking.orders / 1000 * np.array([2, 0, 1]))

    def adding(self, ranking: Ranking, seed: int, rest: float = 0.0, on: str | None = None) -> Curve:
        accuracy = self.added.get((ranking.method, on or self.on, rest), [0.1] * 5)
        return Curve(np.array(self.sizes), np.array(accuracy))

    def _made(self, method: str, seed: int, spent: Spent, share: float = 1.0) -> Ranking:
        best = np.isin(np.arange(6), LEAD.get(method, ([4, 5], [4, 5]))[seed]).astype(np.float64)
        cost = round(share * spent[0]), round(share * spent[1]), share * spent[2]
        return Ranking(method, np.arange(6), best, np.full(6, np.nan), *cost)

    def asks(self, name: str) -> list[dict[str, Any]]:
        return [options for asked, options in self.asked if asked == name]
