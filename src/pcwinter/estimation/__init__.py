"""Game -> values of the players: the mean marginal contribution over orders.

moments    sums and squares, and what a number of orders adds up to
estimator  the loop over blocks of orders
stopping   when to stop
pools      where blocks of orders run
processes  worker processes of this machine
display    a progress line, and Ctrl-C
"""

from pcwinter.estimation import stopping as stopping
