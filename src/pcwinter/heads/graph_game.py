"""Graph, tree, head and metric -> GraphGame: calibrates missing parameters of the head and prepares it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pcwinter._util.checks import did_you_mean
from pcwinter._util.threads import one_thread
from pcwinter.game.metrics import metric_for
from pcwinter.game.problem import GraphGame, make_problem
from pcwinter.game.tree import ContributionTree, check_tree
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.heads.calibration import Calibration, calibrate
from pcwinter.heads.ridge.closed_form import inverse_norm, largest_norm
from pcwinter.heads.ridge.head import Ridge, RidgeWalker
from pcwinter.heads.ridge.leave_one_out import LeaveOneOut, choose_by_leave_one_out
from pcwinter.heads.softmax import Softmax, SoftmaxWalker, softmax_for

HEADS = ("ridge", "softmax")


@one_thread()
def graph_game(
    graph: Graph,
    tree: ContributionTree,
    head: str | Ridge | Softmax = "ridge",
    metric: str | None = None,
    memory: int | None = None,
    coalition: str = "induced",
    theta: Sequence[float] = (),
    empty: str = "nothing",
    stage: Callable[[str], object] | None = None,
) -> tuple[GraphGame, str, Calibration | LeaveOneOut | None]:
    """The game of a graph, a description of the head, and the calibration if there was one.

    `graph` is the graph and `tree` its contribution tree. `head` is "ridge", "softmax", a `Ridge` or a `Softmax`;
    missing parameters are calibrated. `metric` is a name in METRICS or "f1:CLASS"; None for the usual one. `memory`
    limits the memory of a ridge walk, in bytes; None sets no limit. `coalition` is "induced" or "messages", and `theta`
    and `empty` are as in `value`. `stage` is called with "calibrating" if the head is calibrated, before that.
    """
    check_graph(graph)
    check_tree(tree)
    head, chosen = suited_head(head, graph), metric_for(metric, graph)
    problem = make_problem(graph, tree, coalition, theta, empty)
    if head == "softmax" or isinstance(head, Softmax):
        softmax = head if isinstance(head, Softmax) else softmax_for(graph)
        walker = SoftmaxWalker(problem, softmax, chosen)
        return GraphGame(problem, walker, chosen), describe(softmax), None
    ridge = head if isinstance(head, Ridge) else Ridge()
    calibration: Calibration | LeaveOneOut | None = None
    if not ridge.complete(chosen.tempered):
        if stage is not None:
            stage("calibrating")
        if graph.regression:
            complete, nodes = problem.complete, problem.features[np.unique(problem.local.node)]
            norm = inverse_norm(complete) * largest_norm(nodes)
            calibration = choose_by_leave_one_out(complete, problem.outcome, ridge, norm)
        else:
            like = replace(softmax_for(graph), class_weight=ridge.class_weight)
            calibration = calibrate(problem, like, ridge)
            ridge = replace(ridge, temperature=calibration.temperature)
        ridge = replace(ridge, penalty=calibration.penalty, bias=calibration.bias)
    assert ridge.penalty is not None
    assert ridge.bias is not None
    temperature = ridge.temperature or 1.0
    options: dict[str, Any] = {"temperature": temperature, "memory": memory, "class_weight": ridge.class_weight}
    walker_of_ridge = RidgeWalker(problem, ridge.penalty, ridge.bias, chosen, **options)
    ridge.points(walker_of_ridge.norm, float(walker_of_ridge.weights.max()))
    title = describe(ridge) + (f", temperature {temperature:.3g}" if chosen.tempered else "")
    return GraphGame(problem, walker_of_ridge, chosen), title, calibration


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
    rate, decay = head.learning_rate, head.weight_decay
    return f"softmax head, learning rate {rate:g}, {head.epochs} epochs, weight decay {decay:g}{weighted}"
