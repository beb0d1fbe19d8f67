"""Values of a small graph, which no test changes."""

import pytest

import pcwinter as pw
from run_graphs import HEAD, graph


@pytest.fixture(scope="module")
def values() -> pw.Values:
    return pw.value(graph(), head=HEAD, permutations=20)
