"""Study -> what the values cost: players, evaluations and seconds, beside the paper's tables."""

import numpy as np

from pcwinter.datasets import DATASETS
from pcwinter.experiments.output import Outcome, spread
from pcwinter.experiments.paper import HOURS, RETRAININGS
from pcwinter.experiments.study import Study
from pcwinter.orders import expected_visits, sampler
from pcwinter.tree import contribution_tree


def counts(study: Study, seeds: int) -> Outcome:
    """Players, and visits of a truncated order: expected, and the mean of a sample."""
    ratios = DATASETS[study.dataset].truncation
    tree = contribution_tree(study.graph, study.hops)
    draw = sampler(tree, "dfs", ratios)
    drawn = [int(draw(np.random.default_rng(seed)).visited.sum()) for seed in range(20 * seeds)]
    players, visits = RETRAININGS.get(study.dataset, (None, None))
    outcome = Outcome(f"{study.dataset} counts")
    outcome.tables[outcome.name] = [
        {
            "what": "players",
            "here": tree.n_players,
            "paper": players,
        },
        {
            "what": f"visits of an order truncated by {'-'.join(map(str, ratios))}",
            "here": float(expected_visits(tree, ratios)),
            "paper": visits,
            **spread(f"mean of {len(drawn)} orders", [float(n) for n in drawn]),
        },
        {"what": "null players, never evaluated", "here": int(tree.null.sum())},
    ]
    return outcome


def efficiency(study: Study, seeds: int) -> Outcome:
    """Seconds per order and in total, PC-Winter and Data Shapley."""
    outcome = Outcome(study.title("efficiency"))
    rows = []
    paper = HOURS.get(study.dataset, {})
    methods = {
        "PC-Winter": [study.pc_winter("own", seed) for seed in range(seeds)],
        "Data Shapley": [study.data_shapley(seed) for seed in range(seeds)],
    }
    for method, rankings in methods.items():
        hours = paper.get(method, (None, None, None))
        rows.append(
            {
                "method": method,
                "head": study.head,
                "seeds": seeds,
                **spread("orders", [float(ranking.orders) for ranking in rankings]),
                "paper orders": hours[1],
                **spread("seconds an order", [ranking.seconds / ranking.orders for ranking in rankings]),
                "paper hours an order": hours[0],
                **spread("seconds in total", [ranking.seconds for ranking in rankings]),
                "paper hours in total": hours[2],
                "microseconds an evaluation": float(
                    np.mean([1e6 * ranking.seconds / ranking.evaluations for ranking in rankings])
                ),
            }
        )
    outcome.tables[outcome.name] = rows
    return outcome
