"""Players that joined -> rows of the labelled nodes.

induced      the paper's rule: propagation on the graph of the edges that have joined
row_updates  how these rows change, as a list of additions
"""
