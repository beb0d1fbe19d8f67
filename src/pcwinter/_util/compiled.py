"""Plain loops -> machine code: the only file that names the compiler and its options.

The same source gives the same bits: the compiler may not reorder sums, except in a `loose` function.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])

_PACKAGE = Path(__file__).parents[1]
_COMPILED = (source for path in sorted(_PACKAGE.rglob("*.py")) if b"_util.compiled" in (source := path.read_bytes()))
_SOURCES = hashlib.sha256(Path(__file__).read_bytes() + b"".join(_COMPILED)).hexdigest()[:16]


def compiled(function: F) -> F:
    """Compile `function` on its first call, and cache the result on disk."""
    return _compile(function)


def inlined(function: F) -> F:
    """Inline a small function of a hot loop into its callers.

    A call copies every array of a named tuple, which can cost more than the function itself.
    """
    return _compile(function, forceinline=True)


def loose(function: F) -> F:
    """Inline a function, let it add in any order, and let it round a product and a sum only once.

    Its last bits may differ between processors, as those of BLAS do.
    """
    return _compile(function, forceinline=True, fastmath={"contract", "reassoc"})


def _compile(function: F, **options: Any) -> F:
    """Compile with the options of this package.

    The compiler notices a change in the file of a function, but not in a function that it calls from another file. So
    the cache folder is named after the hash of all files with compiled functions.
    """
    config: Any = numba.config
    asked_for = config.CACHE_DIR
    config.CACHE_DIR = str(Path(asked_for or _PACKAGE / "__pycache__") / f"pcwinter-{_SOURCES}")
    try:
        return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        config.CACHE_DIR = asked_for


@contextmanager
def packing() -> Iterator[None]:
    """Compile with SLP vectorisation in this context: adjacent scalar operations become one; the bits stay the same."""
    config: Any = numba.config
    before = config.SLP_VECTORIZE
    config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = before
