"""Heads: classifiers that turn the rows of labelled nodes into scores of validation nodes.

softmax      the paper's head, trained for every coalition
adam         the compiled trainer behind it
ridge        the same linear classifier in closed form
calibration  parameters of the ridge head that imitate the softmax head
graph_game   graph, tree, head and metric -> GraphGame
"""
