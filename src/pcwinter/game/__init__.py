"""Graph -> game: the players, the orders in which they join, and the utility of a coalition.

protocol    Game, Order, Walk, SetGame; independent of graphs
detail      marginal contributions by validation node
tree        ContributionTree: the players
orders      the sequences in which players can join
metrics     scores of the validation nodes -> utility
ranks       ROC-AUC and average precision
class_weights  weights of the classes
coalitions  players that joined -> rows of the labelled nodes
problem     Problem and GraphGame: the input of a head, and the game
"""
