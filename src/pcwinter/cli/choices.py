"""The words that options accept, listed without importing the library; a test compares them with the library."""

from pathlib import Path

import click

DATASETS = ("demo", "cora", "citeseer", "pubmed", "amazon-photo", "amazon-computers", "coauthor-physics")
METRICS = (
    *("accuracy", "balanced-accuracy", "macro-f1", "roc-auc", "average-precision", "probability", "log-likelihood"),
    *("r2", "neg-mse"),
)
CLASS_WEIGHTS = ("balanced",)
COALITIONS = ("induced", "messages")
REMAINDERS = ("silent", "nobody")
PRESETS = ("paper",)
EMPTY = ("nothing", "constant")
FILTERS = ("sgc", "appnp:ALPHA", "mean", "hops")
ORDERS = ("dfs", "level", "precedence", "free")
FEATURES = ("row", "standard", "none")
NORMALISATIONS = ("symmetric", "row")
SETTINGS = ("inductive", "transductive")
ON = ("test", "validation")
PARTS = (*ON, "choice")
WHICH = ("unlabelled", "labelled", "mixed")
EXPERIMENTS = (
    "drop-nodes",
    "add-edges",
    "fresh-splits",
    "ablation",
    "permutations",
    "truncation",
    "efficiency",
    "counts",
    "all",
)


class Metric(click.Choice[str]):
    """One of METRICS, or f1: and the name of a class."""

    def __init__(self) -> None:
        super().__init__([*METRICS, "f1:CLASS"])

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name; whether the class exists is known when the graph is loaded."""
        return value if value.startswith("f1:") and value != "f1:" else super().convert(value, param, ctx)


def at_home(ctx: click.Context, param: click.Parameter, given: str | None) -> Path | None:
    """The path, with a leading ~ expanded for shells that do not (as in --out=~/runs)."""
    if given == "":
        raise click.BadParameter("the path is empty: name a file or a directory.")
    return None if given is None else Path(given).expanduser()


RUN = click.Path()
filter_option = click.option(
    "--filter",
    default="sgc",
    show_default=True,
    metavar="|".join(FILTERS),
    help="How the model weights the powers of the propagation: sgc takes the last one alone, appnp decreasing "
    "weights with the teleport probability ALPHA, mean equal ones. hops puts the powers side by side.",
)
data_option = click.option(
    "--data", type=RUN, callback=at_home, help="Folder of the public graphs; default PCWINTER_DATA."
)
metric_option = click.option(
    "--metric",
    type=Metric(),
    metavar="METRIC",
    show_default="accuracy, or r2 for numeric targets",
    help=f"What to measure: {', '.join(METRICS)}, or f1:CLASS, the F1 score of the class called CLASS. r2 and neg-mse "
    "are for numeric targets. Averages over classes are over those that occur among the scored nodes.",
)
class_weight_option = click.option(
    "--class-weight",
    type=click.Choice(CLASS_WEIGHTS),
    help="balanced: rare classes count as much as frequent ones when the classifier is trained.",
)
