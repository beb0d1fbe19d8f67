"""The drawing of a graph: components apart, the same every time."""

import numpy as np

from pcwinter.report.layout import layout


def test_components_are_drawn_apart() -> None:
    ends = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [5, 6], [6, 7]])
    at = layout(10, ends)
    np.testing.assert_array_equal(at, layout(10, ends))
    parts = [at[[0, 1, 2]], at[[3, 4]], at[[5, 6, 7]], at[[8]], at[[9]]]
    for k, part in enumerate(parts):
        for other in parts[:k]:
            below, above = part.max(axis=0) < other.min(axis=0), part.min(axis=0) > other.max(axis=0)
            assert np.any(below | above)
    assert layout(0, np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)
