"""Arrays and files -> Graph.

graph        Graph: checks the user's data and makes the inductive split
features     arrays -> features, checked and scaled
splits       labels -> random splits
propagation  K steps of propagation on a whole graph
io           files, and objects of other libraries -> Graph
"""
