"""What every node and edge of a graph is worth to a graph neural network: PC-Winter values.

arrays -> Graph -> ContributionTree -> orders -> game -> Values; the names below follow that flow.
"""

from pcwinter import stopping
from pcwinter.datasets import DATASETS, load, random_split
from pcwinter.game import Game, GraphGame, SetGame
from pcwinter.graph import Graph, Recipe, normalize_features
from pcwinter.heads.calibration import Calibration
from pcwinter.heads.ridge import Ridge
from pcwinter.heads.softmax import Softmax
from pcwinter.judge import judge
from pcwinter.metrics import METRICS
from pcwinter.orders import Order, Walk, count_orders, every_order, expected_visits, sampler
from pcwinter.stopping import Progress, Rule
from pcwinter.tree import ContributionTree, contribution_tree
from pcwinter.valuation import Values, exact_value, graph_game, value
from pcwinter.values import Estimate, estimate, exact

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  the order of the flow, not of the alphabet
    "Graph",
    "Recipe",
    "normalize_features",
    "DATASETS",
    "load",
    "random_split",
    "ContributionTree",
    "contribution_tree",
    "Order",
    "Walk",
    "sampler",
    "expected_visits",
    "count_orders",
    "every_order",
    "Ridge",
    "Softmax",
    "Calibration",
    "METRICS",
    "Game",
    "SetGame",
    "GraphGame",
    "graph_game",
    "stopping",
    "Rule",
    "Progress",
    "Estimate",
    "estimate",
    "exact",
    "Values",
    "value",
    "exact_value",
    "judge",
]
