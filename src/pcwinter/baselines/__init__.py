"""Graph -> Ranking: values of nodes and edges by other methods, to compare PC-Winter with.

Node methods value the nodes within K steps of a labelled node. Edge methods value the edges of the training graph. To
get the utility of a coalition of nodes, the head is trained on K-step features of the induced subgraph (`node_game`).
"""

from pcwinter.baselines.banzhaf import data_banzhaf
from pcwinter.baselines.influence import influence_edges, influence_nodes
from pcwinter.baselines.knn import knn_shapley
from pcwinter.baselines.leave_one_out import leave_one_out_edges, leave_one_out_nodes
from pcwinter.baselines.ranking import Ranking, all_edges, near_nodes, of_values
from pcwinter.baselines.shapley import beta_shapley, data_shapley
from pcwinter.baselines.simple import betweenness, degree, random_edges, random_nodes

__all__ = [
    "Ranking",
    "all_edges",
    "beta_shapley",
    "betweenness",
    "data_banzhaf",
    "data_shapley",
    "degree",
    "influence_edges",
    "influence_nodes",
    "knn_shapley",
    "leave_one_out_edges",
    "leave_one_out_nodes",
    "near_nodes",
    "of_values",
    "random_edges",
    "random_nodes",
]
