"""Graph, tree, head and metric -> GraphGame: calibrates missing parameters of the head and prepares it."""

from collections.abc import Callable, Sequence

from pcwinter._util.checks import did_you_mean
from pcwinter._util.threads import one_thread
from pcwinter.game.metrics import Metric, find_metric
from pcwinter.game.problem import GraphGame, make_problem
from pcwinter.game.tree import ContributionTree, check_tree
from pcwinter.graph.graph import Graph, check_graph
from pcwinter.heads.calibration import Calibration, calibrate
from pcwinter.heads.ridge.head import Ridge, RidgeWalker
from pcwinter.heads.softmax import Softmax, SoftmaxWalker

HEADS = ("ridge", "softmax")


@one_thread()
def graph_game(
    graph: Graph,
    tree: ContributionTree,
    head: str | Ridge | Softmax = "ridge",
    metric: str = "accuracy",
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
    missing parameters are calibrated, or taken from `calibration`, an earlier one. `metric` is a name in METRICS.
    `memory` limits the memory of a ridge walk, in bytes; None sets no limit. `coalition` is "induced" or "messages",
    `theta` and `empty` are as in `value`, and `blocks` is for the filter "hops". `stage` is called with "calibrating"
    if the head is calibrated, before that.
    """
    check_graph(graph)
    check_tree(tree)
    chosen, used = find_metric(metric), check_head(head)
    problem = make_problem(graph, tree, coalition, theta, empty, blocks)
    if not complete(used, chosen):
        if calibration is None:
            if stage is not None:
                stage("calibrating")
            ridge = used if isinstance(used, Ridge) else Ridge()
            calibration = calibrate(problem, None if used == "softmax" else ridge, tempered=chosen.tempered)
        used = calibration.head
    else:
        calibration = None
    if isinstance(used, Softmax):
        return GraphGame(problem, SoftmaxWalker(problem, used, chosen), chosen), describe(used), calibration
    assert isinstance(used, Ridge)
    assert used.penalty is not None
    assert used.bias is not None
    temperature = used.temperature or 1.0
    walker = RidgeWalker(problem, used.penalty, used.bias, chosen, temperature=temperature, memory=memory)
    used.points(walker.norm)
    title = describe(used) + (f", temperature {temperature:.3g}" if chosen.tempered else "")
    return GraphGame(problem, walker, chosen), title, calibration


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


def describe(head: Ridge | Softmax) -> str:
    """The name and the parameters of a head, for messages."""
    if isinstance(head, Ridge):
        return f"ridge head, penalty {head.penalty:g}, bias {head.bias:g}"
    rate, decay, scaled = head.learning_rate, head.weight_decay, f", rows times {head.scale:.3g}"
    text = f"softmax head, learning rate {rate:g}, {head.epochs} epochs, weight decay {decay:g}"
    return text + (scaled if head.scale != 1 else "")
