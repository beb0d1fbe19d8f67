"""The seam for other machines: a job is a function of a block of orders, a pool runs it.

A pool answers in the order of the blocks, whichever finishes first. So nothing that is built on its answers can depend
on the number of workers. To run elsewhere, on a cluster say, write another `Pool`.
"""

from collections.abc import Generator, Iterable, Iterator
from itertools import count
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

Block: TypeAlias = tuple[int, int]  # orders begin to end - 1
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """A function of a block whose answer depends on the block alone."""

    def prepare(self) -> None:
        """Compute what all blocks share; called once, before the job goes to other processes."""

    def __call__(self, begin: int, end: int) -> T_co:
        """The answer for the orders `begin` to `end` - 1."""


@runtime_checkable
class Pool(Protocol):
    """Where blocks run: the seam for other machines."""

    def run(self, job: Job[T], blocks: Iterable[Block]) -> Generator[T]:
        """What the job makes of each block, in the order of the blocks; `blocks` may be endless.

        Closing the generator drops what is under way. An error in a block is raised in its turn.
        """


def blocks(limit: int | None, size: int, begin: int = 0) -> Iterator[Block]:
    """Numbers `begin` to `limit`, or without end, in blocks of a size that never depends on the workers."""
    for first in count(begin, size):
        if limit is not None and first >= limit:
            return
        yield first, first + size if limit is None else min(first + size, limit)
