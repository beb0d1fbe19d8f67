"""Options that say how a graph is read -> arguments of Graph: direction, normalisation, self-loops, setting."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pcwinter.cli.choices import NORMALISATIONS, SETTINGS

if TYPE_CHECKING:
    from pcwinter.graph.graph import Graph

OPTIONS = (
    click.option(
        "--directed/--undirected",
        default=None,
        help="Whether the edges of your own graph have a direction, from source to target. By default as the file "
        "says; edges.csv is undirected.",
    ),
    click.option(
        "--normalisation",
        type=click.Choice(NORMALISATIONS),
        help="Scale the propagation symmetrically by degrees, or make rows sum to 1. By default row if the graph is "
        "directed.",
    ),
    click.option("--self-loop", type=float, help="Weight of every self-loop.  [default: 1]"),
    click.option(
        "--setting",
        type=click.Choice(SETTINGS),
        help="inductive (the default) cuts the edges between training, validation and test nodes; transductive keeps "
        "all edges.",
    ),
)
remaining_option = click.option(
    "--remaining",
    is_flag=True,
    help="With --setting transductive: scored nodes get their rows from the remaining graph, where dropped nodes "
    "receive messages but send none. By default from the whole graph.",
)


def graph_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def given_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Remove these options from all options, and return those that were given, as arguments of `Graph`."""
    names = ("directed", "normalisation", "self_loop", "setting")
    return {name: given for name in names if (given := options.pop(name)) is not None}


def public_graph(name: str, data: Path | None, settings: dict[str, Any], features: str = "row") -> "Graph":
    """A public graph with the settings that were given."""
    from pcwinter.graph.io.datasets import load

    if "directed" in settings:
        given = "directed=True" if settings["directed"] else "--undirected"
        raise ValueError(f"{given} applies to your own graph only, because public graphs are undirected: leave it out")
    graph = load(name, data=data, features=features)
    return graph.replace(**settings) if settings else graph
