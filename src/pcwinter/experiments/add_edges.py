"""Study -> how fast the accuracy rises when the best edges are added to a graph without any."""

from collections import Counter
from typing import Any

import numpy as np

from pcwinter.experiments.output import Outcome, edges_summary, spread
from pcwinter.experiments.paper import EDGES
from pcwinter.experiments.study import Study
from pcwinter.experiments.variants import ORDERS

LEVELS = {"PC-Winter (own)": "edge", "PC-Winter (path)": "edge path"}
PLAIN = {"random": "random edges", "betweenness": "betweenness", "leave-one-out": "leave-one-out edges"}


def run(study: Study, seeds: int) -> Outcome:
    """Curves of all methods; the share of edges that reaches the accuracy of the whole graph.

    Which of PC-Winter's rankings is best differs from graph to graph: one is chosen on the validation graph.
    """
    outcome = Outcome(study.title("add-edges"), x="edges added")
    untruncated: dict[str, Any] = {"truncation": (), "permutations": None if study.quick else ORDERS}
    chosen: Counter[str] = Counter()
    sampled: dict[str, list[float]] = {}
    for seed in range(seeds):
        mine = {name: study.pc_winter(level, seed) for name, level in LEVELS.items()}
        mine |= {
            f"{name}, no truncation": study.pc_winter(level, seed, **untruncated) for name, level in LEVELS.items()
        }
        early = {name: study.adding(ranking, seed, on="validation").early for name, ranking in mine.items()}
        best = max(early, key=early.__getitem__)
        chosen[best] += 1
        rankings = mine | {"PC-Winter (chosen on validation)": mine[best]}
        rankings |= {name: study.baseline(method, seed) for name, method in PLAIN.items()}
        for name, ranking in rankings.items():
            outcome.add(name, seed, study.adding(ranking, seed))
            if ranking.orders:
                sampled.setdefault(name, []).append(ranking.orders)
        last = study.adding(mine["PC-Winter (own)"], seed, rest=-np.inf)
        outcome.add("PC-Winter (own), edges without players last", seed, last)
    times = ", ".join(f"{count} \N{MULTIPLICATION SIGN} {name}" for name, count in chosen.most_common())
    outcome.notes.append(f"Chosen on the validation graph: {times}.")
    paper, _ = EDGES.get(study.dataset, (None, None)) if study.on == "test" else (None, None)
    rows = edges_summary(outcome)
    for row in rows:
        if row["method"] == "PC-Winter (own)":
            row["paper at 10 %"] = paper
        if orders := sampled.get(str(row["method"])):
            row |= spread("orders", orders)
    outcome.tables[outcome.name] = rows
    return outcome
