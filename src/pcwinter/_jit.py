"""Plain loops -> machine code: the one place that names the compiler and its options.

The same source gives the same bits: no fastmath, so that the compiler may not reorder sums.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile `function` on its first call and keep the result on disk."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))
