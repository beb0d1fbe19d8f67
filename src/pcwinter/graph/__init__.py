"""Arrays and files -> Graph.

graph        Graph: every check of a user's data, and the inductive split
features     anything -> features, checked and scaled
splits       random splits
propagation  K steps of propagation on a whole graph
io           files and objects of other libraries -> Graph
"""
