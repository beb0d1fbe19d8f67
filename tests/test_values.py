"""Values: the tables of nodes, edges and players, against plain sums over the players."""

import numpy as np
import pandas as pd
import pytest

import pcwinter as pw
from oracles import random_graph

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
