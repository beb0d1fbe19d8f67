"""Study -> how fast the accuracy rises when the best edges are added to a graph without any."""

from collections import Counter

import numpy as np

from pcwinter.experiments.output import Outcome, edges_summary, spread
from pcwinter.experiments.paper import EDGES
from pcwinter.experiments.study import Study

LEVELS = {"PC-Winter (own)": "edge", "PC-Winter (path)": "edge path", "PC-Winter (by class)": "edge by class"}
PLAIN = {
    "random": "random edges",
    "betweenness": "betweenness",
    "leave-one-out": "leave-one-out edges",
    "influence": "influence edges",
}
CHOSEN = "PC-Winter (chosen on validation)"


def run(study: Study, seeds: int, *, fresh: bool = False) -> Outcome:
    """Curves of all methods, and the share of edges that reaches the accuracy of the whole graph.

    The best of PC-Winter's rankings differs between graphs, so one is chosen on the validation graph. With `fresh`, or
    if the study is scored on choice nodes, every seed has its own split, and methods are compared split by split.
    """
    title = study.title("fresh-splits" if fresh else "add-edges")
    fresh = fresh or study.on == "choice"
    outcome = Outcome(title, x=study.axis("edges added", fresh=fresh))
    chosen: Counter[str] = Counter()
    heads: Counter[str] = Counter()
    sizes: list[int] = []
    sampled: dict[str, list[float]] = {}
    for seed in range(seeds):
        here = study.fresh(seed) if fresh else study
        mine = {name: here.pc_winter(level, seed) for name, level in LEVELS.items()}
        early = {name: here.adding(ranking, seed, on="validation").early for name, ranking in mine.items()}
        best = max(early, key=early.__getitem__)
        chosen[best] += 1
        heads[here.settings] += 1
        sizes.append(here.graph.count_edges(here.graph.training))
        rankings = mine | {CHOSEN: mine[best]}
        rankings |= {name: here.baseline(method, seed) for name, method in PLAIN.items() if here.knows(method)}
        curves = {name: here.adding(ranking, seed) for name, ranking in rankings.items()}
        curves["PC-Winter (own), edges without players last"] = here.adding(mine["PC-Winter (own)"], seed, rest=-np.inf)
        for name, curve in curves.items():
            outcome.add(name, seed, curve)
        for name, ranking in rankings.items():
            if ranking.orders:
                sampled.setdefault(name, []).append(ranking.orders)
    outcome.notes.append(f"Chosen on the validation graph: {_times(chosen)}.")
    if fresh:
        outcome.notes.append(f"Training graphs of {min(sizes):,} to {max(sizes):,} edges; heads: {_times(heads)}.")
    paper, _ = EDGES.get(study.dataset, (None, None)) if study.on == "test" and not fresh else (None, None)
    rows = edges_summary(outcome)
    for row in rows:
        if row["method"] == "PC-Winter (own)" and paper:
            row["paper at 10 %"] = paper
        if orders := sampled.get(str(row["method"])):
            row |= spread("orders", orders)
        if fresh:
            theirs, choice = (outcome.curves[name].values() for name in (str(row["method"]), CHOSEN))
            row |= spread("10 % over all", [curve.at(0.1) - curve.accuracy[-1] for curve in theirs])
            if row["method"] != CHOSEN:
                row |= spread("choice ahead by", [a.early - b.early for a, b in zip(choice, theirs, strict=True)])
    outcome.tables[outcome.name] = rows
    return outcome


def _times(found: Counter[str]) -> str:
    return "; ".join(f"{count} \N{MULTIPLICATION SIGN} {name}" for name, count in found.most_common())
