"""Values: the tables of nodes, edges and players, against plain sums over the players."""

import json

import numpy as np
import pandas as pd
import pytest

import pcwinter as pw
from oracles import random_graph
from pcwinter.values import Request, within_class

RIDGE = pw.Ridge(penalty=0.3, bias=1.0, temperature=0.5)
quiet = pytest.mark.filterwarnings("ignore:the (edges|model)")


@quiet
def test_tables() -> None:
    graph = random_graph(1)
    values = pw.value(graph, head=RIDGE, permutations=20)
    tree = values.tree
    nodes, edges, players = values.nodes(), values.edges(), values.players()
    assert nodes.columns.tolist() == ["node", "value", "stderr", "value_path", "stderr_path", "labelled", "players"]
    assert edges.columns.tolist() == ["source", "target", "value", "stderr", "value_path", "stderr_path"]
    assert nodes["node"].is_monotonic_increasing
    assert nodes.loc[nodes["labelled"], "node"].tolist() == graph.train.tolist()
    assert nodes["players"].sum() == tree.n_players == len(players)
    assert (edges["source"] < edges["target"]).all()
    by_node = players.groupby("node")["value"].sum()
    np.testing.assert_allclose(nodes["value"], by_node[nodes["node"]], atol=1e-12)
    steps = players[["step_0", "step_1", "step_2"]]
    for row in nodes.itertuples():
        on_path = (steps == row.node).any(axis=1)
        assert row.value_path == pytest.approx(players.loc[on_path, "value"].sum(), abs=1e-12)
    pd.testing.assert_series_equal(values.nodes("path")["value"], nodes["value_path"], check_names=False)
    ends = [np.sort(steps.to_numpy()[:, k : k + 2], axis=1) for k in (0, 1)]
    for row in edges.itertuples():
        on_path = np.any([(pair == (row.source, row.target)).all(axis=1) for pair in ends], axis=0)
        assert row.value_path == pytest.approx(players.loc[on_path, "value"].sum(), abs=1e-12)
    with pytest.raises(ValueError, match="by is 'mean', expected own or path"):
        values.nodes("mean")


@quiet
def test_same_seed_same_bits() -> None:
    graph = random_graph(1)
    for head in (RIDGE, pw.Softmax(epochs=5)):
        first, again, other = (pw.value(graph, head=head, permutations=12, seed=seed).nodes() for seed in (4, 4, 5))
        pd.testing.assert_frame_equal(first, again, check_exact=True)
        assert (first["value"] != other["value"]).any()


@quiet
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_edges_by_class_against_the_players_one_by_one(hops: int) -> None:
    """Each player of an edge counts less the mean of its class and depth; null players do not count."""
    graph = random_graph(4, n=9, probability=0.4, n_classes=3, n_val=30)
    values = pw.value(graph, hops=hops, head=RIDGE, metric="log-likelihood", permutations=6)
    groups: dict[tuple[int, int], list[float]] = {}
    players = [row for row in values.players().to_dict("records") if not row["null"]]
    for row in players:
        groups.setdefault((int(graph.labels[row["step_0"]]), row["depth"]), []).append(row["value"])
    edges = values.edges(by="class")
    expected = dict.fromkeys(zip(edges["source"], edges["target"], strict=True), 0.0)
    for row in players:
        if row["depth"] > 0:
            same = groups[int(graph.labels[row["step_0"]]), row["depth"]]
            ends = sorted((row[f"step_{row['depth'] - 1}"], row[f"step_{row['depth']}"]))
            expected[ends[0], ends[1]] += row["value"] - sum(same) / len(same)
    assert len({label for label, _ in groups}) == 3
    np.testing.assert_allclose(edges["value"], list(expected.values()), atol=1e-11)
    assert edges["value"].abs().max() > 1e-3
    assert edges["value"].sum() == pytest.approx(0, abs=1e-10)
    assert edges["stderr"].isna().all()
    pd.testing.assert_frame_equal(
        edges.drop(columns=["value", "stderr"]), values.edges().drop(columns=["value", "stderr"])
    )


def test_within_class_by_hand() -> None:
    value = np.array([5.0, 1.0, 3.0, 9.0, 7.0, 2.0, 100.0, 50.0])
    labels = np.array([0, 0, 0, 1, 1, 1, 0, 1])
    depth = np.array([0, 1, 1, 0, 1, 1, 1, 1])
    null = np.array([False] * 6 + [True] * 2)
    edge = np.array([-1, 0, 1, -1, 1, 2, 0, 0])
    # means at depth 1: 2 in class 0, 4.5 in class 1
    found = within_class(value, labels, depth, null, edge, 4)
    assert found.tolist() == [1 - 2, (3 - 2) + (7 - 4.5), 2 - 4.5, 0]


@quiet
def test_only_known_ways_to_sum() -> None:
    values = pw.value(random_graph(1), head=RIDGE, permutations=1)
    pd.testing.assert_series_equal(values.edges("path")["value"], values.edges()["value_path"], check_names=False)
    for table, by in ((values.nodes, "class"), (values.edges, "clas")):
        with pytest.raises(ValueError, match=f"by is '{by}'.*own.*path"):
            table(by)


@quiet
def test_a_request_is_recorded_in_plain_words() -> None:
    request = Request(hops=np.int64(1), head=RIDGE, truncation=[0.5], seed=np.int64(3))  # type: ignore[arg-type]
    record = json.loads(json.dumps(request.record()))
    wanted = {
        "head": "ridge",
        "penalty": 0.3,
        "bias": 1.0,
        "temperature": 0.5,
        "hops": 1,
        "truncation": [0.5],
        "seed": 3,
    }
    assert {name: record[name] for name in wanted} == wanted
    assert not {"seed", "bootstrap"} & Request(exact=True).record().keys()
