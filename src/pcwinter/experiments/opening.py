"""Dataset or graph, and settings -> Study, after checking them."""

from os import PathLike
from pathlib import Path

from pcwinter._util.checks import did_you_mean, number, one_of, whole_number
from pcwinter.experiments.curves import POINTS
from pcwinter.experiments.judge import check_remaining
from pcwinter.experiments.study import PARTS, QUICK_POINTS, Study
from pcwinter.game.class_weights import check_class_weight
from pcwinter.game.metrics import metric_for
from pcwinter.graph.filters import filter_name, filter_weights
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.graph.io.datasets import DATASETS, load
from pcwinter.heads.graph_game import suited_head
from pcwinter.heads.ridge.head import Ridge
from pcwinter.values import PRESETS


def open_study(
    dataset: str,
    out: str | PathLike[str],
    *,
    graph: Graph | None = None,
    data: str | PathLike[str] | None = None,
    head: str | None = None,
    preset: str | None = None,
    workers: int = 1,
    quick: bool = False,
    max_seconds: float | None = None,
    orders: int | None = None,
    points: int | None = None,
    on: str = "test",
    remaining: bool = False,
    metric: str | None = None,
    class_weight: str | None = None,
    filter: str = "sgc",
    quiet: bool = False,
) -> Study:
    """The study of a public graph, with the paper's truncation ratios, or of your own graph, without truncation.

    - `dataset`: a name in `DATASETS`, or a name for your own graph.
    - `out`: the directory of the results; an interrupted study continues there, if the graph is the same.
    - `graph`: your own graph. Its tables have no numbers of the paper, and its softmax head has the default parameters.
    - `data`: the folder with the files of the public graphs, as in `load`.
    - `head`: the head of the values, "ridge" (the default) or "softmax".
    - `preset`: "paper" for the paper's game with its softmax head.
    - `workers`: number of processes; it changes only the time.
    - `quick`: use only 20 orders and 11 points, as a first test.
    - `max_seconds`: limit on the time of every sampled valuation, including preparation.
    - `orders`: number of orders of every family in the ablation.
    - `points`: points of every curve, 101 by default; fewer take less time.
    - `on`: the graph that rankings are scored on, "test", "validation" or "choice". With "choice", every seed has a
      random split of its own, and rankings are scored on its choice nodes: see `pcwinter.graph.splits.choice_split`.
    - `remaining`: let the rows of scored nodes come from the remaining graph, see `Judge`.
    - `metric`: what values and scores measure, a name in METRICS or "f1:CLASS"; by default accuracy, or R2 with numeric
      targets.
    - `class_weight`: "balanced" if rare classes shall count as much as frequent ones wherever a head is trained.
    - `filter`: how powers of the propagation are weighted, as in `value`; by the values, the baselines and the model
      that scores rankings.
    - `quiet`: print nothing.
    """
    known = DATASETS.get(dataset)
    if graph is not None:
        check_graph(graph)
        if known:
            raise ValueError(f"graph is called {dataset!r}, which is the name of a public graph: rename it")
        if data is not None:
            raise ValueError("data is the folder of the public graphs, and this graph is not one of them: leave it out")
    elif known is None:
        hint = did_you_mean(dataset, DATASETS) or f": choose one of {', '.join(DATASETS)}"
        raise ValueError(f"there is no dataset {dataset!r}{hint}")
    one_of("on", on, PARTS)
    if preset is not None:
        one_of("preset", preset, PRESETS)
        if head is not None:
            raise ValueError(f"preset={preset!r} includes the head, but head is {head!r}: leave one of them out")
        if filter != "sgc":
            raise ValueError(f"preset={preset!r} means the filter sgc, but filter is {filter!r}: leave one of them out")
        if metric is not None or class_weight is not None:
            raise ValueError(
                f"preset={preset!r} measures accuracy without class weights: leave out metric, class_weight"
            )
    head = "softmax" if preset else one_of("head", head or "ridge", ("ridge", "softmax"))
    filter_weights(filter, 2)
    weighted = check_class_weight(class_weight)
    found = load(dataset, data=data) if graph is None else graph
    metric_for(metric, found)
    check_remaining(found, remaining)
    suited_head(Ridge(class_weight=weighted) if head == "ridge" else head, found)
    return Study(
        dataset=dataset,
        graph=found,
        out=Path(out),
        head=head,
        preset=preset,
        truncation=known.truncation if known else (),
        workers=whole_number("workers", workers, 1),
        quick=quick,
        max_seconds=None if max_seconds is None else number("max_seconds", max_seconds),
        orders=None if orders is None else whole_number("orders", orders, 1),
        points=(QUICK_POINTS if quick else POINTS) if points is None else whole_number("points", points, 2),
        on=on,
        remaining=remaining,
        metric=metric,
        class_weight=weighted,
        filter=filter_name(filter),
        quiet=quiet,
    )
