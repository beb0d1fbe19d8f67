"""Graph, tree, head and metric -> GraphGame: calibrates missing parameters of the head and prepares it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pcwinter._util.checks import did_you_mean
from pcwinter._util.threads import one_thread
from pcwinter.game.metrics import Metric, metric_for
from pcwinter.game.problem import GraphGame, Problem, make_problem
from pcwinter.game.tree import ContributionTree, check_tree
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.heads.calibration import Calibration, calibrate
from pcwinter.heads.ridge.closed_form import inverse_norm, largest_norm
from pcwinter.heads.ridge.head import Ridge, RidgeWalker
from pcwinter.heads.ridge.leave_one_out import choose_by_leave_one_out
from pcwinter.heads.softmax import Softmax, SoftmaxWalker

HEADS = ("ridge", "softmax")


@one_thread()
def graph_game(
    graph: Graph,
    tree: ContributionTree,
    head: str | Ridge | Softmax = "ridge",
    metric: str | None = None,
    memory: int | None = None,
    coalition: str = "messages",
    theta: Sequence[float] = (),
    empty: str = "nothing",
    blocks: bool = False,
    calibration: Calibration | None = None,
    stage: Callable[[str], object] | None = None,
) -> tuple[GraphGame, str, Calibration | None]:
    """The game of a graph, a description of the head, and the calibration if there was one.

    `graph` is the graph and `tree` its contribution tree. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`;
    missing parameters are calibrated, or taken from `calibration`, an earlier one. `metric` is a name in METRICS or
    "f1:CLASS"; None for the usual one. `memory` limits the memory of a ridge walk, in bytes; None sets no limit.
    `coalition` is "induced" or "messages", `theta` and `empty` are as in `value`, and `blocks` is for the filter
    "hops". `stage` is called with "calibrating" if the head is calibrated, before that.
    """
    check_graph(graph)
    check_tree(tree)
    used, chosen = suited_head(head, graph), metric_for(metric, graph)
    problem = make_problem(graph, tree, coalition, theta, empty, blocks)
    if complete(used, chosen):
        calibration = None
    else:
        if calibration is None:
            if stage is not None:
                stage("calibrating")
            calibration = _calibration(problem, used, chosen)
        used = calibration.head
    if isinstance(used, Softmax):
        return GraphGame(problem, SoftmaxWalker(problem, used, chosen), chosen), describe(used), calibration
    assert isinstance(used, Ridge)
    assert used.penalty is not None
    assert used.bias is not None
    temperature = used.temperature or 1.0
    options: dict[str, Any] = {"temperature": temperature, "memory": memory, "class_weight": used.class_weight}
    walker = RidgeWalker(problem, used.penalty, used.bias, chosen, **options)
    used.points(walker.norm, float(walker.weights.max()))
    title = describe(used) + (f", temperature {temperature:.3g}" if chosen.tempered else "")
    return GraphGame(problem, walker, chosen), title, calibration


def _calibration(problem: Problem, head: str | Ridge | Softmax, metric: Metric) -> Calibration:
    """The calibrated head: for numeric targets by the leave-one-out error, for classes by what scores explain."""
    ridge = head if isinstance(head, Ridge) else Ridge()
    if not metric.regression:
        return calibrate(problem, None if head == "softmax" else ridge, tempered=metric.tempered)
    rows, nodes = problem.complete, problem.features[np.unique(problem.local.node)]
    found = choose_by_leave_one_out(rows, problem.outcome, ridge, inverse_norm(rows) * largest_norm(nodes))
    return Calibration(replace(ridge, penalty=found.penalty, bias=found.bias), found.r2)


def complete(head: str | Ridge | Softmax, metric: Metric) -> bool:
    """Whether a head has all parameters that a metric needs, so that nothing is calibrated."""
    return isinstance(head, Softmax) or (isinstance(head, Ridge) and head.complete(metric.tempered))


def check_head(head: object) -> str | Ridge | Softmax:
    """The head, after checking that it is a known name, a Ridge or a Softmax."""
    if isinstance(head, Ridge | Softmax) or (isinstance(head, str) and head in HEADS):
        return head
    raise ValueError(
        f"head is {head!r}, expected ridge, softmax, a pcwinter.Ridge(...) or a pcwinter.Softmax(...)"
        f"{did_you_mean(head, HEADS)}"
    )


def suited_head(head: object, graph: Graph) -> str | Ridge | Softmax:
    """The head, after checking that it is one, and that it can learn what the graph has."""
    known = check_head(head)
    if graph.regression and (known == "softmax" or isinstance(known, Softmax)):
        raise ValueError("the softmax head needs classes, but the graph has numeric targets: use head='ridge'")
    if graph.regression and isinstance(known, Ridge) and known.class_weight:
        raise ValueError(
            f"class_weight is {known.class_weight!r}, but the graph has numeric targets, not classes: leave it out"
        )
    return known


def describe(head: Ridge | Softmax) -> str:
    """The name and the parameters of a head, for messages."""
    weighted = f", {head.class_weight} class weights" if head.class_weight else ""
    if isinstance(head, Ridge):
        return f"ridge head, penalty {head.penalty:g}, bias {head.bias:g}{weighted}"
    rate, decay, scaled = head.learning_rate, head.weight_decay, f", rows times {head.scale:.3g}"
    text = f"softmax head, learning rate {rate:g}, {head.epochs} epochs, weight decay {decay:g}"
    return text + (scaled if head.scale != 1 else "") + weighted
