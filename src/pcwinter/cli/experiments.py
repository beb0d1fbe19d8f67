"""The command line of the experiments: `pcwinter reproduce` and `pcwinter judge`."""

import warnings
from pathlib import Path
from signal import SIGINT
from typing import TYPE_CHECKING, Any

import click

from pcwinter.cli.choices import (
    DATASETS,
    EXPERIMENTS,
    FEATURES,
    ON,
    PARTS,
    PRESETS,
    RUN,
    WHICH,
    at_home,
    class_weight_option,
    data_option,
    filter_option,
    metric_option,
)
from pcwinter.cli.graphs import given_settings, graph_options, public_graph, remaining_option

if TYPE_CHECKING:
    from pcwinter.graph.graph import Graph

dataset_option = click.option("--dataset", type=click.Choice(DATASETS), help="A public graph, by its name.")
graph_option = click.option(
    "--graph",
    type=RUN,
    callback=at_home,
    help="Your own graph instead: a folder with nodes.csv and edges.csv, or an .npz, .graphml or .gml file.",
)
features_option = click.option(
    "--features",
    type=click.Choice(FEATURES),
    show_default="row",
    help="Scaling of the features of --graph: rows that sum to 1, standardised columns (for signed features), or none.",
)


@click.command(short_help="Repeat an experiment of the paper.")
@click.argument("name", type=click.Choice(EXPERIMENTS))
@dataset_option
@graph_option
@features_option
@graph_options
@click.option(
    "--out",
    type=RUN,
    callback=at_home,
    default=Path("runs/reproduce"),
    show_default=True,
    help="Directory for all studies.",
)
@click.option("--seeds", type=int, help="Repetitions, with seeds 0, 1, ...: 10 where they take seconds, otherwise 3.")
@click.option(
    "--which", type=click.Choice(WHICH), default="unlabelled", show_default=True, help="Nodes that drop-nodes drops."
)
@click.option(
    "--head",
    type=click.Choice(("ridge", "softmax")),
    show_default="ridge",
    help="Head of the values; rankings are always scored with the softmax head, or with ridge for numeric targets.",
)
@click.option("--preset", type=click.Choice(PRESETS), help="paper: the paper's game with its softmax head.")
@click.option(
    "--on",
    type=click.Choice(PARTS),
    default="test",
    show_default=True,
    help="Graph to score on. While you are still choosing a method, use validation, or choice: a random split for "
    "every seed, with nodes for choosing that are not test nodes.",
)
@remaining_option
@filter_option
@metric_option
@class_weight_option
@click.option("--quick", is_flag=True, help="Use only 20 orders and 11 points, as a first test.")
@click.option(
    "--orders", type=int, metavar="N", help="Number of orders of every family in the ablation.  [default: 200]"
)
@click.option("--points", type=int, metavar="N", help="Points of every curve; fewer take less time.  [default: 101]")
@click.option("--max-seconds", type=float, metavar="S", help="Time limit of every valuation, including preparation.")
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Number of processes; it changes only the time, unless a time limit ends a run.",
)
@data_option
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def reproduce(
    name: str,
    dataset: str | None,
    graph: Path | None,
    features: str | None,
    out: Path,
    seeds: int | None,
    which: str,
    **options: Any,
) -> int:
    """Repeat an experiment of the paper on a public graph or on your own, and write its tables and figures.

    Results are written to DIR/NAME, or with --quick to DIR/NAME-quick. NAME is the public graph, or the name of your
    folder or file without its ending. If you interrupt a study, the same command continues it. Experiments share their
    values. `fresh-splits` is add-edges with a new random split for every seed. `all` runs every experiment. Public
    graphs have the paper's truncation. Your own graph has none.

    \b
    Examples:
      pcwinter reproduce drop-nodes --dataset cora
      pcwinter reproduce drop-nodes --which mixed --dataset citeseer --seeds 5
      pcwinter reproduce fresh-splits --on choice --dataset cora
      pcwinter reproduce drop-nodes --graph my_graph/ --features standard
      pcwinter reproduce all --dataset demo --quick --out runs/quick
    """
    from pcwinter.experiments import reproduce as repeat
    from pcwinter.experiments.opening import open_study
    from pcwinter.experiments.study import Interrupted

    quiet = options["quiet"]
    settings = given_settings(options)
    called, own = _own_graph(dataset, graph, features, options["data"], settings, quiet=quiet)
    options["data"] = None if dataset and own else options["data"]
    place = out / (f"{called}-quick" if options["quick"] else called)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warnings of the values are recorded with each run
        study = open_study(called, place, graph=own, **options)
        try:
            for text in repeat(study, name, which, seeds):
                if not quiet:
                    click.echo(text)
        except (Interrupted, KeyboardInterrupt) as error:
            click.echo("Interrupted: the same command continues from here.", err=True)
            return 128 + int(error.args[0] if isinstance(error, Interrupted) else SIGINT)
    return 0


@click.command(short_help="Score your own ranking.")
@click.argument("file", type=RUN, callback=at_home)
@dataset_option
@graph_option
@features_option
@graph_options
@click.option(
    "--which", type=click.Choice(WHICH), default="unlabelled", show_default=True, help="Nodes that are dropped."
)
@click.option("--column", default="value", show_default=True, help="Column of FILE with the values.")
@click.option(
    "--on",
    type=click.Choice(ON),
    default="test",
    show_default=True,
    help="Graph to score on. Use validation while you are still choosing a method.",
)
@remaining_option
@filter_option
@metric_option
@class_weight_option
@click.option(
    "--seeds",
    type=int,
    default=3,
    show_default=True,
    help="Number of seeds, for breaking ties and for the random baseline.",
)
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Number of processes; more than one helps on large graphs.",
)
@click.option(
    "--out", type=RUN, callback=at_home, help="Directory for the curve and the figure; nothing is written by default."
)
@data_option
def judge(
    file: Path, dataset: str | None, graph: Path | None, features: str | None, data: Path | None, **options: Any
) -> None:
    """Draw the curves of the experiments for the values in FILE, which may come from any method.

    FILE is a CSV file with the columns node and value, or source, target and value. Nodes are dropped best first, edges
    are added best first. Items missing from FILE get the value 0. Rankings are scored with the softmax head, and
    compared with random values and, for nodes, with the degree.

    \b
    Examples:
      pcwinter judge runs/cora/nodes.csv --dataset cora --column value_path
      pcwinter judge my_edges.csv --dataset citeseer --out runs/mine
      pcwinter judge my_values.csv --graph my_graph/
    """
    from pcwinter.estimation.display import Display
    from pcwinter.experiments import judge_file
    from pcwinter.graph.io.datasets import load

    called, own = _own_graph(dataset, graph, features, data, given_settings(options))
    about = load(called, data=data) if own is None else own
    click.echo(judge_file(file, about, called, **options, say=Display().say))


def _own_graph(
    dataset: str | None,
    graph: Path | None,
    features: str | None,
    data: Path | None,
    settings: dict[str, Any],
    *,
    quiet: bool = False,
) -> "tuple[str, Graph | None]":
    """The name of the graph and, unless it is a public graph as it is, the graph.

    Prints warnings about the user's own graph unless `quiet`. A public graph with `settings` gets a name of its own.
    """
    if dataset is not None and graph is not None:
        raise click.UsageError("--dataset and --graph both name a graph: leave one of them out.")
    if dataset is not None:
        if features is not None:
            raise ValueError("--features applies to --graph only: leave it out")
        if not settings:
            return dataset, None
        return "-".join([dataset, *map(str, settings.values())]), public_graph(dataset, data, settings)
    if graph is None:
        raise click.UsageError("Missing option '--dataset' or '--graph'.")
    if data is not None:
        raise ValueError("--data is the folder of the public graphs, and --graph is not one of them: leave it out")
    if not graph.exists():
        hint = f"use --dataset {graph}" if str(graph) in DATASETS else "name a folder or a file"
        raise FileNotFoundError(f"there is no graph at {graph}: {hint}")
    from pcwinter.graph.io.read import read_graph

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found = read_graph(graph, features=features or "row", **settings)
    for warning in () if quiet else caught:
        click.echo(f"warning: {warning.message}")
    place = graph if graph.name.strip(".") else graph.resolve()  # such as . or ..
    return place.name if place.is_dir() else place.stem, found
