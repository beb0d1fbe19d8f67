"""`make demo`: value the embedded graph and show what came out."""

import argparse
import sys
import warnings
from pathlib import Path

import pandas as pd

import pcwinter as pw
from pcwinter import runs
from pcwinter.stopping import Progress

SHOWN = 10


def main(arguments: list[str] | None = None) -> int:
    """Value the demo graph, write the files and print the extremes; 2 on wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m pcwinter.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/demo"), help="directory for the results")
    parser.add_argument("--seed", type=int, default=0, help="seed of the orders")
    parser.add_argument("--permutations", type=int, help="draw exactly so many orders instead of converging")
    options = parser.parse_args(arguments)
    try:
        runs.check_directory(options.out)
        graph = pw.load("demo")
        print("Cora, as embedded in this package\n", graph, sep="", end="\n\n")
        print("Valuing. The first run compiles the inner loops, which takes half a minute.\n", flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are part of what is printed below
            values = pw.value(graph, permutations=options.permutations, seed=options.seed, progress=_draw)
        runs.write(values, options.out)
    except (ValueError, OSError) as error:
        print(f"pcwinter: {error}", file=sys.stderr)
        return 2
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(values, end="\n\n")
    nodes = values.nodes().assign(label=lambda table: graph.labels[table["node"]])
    edges = values.edges()
    for title, table, columns in (
        ("nodes", nodes, ["node", "label", "labelled", "players", "value", "stderr"]),
        ("edges", edges, ["source", "target", "value", "stderr"]),
    ):
        ranked = table.sort_values("value", ascending=False, kind="stable")[columns]
        print(f"The {SHOWN} most valuable {title}\n{_text(ranked.head(SHOWN))}\n")
        print(f"The {SHOWN} least valuable {title}\n{_text(ranked.tail(SHOWN)[::-1])}\n")
    print(
        "A value is a share of validation accuracy: +0.0100 makes the model right on one more validation node in 100."
    )
    print("stderr is the standard error from the sampling of orders.")
    print(f"All values: {options.out / 'nodes.csv'} and edges.csv, players.npz, run.json beside it.")
    return 0


def _text(table: pd.DataFrame) -> str:
    """A table of fixed width, values with sign."""
    shown = table.copy()
    if "labelled" in shown:
        shown["labelled"] = shown["labelled"].map({True: "yes", False: ""})
    shown["value"] = shown["value"].map("{:+.4f}".format)
    shown["stderr"] = shown["stderr"].map("{:.4f}".format)
    return shown.to_string(index=False)


def _draw(progress: Progress) -> None:
    """One line on a terminal, nothing elsewhere."""
    if sys.stderr.isatty():
        done = f"{progress.orders} orders, {progress.evaluations:,} utilities"
        print(f"\r{done}, values moved by {progress.change:.1%} (stops below 5%) ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
