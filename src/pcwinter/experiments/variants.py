"""Study -> dropping curves of variants of PC-Winter: constraints, numbers of orders, truncation ratios."""

from typing import Any

from pcwinter.experiments.output import Outcome, spread
from pcwinter.experiments.study import QUICK, Study

ABLATION = {"PC-Winter": "dfs", "level only (L)": "level", "precedence only (P)": "precedence", "free": "free"}
NUMBERS = (10, 50, 100, None)
RATIOS = ((0.5, 0.7), (0.9, 0.7), (0.5, 0.9))
LARGE = (0.7, 0.9)
ORDERS = 200  # in the ablation: orders without truncation take longer


def ablation(study: Study, seeds: int) -> Outcome:
    """Both constraints, one of them, or none; without truncation, which needs both constraints."""
    orders = None if study.quick else study.orders or ORDERS
    options: dict[str, dict[str, Any]] = {
        name: {"orders": family, "truncation": (), "permutations": orders} for name, family in ABLATION.items()
    }
    return _compare(study, seeds, "ablation", options)


def permutations(study: Study, seeds: int) -> Outcome:
    """10, 50 and 100 orders, and orders until convergence, compared with Data Shapley."""
    numbers = (10, QUICK) if study.quick else NUMBERS
    options: dict[str, dict[str, Any]] = {f"{n} orders" if n else "converged": {"permutations": n} for n in numbers}
    return _compare(study, seeds, "permutations", options, shapley=True)


def truncation(study: Study, seeds: int) -> Outcome:
    """The paper's ratios for the dataset, other ratios, and no truncation on the citation graphs."""
    large = study.truncation == LARGE
    ratios = (LARGE, *RATIOS) if large else (*RATIOS, ())
    options: dict[str, dict[str, Any]] = {"-".join(map(str, pair)) or "none": {"truncation": pair} for pair in ratios}
    return _compare(study, seeds, "truncation", options)


def _compare(
    study: Study, seeds: int, name: str, options: dict[str, dict[str, Any]], *, shapley: bool = False
) -> Outcome:
    outcome = Outcome(study.title(name), x=study.axis("unlabelled nodes dropped"))
    orders: dict[str, list[float]] = {}
    took: dict[str, list[float]] = {}
    for seed in range(seeds):
        here, rankings = study.at(seed), {}
        for variant, given in options.items():
            for level in ("own", "path"):
                method = f"{variant}, {level}"
                rankings[method] = here.pc_winter(level, seed, method=method, **given)
        if shapley:
            rankings["Data Shapley"] = here.data_shapley(seed)
        for method, ranking in rankings.items():
            outcome.add(method, seed, here.dropping(ranking, seed))
            orders.setdefault(method, []).append(ranking.orders)
            took.setdefault(method, []).append(ranking.seconds)
    rows = []
    for row in outcome.summary():
        method = str(row["method"])
        rows.append({**row, **spread("orders", orders[method]), **spread("seconds", took[method])})
    outcome.tables[outcome.name] = rows
    return outcome
