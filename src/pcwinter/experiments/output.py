"""Outcome -> files: each table as CSV and Markdown, the curves as CSV, SVG and PNG."""

import csv
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pcwinter.checkpoints import replace_file
from pcwinter.experiments.curves import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#882255")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (4, 4)), (0, (3, 1)), (0, (7, 2)), (0, (1, 3)))
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

    def summary(self) -> list[Row]:
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
                    **spread("rebound", [curve.rebound for curve in curves]),
                }
            )
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
        files |= {f"{outcome.name}.{kind}": picture for kind, picture in draw([outcome]).items()}
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
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    """What a field of a table says: a number, a name, or nothing."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text or None


def _table_csv(rows: list[Row]) -> str:
    text = StringIO()
    table = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    table.writeheader()
    table.writerows({name: "" if value != value else value for name, value in row.items()} for row in rows)
    return text.getvalue()


def _curves_csv(outcome: Outcome) -> str:
    """The four columns that a report draws, too."""
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["method", "seed", outcome.x, outcome.y])
    for method, by_seed in outcome.curves.items():
        for seed, curve in by_seed.items():
            lines.writerows(
                [method, seed, x, y] for x, y in zip(curve.count.tolist(), curve.accuracy.tolist(), strict=True)
            )
    return text.getvalue()


def check_figures() -> None:
    """Refuse before hours of work rather than after them."""
    if find_spec("matplotlib") is None:
        raise ValueError("figures need Matplotlib: pip install 'pcwinter[experiments]'")


def read_curves(path: Path) -> Outcome:
    """The curves of a file that `write` wrote, titled by its directory."""
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    found = Outcome(path.parent.name, x=names[2], y=names[3])
    points: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for method, seed, x, y in rows:
        points.setdefault((method, int(seed)), []).append((int(x), float(y)))
    for (method, number), curve in points.items():
        count, accuracy = zip(*curve, strict=True)
        found.add(method, number, Curve(np.array(count), np.array(accuracy)))
    return found


def draw(outcomes: list[Outcome]) -> dict[str, bytes]:
    """A column per outcome: means over seeds with a band from least to most, as SVG and PNG.

    Methods by own and by path values, "name, own" and "name, path", have a panel each.
    """
    check_figures()
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n = len(outcomes)
    panels = [_panels(outcome) for outcome in outcomes]
    levels = list(dict.fromkeys(level for found in panels for level in found))
    methods = list(dict.fromkeys(method for found in panels for curves in found.values() for method in curves))
    styles = {method: (COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]) for k, method in enumerate(methods)}
    with mpl.rc_context({"svg.hashsalt": "pcwinter", "axes.spines.top": False, "axes.spines.right": False}):
        shape = (1, len(levels)) if n == 1 else (len(levels), n)
        size = (6.4, 4.2) if shape == (1, 1) else (3.4 * shape[1], 3.1 * shape[0])
        columns = max(1, int(size[0] / (0.6 + 0.085 * max(map(len, methods)))))  # as many as fit, in inches
        size = (size[0], size[1] + 0.2 * -(-len(methods) // columns))
        figure, grid = plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False, sharey=n == 1)
        places = grid.T.ravel()  # all panels of the first outcome, all of the second, ...
        for k, (outcome, found) in enumerate(zip(outcomes, panels, strict=True)):
            for axes, level in zip(places[k * len(levels) :], levels, strict=False):
                _draw_panel(axes, found.get(level, {}), styles)
                axes.set_title(_plain(f"{outcome.name}, {level}" if level else outcome.name), fontsize=10)
                axes.set_xlabel(outcome.x)
        for axes in grid[:, 0]:
            axes.set_ylabel(outcomes[0].y)
        lines = {line.get_label(): line for axes in places for line in axes.get_lines()}
        names = [_plain(method) for method in methods]
        shown = [lines[method] for method in methods]
        figure.legend(shown, names, loc="outside lower center", ncols=columns, frameon=False)
        pictures = {}
        for kind in ("svg", "png"):
            file = BytesIO()
            figure.savefig(file, format=kind, dpi=110, metadata={"Date": None} if kind == "svg" else None)
            pictures[kind] = file.getvalue()
        plt.close(figure)
    return pictures


def _plain(text: str) -> str:
    """For Matplotlib, which takes what stands between two dollars for mathematics."""
    return text.replace("$", r"\$")


def _panels(outcome: Outcome) -> dict[str, dict[str, dict[int, Curve]]]:
    """The curves of each panel by method; one panel without a name unless all methods are by own or path."""
    split = {method: method.rpartition(", ") for method in outcome.curves}
    if not {level for _, _, level in split.values()} <= {"own", "path"}:
        return {"": outcome.curves}
    panels: dict[str, dict[str, dict[int, Curve]]] = {}
    for method, (name, _, level) in split.items():
        panels.setdefault(level, {})[name] = outcome.curves[method]
    return panels


def _draw_panel(axes: "Axes", curves: dict[str, dict[int, Curve]], styles: dict[str, tuple[str, Any]]) -> None:
    for method, by_seed in curves.items():
        x = next(iter(by_seed.values())).count
        ys = np.array([curve.accuracy for curve in by_seed.values()])
        colour, dash = styles[method]
        axes.plot(x, ys.mean(axis=0), color=colour, linestyle=dash, label=method, linewidth=1.5)
        axes.fill_between(x, ys.min(axis=0), ys.max(axis=0), color=colour, alpha=0.13, linewidth=0)
