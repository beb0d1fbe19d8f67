"""Outcome -> files: each table as CSV and Markdown, the curves as CSV and as figures."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pcwinter._util.csv_files import csv_text, records
from pcwinter._util.files import replace_file
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.figures import Drawing, band, draw

Row: TypeAlias = dict[str, Any]


@dataclass(eq=False)
class Outcome:
    """What an experiment found."""

    name: str
    x: str = ""  # what the curves are over
    y: str = "test accuracy"
    curves: dict[str, dict[int, Curve]] = field(default_factory=dict)  # by method and seed
    tables: dict[str, list[Row]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what one must know to read the tables, in sentences

    def add(self, method: str, seed: int, curve: Curve) -> None:
        """One more curve."""
        self.curves.setdefault(method, {})[seed] = curve

    @property
    def drawing(self) -> Drawing:
        """Its curves, seeds taken together."""
        return Drawing(
            self.name, self.x, self.y, {name: band([*found.values()]) for name, found in self.curves.items()}
        )

    def summary(self, *, rebound: bool = True) -> list[Row]:
        """One line per method: mean along the curve, over its first fifth, and how far it rises again at the end."""
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
    """One line per method whose curves add edges: what a tenth of them reaches, and the share that reaches all."""
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


def write(outcome: Outcome, out: Path) -> list[Path]:
    """Write all files of an outcome; returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    files: dict[str, bytes] = {}
    if outcome.curves:
        files[f"{outcome.name}.csv"] = _curves_csv(outcome).encode()
        files |= {f"{outcome.name}.{kind}": picture for kind, picture in draw([outcome.drawing]).items()}
    for title, rows in outcome.tables.items():
        files[f"{title}.table.csv"] = _table_csv(rows).encode()
        files[f"{title}.md"] = (markdown(rows) + "\n").encode()
    if outcome.notes:
        files[f"{outcome.name}.notes.md"] = ("\n".join(outcome.notes) + "\n").encode()
    (out / f"{outcome.name}.notes.md").unlink(missing_ok=True)  # of an earlier run
    for name, content in files.items():
        replace_file(out / name, content)
    return [out / name for name in files]


def markdown(rows: list[Row]) -> str:
    """A table in Markdown; a column with its standard deviation becomes one, an empty column none."""
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
    """A number with as many places as one of the size of `like` deserves."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float):
        size = abs(like) if isinstance(like, float) else abs(value)
        return f"{value:,.4f}" if size < 10 else f"{value:,.1f}" if size < 1000 else f"{value:,.0f}"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text.replace("|", "\\|")


def read_table(path: Path) -> list[Row]:
    """The rows of a table that `write` wrote; none if there is no such file."""
    if not path.is_file():
        return []
    names, *rows = (fields for _, fields in records(path))
    return [{name: _value(text) for name, text in zip(names, row, strict=True)} for row in rows]


def _value(text: str) -> Any:
    """What a field of a table says: a number, a name, or nothing."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text or None


def _table_csv(rows: list[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = ([row.get(name) for name in names] for row in rows)
    return csv_text([names, *(["" if value != value else value for value in line] for line in cells)])


def _curves_csv(outcome: Outcome) -> str:
    """The four columns that a report draws, too."""
    rows = (
        [method, seed, x, y]
        for method, by_seed in outcome.curves.items()
        for seed, curve in by_seed.items()
        for x, y in zip(curve.count.tolist(), curve.accuracy.tolist(), strict=True)
    )
    return csv_text([["method", "seed", outcome.x, outcome.y], *rows])
