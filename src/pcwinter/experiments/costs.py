"""Study -> what the values cost: players, evaluations and seconds, next to the numbers of the paper."""

import time
from typing import Any

import numpy as np

from pcwinter._util.arrays import IntArray
from pcwinter._util.threads import one_thread
from pcwinter.baselines.node_game import NodeGame, node_game
from pcwinter.experiments.output import Outcome, Row, spread
from pcwinter.experiments.paper import HOURS, RETRAININGS
from pcwinter.experiments.study import Study
from pcwinter.game.orders import expected_visits, sampler
from pcwinter.game.protocol import Order
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.filters import Blocks, filter_weights
from pcwinter.heads.graph_game import graph_game
from pcwinter.heads.softmax import softmax_for

MODELS = 100  # softmax models of Data Shapley that are timed


def counts(study: Study, seeds: int) -> Outcome:
    """Number of players, and visits of a truncated order: the expectation, and the mean of a sample."""
    ratios = study.truncation
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
            "what": f"visits of an order truncated by {'-'.join(map(str, ratios))}" if ratios else "visits of an order",
            "here": float(expected_visits(tree, ratios)),
            "paper": visits,
            **spread(f"mean of {len(drawn)} orders", [float(n) for n in drawn]),
        },
        {"what": "null players, never evaluated", "here": int(tree.null.sum())},
    ]
    return outcome


def efficiency(study: Study, seeds: int) -> Outcome:
    """Seconds per order and in total for PC-Winter and Data Shapley; for the ridge head, also a softmax estimate."""
    outcome = Outcome(study.title("efficiency", judged=False))
    paper = HOURS.get(study.dataset, {})
    methods = {
        "PC-Winter": [study.pc_winter("own", seed) for seed in range(seeds)],
        "Data Shapley": [study.data_shapley(seed) for seed in range(seeds)],
    }
    rows: list[Row] = []
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
    if study.head == "ridge":
        models_an_order = {
            method: float(np.mean([ranking.evaluations / ranking.orders for ranking in rankings]))
            for method, rankings in methods.items()
        }
        seconds = _softmax_models(study, models_an_order["Data Shapley"])
        for (method, models), model in zip(models_an_order.items(), seconds, strict=True):
            rows.append(
                {
                    "method": f"{method}, softmax",
                    "head": "softmax",
                    **spread("orders", [float(ranking.orders) for ranking in methods[method]]),
                    "seconds an order": model * models,
                    "seconds in total": model * float(np.mean([ranking.evaluations for ranking in methods[method]])),
                    "microseconds an evaluation": 1e6 * model,
                }
            )
        outcome.notes.append(
            "Softmax times are estimates: the time of a few models along one order, times the evaluations above. "
            "`--head softmax` measures whole valuations."
        )
    outcome.tables[outcome.name] = rows
    return outcome


@one_thread()
def _softmax_models(study: Study, walked: float) -> tuple[float, float]:
    """Mean seconds of a softmax model: along an order of players, and along the first `walked` models of nodes.

    For players, two models are trained for every tree, as in a walk: its root alone, and the whole tree. For nodes,
    some of the models are trained that a walk trains before it is truncated.
    """
    tree = contribution_tree(study.graph, study.hops)
    study.say("training a few softmax models of each method to measure their time")
    theta = filter_weights(study.filter, study.hops)
    options: dict[str, Any] = {"blocks": True} if isinstance(theta, Blocks) else {"theta": theta}
    players, _, _ = graph_game(study.graph, tree, softmax_for(study.graph), **options)
    rng = np.random.default_rng(0)
    order = sampler(tree, "dfs")(rng)
    order = Order(order.players, tree.parent[order.players] < 0)
    players.prepare(order)
    began = time.perf_counter()
    walk = players.walk(order)
    mine = (time.perf_counter() - began) / (walk.evaluations + walk.baselines)
    nodes = node_game(study.graph, softmax_for(study.graph), hops=study.hops, filter=study.filter)
    return mine, _node_seconds(nodes, rng.permutation(nodes.n_players), walked)


def _node_seconds(game: NodeGame, order: IntArray, walked: float) -> float:
    """Mean seconds over equally spaced models of a walk."""
    coalition = np.zeros(game.n_players, dtype=np.bool_)
    steps: list[int] = []
    for step, player in enumerate(order.tolist()):
        coalition[player] = True
        if game.changes([player], game.place.hops + 1, coalition):
            steps.append(step)
        if len(steps) >= walked:
            break
    place = np.argsort(order)
    some = np.unique(np.linspace(0, len(steps) - 1, MODELS).astype(np.int64))
    began = time.perf_counter()
    for step in np.array(steps)[some].tolist():
        game.utility(place <= step)
    return (time.perf_counter() - began) / len(some)
