"""Arguments -> checked values, or an error that says what came and what was expected."""

from collections.abc import Iterable, Sequence
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
        raise ValueError(f"{name} is {value!r}, expected {either(words)}{did_you_mean(value, words)}")
    return value


def instance(name: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Raise an error unless the argument is an instance of `kind`; `expected` describes it in words."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} is {value!r}, expected {expected}")


def function(name: str, value: object, form: str) -> None:
    """Raise an error unless the argument is None or can be called; `form` shows how, such as "progress(now)"."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} is {value!r}, expected a function that is called as {form}, or None")


def either(words: Sequence[str]) -> str:
    """The words as a choice.

    >>> either(["row", "standard", "none"])
    'row, standard or none'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def count(n: int, thing: str) -> str:
    """A number and its noun, in the singular or the plural.

    >>> count(1, "node"), count(2_000, "node")
    ('1 node', '2,000 nodes')
    """
    return f"{n:,} {noun(n, thing)}"


def noun(n: int, thing: str) -> str:
    """The noun that follows the number `n`.

    >>> noun(1, "class"), noun(2, "class"), noun(0, "edge")
    ('class', 'classes', 'edges')
    """
    return thing if n == 1 else f"{thing}es" if thing.endswith("s") else f"{thing}s"


def did_you_mean(value: object, known: Iterable[str]) -> str:
    """The end of an error message: the known word closest to `value`, or nothing if none is close.

    >>> did_you_mean("corra", ["cora", "citeseer"])
    ': did you mean cora?'
    """
    close = get_close_matches(str(value).lower(), list(known), n=1)
    return f": did you mean {close[0]}?" if close else ""
