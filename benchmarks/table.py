"""Results -> Markdown: a summary with the targets, and the tables behind it."""

import textwrap
from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.machine import Result

WANTED = {  # head and dataset -> the least ratio, without truncation
    ("ridge", "cora"): "at least 10,000 x, aim 25,000 x",
    ("ridge", "amazon-photo"): "at least 5,000 x, aim 20,000 x",
    ("messages", "cora"): "at least 30,000 x, aim 60,000 x",
    ("messages", "amazon-photo"): "at least 20,000 x, aim 40,000 x",
    ("softmax", "cora"): "at least 8 x, aim 20 x",
}


def markdown(results: Result) -> str:
    """The whole page. Measurements that were not run are omitted; those that failed are listed."""
    machine = results["machine"]
    parts = ["# Benchmarks", summary(results)]
    if results["failed"]:
        parts.append("Not measured:\n\n" + "\n".join(f"- {name}: {why}" for name, why in results["failed"].items()))
    parts += [section(results[name]) for name, section in SECTIONS.items() if results.get(name)]
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "numpy", "scipy", "numba", "torch"))
    parts.append(f"Versions: {versions}. All numbers are in `bench.json`.")
    return "\n\n".join(parts) + "\n"


def summary(results: Result) -> str:
    """What was run and where, then one line per target."""
    machine = results["machine"]
    intro = _prose(
        f"`{machine['command']}` on {machine['date']}, commit {machine['commit']}: {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['system']}, Python {machine['python']}, one thread per process. The plain "
        "loop trains one PyTorch model per evaluation, as the authors' script does; only computed evaluations "
        "count."
    )
    lines = []
    for line in results.get("ratios", []):
        wanted = WANTED.get((line["head"], line["dataset"]), "")
        if not line["truncation"]:
            what = f"{_head(line)}, {line['dataset']}, one core: speed relative to the plain loop"
            lines.append((what, _times(line["ratio"]), wanted, _against(line)))
    for line in _one(results, "workers"):
        note = f"{_times(line['ratio_with_start'])} with their start, {line['orders']} orders"
        lines.append(
            ("two workers: speed relative to one", _times(line["ratio_steady"]), "at least 1.8 x, aim 1.95 x", note)
        )
    for line in results.get("memory", []):
        if line["dataset"] == "amazon-computers":
            note = f"{_number(line['imports_mb'])} MB of it before a graph is loaded"
            lines.append(
                (
                    "peak memory, amazon-computers",
                    f"{_number(line['peak_mb'])} MB",
                    "at most 1,000 MB, aim 600 MB",
                    note,
                )
            )
    for line in _one(results, "startup"):
        what = f"start of the process to the first order of {line['dataset']}, with calibration"
        note = f"{line['import']:.2f} s of it to import; {line['cold']:.0f} s when nothing is compiled yet"
        lines.append((what, f"{line['first_order']:.2f} s", "at most 5 s, aim 2 s", note))
    for line in _one(results, "converged"):
        note = f"{line['orders']} orders, {line['evaluations']:,} evaluations"
        lines.append((f"{line['dataset']} until converged, ridge head", f"{line['seconds']:.2f} s", "seconds", note))
        share, note = f"{100 * line['calibration_share']:.0f} %", f"{line['calibration_seconds']:.2f} s"
        lines.append(("calibration's share of that", share, "below 20 %", note))
    for line in _one(results, "peer"):
        theirs, mine = line["pydvl"]["us_per_evaluation"], line["pcwinter"]["us_per_evaluation"]
        note = f"{_number(mine)} us against {_number(theirs)} us for pyDVL"
        lines.append(("Shapley values of the labelled rows: speed relative to pyDVL", _times(theirs / mine), "", note))
    return intro + "\n\n" + _table(("without truncation", "measured", "target", "details"), lines, "lrrl")


def _head(line: Result) -> str:
    return "ridge head, messages" if line["head"] == "messages" else f"{line['head']} head"


def _ratios(lines: list[Result]) -> str:
    text = _prose(
        "Only computed evaluations count. Both sides take turns in one process on one core; medians of three rounds. "
        f"The plain loop is timed on {lines[0]['plain_evaluations']} evenly spaced evaluations of the same DFS orders, "
        "because a whole order would take it minutes to hours. Of orders with more than 2,000 evaluations, the softmax "
        "head walks only evenly spaced windows of 64. Labelled nodes and silent blocks, which cost more, are then "
        "over-represented, so its ratio is too low rather than too high. `difference` is the mean absolute difference "
        "between the accuracies of the plain loop and of the softmax head on evaluations that both computed."
    )
    header = ("dataset", "truncation", "head", "evaluations", "us each", "plain loop, ms each", "ratio", "difference")
    rows = [
        (
            line["dataset"],
            ", ".join(f"{t:g}" for t in line["truncation"]) or "none",
            _head(line),
            f"{line['evaluations']:,}",
            _number(line["us_per_evaluation"]),
            _number(line["plain_ms"]),
            _times(line["ratio"]),
            f"{line['accuracy_difference']:.4f}" if "accuracy_difference" in line else "",
        )
        for line in lines
    ]
    return f"## Against the plain loop\n\n{text}\n\n" + _table(header, rows, "lllrrrrr")


def _growth(points: list[Result]) -> str:
    text = _prose(
        "Evaluations per second of the ridge head on one core, without truncation, as one size grows. Validation nodes "
        "are exchanged with test nodes, the number of players is reduced by dropping training edges, and labelled "
        "nodes are drawn from the training graph. Each labelled node has a fixed cost besides that of its players, so "
        "the mean cost falls with more players per labelled node."
    )
    header = (
        "what grows",
        "dataset",
        "validation nodes",
        "players",
        "labelled nodes",
        "hops",
        "evaluations per second",
    )
    rows = [
        (
            point["axis"],
            point["dataset"],
            *(f"{point[axis]:,}" for axis in ("validation nodes", "players", "labelled nodes", "hops")),
            _number(point["per_second"]),
        )
        for point in points
    ]
    figure = "![evaluations per second against four sizes](growth.png)"
    return f"## Growth\n\n{text}\n\n{figure}\n\n" + _table(header, rows, "llrrrrr")


def _memory(lines: list[Result]) -> str:
    text = _prose(
        "Peak resident memory of a fresh process that loads the graph, calibrates the ridge head and walks one "
        "untruncated order: `pw.value(graph, permutations=1)`."
    )
    header = ("dataset", "players", "peak, MB", "beyond the imports, MB", "seconds")
    rows = [
        (
            line["dataset"],
            f"{line['players']:,}",
            _number(line["peak_mb"]),
            _number(line["peak_mb"] - line["imports_mb"]),
            f"{line['seconds']:.1f}",
        )
        for line in lines
    ]
    return f"## Memory\n\n{text}\n\n" + _table(header, rows, "lrrrr")


def _startup(line: Result) -> str:
    text = _prose(
        f"Seconds from start to end of a process on one core, medians of {line['runs']} runs (last line: one run)."
    )
    rows = [
        ("empty interpreter", f"{line['interpreter']:.2f}"),
        ("import pcwinter", f"{line['import']:.2f}"),
        (f"first order of {line['dataset']}, calibration included, compiled code cached", f"{line['first_order']:.2f}"),
        ("the same, with nothing compiled yet", f"{line['cold']:.1f}"),
    ]
    return f"## Start-up\n\n{text}\n\n" + _table(("what", "seconds"), rows, "lr")


def _converged(line: Result) -> str:
    text = _prose(
        f"`pw.value(pw.load({line['dataset']!r}))` in a fresh process on one core, compiled code cached: "
        f"{line['seconds']:.2f} s, of which {line['setup_seconds']:.2f} s before the first order. Calibration alone "
        f"takes {line['calibration_seconds']:.2f} s, {100 * line['calibration_share']:.0f} % of the run. "
        f"{line['status']}"
    )
    return f"## Until converged\n\n{text}"


def _workers(line: Result) -> str:
    text = _prose(
        f"{line['orders']} orders of {line['dataset']}, ridge head with fixed parameters, no truncation. One and two "
        "workers take turns; medians."
    )
    rows = [
        ("seconds with one worker", f"{line['one_seconds']:.2f}"),
        ("seconds with two workers", f"{line['two_seconds']:.2f}"),
        ("ratio, including the start of the workers", _times(line["ratio_with_start"])),
        ("ratio of orders per second after the first tenth", _times(line["ratio_steady"])),
    ]
    return f"## Workers\n\n{text}\n\n" + _table(("what", "measured"), rows, "lr")


def _families(lines: list[Result]) -> str:
    text = "The ridge head on one order of each family, no truncation, one core."
    rows = [
        (line["dataset"], line["family"], f"{line['evaluations']:,}", _number(line["us_per_evaluation"]))
        for line in lines
    ]
    header = ("dataset", "orders", "evaluations", "us each")
    return f"## Families of orders\n\n{text}\n\n" + _table(header, rows, "llrr")


def _metrics(lines: list[Result]) -> str:
    text = _prose(
        "The ridge head on one DFS order of the message game, truncated as in the paper, or 0.7-0.9. ROC-AUC and "
        "average precision sort the validation nodes once per evaluation, or once per class if there are more than two."
    )
    rows = [
        (line["dataset"], f"{line['validation']:,}", line["metric"], *map(_number, (each, line["over_accuracy"])))
        for line in lines
        for each in (line["us_per_evaluation"],)
    ]
    header = ("dataset", "validation nodes", "metric", "us each", "over accuracy")
    return f"## Metrics\n\n{text}\n\n" + _table(header, rows, "lrlrr")


def _peer(line: Result) -> str:
    mine, theirs, gap = line["pcwinter"], line["pydvl"], line["gap_in_standard_errors"]
    text = _prose(
        f"Permutation Shapley without truncation on the complete rows of {line['dataset']}: {line['game']}; no edges. "
        "pyDVL fits the same closed form through scikit-learn. The values of the two libraries differ by "
        f"{gap['root_mean_square']:.2f} standard errors in the root mean square (about 1 is expected if both are "
        f"right) and by at most {gap['largest']:.1f}."
    )
    rows = [
        (
            name,
            f"{its['permutations']:,}",
            f"{its['evaluations']:,}",
            _number(its["us_per_evaluation"]),
        )
        for name, its in (("pcwinter", mine), (theirs["version"], theirs))
    ]
    header = ("library", "permutations", "evaluations", "us each")
    return f"## pyDVL on the same game\n\n{text}\n\n" + _table(header, rows, "lrrr")


SECTIONS: dict[str, Callable[[Any], str]] = {
    "ratios": _ratios,
    "growth": _growth,
    "memory": _memory,
    "startup": _startup,
    "converged": _converged,
    "workers": _workers,
    "families": _families,
    "metrics": _metrics,
    "peer": _peer,
}


def _one(results: Result, name: str) -> list[Result]:
    """The measurement in a list, or an empty list."""
    return [results[name]] if results.get(name) else []


def _against(line: Result) -> str:
    return f"{_number(line['us_per_evaluation'])} us against {_number(line['plain_ms'])} ms for the plain loop"


def _number(x: float) -> str:
    """Three significant digits, or a whole number."""
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _times(x: float) -> str:
    return f"{_number(x)} x"


def _prose(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]], align: str) -> str:
    """A Markdown table; `align` has one letter per column, l or r."""
    rule = tuple("--:" if side == "r" else "---" for side in align)
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *rows))
