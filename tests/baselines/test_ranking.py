"""Rankings: the items, their order, their files, and the rankings of PC-Winter values."""

from pathlib import Path

import numpy as np
import pytest

import pcwinter as pw
from node_game_oracle import RIDGE
from oracles import distances, random_graph
from pcwinter import baselines, stopping
from pcwinter.baselines.ranking import Ranking, of_values
from pcwinter.experiments.judge_file import read_ranking
from pcwinter.graph.graph import Graph
from pcwinter.valuation import value


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_near_nodes(hops: int) -> None:
    graph = random_graph(5, n=30, probability=0.05)
    far = np.min([distances(graph.training.toarray(), int(r)) for r in graph.train], axis=0)
    assert baselines.near_nodes(graph, hops).tolist() == np.flatnonzero(far <= hops).tolist()
    with pytest.raises(ValueError, match=r"hops is 2\.5.* at least 1"):
        baselines.degree(graph, hops=2.5)  # type: ignore[arg-type]


def test_best_first() -> None:
    scores = np.array([0.0, 3.0, 0.0, -1.0, 0.0, 5.0, 0.0, np.nan])
    ranking = Ranking("any", np.arange(8), scores, np.full(8, np.nan))
    place = ranking.best_first()
    assert sorted(place.tolist()) == list(range(8))
    assert place[:2].tolist() == [5, 1]
    assert place[-2:].tolist() == [3, 7]
    assert (place == ranking.best_first(seed=0)).all()
    ties = {tuple(ranking.best_first(seed)[2:6].tolist()) for seed in range(20)}
    assert len(ties) > 10
    assert all(sorted(tie) == [0, 2, 4, 6] for tie in ties)


def test_a_ranking_can_be_judged_from_a_file(tmp_path: Path) -> None:
    graph = random_graph(5)
    named = Graph(
        graph.adjacency,
        graph.features,
        graph.labels,
        graph.train,
        graph.val,
        ids=[f"n{k}" for k in range(graph.n_nodes)],
    )
    alone = Graph([], [[1.0], [1.0]], [0, 0], train=[0], val=[1])
    assert baselines.random_edges(alone).table(alone).columns.tolist() == ["source", "target", "value", "stderr"]
    for ranking in (baselines.knn_shapley(named), baselines.betweenness(named)):
        ranking.table(named).to_csv(tmp_path / "mine.csv", index=False)
        found = read_ranking(tmp_path / "mine.csv", named)
        np.testing.assert_array_equal(found.items, ranking.items)
        np.testing.assert_array_equal(found.value, ranking.value)


def test_of_values() -> None:
    graph = random_graph(5)
    values = value(graph, head=RIDGE, stop=stopping.permutations(20))
    nodes, edges = values.nodes(), values.edges()
    for level, table, suffix in (
        ("own", nodes, ""),
        ("path", nodes, "_path"),
        ("edge", edges, ""),
        ("edge path", edges, "_path"),
    ):
        ranking = of_values(values, level, "pc-winter")
        names = table[["source", "target"]] if level.startswith("edge") else table["node"]
        assert (ranking.items == names.to_numpy()).all()
        assert (ranking.value == table[f"value{suffix}"].to_numpy()).all()
        assert (ranking.stderr == table[f"stderr{suffix}"].to_numpy()).all()
        assert ranking.orders == 20
        assert ranking.evaluations > 0


def test_edges_beside_others_of_their_class() -> None:
    graph = random_graph(5)
    values = value(graph, head=RIDGE, stop=stopping.permutations(20))
    live = values.players().query("not null and depth > 0")
    assert live["depth"].nunique() == 2
    label = live["step_0"].map(lambda node: int(graph.labels[node]))
    assert label.nunique() == 2
    excess = live["value"] - live.groupby([label, live["depth"]])["value"].transform("mean")
    last = np.where(live["depth"] == 2, live["step_1"], live["step_0"])
    ends = np.sort(np.stack([last, live["node"]], axis=1), axis=1)
    expected = {tuple(edge): excess[(ends == edge).all(axis=1)].sum() for edge in values.tree.edges.tolist()}
    found = of_values(values, "edge by class", "pc-winter")
    np.testing.assert_allclose(found.value, [expected[tuple(edge)] for edge in found.items.tolist()], atol=1e-12)
    assert found.value.std() > 0
    assert (found.value == np.round(found.value, 12)).all()  # or rounding would part what is equal
    assert np.isnan(found.stderr).all()
    assert found.orders == 20


@pytest.mark.filterwarnings("ignore:the edges harm the model", "ignore:the model trained on everything")
def test_all_utilities_that_were_computed_are_counted() -> None:
    values = pw.value(random_graph(3), truncation=(0.5, 0.5), permutations=10)
    tally = values.estimate.tally
    assert min(tally.evaluations, tally.baselines) > 0
    assert pw.baselines.of_values(values, "own", "mine").evaluations == tally.evaluations + tally.baselines
