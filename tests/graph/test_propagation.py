"""Propagation on a whole graph against a dense matrix power."""

import numpy as np
import pytest

from oracles import dense_power, random_graph
from pcwinter.graph.propagation import propagate, propagate_to


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_propagation_on_the_whole_graph(hops: int) -> None:
    graph = random_graph(1)
    expected = dense_power(graph.training.toarray(), hops) @ graph.features.toarray()
    np.testing.assert_allclose(propagate(graph.training, graph.features, hops).toarray(), expected, atol=1e-12)
    rows = np.array([4, 0, 2])
    some = propagate_to(rows, graph.training, graph.features, hops)
    np.testing.assert_allclose(some.toarray(), expected[rows], atol=1e-12)
