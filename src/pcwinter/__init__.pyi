# ruff: noqa: I001  in the order of the flow, not of the alphabet
from . import stopping as stopping
from .features import normalize_features as normalize_features
from .graph import Graph as Graph
from .graph import Recipe as Recipe
from .datasets import DATASETS as DATASETS
from .datasets import load as load
from .datasets import random_split as random_split
from .interop import from_networkx as from_networkx
from .interop import from_pyg as from_pyg
from .interop import read_graph as read_graph
from .tree import ContributionTree as ContributionTree
from .tree import contribution_tree as contribution_tree
from .orders import Order as Order
from .orders import Walk as Walk
from .orders import count_orders as count_orders
from .orders import every_order as every_order
from .orders import expected_visits as expected_visits
from .orders import sampler as sampler
from .heads.calibration import Calibration as Calibration
from .heads.ridge import Ridge as Ridge
from .heads.softmax import Softmax as Softmax
from .metrics import METRICS as METRICS
from .game import Game as Game
from .game import GraphGame as GraphGame
from .game import SetGame as SetGame
from .stopping import Progress as Progress
from .stopping import Rule as Rule
from .values import Estimate as Estimate
from .values import estimate as estimate
from .values import exact as exact
from .valuation import Values as Values
from .valuation import exact_value as exact_value
from .valuation import graph_game as graph_game
from .valuation import value as value
from .judging import judge as judge

__version__: str
