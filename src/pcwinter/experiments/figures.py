"""Curves of several seeds -> a band for each method -> figures, as SVG and PNG."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter.experiments.curves import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#882255")
SHARE = "% of the "  # begins the label of the x axis if every seed has its own split
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (4, 4)), (0, (3, 1)), (0, (7, 2)), (0, (1, 3)))


class Band(NamedTuple):
    """The curves of several seeds: their mean and range."""

    steps: IntArray  # (points,)
    mean: FloatArray  # (points,) over seeds
    low: FloatArray  # (points,) minimum over seeds
    high: FloatArray  # (points,) maximum over seeds


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """The content of one figure."""

    name: str
    x: str
    y: str
    bands: dict[str, Band]  # by method


def band(curves: Sequence[Curve]) -> Band:
    """The band of curves over the same counts; a curve with fewer points is interpolated."""
    steps = max((curve.count for curve in curves), key=len)
    accuracy = np.array([_over(steps, curve) for curve in curves])
    return Band(steps, accuracy.mean(axis=0), accuracy.min(axis=0), accuracy.max(axis=0))


def _over(steps: IntArray, curve: Curve) -> FloatArray:
    if len(curve.count) == len(steps):
        return curve.accuracy
    return np.interp(steps, curve.count, curve.accuracy)  # a small split has fewer steps than the curve has points


def check_figures() -> None:
    """Fail before hours of work, not after them, if Matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise ValueError("figures need Matplotlib: pip install 'pcwinter[experiments]'")


def draw(drawings: Sequence[Drawing]) -> dict[str, bytes]:
    """One column per drawing: means over seeds, with a band from the minimum to the maximum, as SVG and PNG.

    Methods called "name, own" and "name, path" get separate panels.
    """
    check_figures()
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n = len(drawings)
    panels = [_panels(drawing.bands) for drawing in drawings]
    levels = list(dict.fromkeys(level for found in panels for level in found))
    methods = list(dict.fromkeys(method for found in panels for bands in found.values() for method in bands))
    styles = {method: (COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]) for k, method in enumerate(methods)}
    with mpl.rc_context({"svg.hashsalt": "pcwinter", "axes.spines.top": False, "axes.spines.right": False}):
        shape = (1, len(levels)) if n == 1 else (len(levels), n)
        size = (6.4, 4.2) if shape == (1, 1) else (3.4 * shape[1], 3.1 * shape[0])
        columns = max(
            1, int(size[0] / (0.6 + 0.072 * max(map(len, methods))))
        )  # as many as fit into the width in inches
        size = (size[0], size[1] + 0.2 * -(-len(methods) // columns))
        figure, grid = plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False, sharey=n == 1)
        places = grid.T.ravel()  # all panels of the first outcome, all of the second, ...
        for k, (drawing, found) in enumerate(zip(drawings, panels, strict=True)):
            for axes, level in zip(places[k * len(levels) :], levels, strict=False):
                # splits differ more than methods do, so their figures have no bands
                _draw_panel(axes, found.get(level, {}), styles, shade=not drawing.x.startswith(SHARE))
                axes.set_title(_plain(f"{drawing.name}, {level}" if level else drawing.name), fontsize=10)
                axes.set_xlabel(drawing.x)
        for axes in grid[:, 0]:
            axes.set_ylabel(drawings[0].y)
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
    """Escape dollar signs, which Matplotlib would read as mathematics."""
    return text.replace("$", r"\$")


def _panels(bands: dict[str, Band]) -> dict[str, dict[str, Band]]:
    """The bands of each panel by method: panels "own" and "path", or one panel without a name.

    Other methods appear in every panel. A variant "a, somehow" of a method "a" is not drawn.
    """
    split = {method: method.rpartition(", ") for method in bands}
    split = {method: parts for method, parts in split.items() if parts[0] not in bands}
    levels = dict.fromkeys(level for _, _, level in split.values() if level in ("own", "path"))
    if not levels:
        return {"": {method: bands[method] for method in split}}
    return {
        level: {
            name if end in levels else method: bands[method]
            for method, (name, _, end) in split.items()
            if end == level or end not in levels
        }
        for level in levels
    }


def _draw_panel(
    axes: "Axes", bands: dict[str, Band], styles: dict[str, tuple[str, Any]], *, shade: bool = True
) -> None:
    for method, (steps, mean, low, high) in bands.items():
        colour, dash = styles[method]
        axes.plot(steps, mean, color=colour, linestyle=dash, label=method, linewidth=1.5)
        if shade:
            axes.fill_between(steps, low, high, color=colour, alpha=0.13, linewidth=0)
