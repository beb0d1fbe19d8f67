"""Rows of labelled nodes -> scores of validation nodes: the classifiers, called heads.

softmax      the paper's head, trained for every coalition
adam         its compiled trainer
ridge        the same linear classifier in closed form
calibration  parameters with which the ridge head imitates the softmax head
graph_game   graph, tree, head and metric -> GraphGame
"""
