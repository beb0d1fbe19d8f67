"""The words that options accept, listed without importing the library; a test compares them with the library."""

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
    """Expand a leading ~ to the user's home, for shells that do not (as in --out=~/runs)."""
    return given and given.expanduser()


RUN = click.Path(path_type=Path)
data_option = click.option("--data", type=RUN, help="Folder of the public graphs; default PCWINTER_DATA.")
