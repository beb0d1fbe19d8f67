"""The words that options accept, without importing the library; a test compares the two."""

from pathlib import Path

import click

DATASETS = ("demo", "cora", "citeseer", "pubmed", "amazon-photo", "amazon-computers", "coauthor-physics")
METRICS = ("accuracy", "macro-f1", "probability", "log-likelihood")
ORDERS = ("dfs", "level", "precedence", "free")
FEATURES = ("row", "standard", "none")
ON = ("test", "validation")
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


def at_home(ctx: click.Context, param: click.Parameter, given: Path | None) -> Path | None:
    """A leading ~ is the user's home, also where the shell does not say so."""
    return given and given.expanduser()


RUN = click.Path(path_type=Path)
data_option = click.option("--data", type=RUN, help="Folder of the public graphs; default PCWINTER_DATA.")
