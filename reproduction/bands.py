"""Curves of an experiment -> the bands that reproduction/results keeps, and back."""

from pathlib import Path

import numpy as np

from pcwinter._util.csv_files import csv_text, records
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.figures import Band, Drawing, band


def read_curves(path: Path) -> Drawing:
    """The bands of the curves in the CSV file of an experiment."""
    names, *rows = (fields for _, fields in records(path))
    found: dict[str, dict[int, list[tuple[int, float]]]] = {}
    for method, seed, x, y in rows:
        found.setdefault(method, {}).setdefault(int(seed), []).append((int(x), float(y)))
    bands = {}
    for method, by_seed in found.items():
        bands[method] = band([Curve(*map(np.array, zip(*points, strict=True))) for points in by_seed.values()])
    return Drawing(path.parent.name, names[2], names[3], bands)


def bands_csv(drawing: Drawing) -> str:
    """The bands as CSV, rounded to five digits."""
    rows = (
        [method, count, *(f"{value:.5g}" for value in values)]
        for method, found in drawing.bands.items()
        for count, *values in zip(*found, strict=True)
    )
    return csv_text([["method", drawing.x, drawing.y, "low", "high"], *rows])


def read_bands(path: Path) -> Drawing:
    """Read the text of `bands_csv`; the title is the name of the directory."""
    names, *rows = (fields for _, fields in records(path))
    found: dict[str, list[tuple[str, ...]]] = {}
    for method, *numbers in rows:
        found.setdefault(method, []).append(tuple(numbers))
    bands = {}
    for method, points in found.items():
        count, *values = zip(*points, strict=True)
        bands[method] = Band(np.array(count, dtype=np.int64), *(np.array(value, dtype=np.float64) for value in values))
    return Drawing(path.parent.name, names[1], names[2], bands)
