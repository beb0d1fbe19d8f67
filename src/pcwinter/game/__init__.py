"""Graph -> game: players, orders, and what a coalition is worth.

protocol    Game, Order, Walk, SetGame; knows nothing of graphs
detail      marginal contributions by validation node
tree        ContributionTree: the players
orders      in which sequences the players may join
metrics     scores of the validation nodes -> utility
coalitions  players that joined -> rows of the labelled nodes
problem     Problem and GraphGame: what a head works on, and the game that it plays
"""
