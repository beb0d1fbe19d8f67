"""Facts -> charts as HTML: distributions, convergence, and value against degree, distance and class."""

import numpy as np

from pcwinter._util.arrays import BoolArray, FloatArray
from pcwinter.report import svg
from pcwinter.report.escape import escape
from pcwinter.report.facts import Facts, exact, limits
from pcwinter.runs.read import Run

BLOCK = 10  # orders between two entries of `run.change`
BINS = 40  # at most
MANY = 200  # with this many values, the extreme 0.5% at each end do not widen a histogram
DOTS = 5_000  # in a scatter plot
ROWS = 24  # classes in a chart
ROW = 34  # height of a class


def figure(title: str, picture: str, caption: str = "") -> str:
    """A chart with a heading above and a caption below."""
    below = f"<p>{escape(caption)}</p>" if caption else ""
    return f"<figure><figcaption><h3>{escape(title)}</h3></figcaption>{picture}{below}</figure>"


def distributions(known: Facts) -> list[str]:
    """Histograms of the values of labelled nodes, of other nodes, and of edges."""
    parts = [
        ("Labelled nodes", known.value[known.labelled], known.reach[known.labelled]),
        ("Other nodes", known.value[~known.labelled], known.reach[~known.labelled]),
        ("Edges", known.edge_value, known.edge_reach),
    ]
    return [_histogram(title, value, reach) for title, value, reach in parts if len(value)]


def _histogram(title: str, value: FloatArray, reach: FloatArray) -> str:
    edges = _bins(value)
    changed = value[value != 0]
    inside = np.clip(changed, edges[0], edges[-1])
    counts = np.histogram(inside, edges)[0]
    x = svg.across(float(edges[0]), float(edges[-1]))
    y = svg.upwards(0, max(float(counts.max()), 1.0) * 1.05, whole=True)
    left, top = x(edges).tolist(), y(counts).tolist()
    bars = [
        svg.box(
            left[k] + 0.5, top[k], left[k + 1] - left[k] - 1, y.begin - top[k], f"bar {'neg' if end <= 0 else 'pos'}"
        )
        for k, end in enumerate(edges[1:].tolist())
        if counts[k]
    ]
    has_errors = bool((reach > 0).any())
    clear = np.abs(value) > reach if has_errors else value != 0  # False where the reach is NaN
    helps, harms = _count(clear & (value > 0), "helps", "help"), _count(clear & (value < 0), "harms", "harm")
    by = ", with 95% intervals that exclude zero" if has_errors else ""
    zeros = f"; {_count(value == 0, 'is', 'are')} exactly 0 and left out of the chart" if (value == 0).any() else ""
    beyond = " The outermost bars include all values beyond them." if not np.allclose(inside, changed, atol=0) else ""
    worth = f"Together they are worth {svg.signed(value.sum())}."
    caption = f"{len(value):,} in total. {helps} and {harms}{by}{zeros}. {worth}{beyond}"
    words = f"Histogram of the values of {title.lower()}, from {svg.signed(value.min())} to {svg.signed(value.max())}."
    return figure(title, svg.picture(svg.axes(x, y, "value", "count") + "".join(bars), f"{words} {caption}"), caption)


def _count(which: BoolArray, one: str, more: str) -> str:
    return f"{which.sum():,} {one if which.sum() == 1 else more}"


def _bins(value: FloatArray) -> FloatArray:
    """Edges of the bins. 0 is an edge, so no bar mixes signs; extreme values among many do not widen the chart."""
    ends = np.percentile(value, (0.5, 99.5) if len(value) >= MANY else (0, 100))
    low, high = min(float(ends[0]), 0.0), max(float(ends[1]), 0.0)
    step = ((high - low) or 1.0) / min(BINS, 8 + 2 * int(np.sqrt(len(value))))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return np.asarray(np.arange(first, max(last, first + 1) + 1) * step)


def against_degree(known: Facts) -> str:
    """Value against degree, with one dot per node."""
    strongest = np.argsort(-np.abs(known.value), kind="stable")[:DOTS]
    degree, value, labelled = known.degree[strongest], known.value[strongest], known.labelled[strongest]
    place = np.maximum(degree, 0.5)  # a logarithmic axis has no 0, so degree 0 gets a separate tick
    zeros = bool((degree == 0).any())
    x = svg.across(0.4 if zeros else 0.8, max(float(place.max()) * 1.2, 2.0), log=True, whole=True)
    y = svg.upwards(*svg.span(value))
    marks = [
        svg.dots(x(place[mask]), y(value[mask]), kind)
        for mask, kind in ((~labelled, "dot"), (labelled, "dot labelled"))
    ]
    if zeros:
        marks.append(svg.text(float(x([0.5])[0]), svg.HEIGHT - svg.BOTTOM + 18, "0", "tick"))
    few = f" The chart shows the {DOTS:,} nodes with the largest |value|." if len(strongest) < len(known.value) else ""
    caption = f"Squares are labelled nodes; dots are all others. Degrees are in the training graph.{few}"
    picture = svg.picture(
        svg.axes(x, y, "degree", "value", zero=True) + "".join(marks),
        f"Value of {len(value):,} nodes against their degree, from {degree.min()} to {degree.max()}.",
    )
    return figure("Value against degree", picture, caption)


def against_distance(known: Facts) -> str:
    """Value against distance from the nearest labelled node, with one box per distance."""
    names = ["labelled", "1 step", *(f"{k} steps" for k in range(2, int(known.distance.max()) + 1))]
    rows = [(name, known.value[known.distance == k]) for k, name in enumerate(names)]
    words = " Distance is the number of steps from the nearest labelled node."
    return _boxes("Value against distance", [row for row in rows if len(row[1])], words)


def against_class(known: Facts) -> str:
    """Value against class, with one box per class; if there are many classes, only the largest are shown."""
    sizes = np.bincount(known.kind, minlength=len(known.classes))
    kinds = [k for k in range(len(sizes)) if sizes[k]]
    shown = sorted(sorted(kinds, key=lambda k: -sizes[k])[:ROWS])
    few = f" The chart shows the {ROWS} largest of {len(kinds)} classes." if len(shown) < len(kinds) else ""
    return _boxes("Value against class", [(known.classes[k], known.value[known.kind == k]) for k in shown], few)


def _boxes(title: str, rows: list[tuple[str, FloatArray]], few: str) -> str:
    """Horizontal boxes, one per row, with the number of nodes and the sum of their values."""
    ends = np.array([np.percentile(value, (5, 25, 50, 75, 95)) for _, value in rows])
    label, sums = 104, 76  # widths of the columns to the left and right of the boxes
    low, high = svg.span(np.append(ends.ravel(), 0.0))
    x = svg.Scale(low, high, label + 8, svg.WIDTH - sums)
    bottom = 24 + ROW * len(rows)
    parts = [svg.text(svg.WIDTH - 4, 14, "sum of values", "tick", "end")]
    ticks = x.ticks(4)
    for tick, at, words in zip(ticks, x(ticks).tolist(), svg.numbers(ticks), strict=True):
        kind = "zero" if tick == 0 else "grid"
        parts += [svg.line([(at, 22), (at, bottom)], kind), svg.text(at, bottom + 17, words, "tick")]
    for k, (name, value) in enumerate(rows):
        y = 24 + ROW * k + ROW / 2
        low, q1, middle, q3, high = x(ends[k]).tolist()
        parts += [
            svg.text(label, y - 1, name, "label", "end", label),
            svg.text(label, y + 12, f"n = {len(value):,}", "tick", "end"),
            svg.line([(low, y), (high, y)], "whisker"),
            svg.box(q1, y - 7, q3 - q1, 14, "box"),
            svg.line([(middle, y - 7), (middle, y + 7)], "median"),
            svg.text(svg.WIDTH - 4, y + 4, svg.signed(value.sum()), "label", "end"),
        ]
    caption = f"The box is the middle half, with the median; the line leaves out 5% at each end.{few}"
    return figure(title, svg.picture("".join(parts), f"{title}. {_listing(rows)}", bottom + 24), caption)


def _listing(rows: list[tuple[str, FloatArray]]) -> str:
    return "; ".join(
        f"{name}: median {svg.signed(np.median(value))}, sum {svg.signed(value.sum())}" for name, value in rows
    )


def convergence(run: Run) -> str:
    """How much the values still changed, on a logarithmic axis; only a sentence if there is nothing to draw."""
    title = "Change of the node values"
    orders = np.minimum(BLOCK * (1 + np.arange(len(run.change))), run.story["permutations"])
    finite = run.change[np.isfinite(run.change)]
    if exact(run):
        return figure(title, "", "All orders were enumerated, so there is no convergence to show.")
    if not len(finite):
        return figure(title, "", "Too few orders were drawn to compare the values with those 20 orders earlier.")
    caption = f"Change of the node values over the last 20 orders, relative to their size: {finite[-1]:.2%} at the end."
    drawn = np.isfinite(run.change) & (run.change > 0)  # a logarithmic axis has no 0
    if not drawn.any():
        return figure(title, "", caption)
    moved, orders, tolerance = run.change[drawn], orders[drawn], limits(run).get("tolerance", 0.0)
    heights = np.append(moved, tolerance) if tolerance > 0 else moved
    x = svg.across(0.0, float(orders.max()) * 1.03)
    y = svg.upwards(float(heights.min()) * 0.8, float(heights.max()) * 1.25, log=True)
    parts = [svg.axes(x, y, "orders", "relative change")]
    if tolerance > 0:
        (at,) = y([tolerance]).tolist()
        parts.append(svg.line([(svg.LEFT, at), (svg.WIDTH - svg.RIGHT, at)], "limit"))
        parts.append(svg.text(svg.LEFT + 8, at - 6, f"tolerance {tolerance:g}", "label", "start"))
    parts.append(svg.line(zip(x(orders).tolist(), y(moved).tolist(), strict=True), "curve"))
    parts.append(svg.dots(x(orders[-1:]), y(moved[-1:]), "dot labelled"))
    return figure(title, svg.picture("".join(parts), caption), caption)
