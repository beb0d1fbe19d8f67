"""pcwinter show, compare, report, datasets, completion: look at runs and at the public graphs."""

from pathlib import Path

import click

from pcwinter.cli.choices import RUN, at_home, data_option


@click.command(short_help="Print the highest and lowest values of a run.")
@click.argument("run", type=RUN, callback=at_home)
@click.option("--top", type=int, default=10, show_default=True, help="Number of lines at each end of a table.")
@click.option(
    "--by",
    "--aggregate",
    "by",
    type=click.Choice(("own", "path", "class")),
    default="own",
    show_default=True,
    help="own: sum the players of the node or edge itself; path: all players whose path contains it; class: like own, "
    "but compare every edge with the average of its class.",
)
def show(run: Path, top: int, by: str) -> None:
    """Print the most and the least valuable nodes and edges of RUN, and values by class and by degree.

    \b
    Examples:
      pcwinter show runs/cora
      pcwinter show runs/cora --top 30 --by path
    """
    from pcwinter.cli import tables
    from pcwinter.runs.read import read

    click.echo(tables.summary(read(run), top, by))


@click.command(short_help="Compare the values of two runs.")
@click.argument("a", type=RUN, callback=at_home)
@click.argument("b", type=RUN, callback=at_home)
@click.option("--top", type=int, default=10, show_default=True, help="Number of lines in the tables of differences.")
def compare(a: Path, b: Path, top: int) -> None:
    """Compare the values of two runs: rank correlation, overlap of the top ranks, differences with error bars.

    \b
    Example:
      pcwinter compare runs/ridge runs/softmax
    """
    from pcwinter.cli import tables
    from pcwinter.runs.read import read

    click.echo(tables.comparison(read(a), read(b), top))


@click.command(short_help="Write an HTML report of a run.")
@click.argument("run", type=RUN, callback=at_home)
def report(run: Path) -> None:
    """Write report.html into RUN: one self-contained page to explore and to share.

    \b
    Example:
      pcwinter report runs/cora
    """
    from pcwinter._util.files import replace_file
    from pcwinter.report import page
    from pcwinter.runs.read import read

    path = run / "report.html"
    replace_file(path, page(read(run)).encode())
    click.echo(f"Written: {path}. Open it in a browser.")


@click.command(short_help="List the public graphs.")
@data_option
def datasets(data: Path | None) -> None:
    """List the public graphs, whether they are on this machine, and where they come from.

    \b
    Example:
      pcwinter datasets --data ~/graphs
    """
    from pcwinter.cli import tables

    click.echo(tables.known_graphs(data))


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the completion script for SHELL. It completes commands, options and graphs.

    \b
    Example, in ~/.bashrc:
      eval "$(pcwinter completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(click.get_current_context().find_root().command, {}, "pcwinter", "_PCWINTER_COMPLETE").source())
