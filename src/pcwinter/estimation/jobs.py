"""Job and Pool: a job is a function of a block of orders, and a pool runs it.

A pool returns answers in the order of the blocks, whichever finishes first, so results cannot depend on the number of
workers. To run elsewhere, for example on a cluster, write another `Pool`.
"""

from collections.abc import Generator, Iterable, Iterator
from itertools import count
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

Block: TypeAlias = tuple[int, int]  # orders begin to end - 1
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """A function of a block whose answer depends only on the block."""

    def prepare(self) -> None:
        """Compute what all blocks share; called once, before the job is sent to other processes."""

    def __call__(self, begin: int, end: int) -> T_co:
        """The answer for the orders `begin` to `end` - 1."""


@runtime_checkable
class Pool(Protocol):
    """Where blocks run."""

    def run(self, job: Job[T], blocks: Iterable[Block]) -> Generator[T]:
        """The job's answer for each block, in the order of the blocks; `blocks` may be infinite.

        Closing the generator drops unfinished blocks. An error in a block is raised when its answer is due.
        """


def blocks(limit: int | None, size: int, begin: int = 0) -> Iterator[Block]:
    """Blocks of `size` numbers from `begin` to `limit`, or forever; they do not depend on the number of workers."""
    for first in count(begin, size):
        if limit is not None and first >= limit:
            return
        yield first, first + size if limit is None else min(first + size, limit)
