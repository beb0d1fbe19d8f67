"""Jobs that tell what a pool does with them; worker processes import this file, so it imports little."""

import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pcwinter.estimation.jobs import Job


class Unprepared:
    def prepare(self) -> None:
        pass


@dataclass
class Diary(Unprepared):
    """Notes every block that is begun as an empty file; answers with the block and the process."""

    folder: Path
    seconds: float = 0.0

    def __call__(self, begin: int, end: int) -> tuple[int, int]:
        (self.folder / f"{begin}-{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(self.seconds * (1 + end % 2))
        return begin, os.getpid()


@dataclass
class Patient(Unprepared):
    """A block ends only when the run is late."""

    folder: Path

    def __call__(self, begin: int, end: int) -> int:
        raise AssertionError

    def until(self, begin: int, end: int, late: Callable[[], bool]) -> int:
        (self.folder / str(begin)).touch()
        while not late():
            time.sleep(0.001)
        return begin


class Deadly(Unprepared):
    def __call__(self, begin: int, end: int) -> int:
        if begin >= 20:
            print("farewell", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return begin


class OwnError(Exception):
    """Cannot be unpickled: what pickle passes to it is not what it takes."""

    def __init__(self, begin: int, end: int) -> None:
        super().__init__(f"orders {begin} to {end}")


@dataclass
class Failing(Unprepared):
    error: type[BaseException]

    def __call__(self, begin: int, end: int) -> int:
        print("among the answers this would be noise")
        if begin == 20:
            raise self.error(begin, end)
        return begin


@dataclass
class Sharing(Unprepared):
    """Answers with what the process knows about its arrays, after it has read them."""

    plain: npt.NDArray[np.float64]
    frozen: npt.NDArray[np.float64]
    shaped: npt.NDArray[np.float64]  # columns first
    empty: npt.NDArray[np.float64]

    def __call__(self, begin: int, end: int) -> dict[str, object]:
        arrays = [self.plain, self.frozen, self.shaped]
        return {
            "sums": [float(array.sum()) for array in arrays],
            "types": {type(array) for array in arrays},
            "mapped": [_is_mapped(array) for array in arrays],
            "writeable": [array.flags.writeable for array in arrays],
            "aligned": [array.ctypes.data % 64 for array in arrays],
            "columns first": [array.flags.f_contiguous for array in arrays],
            "empty": self.empty.shape,
            "memory": _memory("arrays"),
            "shared memory": "/dev/shm" in Path("/proc/self/maps").read_text(),
        }


@dataclass
class Compiling:
    """Does a job, and answers with the argument types for which this process holds compiled code."""

    job: Job[object]

    def prepare(self) -> None:
        self.job.prepare()

    def __call__(self, begin: int, end: int) -> set[str]:
        self.job(begin, end)
        return compiled_types()


def compiled_types() -> set[str]:
    modules = [module for name, module in sys.modules.items() if name.startswith("pcwinter.")]
    functions = {id(f): f for module in modules for f in vars(module).values() if hasattr(f, "nopython_signatures")}
    return {f"{f.__name__} {signature}" for f in functions.values() for signature in f.nopython_signatures}


def _is_mapped(array: npt.NDArray[np.float64]) -> bool:
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)


def _memory(name: str) -> dict[str, int]:
    """KiB of a mapped file by kind of page."""
    lines = iter(Path("/proc/self/smaps").read_text().splitlines())
    for line in lines:
        if line.endswith(f"/{name}"):
            table = dict(next(lines).split(":") for _ in range(18))
            return {key: int(value.split()[0]) for key, value in table.items() if value.endswith("kB")}
    return {}
