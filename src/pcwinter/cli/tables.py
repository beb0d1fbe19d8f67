"""Run -> tables in the terminal."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from pcwinter._util.arrays import FloatArray, IntArray
from pcwinter._util.checks import count, whole_number
from pcwinter.game.metrics import find_metric
from pcwinter.graph.io.datasets import DATASETS, location
from pcwinter.runs.read import Run
from pcwinter.values import game_name, utilities

if TYPE_CHECKING:
    import pandas as pd

FORMATS = {"stderr": "{:.4f}", "errors": "{:+.1f}"}  # of float columns; all others are values, printed with a sign
WIDEST = 24  # characters of an id or of a name
MEANING = {
    "accuracy": "A value is a share of validation accuracy: +0.0100 makes the model right on one more node in 100.",
    "macro-f1": "A value is a share of the macro-F1 score on the validation nodes.",
    "probability": "A value is a share of the mean probability of the true class on the validation nodes.",
    "log-likelihood": "A value is a share of the mean log-likelihood of the true class on the validation nodes.",
    "balanced-accuracy": "A value is a share of the balanced accuracy on the validation nodes.",
    "roc-auc": "A value is a share of the area under the ROC curve on the validation nodes.",
    "average-precision": "A value is a share of the average precision on the validation nodes.",
    "r2": "A value is a share of R2 on the validation nodes.",
    "neg-mse": "A value is a share of minus the mean squared error on the validation nodes.",
}


def summary(run: Run, top: int = 10, by: str = "own") -> str:
    """How the run ended, the most and least valuable nodes and edges, and values by class and by degree."""
    top = whole_number("top", top, 1)
    numeric = find_metric(run.story["asked"]["metric"]).regression
    nodes = _by(run.nodes, by).assign(**{"class": np.array(_names(run))[run.label], "degree": run.degree})
    edges = run.edges.assign(value=run.edges_within_class()) if by == "class" else _by(run.edges, by)
    parts = [_heading(run)]
    for things, table, columns in (
        ("nodes", nodes, ["node", "class", "labelled", "degree", "players", "value", "stderr"]),
        ("edges", edges, ["source", "target", "value", *(["stderr"] if by != "class" else [])]),
    ):
        ranked = table.sort_values("value", ascending=False, kind="stable")[columns]
        ranked = ranked.drop(columns="class", errors="ignore") if numeric else ranked
        n = min(top, len(ranked))
        if n:
            parts.append(f"The {n:,} most valuable of {len(ranked):,} {things}\n{text(ranked.head(n))}")
            parts.append(f"The {n:,} least valuable of {len(ranked):,} {things}\n{text(ranked.tail(n)[::-1])}")
        else:
            parts.append(f"There are no {things} with players.")
    if not numeric:
        parts.append(f"Nodes by class\n{text(_grouped(nodes, 'class', run.label % len(_names(run))))}")
    parts.append(f"Nodes by degree in the training graph\n{text(_grouped(nodes, 'degree', _bins(run.degree)))}")
    asked = plain(run.story["asked"]["metric"])
    unit = MEANING.get(asked, f"A value is a share of the F1 score of one class on the validation nodes ({asked}).")
    parts.append(f"{unit}\nstderr covers the sampling of orders only.")
    return "\n\n".join(parts)


def comparison(a: Run, b: Run, top: int = 10) -> str:
    """How far two runs agree on the nodes and edges that they share."""
    import pandas as pd

    top = whole_number("top", top, 1)
    lines = [f"A  {_heading(a)}", f"B  {_heading(b)}"]
    different = settings_of(a, b)
    settings = [
        f"  {name}: {_said(name, one)} in A, {_said(name, other)} in B" for name, (one, other) in different.items()
    ]
    heads = [run.story["head"] for run in (a, b)]
    if heads[0] != heads[1]:
        settings.append(f"  head, as calibrated: {heads[0]} in A, {heads[1]} in B")
    lines.append("Different settings\n" + "\n".join(settings) if settings else "The settings are the same.")
    if a.story["fingerprint"] != b.story["fingerprint"]:
        lines.append("The graphs differ: only the nodes and edges that they share are compared.")
    pairs = {
        "nodes": _pair(a.nodes, b.nodes, ["node"]),
        "edges": _pair(_sorted_ends(a), _sorted_ends(b), ["source", "target"]),
    }
    if all(pair.empty for pair in pairs.values()):
        raise ValueError(f"{a.directory} and {b.directory} share no node and no edge: compare runs of the same graph")
    rows = {things: _agreement(pair) for things, pair in pairs.items() if len(pair)}
    lines.append(f"Agreement\n{pd.DataFrame(rows).to_string()}")
    for things, pair in pairs.items():
        if len(pair):
            known = pair["errors"].notna().any()
            size = (pair["errors"] if known else pair["A - B"]).abs()
            far = pair.loc[size.sort_values(ascending=False, kind="stable").index].head(top)
            far = far[far["A - B"] != 0]
            how = "in standard errors" if known else "without error bars, because a run has only one order"
            most = f"{count(len(far), things[:-1])} that {'differs' if len(far) == 1 else 'differ'} most"
            table = f"The {most}, {how}\n{text(far)}"
            lines.append(table if len(far) else f"All {len(pair):,} {things} have the same values.")
    if any((pair["A - B"] != 0).any() for pair in pairs.values()):
        note = ""
        if a.story["asked"].get("seed") is not None and "seed" not in different:
            note = " Both runs have the same seed, so their errors are not independent."
        lines.append(f"The stderr of A - B combines the standard errors of both runs.{note}")
    return "\n\n".join(lines)


def _said(name: str, setting: object) -> str:
    """A setting as a user gives it; a setting that does not apply or has its default may not be recorded."""
    if setting is None:
        plain = {"directed": "False", "normalisation": "symmetric", "self_loop": "1.0", "setting": "inductive"}
        return {"empty": "nothing", "filter": "sgc", "theta": "the last power alone", **plain}.get(name, "none")
    return (", ".join(map(str, setting)) or "none") if isinstance(setting, list) else str(setting)


def settings_of(a: Run, b: Run) -> dict[str, tuple[object, object]]:
    """Settings in which two runs differ."""
    one, other = a.story["asked"], b.story["asked"]
    return {name: (one.get(name), other.get(name)) for name in {**one, **other} if one.get(name) != other.get(name)}


def known_graphs(data: str | PathLike[str] | None = None) -> str:
    """The public graphs: name, title, location and source."""
    lines = []
    for name, dataset in DATASETS.items():
        place = location(name, data=data)
        if dataset.family == "package":
            where = "in this package"
        else:
            where = f"on this machine, in {place}" if place else "not on this machine; downloaded on first use"
        lines += [f"{name:<17} {dataset.title}", f"{'':<17} {where}", f"{'':<17} from {dataset.source}"]
    return "\n".join(lines)


def text(table: "pd.DataFrame") -> str:
    """A fixed-width table with signed values, short names and no control characters."""
    shown = {}
    for name, column in table.items():
        if column.dtype == bool:
            shown[name] = column.map({True: "yes", False: ""})
        elif column.dtype.kind == "f":
            shown[name] = column.map(FORMATS.get(str(name), "{:+.4f}").format).where(column.notna(), "unknown")
        elif column.dtype.kind in "iu":
            shown[name] = column.map("{:,}".format)
        else:
            shown[name] = column.map(lambda word: plain(str(word)))
    return type(table)(shown).to_string(index=False)


def plain(word: str) -> str:
    """A word without control characters, and not too long."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in word)
    return clean if len(clean) <= WIDEST else f"{clean[: WIDEST - 1]}…"


def _heading(run: Run) -> str:
    story = run.story
    game = game_name(story["asked"]["coalition"], story["asked"].get("theta", ()), story["asked"].get("filter", "sgc"))
    what = f"{story['n_players']:,} players, {game}, {story['head']}"
    lines = [
        f"{run.directory}: {plain(story['graph']) or 'a graph'}, {what}",
        story["status"],
        utilities(story["asked"]["metric"], story["utility_full"], story["utility_roots"], story["utility_empty"]),
        *(f"warning: {warning}" for warning in story["warnings"]),
    ]
    return "\n".join(lines)


def _by(table: "pd.DataFrame", by: str) -> "pd.DataFrame":
    """The table with its own values, or with the path values instead."""
    return table.assign(value=table["value_path"], stderr=table["stderr_path"]) if by == "path" else table


def _names(run: Run) -> list[str]:
    """Names of the classes; the last one is for -1, unknown."""
    return [*run.classes, "unknown"]


def _bins(degree: IntArray) -> IntArray:
    """0, 1, 2, 3-4, 5-8, ...: each twice as wide as the one before."""
    return np.ceil(np.log2(np.maximum(degree, 0.5))).astype(np.int64)


def _grouped(nodes: "pd.DataFrame", by: str, key: Any) -> "pd.DataFrame":  # a column or an array
    groups = nodes.groupby(np.asarray(key))
    table = groups.agg(
        first=(by, "min"),
        last=(by, "max"),
        nodes=("value", "size"),
        labelled=("labelled", "sum"),
        sum=("value", "sum"),
        mean=("value", "mean"),
    )
    first, last = table.pop("first"), table.pop("last")
    names = [str(low) if low == high else f"{low}-{high}" for low, high in zip(first, last, strict=True)]
    table.insert(0, by, names)
    return table


def _sorted_ends(run: Run) -> "pd.DataFrame":
    """Edges with their ends in alphabetical order, because two graphs may number their nodes differently."""
    if run.directed:
        return run.edges
    ends = np.sort(run.edges[["source", "target"]].to_numpy(dtype=str), axis=1)
    return run.edges.assign(source=ends[:, 0], target=ends[:, 1])


def _pair(a: "pd.DataFrame", b: "pd.DataFrame", keys: list[str]) -> "pd.DataFrame":
    columns = [*keys, "value", "stderr"]
    both = a[columns].merge(b[columns], on=keys, suffixes=("_a", "_b"))
    difference = both["value_a"] - both["value_b"]
    error = np.hypot(both["stderr_a"], both["stderr_b"])
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where((difference == 0) & (error == 0), 0.0, difference / error)
    return both[keys].assign(
        **{"A": both["value_a"], "B": both["value_b"], "A - B": difference, "stderr": error, "errors": errors}
    )


def _agreement(pair: "pd.DataFrame") -> Mapping[str, str]:
    a, b = pair["A"].to_numpy(), pair["B"].to_numpy()
    size = pair["errors"].abs().dropna().to_numpy()  # infinite where two exact values differ
    rows = {"in both": f"{len(pair):,}", "Spearman rank correlation": f"{_spearman(a, b):.3f}"}
    for share in (0.01, 0.1, 0.25):
        k = max(1, round(share * len(pair)))
        shared = len(np.intersect1d(_best(a, k), _best(b, k)))
        rows[f"in both best {share:.0%}"] = f"{shared:,} of {k:,}"
    rows["root mean square difference"] = f"{np.sqrt(np.mean((a - b) ** 2)):.5f}"
    if len(size):
        rows["root mean square difference, in standard errors"] = f"{np.sqrt(np.mean(size**2)):.2f}"
        rows["differ by over 2 standard errors"] = f"{np.mean(size > 2):.1%} (by chance 4.6%)"
    return rows


def _best(values: FloatArray, k: int) -> IntArray:
    return np.argsort(-values, kind="stable")[:k]


def _spearman(a: FloatArray, b: FloatArray) -> float:
    """Spearman correlation; NaN if one of them is constant."""
    from scipy.stats import rankdata

    first, second = rankdata(a), rankdata(b)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])
