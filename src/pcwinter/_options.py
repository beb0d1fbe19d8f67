"""Options -> checked numbers: one sentence that says what came and what was expected."""

from numbers import Integral, Real

import numpy as np


def whole_number(name: str, value: object, least: int) -> int:
    """The option as an int; True is not a number here, and neither is 10.0."""
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_) or value < least:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


def number(name: str, value: object, *, zero: bool = False) -> float:
    """The option as a finite positive float; 0 too if `zero`."""
    plain = float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else np.nan
    if not (np.isfinite(plain) and (plain > 0 or (zero and plain == 0))):
        raise ValueError(f"{name} is {value!r}, expected {'0 or ' if zero else ''}a positive number")
    return plain
