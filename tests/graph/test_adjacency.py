"""What the user gives as edges and weights, and the adjacency that it becomes."""

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from any_graph import ANY_KIND, any_graph, dense
from pcwinter.graph.adjacency import check_adjacency, edge_weights, graph_of, parts
from pcwinter.graph.graph import Graph

N = 4


def matrix(*entries: tuple[int, int, float]) -> Any:
    row, col, data = zip(*entries, strict=True)
    return sp.coo_array((data, (row, col)), shape=(N, N))


def table(found: Any) -> dict[tuple[int, int], float]:
    coo = sp.coo_array(found)
    return dict(zip(zip(coo.row.tolist(), coo.col.tolist(), strict=True), coo.data.tolist(), strict=True))


def test_a_directed_matrix_has_the_source_in_the_row() -> None:
    """0 pays 1 the sum 2, 1 pays 2 the sum 5: messages flow from 0 to 1, so row 1 of the training graph has node 0."""
    for given in (matrix((0, 1, 2.0), (1, 2, 5.0)), [(0, 1), (1, 2)]):
        weights = None if sp.issparse(given) else [2, 5]
        graph = Graph(given, np.eye(N), [0, 1, 0, 0], [0, 1], [3], weights=weights, directed=True)
        assert table(graph.adjacency) == {(0, 1): 2, (1, 2): 5}
        assert table(graph.training) == {(1, 0): 2, (2, 1): 5}
        assert (graph.n_edges, graph.weighted, graph.normalisation) == (2, True, "row")


@pytest.mark.parametrize(
    ("edges", "weights", "directed", "expected", "notes"),
    [
        ([(0, 1), (0, 1), (2, 1)], [2, 3, 1], False, {(0, 1): 5, (1, 2): 1}, "dropped 0 self-loops and added up 1 rep"),
        ([(0, 1), (1, 0), (0, 1)], [2, 3, 1], True, {(0, 1): 3, (1, 0): 3}, "added up 1 repeated edge"),
        ([(0, 1), (1, 0)], [2, 2], False, {(0, 1): 2}, ""),
        (
            [(0, 1), (1, 0), (1, 2)],
            [2, 2, 3],
            False,
            {(0, 1): 2, (1, 2): 3},
            "took 1 edge of adjacency, listed in",
        ),
        ([(0, 1), (1, 2)], [0, 3], False, {(1, 2): 3}, "dropped 1 edge of weight 0"),
        ([(0, 1), (2, 2)], [2, 3], True, {(0, 1): 2}, "dropped 1 self-loop and added up 0 repeated edges"),
        (
            [(0, 1), (0, 1), (1, 0)],
            None,
            True,
            {(0, 1): 1, (1, 0): 1},
            "dropped 0 self-loops and merged 1 repeated edge",
        ),
        ([(0, 1), (0, 1)], [1, 1], False, {(0, 1): 2}, "added up 1 repeated edge"),
        ([], [], True, {}, ""),
        (matrix((0, 1, 2), (1, 0, 2), (0, 1, 1), (1, 0, 1)), None, False, {(0, 1): 3}, "added up 1 repeated edge"),
        (
            matrix((0, 1, 2), (0, 1, 2), (1, 2, 0)),
            None,
            True,
            {(0, 1): 4},
            "dropped 1 edge of weight 0 from adj",
        ),
        (matrix((0, 1, 1), (1, 2, 1)), None, True, {(0, 1): 1, (1, 2): 1}, ""),
        (matrix((0, 1, 2), (1, 0, 2 + 1e-12)), None, False, {(0, 1): 2}, ""),
        (matrix((0, 1, 1), (1, 0, 1), (2, 2, 7)), None, False, {(0, 1): 1}, "dropped 1 self-loop"),
    ],
)
def test_weights_add_up_and_the_rest_is_reported(
    edges: Any, weights: Any, directed: bool, expected: dict[tuple[int, int], float], notes: str
) -> None:
    whole, said = check_adjacency(edges, weights, N, directed)
    both = expected if directed else expected | {(v, u): weight for (u, v), weight in expected.items()}
    assert table(whole) == both
    assert whole.has_canonical_format
    assert (notes in said) if notes else not said


@pytest.mark.parametrize(
    ("edges", "weights", "directed", "kind", "sentence"),
    [
        ([(0, 1)], [-1], False, ValueError, "weight -1 on edge (0, 1), but weights must be finite and not negative"),
        ([(0, 1)], [np.nan], True, ValueError, "weight nan on edge (0, 1)"),
        ([(0, 1)], [np.inf], False, ValueError, "weight inf on edge (0, 1)"),
        ([(0, 1)], [1, 2], False, ValueError, "weights has shape (2,), but must be (1,), one number"),
        ([(0, 1)], ["2"], False, TypeError, "weights has entries of type <U1"),
        ([(0, 1)], 3, False, TypeError, "weights is of type int"),
        ([(0, 1), (1, 0)], [5, 3], False, ValueError, "has weight 5, but (1, 0) has 3; pass directed=True, or if"),
        (np.ones((3, 3), dtype=int), None, False, ValueError, "pass adjacency[:, :2] and weights=adjacency[:, 2]"),
        (
            matrix((0, 1, 2)),
            None,
            False,
            ValueError,
            "entry (0, 1), one of 1, has no counterpart in the other",
        ),
        (matrix((0, 1, 2), (1, 0, 3)), None, False, ValueError, "average them with (adjacency + adjacency.T) / 2"),
        (matrix((0, 1, 2), (1, 0, 2)), [1, 2], False, ValueError, "weights belongs to an edge list"),
        (1j * matrix((0, 1, 1)), None, False, TypeError, "adjacency has entries of type complex128"),
        ([(0, 1), (0, 2)], [1e308, 1e308], False, ValueError, "add up to infinity"),
    ],
)
def test_what_is_refused(edges: Any, weights: Any, directed: bool, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=re.escape(sentence)):
        check_adjacency(edges, weights, N, directed)


@ANY_KIND
def test_the_three_graphs_are_cut_from_the_whole_one(kind: str) -> None:
    graph = any_graph(kind)
    for part in ("training", "validation", "testing"):
        np.testing.assert_array_equal(getattr(graph, part).toarray(), dense(graph, part))
        assert getattr(graph, part).has_canonical_format
    kept = {tuple(ends) for part in ("training", "validation", "testing") for ends in np.argwhere(dense(graph, part))}
    assert graph.n_edges - graph.n_cut_edges == len(kept) // (1 if graph.directed else 2)


def test_parts_leave_the_edges_between_sides_out() -> None:
    found = parts(sp.csr_array(matrix((0, 1, 2.0), (1, 2, 3.0), (2, 3, 4.0))), np.array([0, 0, 1, 1]), 2)
    assert [table(part) for part in found] == [{(1, 0): 2}, {(3, 2): 4}]


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_of_some_edges_has_their_weights(directed: bool) -> None:
    incoming = sp.csr_array(matrix((1, 0, 2.0), (0, 1, 3.0 if directed else 2.0), (2, 1, 5.0), (1, 2, 5.0)))
    edges = np.array([[0, 1], [2, 1]])
    assert edge_weights(incoming, edges).tolist() == [2, 5]
    assert edge_weights(incoming, np.array([[0, 3]])).tolist() == [0]
    back = {} if directed else {(0, 1): 2, (2, 1): 5}
    assert table(graph_of(incoming, edges, directed)) == {(1, 0): 2, (1, 2): 5} | back
    assert graph_of(incoming, edges[:0], directed).nnz == 0
