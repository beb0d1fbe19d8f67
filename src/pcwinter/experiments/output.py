"""Outcome -> files: each table as CSV and Markdown, the curves as CSV and as figures."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pcwinter._util.csv_files import csv_text, records
from pcwinter._util.files import AGAIN, replace_file
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.figures import SHARE, Drawing, band, draw

Row: TypeAlias = dict[str, Any]


@dataclass(eq=False)
class Outcome:
    """What an experiment found."""

    name: str  # its title; `file_name` makes the names of its files from it
    x: str = ""  # label of the x axis, after SHARE if curves run over the share of all steps
    y: str = "test accuracy"
    curves: dict[str, dict[int, Curve]] = field(default_factory=dict)  # by method and seed
    tables: dict[str, list[Row]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # sentences that help to read the tables

    def add(self, method: str, seed: int, curve: Curve) -> None:
        """Add the `curve` of a `method` and `seed`."""
        self.curves.setdefault(method, {})[seed] = curve.in_percent if self.x.startswith(SHARE) else curve

    @property
    def drawing(self) -> Drawing:
        """The curves as bands over the seeds."""
        return Drawing(
            self.name, self.x, self.y, {name: band([*found.values()]) for name, found in self.curves.items()}
        )

    def summary(self, *, rebound: bool = True) -> list[Row]:
        """One row per method: the mean of the curve, the mean of its first fifth and, if `rebound`, its final rise."""
        rows = []
        for method, by_seed in self.curves.items():
            curves = list(by_seed.values())
            rows.append(
                {
                    "method": method,
                    "seeds": len(curves),
                    **spread("mean", [curve.mean for curve in curves]),
                    **spread("first 20 %", [curve.early for curve in curves]),
                    **(spread("rebound", [curve.rebound for curve in curves]) if rebound else {}),
                }
            )
        return rows


def edges_summary(outcome: Outcome) -> list[Row]:
    """One row per method: accuracy with 10 % of the edges, and the share of edges that matches the whole graph."""
    rows = outcome.summary(rebound=False)
    for row in rows:
        curves = list(outcome.curves[str(row["method"])].values())
        row |= {
            **spread("at 10 %", [curve.at(0.1) for curve in curves]),
            **spread("share that reaches all", [curve.reach for curve in curves]),
            "whole graph": float(np.mean([curve.accuracy[-1] for curve in curves])),
        }
    return rows


def spread(name: str, numbers: list[float]) -> dict[str, float]:
    """Mean and standard deviation over seeds."""
    return {name: float(np.mean(numbers)), f"{name} sd": float(np.std(numbers, ddof=1)) if len(numbers) > 1 else np.nan}


def file_name(*parts: object) -> str:
    """A name for files: the parts that are not empty, joined by hyphens, without spaces or special characters.

    >>> file_name("cora", "drop-nodes unlabelled", "", "PC-Winter (own)", 0.5)
    'cora-drop-nodes-unlabelled-PC-Winter-own-0.5'
    """
    return re.sub(r"[^\w.]+", "-", " ".join(str(part) for part in parts)).strip("-")


def write(outcome: Outcome, out: Path) -> list[Path]:
    """Write all files of an outcome; returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes] = {}
    stem = file_name(outcome.name)
    if outcome.curves:
        files[f"{stem}.csv"] = _curves_csv(outcome).encode()
        files |= {f"{stem}.{kind}": picture for kind, picture in draw([outcome.drawing]).items()}
    for title, rows in outcome.tables.items():
        files[f"{file_name(title)}.table.csv"] = _table_csv(rows).encode()
        files[f"{file_name(title)}.md"] = (markdown(rows) + "\n").encode()
    if outcome.notes:
        files[f"{stem}.notes.md"] = ("\n".join(outcome.notes) + "\n").encode()
    (out / f"{stem}.notes.md").unlink(missing_ok=True)  # an earlier run may have left notes
    for name, content in files.items():
        replace_file(out / name, content, AGAIN)
    return [out / name for name in files]


def markdown(rows: list[Row]) -> str:
    """A table in Markdown; a column and its standard deviation share one column, and empty columns are left out."""
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if _cell(value, value)))
    names = [name for name in names if name.removesuffix(" sd") == name or name.removesuffix(" sd") not in names]
    lines = [names, ["---" if isinstance(rows[0].get(name), str) else "--:" for name in names]]
    lines += [[_with_spread(row, name) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _with_spread(row: Row, name: str) -> str:
    value = row.get(name)
    spread = _cell(row.get(f"{name} sd"), value)
    return f"{_cell(value, value)} ± {spread}" if spread else _cell(value, value)


def _cell(value: object, like: object) -> str:
    """A number, rounded according to the size of `like`."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float):
        size = abs(like) if isinstance(like, float) else abs(value)
        return f"{value:,.4f}" if size < 10 else f"{value:,.1f}" if size < 1000 else f"{value:,.0f}"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text.replace("|", "\\|")


def read_table(path: Path) -> list[Row]:
    """The rows of a table that `write` wrote, or no rows if the file does not exist."""
    if not path.is_file():
        return []
    names, *rows = (fields for _, fields in records(path))
    return [{name: _value(text) for name, text in zip(names, row, strict=True)} for row in rows]


def _value(text: str) -> Any:
    """The content of a field: a number, a name, or None."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text or None


def _table_csv(rows: list[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value is not None))
    cells = ([row.get(name) for name in names] for row in rows)
    return csv_text([names, *(["" if value != value else value for value in line] for line in cells)])


def _curves_csv(outcome: Outcome) -> str:
    """The curves in the four columns that `pcwinter report` can draw."""
    rows = (
        [method, seed, x, y]
        for method, by_seed in outcome.curves.items()
        for seed, curve in by_seed.items()
        for x, y in zip(curve.count.tolist(), curve.accuracy.tolist(), strict=True)
    )
    return csv_text([["method", "seed", outcome.x, outcome.y], *rows])
