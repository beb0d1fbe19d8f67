"""Study -> how fast the accuracy falls when the best nodes are dropped: PC-Winter against the baselines."""

import numpy as np

from pcwinter.baselines.ranking import Ranking, near_nodes
from pcwinter.experiments.curves import droppable, dropped
from pcwinter.experiments.output import Outcome, Row, spread
from pcwinter.experiments.study import Study

PLAIN = ("leave-one-out", "influence", "degree", "random")
LEVELS = ("own", "path")
ENOUGH = 0.95  # share of a budget: a run that spent at least this much is not repeated


def run(study: Study, seeds: int, which: str = "unlabelled") -> Outcome:
    """Curves of all methods, and for unlabelled nodes the fair comparison with Data Shapley."""
    outcome = Outcome(study.title(f"drop-nodes {which}"), x=study.axis(dropped(which)))
    shares: dict[str, list[float]] = {}
    costs: dict[str, list[Ranking]] = {}
    labelled = near = 0
    for seed in range(seeds):
        here = study.at(seed)
        rankings = [here.baseline(method, seed) for method in PLAIN if here.knows(method)]
        sampled = [here.pc_winter(level, seed) for level in LEVELS]
        sampled.append(here.data_shapley(seed))
        labelled += len(here.graph.train)
        near += len(near_nodes(here.graph, here.hops))
        for ranking in [*sampled, *rankings]:
            name = _name(ranking)
            outcome.add(name, seed, here.dropping(ranking, seed, which))
            first = droppable(here.graph, ranking, which, seed)[: len(here.graph.train)]
            shares.setdefault(name, []).append(float(np.isin(first, here.graph.train).mean()))
            costs.setdefault(name, []).append(ranking)
    rows = outcome.summary(rebound=which == "unlabelled")  # otherwise no labelled node is left at the end
    for row in rows:
        found = costs[str(row["method"])]
        if found[0].orders:
            row |= spread("orders", [ranking.orders for ranking in found])
        if found[0].evaluations:
            row |= {"evaluations": float(np.mean([ranking.evaluations for ranking in found]))}
        row |= {"seconds": float(np.mean([ranking.seconds for ranking in found]))}
        if which == "mixed":
            row |= {
                **spread("labelled among the first", shares[str(row["method"])]),
                "labelled in all": labelled / near,
            }
    outcome.tables[outcome.name] = rows
    if which == "unlabelled":
        outcome.tables[f"{outcome.name} fair"] = fair(study, seeds)
    return outcome


def fair(study: Study, seeds: int) -> list[Row]:
    """PC-Winter and Data Shapley by the same rule, with equal evaluations, and in equal time.

    Budgets are equal to within 5 %, and Data Shapley checks its budget every ten orders. For equal time, PC-Winter gets
    the number of orders that its first run completed in that time.
    """
    found: dict[tuple[str, str], list[tuple[float, Ranking]]] = {}
    for seed in range(seeds):
        here = study.at(seed)
        mine, theirs = here.pc_winter("own", seed), here.data_shapley(seed)
        most, limit = min(mine.evaluations, theirs.evaluations), min(mine.seconds, theirs.seconds)
        budgets = {
            "same rule": (mine.orders, theirs),
            "equal evaluations": (
                round(mine.orders * most / mine.evaluations),
                theirs if most > ENOUGH * theirs.evaluations else here.data_shapley(seed, most=most),
            ),
            "equal time": (
                round(mine.orders * limit / mine.seconds),
                theirs if limit > ENOUGH * theirs.seconds else here.data_shapley(seed, time_limit=limit),
            ),
        }
        for budget, (orders, other) in budgets.items():
            rankings = {}
            for level in LEVELS:
                fewer = None if orders > ENOUGH * mine.orders else max(orders, 1)
                rankings[f"PC-Winter ({level})"] = here.pc_winter(level, seed, permutations=fewer)
            rankings["Data Shapley"] = other
            for name, ranking in rankings.items():
                found.setdefault((budget, name), []).append((here.dropping(ranking, seed).mean, ranking))
    return [
        {
            "budget": budget,
            "method": name,
            "seeds": seeds,
            **spread("mean", [mean for mean, _ in runs]),
            "orders": float(np.mean([ranking.orders for _, ranking in runs])),
            "evaluations": float(np.mean([ranking.evaluations for _, ranking in runs])),
            "seconds": float(np.mean([ranking.seconds for _, ranking in runs])),
        }
        for (budget, name), runs in found.items()
    ]


def _name(ranking: Ranking) -> str:
    return "Data Shapley" if ranking.method == "data-shapley" else ranking.method
