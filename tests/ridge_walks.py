"""A ridge head that is ready to walk."""

from pcwinter.game.metrics import METRICS
from pcwinter.game.problem import make_problem
from pcwinter.game.tree import contribution_tree
from pcwinter.graph.graph import Graph
from pcwinter.heads.ridge.head import RidgeWalker


def walker(
    graph: Graph,
    hops: int,
    metric: str = "accuracy",
    primal: bool | None = None,
    theta: tuple[float, ...] = (),
    **head: float,
) -> RidgeWalker:
    """In the message game if there is a `theta`."""
    tree = contribution_tree(graph, hops)
    penalty, bias, temperature = head.get("penalty", 0.7), head.get("bias", 0.8), head.get("temperature", 1.0)
    problem, chosen = make_problem(graph, tree, "messages" if theta else "induced", theta), METRICS[metric]
    return RidgeWalker(problem, penalty, bias, chosen, temperature=temperature, primal=primal)
