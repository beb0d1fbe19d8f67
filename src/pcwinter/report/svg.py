"""Numbers -> SVG: scales, axes and marks. Colours come from the classes in page.css, for light, dark and print."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

import numpy as np

from pcwinter._util.arrays import FloatArray
from pcwinter.report.escape import escape, visible

WIDTH, HEIGHT = 440, 270  # of a chart, in SVG units; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 70, 28, 32, 44  # margins for the axes

MINUS = "\N{MINUS SIGN}"  # has the width of a plus sign


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps numbers to positions; `log` makes it logarithmic, `whole` puts ticks at whole numbers only."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    whole: bool = False

    def __call__(self, x: FloatArray | Sequence[float]) -> FloatArray:
        """Positions of numbers."""
        low, high, given = self.low, self.high, np.asarray(x, dtype=np.float64)
        if self.log:
            low, high, given = math.log10(low), math.log10(high), np.log10(given)
        return np.asarray(self.begin + (given - low) / (high - low) * (self.end - self.begin))

    def ticks(self, about: int = 5) -> list[float]:
        """Round numbers within the scale."""
        if not self.log:
            return [tick for tick in round_numbers(self.low, self.high, about) if not self.whole or tick == round(tick)]
        tens = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1,), (1, 3), (1, 2, 5), range(1, 10)):
            ticks = [k * 10.0**ten for ten in tens for k in factors]
            ticks = [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]
            ticks = [tick for tick in ticks if not self.whole or tick == round(tick)]
            if len(ticks) >= 3:
                break
        return ticks[:: 1 + len(ticks) // 8]


def round_numbers(low: float, high: float, about: int) -> list[float]:
    """About `about` multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / about
    ten = 10.0 ** math.floor(math.log10(raw))
    step = next(k * ten for k in (1, 2, 5, 10) if k * ten >= raw * 0.999)
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def span(x: FloatArray, pad: float = 0.04) -> tuple[float, float]:
    """Smallest and largest number with some room on both sides; never of length 0."""
    low, high = (float(x.min()), float(x.max())) if len(x) else (0.0, 1.0)
    differ = high - low > 1e-9 * max(abs(low), abs(high))  # by more than rounding errors
    room = (high - low) * pad * differ or abs(high) * 0.5 or 1.0
    return low - room, high + room


def across(low: float, high: float, *, log: bool = False, whole: bool = False) -> Scale:
    """The horizontal scale of a chart."""
    return Scale(low, high, LEFT, WIDTH - RIGHT, log, whole)


def upwards(low: float, high: float, *, log: bool = False, whole: bool = False) -> Scale:
    """The vertical scale of a chart."""
    return Scale(low, high, HEIGHT - BOTTOM, TOP, log, whole)


def numbers(ticks: Sequence[float]) -> list[str]:
    """Labels of ticks, with enough digits to make them all different."""
    texts: list[str] = []
    for digits in range(4, 18):
        texts = [
            f"{x:,.0f}" if x == round(x) and abs(x) < 1e6 else f"{x:.{digits}g}".replace("e-0", "e-") for x in ticks
        ]
        if len({*texts}) == len(texts):
            break
    return [words.replace("-", MINUS) for words in texts]


def plain(x: float) -> str:
    """A value with four digits after the point, or with an exponent if those would all be 0."""
    small = 1e-12 < abs(x) < 5e-5  # smaller values are rounding errors
    return (f"{x:.1e}" if small else f"{round(x, 4) + 0.0:.4f}").replace("-", MINUS)


def signed(x: float) -> str:
    """A value with its sign."""
    return plain(x) if plain(x).startswith(MINUS) else f"+{plain(x)}"


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle", room: float = math.inf) -> str:
    """Text at a position; if it is wider than `room`, it is cut, and the full text becomes its title."""
    words = visible(words)
    ends = np.cumsum([_width(letter) for letter in words])
    cut = "" if not len(ends) or ends[-1] <= room else words[: int(np.searchsorted(ends, room - 13))] + "…"
    inside = f"{escape(cut)}<title>{escape(words)}</title>" if cut else escape(words)
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{inside}</text>'


def _width(letter: str) -> float:
    """The approximate width of a letter, on the large side."""
    if letter in "MWmw@%" or east_asian_width(letter) in "WF":
        return 13.0
    return 9.5 if letter.isupper() else 7.5


def line(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A line through points."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}" class="{kind}"/>'


def area(lower: Iterable[tuple[float, float]], upper: Iterable[tuple[float, float]], kind: str) -> str:
    """The area between two lines."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*lower, *reversed(list(upper))])
    return f'<polygon points="{places}" class="{kind}"/>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" class="{kind}"/>'


def dots(x: FloatArray, y: FloatArray, kind: str) -> str:
    """Many dots as one path of zero-length lines, ten bytes each; the class sets their size and shape."""
    if not len(x):
        return ""
    places = "".join(
        f"M{a:.0f} {b:.0f}h0" for a, b in sorted(set(zip(x.round().tolist(), y.round().tolist(), strict=True)))
    )
    return f'<path d="{places}" class="{kind}"/>'


def axes(x: Scale, y: Scale, x_label: str, y_label: str, *, zero: bool = False) -> str:
    """Grid, ticks and names of both axes; `zero` draws a line at y = 0."""
    left, right, bottom = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    ticks = y.ticks()
    for at, words in zip(y(ticks).tolist(), numbers(ticks), strict=True):
        parts += [line([(left, at), (right, at)], "grid"), text(left - 6, at + 4, words, "tick", "end")]
    if zero and y.low < 0 < y.high:
        parts.append(line([(left, float(y([0.0])[0])), (right, float(y([0.0])[0]))], "zero"))
    ticks = x.ticks()
    for at, words in zip(x(ticks).tolist(), numbers(ticks), strict=True):
        parts += [line([(at, bottom), (at, bottom + 4)], "rule"), text(at, bottom + 18, words, "tick")]
    parts += [
        line([(left, bottom), (right, bottom)], "rule"),
        text((left + right) / 2, HEIGHT - 6, x_label, "name", room=right - left),
        text(4, 14, y_label, "name", "start", WIDTH - 40),
    ]
    return "".join(parts)


def picture(body: str, description: str, height: float = HEIGHT) -> str:
    """The SVG element, with a description for screen readers."""
    words = escape(description)
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{words}">{body}</svg>'
