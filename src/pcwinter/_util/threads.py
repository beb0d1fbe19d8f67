"""One BLAS thread: the number of threads changes bits."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread, and restore the old limit afterwards."""
    with threadpool_limits(1, user_api="blas"):
        yield
