"""Options -> checked values: one sentence that says what came and what was expected."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real

import numpy as np


def whole_number(name: str, value: object, least: int) -> int:
    """The option as an int; True is not a number here, and neither is 10.0."""
    if not isinstance(value, Integral) or isinstance(value, bool | np.bool_) or value < least:
        raise ValueError(f"{name} is {value!r}, expected a whole number of at least {least}")
    return int(value)


def number(name: str, value: object, *, zero: bool = False) -> float:
    """The option as a finite positive float; 0 is allowed if `zero`."""
    plain = float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else np.nan
    if not (np.isfinite(plain) and (plain > 0 or (zero and plain == 0))):
        raise ValueError(f"{name} is {value!r}, expected {'0 or ' if zero else ''}a positive number")
    return plain


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """The option, which must be one of the allowed words."""
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {value!r}, expected {' or '.join(words)}{did_you_mean(value, words)}")
    return value


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """A hint to end a sentence with, empty if no known word is close to `value`.

    >>> did_you_mean("corra", ["cora", "citeseer"])
    ': did you mean cora?'
    """
    close = get_close_matches(str(value).lower(), list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""
