"""Two graphs that the tests of every reader share."""

import pytest

import pcwinter as pw
from graph_forms import make


@pytest.fixture(scope="module")
def demo() -> pw.Graph:
    return pw.load("demo")


@pytest.fixture(scope="module")
def small() -> pw.Graph:
    """Six nodes of two classes."""
    return make(None)
