"""Job and Pool: a job is a function of a block of orders, and a pool runs it.

A pool returns answers in the order of the blocks, whichever finishes first, so results cannot depend on the number of
workers. To run elsewhere, for example on a cluster, write another `Pool`. A block can end early, between two orders, if
its job is `Divisible` and its pool is `Interruptible`.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import count
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

Block: TypeAlias = tuple[int, int]  # orders begin to end - 1
Late: TypeAlias = Callable[[], bool]  # whether the run should end now
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Job(Protocol[T_co]):
    """A function of a block whose answer depends only on the block."""

    def prepare(self) -> None:
        """Compute what all blocks share; called once, before the job is sent to other processes."""

    def __call__(self, begin: int, end: int) -> T_co:
        """The answer for the orders `begin` to `end` - 1."""


@runtime_checkable
class Divisible(Protocol[T_co]):
    """Optional part of a job: the answer for the first orders of a block."""

    def until(self, begin: int, end: int, late: Late) -> T_co:
        """The answer for the orders from `begin` to `end` - 1, or to the last one before `late()`; at least one."""


@runtime_checkable
class Pool(Protocol):
    """Where blocks run."""

    def run(self, job: Job[T], blocks: Iterable[Block]) -> Generator[T]:
        """The job's answer for each block, in the order of the blocks; `blocks` may be infinite.

        Closing the generator drops unfinished blocks. An error in a block is raised when its answer is due.
        """


@runtime_checkable
class Interruptible(Protocol):
    """Optional part of a pool: a run that can end inside a block."""

    def run_until(self, job: Job[T], blocks: Iterable[Block], late: Late) -> Generator[T]:
        """As `run`; after `late()`, the answer of a divisible job may cover only the first orders of its block."""


def answer(job: Job[T], block: Block, late: Late) -> T:
    """The job's answer for a block, or for the first orders of it if the job is divisible."""
    if isinstance(job, Divisible):
        cut: T = job.until(*block, late)
        return cut
    return job(*block)


def never() -> bool:
    """Not late."""
    return False


def blocks(limit: int | None, size: int, begin: int = 0) -> Iterator[Block]:
    """Blocks of `size` numbers from `begin` to `limit`, or forever; they do not depend on the number of workers.

    All blocks end at multiples of `size`, except perhaps the last, so `begin` may be inside a block.
    """
    for end in count(begin - begin % size + size, size):
        if limit is not None and end >= limit:
            if begin < limit:
                yield begin, limit
            return
        yield begin, end
        begin = end
