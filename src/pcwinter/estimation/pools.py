"""Blocks of orders -> answers: in this process, or in worker processes of this machine."""

import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from pcwinter._util.checks import whole_number
from pcwinter.estimation.jobs import Block, Job, Late, Pool, T, answer, blocks, never
from pcwinter.estimation.processes import Processes

OnBlock: TypeAlias = Callable[[int, int], None]  # (done, total)


class Here:
    """A pool that runs blocks in this process, one after another."""

    def run(self, job: Job[T], blocks: Iterable[Block]) -> Generator[T]:
        """The job's answer for each block."""
        return self.run_until(job, blocks, never)

    def run_until(self, job: Job[T], blocks: Iterable[Block], late: Late) -> Generator[T]:
        """The job's answer for each block; a block ends early when `late()`."""
        for block in blocks:
            yield answer(job, block, late)


@contextmanager
def open_pool(workers: int | Pool) -> Iterator[Pool]:
    """A pool for one run: this process if `workers` is 1, otherwise `workers` processes. A pool is returned as is."""
    if isinstance(workers, Pool):
        yield workers
        return
    n = whole_number("workers", workers, 1)
    if n == 1:
        yield Here()
        return
    with tempfile.TemporaryDirectory(prefix="pcwinter-", ignore_cleanup_errors=True) as folder:
        pool = Processes(n, Path(folder))
        try:
            yield pool
        finally:
            pool.end()


def gather(workers: int | Pool, job: Job[T], n: int, size: int, progress: OnBlock | None = None) -> list[T]:
    """The job's answers for the numbers below n, in blocks of `size`; calls `progress(done, n)` after each block."""
    found: list[T] = []
    with open_pool(workers) as pool, closing(pool.run(job, blocks(n, size))) as answers:
        for one in answers:
            found.append(one)
            if progress is not None:
                progress(min(len(found) * size, n), n)
    return found
