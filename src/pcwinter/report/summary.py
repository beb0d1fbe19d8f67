"""Run -> the text of the page: its title, warnings, main figures, what the numbers mean, and the settings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pcwinter._util.checks import count
from pcwinter.game.metrics import OF_CLASS
from pcwinter.report.escape import escape
from pcwinter.report.facts import Facts, exact, limits
from pcwinter.report.svg import MINUS, plain
from pcwinter.runs.read import Run

METRICS = {
    "accuracy": "accuracy on the validation nodes (0.01 is one percentage point)",
    "macro-f1": "macro-averaged F1 score on the validation nodes, over the classes that occur among them",
    "probability": "mean predicted probability of the true class, over the validation nodes",
    "log-likelihood": "mean log-likelihood of the true class, over the validation nodes",
    "balanced-accuracy": "balanced accuracy on the validation nodes, the mean over the classes that occur among them",
    "roc-auc": "area under the ROC curve on the validation nodes (0.5 is a random ranking)",
    "average-precision": "average precision on the validation nodes",
    "r2": "R² on the validation nodes, relative to predicting the mean of the training nodes",
    "neg-mse": "negative mean squared error on the validation nodes",
}


def title(run: Run) -> str:
    """The heading of the page."""
    return f"What the nodes and edges of {run.story['graph'] or 'this graph'} are worth"


def warnings(run: Run) -> str:
    """A box with the warnings of the run, exactly as they were written; empty if there are none."""
    items = "".join(f"<li>{escape(warning)}</li>" for warning in run.story["warnings"])
    if not items:
        return ""
    heading = "Warning" if len(run.story["warnings"]) == 1 else "Warnings"
    return (
        f'<section class="warnings" aria-labelledby="warned"><h2 id="warned">{heading}</h2><ul>{items}</ul></section>'
    )


def numbers(run: Run, known: Facts) -> str:
    """The figures at the top: the validation metric, and what was valued."""
    story = run.story
    edges = count(len(known.edge_value), "edge")
    pairs = [
        (plain(story["utility_full"]), f"validation {story['asked']['metric']} with everything"),
        (plain(story["utility_roots"]), "with labelled nodes only"),
        (plain(story["utility_empty"]), "with nothing"),
        (f"{len(known.ids):,}", f"nodes valued, {known.labelled.sum():,} of them labelled"),
        (edges.split()[0], f"{edges.split()[1]} valued"),
        (
            f"{story['n_players']:,}",
            f"players: paths of up to {count(run.paths.shape[1] - 1, 'step')} from a labelled node",
        ),
        (f"{story['permutations']:,}", "orders: all that exist" if exact(run) else "orders sampled"),
    ]
    return "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(figure)}</dd></div>" for figure, name in pairs)


def meaning(run: Run, known: Facts) -> list[str]:
    """Three items: what a value is, what its error covers, what the values add up to."""
    story = run.story
    asked = story["asked"]["metric"]
    metric = METRICS.get(asked, f"F1 score of the class {asked.removeprefix(OF_CLASS)}, on the validation nodes")
    drawn = "all permitted" if exact(run) else "the sampled"
    value = (
        f"A value is a share of the model's {metric}. Players join the model one at a time. The value of a node or an "
        f"edge is how much its players change that figure when they join, averaged over {drawn} orders. Above zero "
        "they help the model; below zero they harm it."
    )
    if exact(run):
        error = "All orders were enumerated, so there is no sampling error."
    elif story["permutations"] == 1:
        error = "One order gives no standard error, so the precision of the values is unknown."
    else:
        error = (
            "The number after ± is one standard error. It covers the sampling of orders only, not the choice of the "
            "validation nodes, the split or the head."
        )
        if np.isnan([*run.nodes["stderr"], *run.edges["stderr"]]).any():
            error += " It is unknown where fewer than two orders visited the players."
    if "stderr_validation" in run.nodes:
        error += " “± validation” is the standard error from the choice of the validation nodes."
    if "stderr_total" in run.nodes:
        error += " “± total” combines both."
    return [value, error, _sum(run, known)]


def _sum(run: Run, known: Facts) -> str:
    story = run.story
    full, empty = story["utility_full"], story["utility_empty"]
    nodes, edges = float(known.value.sum()), float(known.edge_value.sum())
    difference = f"{plain(full)} {MINUS} {plain(empty) if empty >= 0 else f'({plain(empty)})'} = {plain(full - empty)}"
    if story["asked"].get("remainder") == "nobody":
        shares = ", ".join(f"{share:g}" for share in story["asked"]["truncation"])
        return (
            f"The run was truncated ({shares}). Players that an order leaves out count as 0 in it, so the values do "
            f"not add up: the nodes sum to {plain(nodes)}, but the model gains {difference} between nothing and "
            "everything."
        )
    return (
        f"The values of the nodes add up to what the model gains between nothing and everything: {difference}. The "
        f"edges account for {plain(edges)} of it, and the labelled nodes themselves for the other "
        f"{plain(nodes - edges)}."
    )


def settings(run: Run) -> str:
    """Tables of the settings, the head, the graph, the work done and the versions."""
    story = run.story
    counts = {
        "nodes": story["nodes"],
        "edges": story["edges"],
        "edges in the training graph": story["training_edges"],
        "edges removed by the inductive split": story["cut_edges"],
        "labelled nodes": story["labelled"],
        "validation nodes": story["validation"],
        "fingerprint": story["fingerprint"][:12],
    }
    work = {
        "orders": story["permutations"],
        "players visited": story["visited"],
        "models evaluated": story["evaluations"],
        "preparation, in seconds": f"{story['setup_seconds']:.2f}",
        "sampling, in seconds": f"{story['seconds']:.2f}",
        **{f"limit: {name.replace('_', ' ')}": limit for name, limit in limits(run).items()},
    }
    found = dict(story["calibration"] or {})
    close, points, explained = (found.pop(name, None) for name in ("close", "points", "explained"))
    head = {"head": story["head"], **{name.replace("_", " "): entry for name, entry in found.items()}}
    if points:
        head |= {
            "share of the classes that its scores explain": explained,
            "settings as good, within one standard error": f"{close} of {points}",
        }
    parts = {"Settings": story["asked"], "Head": head, "Graph": counts, "Work": work, "Versions": story["versions"]}
    return "".join(_table(name, entries) for name, entries in parts.items())


def _table(name: str, entries: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(key)}</th><td>{escape(_show(x))}</td></tr>" for key, x in entries.items()
    )
    return f"<table><caption>{escape(name)}</caption><tbody>{rows}</tbody></table>"


def _show(x: object) -> str:
    if isinstance(x, bool) or x is None:
        return "none" if x is None else str(x).lower()
    if isinstance(x, int):
        return f"{x:,}"
    if isinstance(x, float):
        return f"{x:.4g}" if np.isfinite(x) else str(x)
    if isinstance(x, list):
        return ", ".join(map(_show, x)) or "none"
    return str(x)
