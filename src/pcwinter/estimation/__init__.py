"""Game -> values of the players: the mean marginal contribution over orders.

moments    sums and squares over orders
estimator  the loop over blocks of orders
stopping   when to stop
jobs       the protocols of a job and of a pool
pools      where blocks of orders run
processes  worker processes of this machine
display    a progress line, and Ctrl-C
"""

from pcwinter.estimation import stopping as stopping
