"""A user's values -> the same curves: a CSV of nodes or edges, by whatever method."""

import csv
import math
from pathlib import Path

import numpy as np

from pcwinter.baselines import Ranking
from pcwinter.experiments.curves import add_edges, drop_nodes
from pcwinter.experiments.output import Outcome, check_figures, markdown, write
from pcwinter.graph import Graph
from pcwinter.judging import Judge


def judge_file(file: Path, graph: Graph, dataset: str, which: str = "unlabelled", out: Path | None = None) -> str:
    """The summary of the curve, as a table; curve and figure are written into `out`."""
    if out is not None:
        check_figures()
    ranking = read_ranking(file, graph)
    judge = Judge(graph)
    if ranking.items.ndim == 2:
        outcome = Outcome(f"{dataset} add-edges {ranking.method}", x="edges added")
        outcome.add(ranking.method, 0, add_edges(judge, ranking))
    else:
        outcome = Outcome(f"{dataset} drop-nodes {which} {ranking.method}", x=f"{which} nodes dropped")
        outcome.add(ranking.method, 0, drop_nodes(judge, ranking, which=which))
    outcome.tables[outcome.name] = [
        {name: number for name, number in row.items() if not name.endswith("sd")} for row in outcome.summary()
    ]
    text = f"{outcome.name}\n\n{markdown(outcome.tables[outcome.name])}"
    if out is not None:
        files = write(outcome, out)
        text += f"\n\nWritten to {out}: {', '.join(path.name for path in files)}"
    return text


def read_ranking(file: Path, graph: Graph) -> Ranking:
    """Values of nodes (node, value) or of edges (source, target, value); other columns are not looked at."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as opened:
            rows = list(csv.DictReader(opened))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{file} is not a CSV file in UTF-8 ({error}): write it again") from error
    columns = list(rows[0]) if rows else []
    keys = ["source", "target"] if {"source", "target"} <= set(columns) else ["node"]
    if not {*keys, "value"} <= set(columns):
        found = ", ".join(map(str, columns)) or "nothing"
        raise ValueError(f"{file} has the columns {found}: expected node and value, or source, target and value")
    number = {str(name): k for k, name in enumerate(graph.ids.tolist())}
    items, values = [], []
    for line, row in enumerate(rows, 2):
        unknown = [row[key] for key in keys if row[key] not in number]
        if unknown:
            raise ValueError(f"line {line} of {file} names {unknown[0]!r}, which is no node of the graph: correct it")
        try:
            value = float(row["value"])
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"line {line} of {file} has the value {row['value']!r}, expected a finite number")
        items.append(sorted(number[row[key]] for key in keys))
        values.append(value)
    array = np.array(items, dtype=np.int64)
    if len(np.unique(array, axis=0)) < len(array):
        raise ValueError(f"{file} names the same {'edge' if len(keys) == 2 else 'node'} twice: keep one line of each")
    if len(keys) == 2:
        strange = np.flatnonzero(np.asarray(graph.training[array[:, 0], array[:, 1]]).ravel() == 0)
        if strange.size:
            ends = " and ".join(str(graph.ids[end]) for end in array[strange[0]])
            raise ValueError(f"line {strange[0] + 2} of {file} names {ends}, which share no edge of the training graph")
    else:
        array = array[:, 0]
        held_out = np.isin(array, np.concatenate([graph.val, graph.test]))
        if held_out.any():
            line = int(np.flatnonzero(held_out)[0]) + 2
            raise ValueError(
                f"line {line} of {file} names a validation or test node, which is not trained on: remove it"
            )
    return Ranking(file.stem, array, np.array(values), np.full(len(values), np.nan))
