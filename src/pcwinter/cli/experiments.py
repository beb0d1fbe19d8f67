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
    help="Graph to score on. Use validation while you are still choosing a method.",
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
    help="Head of the values; rankings are always scored with the softmax head.",
)
@on_option
@click.option("--quick", is_flag=True, help="20 orders and 11 points, to see that it works.")
@click.option(
    "--orders", type=int, metavar="N", help="Number of orders of every family in the ablation.  [default: 200]"
)
@click.option("--max-seconds", type=float, metavar="S", help="Time limit of every sampled valuation.")
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Number of processes; it changes times, and how far a time limit reaches.",
)
@data_option
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def reproduce(name: str, dataset: str, out: Path, seeds: int | None, which: str, **options: Any) -> int:
    """Repeat an experiment of the paper on a graph, and write its tables and figures.

    Results are kept in DIR/DATASET, with --quick in DIR/DATASET-quick. After an interruption the same command
    continues, and experiments share their values. `fresh-splits` is add-edges with a new random split for every
    seed. `all` runs every experiment.

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
            click.echo("Interrupted: the same command continues from here.", err=True)
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
@click.option(
    "--seeds",
    type=int,
    default=3,
    show_default=True,
    help="Number of seeds, for ties and for the random values to compare with.",
)
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Number of processes; more than one helps on large graphs.",
)
@click.option("--out", type=RUN, callback=at_home, help="Directory for curve and figure; by default none is written.")
@data_option
def judge(file: Path, dataset: str, data: Path | None, **options: Any) -> None:
    """Draw the curves of the experiments for the values in FILE, from any method.

    FILE is a CSV with the columns node and value, or source, target and value. Nodes are dropped best first, edges are
    added best first. Items missing from FILE get the value 0. Rankings are scored with the softmax head, next to random
    values and, for nodes, their degree.

    \b
    Examples:
      pcwinter judge runs/cora/nodes.csv --dataset cora --column value_path
      pcwinter judge my_edges.csv --dataset citeseer --out runs/mine
    """
    from pcwinter.estimation.display import Display
    from pcwinter.experiments import judge_file
    from pcwinter.graph.io.datasets import load

    click.echo(judge_file(file, load(dataset, data=data), dataset, **options, say=Display().say))
