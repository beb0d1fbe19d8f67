"""CSV files in a directory -> charts of their curves, or a message about what is wrong with a file.

A file has the columns method, seed, X, Y. Its chart has one line per method: the mean over the seeds, with a band from
the smallest to the largest.
"""

import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import numpy as np

from pcwinter._util.csv_files import records
from pcwinter.report import svg
from pcwinter.report.charts import figure
from pcwinter.report.escape import escape

POINTS = 200  # in a line; more could not be distinguished
LARGEST = 1e300  # the differences of larger numbers overflow
STYLES = 6  # colours and dashes of page.css; further methods repeat the colours with other marks

Curves = dict[str, dict[float, dict[str, float]]]  # method -> X -> seed -> Y


def figures(directory: Path) -> str:
    """HTML with a figure for every CSV file in the directory, sorted by name, then the problems; "" without files."""
    charts, problems = "", ""
    for path in sorted(directory.glob("*.csv")) if directory.is_dir() else []:
        try:
            charts += _draw(path.stem, *_read(path))
        except (ValueError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            reason = reason.replace(f" of {path}", "")  # the page may be shared, so no full path in it
            where = escape(f"{directory.name}/{path.name}")
            problems += f'<p class="problem">The file {where} is not shown: {escape(reason)}.</p>'
    return (f'<div class="charts">{charts}</div>' if charts else "") + problems


def _read(path: Path) -> tuple[str, str, Curves]:
    lines = records(path)
    _, header = next(lines, (0, []))
    if len(header) != 4 or header[:2] != ["method", "seed"]:
        raise ValueError(
            f"its columns are {_start(', '.join(header)) or 'missing'}, expected method, seed and two more"
        )
    curves: Curves = {}
    for number, fields in lines:
        if len(fields) != 4:
            raise ValueError(f"line {number} has {len(fields)} entries, expected 4")
        x, y = (_number(entry, number) for entry in fields[2:])
        seeds = curves.setdefault(fields[0], {}).setdefault(x, {})
        if fields[1] in seeds:
            raise ValueError(f"line {number} repeats a method, seed and {header[2]}")
        seeds[fields[1]] = y
    if not curves:
        raise ValueError("it has no rows")
    return header[2], header[3], curves


def _number(entry: str, line: int) -> float:
    try:
        found = float(entry)
    except ValueError:
        found = math.nan
    if not abs(found) <= LARGEST:
        raise ValueError(f"line {line} has {_start(entry)!r} where a number is expected")
    return found


def _start(words: str) -> str:
    return words if len(words) <= 80 else words[:79] + "…"


def _draw(name: str, x_name: str, y_name: str, curves: Curves) -> str:
    every = np.array([y for points in curves.values() for seeds in points.values() for y in seeds.values()])
    places = np.array([x for points in curves.values() for x in points])
    x, y = svg.across(*svg.span(places, 0.01)), svg.upwards(*svg.span(every))
    parts, keys, thinned = [svg.axes(x, y, x_name, y_name)], [], False
    for k, (method, points) in enumerate(curves.items()):
        xs = sorted(points)
        step = math.ceil(len(xs) / POINTS)
        thinned |= step > 1
        xs = sorted({*xs[::step], xs[-1]})
        at = x(xs).tolist()
        low, mean, high = (_heights(y, points, xs, of) for of in (min, fmean, max))
        style = f"method{k % STYLES}"
        if any(len(points[x]) > 1 for x in xs):
            parts.append(svg.area(zip(at, low, strict=True), zip(at, high, strict=True), f"band {style}"))
        marks = np.linspace(0, len(xs) - 1, min(len(xs), 6)).round().astype(int)
        line = svg.line(zip(at, mean, strict=True), f"curve {style}")
        line += "".join(_mark(k, at[m], mean[m], style) for m in sorted(set(marks.tolist())))
        parts.append(line)
        sample = svg.line([(2, 8), (46, 8)], f"curve {style}") + _mark(k, 24, 8, style)
        keys.append(
            f'<li><svg viewBox="0 0 48 16" aria-hidden="true">{sample}</svg>{escape(method) or "(no name)"}</li>'
        )
    seeds = {seed for points in curves.values() for found in points.values() for seed in found}
    counts = sorted({len(found) for points in curves.values() for found in points.values()})
    caption = "One seed." if len(seeds) == 1 else "One seed per point."
    if counts[-1] > 1:
        of = f"{counts[-1]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        caption = f"Mean over {of} seeds; the bands span the smallest to the largest."
    caption += " Long curves show only some of their points." if thinned else ""
    words = f"{name}: {y_name} against {x_name} for {', '.join(curves)}."
    legend = f'<ul class="methods">{"".join(keys)}</ul>'
    return figure(name, svg.picture("".join(parts), words) + legend, caption)


def _heights(
    y: svg.Scale, points: dict[float, dict[str, float]], xs: list[float], of: Callable[[list[float]], float]
) -> list[float]:
    return [float(height) for height in y([of(list(points[x].values())) for x in xs])]


def _mark(k: int, x: float, y: float, style: str) -> str:
    """The k-th of a few shapes, so that lines differ even without colour."""
    shapes = (
        "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        "M-4-4h8v8h-8z",
        "M0-5L5 4H-5z",
        "M0-5L5 0L0 5L-5 0z",
        "M0 5L5-4H-5z",
    )
    return f'<path d="{shapes[k % len(shapes)]}" transform="translate({x:.1f} {y:.1f})" class="mark {style}"/>'
