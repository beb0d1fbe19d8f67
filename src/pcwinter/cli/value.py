"""pcwinter value: GRAPH -> a run directory."""

import shlex
import sys
import time
import warnings
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pcwinter.cli.choices import (
    COALITIONS,
    DATASETS,
    EMPTY,
    FEATURES,
    ORDERS,
    PRESETS,
    REMAINDERS,
    RUN,
    at_home,
    class_weight_option,
    data_option,
    filter_option,
    metric_option,
)
from pcwinter.cli.graphs import given_settings, graph_options, public_graph

if TYPE_CHECKING:
    from pcwinter.graph.graph import Graph
    from pcwinter.heads.ridge.head import Ridge
    from pcwinter.heads.softmax import Softmax


def _numbers(ctx: click.Context, param: click.Parameter, given: str) -> tuple[float, ...]:
    """Text -> floats; the library checks how many they are, and their range."""
    try:
        return tuple(float(part) for part in given.split(",")) if given else ()
    except ValueError:
        example = "0,0.5,0.5" if param.name == "theta" else "0.5,0.7"
        raise click.BadParameter(f"{given!r} is not a list of numbers such as {example}.", ctx, param) from None


def _graphs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completions for the shell: matching names, then files."""
    names = [CompletionItem(name) for name in DATASETS if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


@click.command()
@click.argument("graph", shell_complete=_graphs)
@click.option(
    "--out",
    type=RUN,
    callback=at_home,
    required=True,
    help="Directory for the results: new or empty, or with --resume the directory of the run.",
)
@click.option(
    "--head",
    type=click.Choice(("ridge", "softmax")),
    show_default="ridge",
    help="Classifier: ridge (closed form), or the paper's softmax, which takes about a thousand times as long.",
)
@click.option(
    "--preset",
    type=click.Choice(PRESETS),
    help="paper: the paper's game (softmax head, induced coalitions, nobody gets the remainder of truncation).",
)
@click.option(
    "--coalition",
    type=click.Choice(COALITIONS),
    show_default="messages",
    help="A coalition is a mean of the messages that have joined, or, as in the paper, a graph of the edges that have.",
)
@filter_option
@click.option(
    "--theta",
    default="",
    callback=_numbers,
    metavar="W0,...,WK",
    help="Any other weights of the powers of the propagation, for the message game, instead of --filter.",
)
@click.option("--hops", type=int, default=2, show_default=True, help="Propagation steps, K.")
@metric_option
@class_weight_option
@click.option(
    "--orders",
    type=click.Choice(ORDERS),
    default="dfs",
    show_default=True,
    help="Orders to average over: these give PC-Winter, PC-Winter-L, PC-Winter-P and Shapley values.",
)
@click.option(
    "--truncation",
    default="",
    callback=_numbers,
    metavar="T1,T2",
    help="Share of children that join silently at each depth, such as 0.5,0.7; none by default.",
)
@click.option(
    "--remainder",
    type=click.Choice(REMAINDERS),
    show_default="silent",
    help="Who gets what silent players change: they themselves, in equal shares, or nobody, as in the paper.",
)
@click.option(
    "--empty",
    type=click.Choice(EMPTY),
    default="nothing",
    show_default=True,
    help="Score of the empty coalition: that of no prediction (accuracy 0), or of the best constant prediction.",
)
@click.option(
    "--permutations", type=int, metavar="N", help="Draw exactly N orders, whether the values have converged or not."
)
@click.option(
    "--max-permutations",
    type=int,
    metavar="N",
    help="Stop after N orders even if the values have not converged.  [default: 2000]",
)
@click.option(
    "--tolerance",
    type=float,
    help="Stop when the values move by less than this share over 20 orders.  [default: 0.05]",
)
@click.option(
    "--max-seconds",
    type=float,
    metavar="S",
    help="Stop after the first order that ends past S seconds. Loading and preparation count, and so do earlier "
    "sessions of a resumed run.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the orders.")
@click.option(
    "--bootstrap",
    type=int,
    default=0,
    metavar="B",
    help="Resample the validation nodes B times, for error bars that cover their choice.",
)
@click.option(
    "--workers",
    type=int,
    default=1,
    show_default=True,
    help="Number of processes; it changes only the time.",
)
@click.option("--memory", type=int, metavar="MB", help="Limit the memory of the ridge head in each process.")
@click.option(
    "--max-players",
    type=int,
    default=10_000_000,
    show_default=True,
    help="Stop with an error if there are more players than this.",
)
@click.option("--penalty", type=float, help="Ridge penalty; calibrated by default.")
@click.option("--bias", type=float, help="Size of the ridge head's constant feature; calibrated by default.")
@click.option("--temperature", type=float, help="Temperature of the ridge head's probabilities; calibrated by default.")
@click.option(
    "--learning-rate",
    type=float,
    help="Learning rate of the softmax head; calibrated by default, or 0.01 if one of the next two is given.",
)
@click.option("--epochs", type=int, help="Epochs of the softmax head; calibrated by default, or 200 as above.")
@click.option(
    "--weight-decay", type=float, help="Weight decay of the softmax head; calibrated by default, or 0.0005 as above."
)
@click.option(
    "--features",
    type=click.Choice(FEATURES),
    default="row",
    show_default=True,
    help="Scaling of the features: rows that sum to 1, standardised columns (for signed features), or none.",
)
@graph_options
@data_option
@click.option("--resume", is_flag=True, help="Continue the run in --out, if there is one.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def value(graph: str, out: Path, data: Path | None, features: str, resume: bool, quiet: bool, **options: Any) -> int:
    """Value every node and edge of GRAPH.

    GRAPH is the name of a public graph (see `pcwinter datasets`), a folder with nodes.csv and edges.csv, or an .npz,
    .graphml or .gml file. You can interrupt a run at any time. With --resume it continues, to the same values.

    \b
    Examples:
      pcwinter value demo --out runs/demo
      pcwinter value my_graph/ --features standard --workers 2 --out runs/mine
      pcwinter value cora --head softmax --truncation 0.5,0.7 --permutations 100 --out runs/softmax
      pcwinter value cora --out runs/cora --resume
    """
    began = time.perf_counter()
    from pcwinter._util.checks import whole_number
    from pcwinter._util.memory import budget
    from pcwinter.estimation.display import Display
    from pcwinter.estimation.stopping import choose
    from pcwinter.runs import directory
    from pcwinter.runs.read import recorded_game
    from pcwinter.values import Request

    head = options.pop("head") or ("softmax" if options["preset"] == "paper" else "ridge")
    _refuse_idle(graph, data, head, **options)
    before = recorded_game(out, resume=resume, preset=options["preset"])
    given = {field.name: options[field.name] for field in fields(Request) if field.name in options}
    Request(head=head, **given | {name: given[name] or known for name, known in before.items()})
    settings = given_settings(options)
    made = _head(head, options)
    budget(options["memory"], whole_number("workers", options["workers"], 1))  # all checked before the graph is loaded
    limits = (options.pop(name) for name in ("permutations", "max_permutations", "tolerance", "max_seconds"))
    stop = choose(None, *limits)
    directory.check_directory(out, resume=resume)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with Display(quiet=quiet, listen=False) as display:
            display.stage(f"loading {graph}")
            loaded = _load(graph, data, features, settings)
        loading = time.perf_counter() - began
        notes = [str(warning.message) for warning in caught]
    if not quiet:
        click.echo(f"{graph}: {loaded!r}".replace("Graph: ", ""))
        for note in notes:
            click.echo(f"warning: {note}")
    with warnings.catch_warnings(), Display(stop, quiet=quiet, again="--resume") as display:
        warnings.simplefilter("ignore")  # warnings about the values are printed below, with the values
        warnings.simplefilter("always", directory.CheckpointWarning)
        warnings.showwarning = lambda message, *_: display.say(f"warning: {message}")
        values = directory.run(
            loaded,
            out,
            name=graph,
            notes=notes,
            loading=loading,
            resume=resume,
            head=made,
            stop=stop | display.interrupted,
            progress=display,
            **options,
        )
    interrupted = values.status == display.sentence
    if not quiet:
        click.echo(f"{values!r}\nWritten to {out}: nodes.csv, edges.csv, players.npz, run.json.")
        if interrupted:
            again = [*sys.argv[1:], *(() if "--resume" in sys.argv else ("--resume",))]
            click.echo(f"Continue with: pcwinter {shlex.join(again)}")
        else:
            place = shlex.quote(str(out))
            click.echo(f"See the values with `pcwinter show {place}`, or write a page with `pcwinter report {place}`.")
    return 128 + display.signal if interrupted else 0


def _refuse_idle(
    graph: str,
    data: Path | None,
    head: str,
    *,
    metric: str | None,
    memory: int | None,
    temperature: float | None,
    truncation: tuple[float, ...],
    remainder: str | None,
    **_: Any,
) -> None:
    """Raise an error if an option would have no effect."""
    if data is not None and (graph == "demo" or graph not in DATASETS):
        raise ValueError("--data is the folder of the public graphs, and this graph is not one of them: leave it out")
    if remainder is not None and not truncation:
        raise ValueError("--remainder has no effect without --truncation: leave it out, or add --truncation")
    if memory is not None and head == "softmax":
        raise ValueError("--memory limits the ridge head, but the head is softmax: leave it out")
    if temperature is not None and metric not in ("probability", "log-likelihood"):
        came = metric or "accuracy"
        raise ValueError(f"--temperature has no effect on the metric {came}: leave it out, or choose another metric")


def _load(graph: str, data: Path | None, features: str, settings: dict[str, Any]) -> "Graph":
    if graph in DATASETS:
        return public_graph(graph, data, settings, features)
    if not graph or not Path(graph).expanduser().exists():
        from pcwinter._util.checks import did_you_mean

        hint = did_you_mean(graph, DATASETS) or f": give a folder or file, or one of {', '.join(DATASETS)}"
        raise FileNotFoundError(f"there is no graph {graph!r}{hint}")
    from pcwinter.graph.io.read import read_graph

    return read_graph(Path(graph), features=features, **settings)


def _head(kind: str, options: dict[str, Any]) -> "str | Ridge | Softmax":
    """The head; removes its options from `options`."""
    names = {
        "ridge": ("penalty", "bias", "temperature"),
        "softmax": ("learning_rate", "epochs", "weight_decay"),
    }
    class_weight = options.pop("class_weight")
    given = {
        head: {name: option for name in options_of if (option := options.pop(name)) is not None}
        for head, options_of in names.items()
    }
    for head, strange in given.items():
        name = next(iter(strange), "").replace("_", "-")
        if name and options["preset"]:
            raise ValueError(f"--{name} contradicts --preset {options['preset']}: leave one of them out")
        if name and head != kind:
            raise ValueError(
                f"--{name} belongs to the {head} head, but the head is {kind}: leave it out, or add --head {head}"
            )
    if class_weight is not None:
        if options["preset"]:
            raise ValueError(f"--class-weight contradicts --preset {options['preset']}: leave one of them out")
        given[kind]["class_weight"] = class_weight
    if not given[kind]:
        return kind
    from pcwinter.heads.ridge.head import Ridge
    from pcwinter.heads.softmax import Softmax

    return Ridge(**given[kind]) if kind == "ridge" else Softmax(**given[kind])
