"""What every node and edge of a graph is worth to a graph neural network: PC-Winter values.

arrays -> Graph -> ContributionTree -> orders -> game -> Values; `__init__.pyi` lists the public names in that order.
A name is imported when it is first used, so that the command line answers at once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.4.0"
