"""The command line: reads options, draws progress, says what is wrong in one sentence.

Only click is imported here at once; each command imports what it needs, so that --help answers at once.
"""

import os
import re
import shlex
import sys
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pcwinter._choices import DATASETS, FEATURES, METRICS, ORDERS, RUN, at_home, data_option
from pcwinter.cli_experiments import judge, reproduce

if TYPE_CHECKING:
    from pcwinter.graph import Graph
    from pcwinter.heads.ridge import Ridge
    from pcwinter.heads.softmax import Softmax

EXPECTED = (ValueError, TypeError, OSError, FloatingPointError, RuntimeError, MemoryError)  # said in one sentence


def _ratios(ctx: click.Context, param: click.Parameter, given: str) -> tuple[float, ...]:
    """Text -> floats; what is admitted is checked where all options are."""
    try:
        return tuple(float(part) for part in given.split(",")) if given else ()
    except ValueError:
        raise click.BadParameter(f"{given!r} is not a list of numbers such as 0.5,0.7.", ctx, param) from None


def _graphs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For the shell: names that begin so, and then files."""
    names = [CompletionItem(name) for name in DATASETS if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


class InOrder(click.Group):
    """A group that lists its commands in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of this file."""
        return list(self.commands)


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="pcwinter", message="pcwinter %(version)s")
def cli() -> None:
    """What every node and every edge of a graph is worth to a graph neural network (PC-Winter values).

    \b
      pcwinter value cora --out runs/cora      value a graph until the values have converged
      pcwinter show runs/cora                  look at the values in the terminal
      pcwinter report runs/cora                write runs/cora/report.html, a page to hand on
    """


@cli.command()
@click.argument("graph", shell_complete=_graphs)
@click.option(
    "--out",
    type=RUN,
    callback=at_home,
    required=True,
    help="Directory for the results; new, empty, or with --resume the run's own.",
)
@click.option(
    "--head",
    type=click.Choice(("ridge", "softmax")),
    default="ridge",
    show_default=True,
    help="Classifier: closed form, or the paper's, which takes about a thousand times as long.",
)
@click.option("--hops", type=int, default=2, show_default=True, help="Propagation steps, K.")
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="accuracy",
    show_default=True,
    help="What is measured on the validation nodes.",
)
@click.option(
    "--orders",
    type=click.Choice(ORDERS),
    default="dfs",
    show_default=True,
    help="Orders to average over: PC-Winter, PC-Winter-L, PC-Winter-P, Shapley.",
)
@click.option(
    "--truncation",
    default="",
    callback=_ratios,
    metavar="T1,T2",
    help="Share of children left out at each depth, such as 0.5,0.7; none by default.",
)
@click.option("--permutations", type=int, metavar="N", help="Draw exactly N orders instead of converging.")
@click.option(
    "--max-permutations",
    type=int,
    default=2_000,
    show_default=True,
    metavar="N",
    help="Give up converging after N orders.",
)
@click.option(
    "--tolerance",
    type=float,
    default=0.05,
    show_default=True,
    help="Converged when the values move by less than this share over 20 orders.",
)
@click.option(
    "--max-seconds",
    type=float,
    metavar="S",
    help="Stop after the block of orders that ends past S seconds of estimating, all sessions together.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the orders.")
@click.option(
    "--bootstrap",
    type=int,
    default=0,
    metavar="B",
    help="Error bars for the choice of validation nodes, from B resamplings.",
)
@click.option(
    "--workers", type=int, default=1, show_default=True, help="Processes; they change the time and nothing else."
)
@click.option("--memory", type=int, metavar="MB", help="Bound on what the ridge head takes in each process.")
@click.option(
    "--max-players", type=int, default=10_000_000, show_default=True, help="Refuse a graph with more players than this."
)
@click.option("--penalty", type=float, help="Ridge penalty; calibrated by default.")
@click.option("--bias", type=float, help="Size of the ridge head's constant feature; calibrated by default.")
@click.option("--temperature", type=float, help="Temperature of the ridge head's probabilities; calibrated by default.")
@click.option("--learning-rate", type=float, help="Of the softmax head; the graph's own by default.")
@click.option("--epochs", type=int, help="Of the softmax head; the graph's own by default.")
@click.option("--weight-decay", type=float, help="Of the softmax head; the graph's own by default.")
@click.option(
    "--features",
    type=click.Choice(FEATURES),
    default="row",
    show_default=True,
    help="Scaling: rows that sum to 1, standardised columns (for signed features), or none.",
)
@data_option
@click.option("--resume", is_flag=True, help="Go on with the run in --out, if there is one.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def value(graph: str, out: Path, data: Path | None, features: str, resume: bool, quiet: bool, **options: Any) -> int:
    """Value every node and edge of GRAPH.

    GRAPH is the name of a public graph (see `pcwinter datasets`), a folder with nodes.csv and edges.csv, or an .npz,
    .graphml or .gml file. The run can be interrupted at any time, and goes on with --resume to the same numbers.

    \b
    Examples:
      pcwinter value demo --out runs/demo
      pcwinter value my_graph/ --features standard --workers 2 --out runs/mine
      pcwinter value cora --head softmax --truncation 0.5,0.7 --permutations 100 --out runs/softmax
      pcwinter value cora --out runs/cora --resume
    """
    from pcwinter import runs
    from pcwinter.progress import Display

    head = _head(options)
    runs.check_directory(out, resume=resume)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        loaded = _load(graph, data, features)
        notes = [str(warning.message) for warning in caught]
    if not quiet:
        click.echo(f"{graph}: {loaded!r}".replace("Graph: ", ""))
        for note in notes:
            click.echo(f"warning: {note}")
    stop = {name: options[name] for name in ("permutations", "max_permutations", "tolerance", "max_seconds")}
    with warnings.catch_warnings(), Display(**stop, quiet=quiet) as display:
        warnings.simplefilter("ignore")  # what the values warn of is part of what is printed below
        warnings.simplefilter("always", runs.CheckpointWarning)
        warnings.showwarning = lambda message, *_: display.say(f"warning: {message}")
        values = runs.run(loaded, out, name=graph, notes=notes, resume=resume, head=head, progress=display, **options)
    interrupted = values.status == display.sentence
    if not quiet:
        click.echo(f"{values!r}\nWritten to {out}: nodes.csv, edges.csv, players.npz, run.json.")
        if interrupted:
            again = [*sys.argv[1:], *(() if "--resume" in sys.argv else ("--resume",))]
            click.echo(f"Go on with: pcwinter {shlex.join(again)}")
        else:
            place = shlex.quote(str(out))
            click.echo(f"Look at it with `pcwinter show {place}`, or make a page of it with `pcwinter report {place}`.")
    return 128 + display.signal if interrupted else 0


@cli.command(short_help="Print the best and the worst, by class, by degree.")
@click.argument("run", type=RUN, callback=at_home)
@click.option("--top", type=int, default=10, show_default=True, help="Lines at each end of a table.")
@click.option(
    "--aggregate",
    type=click.Choice(("own", "path")),
    default="own",
    show_default=True,
    help="Node values: of the node's own players, or of all through it.",
)
def show(run: Path, top: int, aggregate: str) -> None:
    """Print the most and the least valuable nodes and edges of RUN, and values by class and by degree.

    \b
    Examples:
      pcwinter show runs/cora
      pcwinter show runs/cora --top 30 --aggregate path
    """
    from pcwinter import results, terminal

    click.echo(terminal.summary(results.read(run), top, aggregate))


@cli.command(short_help="Say how far two runs agree.")
@click.argument("a", type=RUN, callback=at_home)
@click.argument("b", type=RUN, callback=at_home)
@click.option("--top", type=int, default=10, show_default=True, help="Lines in the tables of differences.")
def compare(a: Path, b: Path, top: int) -> None:
    """Compare the values of two runs: rank correlation, overlap of the best, differences with error bars.

    \b
    Example:
      pcwinter compare runs/ridge runs/softmax
    """
    from pcwinter import results, terminal

    click.echo(terminal.comparison(results.read(a), results.read(b), top))


@cli.command(short_help="Write a page to explore and to hand on.")
@click.argument("run", type=RUN, callback=at_home)
def report(run: Path) -> None:
    """Write report.html into RUN: one page with everything in it, to read, to explore and to hand on.

    \b
    Example:
      pcwinter report runs/cora
    """
    from pcwinter import results
    from pcwinter.checkpoints import replace_file
    from pcwinter.report import page

    path = run / "report.html"
    replace_file(path, page(results.read(run)).encode())
    click.echo(f"Written: {path}. Open it in a browser.")


cli.add_command(reproduce)
cli.add_command(judge)


@cli.command(short_help="List the public graphs.")
@data_option
def datasets(data: Path | None) -> None:
    """List the public graphs that have a name: which are at hand, and where they come from.

    \b
    Example:
      pcwinter datasets --data ~/graphs
    """
    from pcwinter import terminal

    click.echo(terminal.known_graphs(data))


@cli.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print what makes SHELL complete commands, options and graphs.

    \b
    Example, in ~/.bashrc:
      eval "$(pcwinter completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "pcwinter", "_PCWINTER_COMPLETE").source())


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code: 2 with one sentence when something is wrong."""
    try:
        code = cli.main(arguments, prog_name="pcwinter", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return 0
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "pcwinter"
        return _complain(f"{where}: {' '.join(error.format_message().split())} See `{where} --help`.")
    except click.Abort:
        return _complain("pcwinter: interrupted.", 130)
    except BrokenPipeError:  # such as `pcwinter show | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except EXPECTED as error:
        if os.environ.get("PCWINTER_TRACEBACK"):
            traceback.print_exc()
        sentence = _as_options(" ".join(str(error).split())) or type(error).__name__
        if isinstance(error, OSError) and error.strerror and error.filename is not None:
            sentence = f"{error.filename} cannot be used ({error.strerror.lower()}): check or change the path"
        return _complain(f"pcwinter: {sentence}")
    return int(code or 0)


def _as_options(sentence: str) -> str:
    """A sentence of the library in the words of the command line: max_permutations is --max-permutations here."""
    names = "|".join(parameter.name for parameter in value.params if parameter.name and "_" in parameter.name)
    return re.sub(rf"\b({names})\b", lambda found: f"--{found[0].replace('_', '-')}", sentence)


def _complain(sentence: str, code: int = 2) -> int:
    click.echo(sentence, err=True)
    return code


def _load(graph: str, data: Path | None, features: str) -> "Graph":
    if graph in DATASETS:
        from pcwinter.datasets import load

        return load(graph, data=data, features=features)
    if not Path(graph).expanduser().exists():
        raise FileNotFoundError(f"there is no graph {graph!r}: name a folder or file, or one of {', '.join(DATASETS)}")
    from pcwinter.interop import read_graph

    return read_graph(Path(graph), features=features)


def _head(options: dict[str, Any]) -> "str | Ridge | Softmax":
    """The head from its options, which are taken out of the others."""
    kind = options.pop("head")
    names = {
        "ridge": ("penalty", "bias", "temperature"),
        "softmax": ("learning_rate", "epochs", "weight_decay"),
    }
    given = {
        head: {name: option for name in options_of if (option := options.pop(name)) is not None}
        for head, options_of in names.items()
    }
    for head, strange in given.items():
        if head != kind and strange:
            name = next(iter(strange)).replace("_", "-")
            raise ValueError(
                f"--{name} belongs to the {head} head, but the head is {kind}: leave it out, or add --head {head}"
            )
    if not given[kind]:
        return str(kind)
    from pcwinter.heads.ridge import Ridge
    from pcwinter.heads.softmax import Softmax

    return Ridge(**given[kind]) if kind == "ridge" else Softmax(**given[kind])
