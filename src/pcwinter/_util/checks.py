"""Arguments -> checked values, or an error that says what came and what was expected."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np


def whole_number(name: str, value: object, least: int) -> int:
    """The argument as an int of at least `least`; True and 10.0 are not accepted."""
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_) or value < least:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


def number(name: str, value: object, *, zero: bool = False) -> float:
    """The argument as a finite positive float; 0 is allowed if `zero`."""
    try:
        plain = float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else np.nan
    except OverflowError:  # an int beyond every float
        plain = np.inf
    if not (np.isfinite(plain) and (plain > 0 or (zero and plain == 0))):
        raise ValueError(f"{name} is {value!r}, expected {'0 or ' if zero else ''}a positive number")
    return plain


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """The argument, which must be one of the allowed strings."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {value!r}, expected {' or '.join(words)}{did_you_mean(value, words)}")
    return value


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """The end of an error message: the known word closest to `value`, or nothing if none is close.

    >>> did_you_mean("corra", ["cora", "citeseer"])
    ': did you mean cora?'
    """
    close = get_close_matches(str(value).lower(), list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""
