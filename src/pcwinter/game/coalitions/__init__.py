"""Players that joined -> rows of the labelled nodes.

induced      the paper's rule: propagation on the edges that have joined
row_updates  the changes of these rows, as a list of additions
"""
