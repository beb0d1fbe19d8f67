"""CSV file of node or edge values -> the curves of the experiments, for values of any method."""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pcwinter._util.checks import count, function, one_of, whole_number
from pcwinter._util.csv_files import find_fault, records
from pcwinter.baselines.ranking import Ranking, all_edges, near_nodes
from pcwinter.baselines.simple import degree, random_edges, random_nodes
from pcwinter.estimation.display import now_and_then
from pcwinter.experiments.curves import WHICH, Curve, addable, droppable, dropped, judged, to_drop
from pcwinter.experiments.figures import check_figures
from pcwinter.experiments.judge import ON, Judge, check_remaining, judging_head
from pcwinter.experiments.output import Outcome, edges_summary, file_name, markdown, write
from pcwinter.game.class_weights import check_class_weight
from pcwinter.graph.adjacency import edge_weights
from pcwinter.graph.filters import filter_name, filter_weights
from pcwinter.graph.graph import Graph, check_graph


def judge_file(
    file: str | PathLike[str],
    graph: Graph,
    dataset: str,
    which: str = "unlabelled",
    out: str | PathLike[str] | None = None,
    column: str = "value",
    on: str = "test",
    seeds: int = 3,
    workers: int = 1,
    remaining: bool = False,
    metric: str | None = None,
    class_weight: str | None = None,
    filter: str = "sgc",
    say: Callable[[str], None] | None = None,
) -> str:
    """A table that summarises the curve of the values in `file`, next to the curves of random values and of degrees.

    - `file`: a CSV file with the columns node and value, or source, target and value.
    - `graph`: the graph that the file is about, and `dataset` its name in titles.
    - `which`: nodes that are dropped, "unlabelled", "labelled" or "mixed".
    - `out`: a directory for the curves and a figure; nothing is written by default.
    - `column`: the column of `file` with the values.
    - `on`: the graph to score on, "test" or "validation".
    - `seeds`: number of seeds; ties are broken at random.
    - `workers`: number of processes; it changes only the time.
    - `remaining`: in the transductive setting, let the rows of scored nodes come from the remaining graph, where a
      dropped node receives messages but no longer sends any; by default they come from the whole graph.
    - `metric`: what is measured, a name in METRICS or "f1:CLASS"; by default accuracy, or R2 with numeric targets.
    - `class_weight`: "balanced" if rare classes shall count as much as frequent ones in the judge's training.
    - `filter`: how the model that scores rankings weights the powers of the propagation, as in `value`.
    - `say(sentence)`: called with messages about the progress.
    """
    file, out = Path(file), None if out is None else Path(out)
    check_graph(graph)
    one_of("which", which, WHICH)
    one_of("on", on, ON)
    check_remaining(graph, remaining)
    function("say", say, "say(sentence)")
    seeds, workers = whole_number("seeds", seeds, 1), whole_number("workers", workers, 1)
    filter_weights(filter, 2)
    filter = filter_name(filter)
    if out is not None:
        check_figures()
    ranking = read_ranking(file, graph, column)
    if ranking.method in ("random", "degree"):  # the names of the methods it is compared with
        ranking = replace(ranking, method=f"your {ranking.method}")
    edges = ranking.items.ndim == 2
    if edges:
        if which != "unlabelled":
            raise ValueError(f"which={which!r} selects nodes, but {file} has edges: leave it out")
        ranking, text = _all(ranking, graph)
    else:
        ranking, text = _near(ranking, graph, which, file)
    title = f"{dataset} judge {ranking.method}{'' if which == 'unlabelled' else f' {which}'}"
    own = [metric, check_class_weight(class_weight), filter if filter != "sgc" else ""]
    parts = [title, "remaining" if remaining else "", *own, f"on {on}" if on != "test" else ""]
    outcome = Outcome(" ".join(part for part in parts if part), x="edges added" if edges else dropped(which))
    options: dict[str, Any] = {"metric": metric, "head": judging_head(graph, class_weight), "remaining": remaining}
    judge = Judge(graph, on=on, filter=filter, **options)
    outcome.y = f"{on} {judge.metric.name}"
    if out is not None:
        if out.exists() and not out.is_dir():
            raise FileExistsError(f"{out} is a file, expected a directory: choose another path")
        out.mkdir(parents=True, exist_ok=True)
        if taken := sorted(path.name for path in out.iterdir() if path.name.startswith(f"{file_name(outcome.name)}.")):
            raise FileExistsError(f"{out} already contains {taken[0]}: choose another directory, or move the file away")
    known: dict[bytes, Curve] = {}  # without ties, all seeds share one curve
    for seed in range(seeds):
        others = (random_edges(graph, seed=seed),) if edges else (degree(graph), random_nodes(graph, seed=seed))
        for each in (ranking, *others):
            order = addable(graph, each, seed) if edges else droppable(graph, each, which, seed)
            report = now_and_then(say, f"curve of {each.method}, seed {seed}") if say else None
            if order.tobytes() not in known:
                known[order.tobytes()] = judged(judge, order, workers=workers, progress=report)
            outcome.add(each.method, seed, known[order.tobytes()])
    outcome.tables[outcome.name] = edges_summary(outcome) if edges else outcome.summary(rebound=which == "unlabelled")
    text = f"{outcome.name}\n\n{markdown(outcome.tables[outcome.name])}{text}"
    if out is not None:
        files = write(outcome, out)
        text += f"\n\nWritten to {out}: {', '.join(path.name for path in files)}"
    return text


def _all(ranking: Ranking, graph: Graph) -> tuple[Ranking, str]:
    """The ranking of all edges, and a sentence about edges that are missing from the file and get the value 0."""
    every, n = all_edges(graph), graph.n_nodes
    value = np.zeros(len(every))
    value[np.searchsorted(every @ [n, 1], ranking.items @ [n, 1])] = ranking.value
    missing = len(every) - len(ranking.items)
    text = f"\n\n{_missing(missing, 'edge')}" if missing else ""
    return Ranking(ranking.method, every, value, np.full(len(every), np.nan)), text


def _near(ranking: Ranking, graph: Graph, which: str, file: Path) -> tuple[Ranking, str]:
    """The ranking of all nodes near labelled ones; nodes that are missing from the file get the value 0."""
    near = near_nodes(graph, 2)
    dropped = to_drop(graph, near, which)
    if not np.isin(ranking.items, dropped).any():
        raise ValueError(
            f"{file} contains none of the {count(len(dropped), 'node')} that which={which!r} drops: choose other nodes"
        )
    value = np.zeros(graph.n_nodes)
    value[ranking.items] = ranking.value
    outside, missing = int((~np.isin(ranking.items, near)).sum()), int((~np.isin(dropped, ranking.items)).sum())
    text = f"\n\n{_missing(missing, 'node')}" if missing else ""
    if outside:
        verb, far = ("is", "it is") if outside == 1 else ("are", "they are")
        text += f"\n\n{count(outside, 'node')} of the file {verb} ignored: "
        text += f"{far} more than two steps from every labelled node."
    return Ranking(ranking.method, near, value[near], np.full(len(near), np.nan)), text


def _missing(n: int, thing: str) -> str:
    verbs = "is missing from the file and gets" if n == 1 else "are missing from the file and get"
    return f"{count(n, thing)} {verbs} the value 0."


def read_ranking(file: Path, graph: Graph, column: str = "value") -> Ranking:
    """Values of nodes (node, value) or of edges (source, target, value); other columns are ignored.

    `column` is the column with the values. The method is named after the file, and after `column` unless that is
    `value`.
    """
    if column in ("", "node", "source", "target"):
        raise ValueError(f"the column {column!r} holds no values: name the column that does, such as value")
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a directory, expected a CSV file: name the file in it")
    lines = records(file)
    columns = [name.strip() for name in next(lines, (0, []))[1]]
    keys = ["source", "target"] if {"source", "target"} <= set(columns) else ["node"]
    if not {*keys, column} <= set(columns):
        found = ", ".join(columns) or "nothing"
        raise ValueError(f"{file} has the columns {found}: expected node and {column}, or source, target and {column}")
    twice = [name for name in (*keys, column) if columns.count(name) > 1]
    if twice:
        raise ValueError(f"{file} has two columns {twice[0]!r}: keep one of them")
    find_fault(file, columns, {column})
    number = {str(name): k for k, name in enumerate(graph.ids.tolist())}
    items, values, where = [], [], []
    for line, fields in lines:
        row = dict(zip(columns, fields, strict=True))
        names = [row[key] if row[key] in number else row[key].strip() for key in keys]
        unknown = [name for name in names if name not in number]
        if unknown:
            raise ValueError(f"line {line} of {file} names {unknown[0]!r}, which is no node of the graph: correct it")
        pair = [number[name] for name in names]
        items.append(pair if graph.directed else sorted(pair))
        values.append(float(row[column]))
        where.append(line)
    if not items:
        raise ValueError(f"{file} has no line below its header: expected one for every node or edge")
    array = np.array(items, dtype=np.int64)
    _, first = np.unique(array, axis=0, return_index=True)
    if len(first) < len(array):
        again = min({*range(len(array))} - {*first.tolist()})
        thing = "edge" if len(keys) == 2 else "node"
        raise ValueError(f"line {where[again]} of {file} names the {thing} of an earlier line: keep one line of each")
    if len(keys) == 2:
        strange = np.flatnonzero(edge_weights(graph.training, array) == 0)
        if strange.size:
            ends = " and ".join(str(graph.ids[end]) for end in array[strange[0]])
            way = ", in this direction" if graph.directed else ""
            raise ValueError(
                f"line {where[strange[0]]} of {file} names {ends}, which share no edge of the training graph{way}: "
                "remove it"
            )
    else:
        array = array[:, 0]
        held_out = np.flatnonzero(np.isin(array, np.concatenate([graph.val, graph.test])))
        if held_out.size and graph.setting == "inductive":
            line, name = where[held_out[0]], graph.ids[array[held_out[0]]]
            raise ValueError(
                f"line {line} of {file} names {name}, a validation or test node, which is not trained on: remove it"
            )
    method = file.stem if column == "value" else f"{file.stem} {column}".replace("/", "-")
    return Ranking(method, array, np.array(values), np.full(len(values), np.nan))
