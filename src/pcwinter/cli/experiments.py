"""The command line of the experiments: `pcwinter reproduce` and `pcwinter judge`."""

import warnings
from pathlib import Path
from signal import SIGINT
from typing import Any

import click

from pcwinter.cli.choices import DATASETS, EXPERIMENTS, ON, RUN, WHICH, at_home, data_option

on_option = click.option(
    "--on",
    type=click.Choice(ON),
    default="test",
    show_default=True,
    help="Graph of the judge; validation is for choices, and kind to values that come from it.",
)


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
    help="Head of the values; the judge is always softmax.",
)
@on_option
@click.option("--quick", is_flag=True, help="20 orders and 11 points: to see that it works.")
@click.option("--orders", type=int, metavar="N", help="Of every family in the ablation; 200 if not given.")
@click.option("--max-seconds", type=float, metavar="S", help="Bound on every sampled valuation.")
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Processes; they change times and what a time limit allows, nothing else.",
)
@data_option
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def reproduce(name: str, dataset: str, out: Path, seeds: int | None, which: str, **options: Any) -> int:
    """Repeat an experiment of the paper on a graph, and write its tables and figures.

    Results are stored in DIR/DATASET, or in DIR/DATASET-quick with --quick: the same command continues after an
    interruption, and experiments share their values. `fresh-splits` is add-edges with a split drawn anew for every
    seed; `all` runs every experiment.

    \b
    Examples:
      pcwinter reproduce drop-nodes --dataset cora
      pcwinter reproduce drop-nodes --which mixed --dataset citeseer --seeds 5
      pcwinter reproduce all --dataset demo --quick --out runs/quick
    """
    from pcwinter.experiments import reproduce as repeat
    from pcwinter.experiments.study import Interrupted, open_study

    place = out / (f"{dataset}-quick" if options["quick"] else dataset)
    quiet = options["quiet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the values: each run keeps its own
        study = open_study(dataset, place, **options)
        try:
            for text in repeat(study, name, which, seeds):
                if not quiet:
                    click.echo(text)
        except (Interrupted, KeyboardInterrupt) as error:
            click.echo("Interrupted: the same command goes on from here.", err=True)
            return 128 + int(error.args[0] if isinstance(error, Interrupted) else SIGINT)
    return 0


@click.command(short_help="Judge a ranking of your own.")
@click.argument("file", type=RUN, callback=at_home)
@click.option("--dataset", type=click.Choice(DATASETS), required=True, help="The graph that FILE is about.")
@click.option(
    "--which", type=click.Choice(WHICH), default="unlabelled", show_default=True, help="Nodes that are dropped."
)
@click.option("--column", default="value", show_default=True, help="Column of FILE with the values.")
@on_option
@click.option("--seeds", type=int, default=3, show_default=True, help="Of ties, and of the random values beside.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes; they pay off on large graphs.")
@click.option("--out", type=RUN, callback=at_home, help="Directory for curve and figure; none are written by default.")
@data_option
def judge(file: Path, dataset: str, data: Path | None, **options: Any) -> None:
    """Put the values in FILE, by whatever method, on the curves of the experiments.

    FILE is a CSV with the columns node and value, or source, target and value. Nodes are dropped best first, edges
    added best first, those that FILE does not name as if their value were 0. The judge is the softmax head; random
    values, and for nodes their degree, stand beside yours.

    \b
    Examples:
      pcwinter judge runs/cora/nodes.csv --dataset cora --column value_path
      pcwinter judge my_edges.csv --dataset citeseer --out runs/mine
    """
    from pcwinter.estimation.display import Display
    from pcwinter.experiments import judge_file
    from pcwinter.graph.io.datasets import load

    click.echo(judge_file(file, load(dataset, data=data), dataset, **options, say=Display().say))
