"""Plain loops -> machine code: the one place that names the compiler and its options.

The same source gives the same bits: no fastmath, so that the compiler may not reorder sums.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

_PACKAGE = Path(__file__).parent
_COMPILED = (source for path in sorted(_PACKAGE.rglob("*.py")) if b"pcwinter._jit" in (source := path.read_bytes()))
_SOURCES = hashlib.sha256(Path(__file__).read_bytes() + b"".join(_COMPILED)).hexdigest()[:16]


def compiled(function: F) -> F:
    """Compile `function` on its first call and keep the result on disk."""
    return _compile(function, inline=False)


def inlined(function: F) -> F:
    """The same for a small function of hot loops: it becomes part of its callers.

    A call copies every array of a named tuple, which costs more than what such a function does.
    """
    return _compile(function, inline=True)


def _compile(function: F, inline: bool) -> F:
    """Compile with the options of this package.

    The compiler notices a change of the file that a function stands in, but not of a function that it calls from
    another file. So the place on disk is named after all sources with compiled functions together.
    """
    config: Any = numba.config
    asked_for = config.CACHE_DIR
    config.CACHE_DIR = str(Path(asked_for or _PACKAGE / "__pycache__") / f"pcwinter-{_SOURCES}")
    try:
        return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(function))
    finally:
        config.CACHE_DIR = asked_for


@contextmanager
def packing() -> Iterator[None]:
    """What is compiled meanwhile may do neighbouring scalar operations as one vector operation; the bits stay."""
    config: Any = numba.config
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before
