"""The ridge head: utilities along an order without retraining.

head           Ridge and RidgeWalker: everything that does not depend on the order
closed_form    the scores of any rows by one solve
leave_one_out  the parameters for numeric targets, by leave-one-out errors
course         the records that compiled walks share
contiguous     orders that finish one tree before the next (dfs, level)
interleaved    orders that do not (precedence, free)
block          the algebra of a block of interleaved evaluations
block_scores   a block -> the utility of each of its evaluations
counting       scores -> number of correct predictions
"""
