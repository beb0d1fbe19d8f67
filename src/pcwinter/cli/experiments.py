"""The command line of the experiments: `pcwinter reproduce` and `pcwinter judge`."""

import warnings
from pathlib import Path
from signal import SIGINT
from typing import Any

import click

from pcwinter.cli.choices import DATASETS, EXPERIMENTS, ON, PARTS, RUN, WHICH, at_home, data_option


@click.command(short_help="Repeat an experiment of the paper.")
@click.argument("name", type=click.Choice(EXPERIMENTS))
@click.option("--dataset", type=click.Choice(DATASETS), required=True, help="The graph, by its name.")
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
    default="ridge",
    show_default=True,
    help="Head of the values; rankings are always scored with the softmax head.",
)
@click.option(
    "--on",
    type=click.Choice(PARTS),
    default="test",
    show_default=True,
    help="Graph to score on. While you are still choosing a method, use validation, or choice: a random split for "
    "every seed, with nodes for choosing that are not test nodes.",
)
@click.option("--quick", is_flag=True, help="Use only 20 orders and 11 points, as a first test.")
@click.option(
    "--orders", type=int, metavar="N", help="Number of orders of every family in the ablation.  [default: 200]"
)
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
def reproduce(name: str, dataset: str, out: Path, seeds: int | None, which: str, **options: Any) -> int:
    """Repeat an experiment of the paper on a graph, and write its tables and figures.

    Results are written to DIR/DATASET, or with --quick to DIR/DATASET-quick. If you interrupt a study, the same
    command continues it. Experiments share their values. `fresh-splits` is add-edges with a new random split for
    every seed. `all` runs every experiment.

    \b
    Examples:
      pcwinter reproduce drop-nodes --dataset cora
      pcwinter reproduce drop-nodes --which mixed --dataset citeseer --seeds 5
      pcwinter reproduce fresh-splits --on choice --dataset cora
      pcwinter reproduce all --dataset demo --quick --out runs/quick
    """
    from pcwinter.experiments import reproduce as repeat
    from pcwinter.experiments.study import Interrupted, open_study

    place = out / (f"{dataset}-quick" if options["quick"] else dataset)
    quiet = options["quiet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warnings of the values are recorded with each run
        study = open_study(dataset, place, **options)
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
@click.option("--dataset", type=click.Choice(DATASETS), required=True, help="The graph that FILE is about.")
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
def judge(file: Path, dataset: str, data: Path | None, **options: Any) -> None:
    """Draw the curves of the experiments for the values in FILE, which may come from any method.

    FILE is a CSV file with the columns node and value, or source, target and value. Nodes are dropped best first, edges
    are added best first. Items missing from FILE get the value 0. Rankings are scored with the softmax head, and
    compared with random values and, for nodes, with the degree.

    \b
    Examples:
      pcwinter judge runs/cora/nodes.csv --dataset cora --column value_path
      pcwinter judge my_edges.csv --dataset citeseer --out runs/mine
    """
    from pcwinter.estimation.display import Display
    from pcwinter.experiments import judge_file
    from pcwinter.graph.io.datasets import load

    click.echo(judge_file(file, load(dataset, data=data), dataset, **options, say=Display().say))
