"""A user's values -> the same curves: a CSV of nodes or edges, by whatever method."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from pcwinter.baselines import Ranking, all_edges, degree, near_nodes, random_edges, random_nodes
from pcwinter.experiments.curves import add_edges, drop_nodes, to_drop
from pcwinter.experiments.figures import check_figures
from pcwinter.experiments.output import Outcome, markdown, write
from pcwinter.graph import Graph
from pcwinter.judging import Judge


def judge_file(
    file: Path,
    graph: Graph,
    dataset: str,
    which: str = "unlabelled",
    out: Path | None = None,
    column: str = "value",
    on: str = "test",
) -> str:
    """The summary of the curve, as a table; curve and figure are written into `out`."""
    if out is not None:
        check_figures()
    ranking = read_ranking(file, graph, column)
    if ranking.method in ("random", "degree"):  # which stand beside it
        ranking = replace(ranking, method=f"your {ranking.method}")
    suffix, edges = "" if on == "test" else f" on {on}", ranking.items.ndim == 2
    if edges:
        if which != "unlabelled":
            raise ValueError(f"{file} has edges, and --which {which} chooses nodes: leave it out")
        outcome = Outcome(f"{dataset} judge edges {ranking.method}{suffix}", x="edges added")
        missing = len(all_edges(graph)) - len(ranking.items)
        text = f"\n\n{missing:,} edges that the file does not name count as 0." if missing else ""
    else:
        ranking, text = _near(ranking, graph, which, file)
        outcome = Outcome(f"{dataset} judge {which} {ranking.method}{suffix}", x=f"{which} nodes dropped")
    if out is not None and (out / f"{outcome.name}.csv").exists():
        raise FileExistsError(f"{out} holds {outcome.name}.csv already: choose another --out, or move it away")
    judge, outcome.y = Judge(graph, on=on), f"{on} accuracy"
    for each in (ranking, random_edges(graph)) if edges else (ranking, degree(graph), random_nodes(graph)):
        outcome.add(each.method, 0, add_edges(judge, each) if edges else drop_nodes(judge, each, which=which))
    outcome.tables[outcome.name] = [
        {name: number for name, number in row.items() if not name.endswith("sd") and name != "seeds"}
        for row in outcome.summary()
    ]
    text = f"{outcome.name}\n\n{markdown(outcome.tables[outcome.name])}{text}"
    if out is not None:
        files = write(outcome, out)
        text += f"\n\nWritten to {out}: {', '.join(path.name for path in files)}"
    return text


def _near(ranking: Ranking, graph: Graph, which: str, file: Path) -> tuple[Ranking, str]:
    """The ranking of the nodes that the experiments drop: those that the file does not name have the value 0."""
    near = near_nodes(graph, 2)
    dropped = to_drop(graph, near, which)
    if not np.isin(ranking.items, dropped).any():
        raise ValueError(f"{file} names none of the {len(dropped):,} {which} nodes that are dropped: choose --which")
    value = np.zeros(graph.n_nodes)
    value[ranking.items] = ranking.value
    outside, missing = int((~np.isin(ranking.items, near)).sum()), int((~np.isin(dropped, ranking.items)).sum())
    text = f"\n\n{missing:,} nodes that the file does not name count as 0." if missing else ""
    if outside:
        text += f"\n\n{outside:,} nodes of the file are not dropped: no labelled node is within two steps."
    return Ranking(ranking.method, near, value[near], np.full(len(near), np.nan)), text


def read_ranking(file: Path, graph: Graph, column: str = "value") -> Ranking:
    """Values of nodes (node, value) or of edges (source, target, value); other columns are not looked at.

    `column` is the one with the values; if it is not `value`, the method is named by the file and by it.
    """
    try:
        with file.open(newline="", encoding="utf-8-sig") as opened:
            reader = csv.DictReader(opened, skipinitialspace=True)
            rows = [(reader.line_num, row) for row in reader]
            columns = list(reader.fieldnames or [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{file} is not a CSV file in UTF-8 ({error}): write it again") from error
    if column in ("", "node", "source", "target"):
        raise ValueError(f"the column {column!r} holds no values: name the column that does, such as value")
    keys = ["source", "target"] if {"source", "target"} <= set(columns) else ["node"]
    if not {*keys, column} <= set(columns):
        found = ", ".join(map(str, columns)) or "nothing"
        raise ValueError(f"{file} has the columns {found}: expected node and {column}, or source, target and {column}")
    twice = [name for name in (*keys, column) if columns.count(name) > 1]
    if twice:
        raise ValueError(f"{file} has two columns {twice[0]!r}: keep one of them")
    if not rows:
        raise ValueError(f"{file} has no line below its header: expected one for every node or edge")
    number = {str(name): k for k, name in enumerate(graph.ids.tolist())}
    items, values = [], []
    for line, row in rows:
        unknown = [row[key] for key in keys if row[key] not in number]
        if unknown:
            raise ValueError(f"line {line} of {file} names {unknown[0]!r}, which is no node of the graph: correct it")
        try:
            value = float(row[column])
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            found = "no value" if row[column] is None else f"the value {row[column]!r}"
            raise ValueError(f"line {line} of {file} has {found}, expected a finite number")
        items.append(sorted(number[row[key]] for key in keys))
        values.append(value)
    array = np.array(items, dtype=np.int64)
    if len(np.unique(array, axis=0)) < len(array):
        raise ValueError(f"{file} names the same {'edge' if len(keys) == 2 else 'node'} twice: keep one line of each")
    if len(keys) == 2:
        strange = np.flatnonzero(np.asarray(graph.training[array[:, 0], array[:, 1]]).ravel() == 0)
        if strange.size:
            ends = " and ".join(str(graph.ids[end]) for end in array[strange[0]])
            raise ValueError(
                f"line {rows[strange[0]][0]} of {file} names {ends}, which share no edge of the training graph"
            )
    else:
        array = array[:, 0]
        held_out = np.isin(array, np.concatenate([graph.val, graph.test]))
        if held_out.any():
            line = rows[int(np.flatnonzero(held_out)[0])][0]
            raise ValueError(
                f"line {line} of {file} names a validation or test node, which is not trained on: remove it"
            )
    method = file.stem if column == "value" else f"{file.stem} {column}".replace("/", "-")
    return Ranking(method, array, np.array(values), np.full(len(values), np.nan))
