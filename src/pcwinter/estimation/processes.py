"""Job -> worker processes of this machine.

Worker processes read the arrays of a job from one file that they all map. Otherwise each shares only a pipe with the
process that started it. When that process ends, however it ends, the pipe closes, and the worker removes the files and
exits. What passes between the processes is pickled; none of it outlives the run.
"""

import faulthandler
import mmap
import os
import pickle
import shutil
import struct
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, NoReturn, TypeAlias, cast

import cloudpickle
from threadpoolctl import threadpool_limits

from pcwinter.estimation.jobs import Block, Job, T

AHEAD = 3  # blocks per worker that may be under way or wait for an earlier one
DEATHS = 3  # processes that a block may cost before the run gives up
ALIGNMENT = 64  # bytes; sums of a misaligned copy can have other bits
THREADS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # idle threads cost memory
# Let glibc keep what an order gives back, for the next order: to get it anew is 5% of the time. Others ignore this.
MALLOC = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
BLOCK, SIZE = struct.Struct("<qq"), struct.Struct("<q")

Answer: TypeAlias = tuple[Any, BaseException | None]
Request: TypeAlias = tuple[Block, "SimpleQueue[Answer]"]  # and where the answer goes


class Processes:
    """Worker processes of this machine, for one run; they start to import when the pool is made."""

    def __init__(self, n: int, folder: Path) -> None:
        self.folder = folder
        self.workers: list[Worker] = []
        self.asked: SimpleQueue[Request | None] = SimpleQueue()  # None: there will be no more
        try:
            for k in range(n):
                self.workers.append(Worker(folder, folder / f"worker-{k}.log"))
        except BaseException:
            self.end()
            raise

    def run(self, job: Job[T], blocks: Iterable[Block]) -> Generator[T]:
        """What the job makes of each block; a block whose worker dies is given to a new one."""
        if any(worker.ended for worker in self.workers):
            raise RuntimeError("this pool has ended, as every pool does after one run: open a new one")
        job.prepare()
        share(job, self.folder)
        pending: deque[SimpleQueue[Answer]] = deque()
        threads: list[threading.Thread] = []

        def answer() -> T:
            value, error = pending.popleft().get()
            if error is not None:
                raise error
            return cast("T", value)

        # An interrupt can come between any two steps. These queues have no lock that it could leave locked behind it,
        # as it can with those of `concurrent.futures`: then the end of the pool would wait for ever.
        try:
            for worker in self.workers:
                thread = threading.Thread(target=worker.serve, args=(self.asked,), daemon=True)
                thread.start()
                threads.append(thread)
            for block in blocks:
                pending.append(SimpleQueue())
                self.asked.put((block, pending[-1]))
                if len(pending) == AHEAD * len(self.workers):
                    yield answer()
            while pending:
                yield answer()
        finally:
            self.end()
            for thread in threads:
                thread.join()

    def end(self) -> None:
        """Kill the processes, whatever they do."""
        self.asked.put(None)
        for worker in self.workers:
            worker.end()


class Worker:
    """The near side of a worker process."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder, self.log = folder, log
        self.lock = threading.Lock()  # `end` comes from another thread than `ask`
        self.ended = False
        self.process = self._start()

    def serve(self, asked: "SimpleQueue[Request | None]") -> None:
        """Answer requests, in a thread that waits for the process, until there is None, which is passed on."""
        for block, answered in iter(asked.get, None):
            try:
                answered.put((self.ask(block), None))
            except BaseException as error:  # raised again in its turn
                answered.put((None, error))
        asked.put(None)

    def ask(self, block: Block) -> object:
        """The job's answer for a block, or its error; starts a new process when this one dies."""
        for _ in range(DEATHS):
            try:
                answer, error = pickle.loads(self._exchange(block))
            except (OSError, EOFError):
                self._restart()
                continue
            if error is not None:
                raise error
            return answer
        raise RuntimeError(
            f"a worker process died {DEATHS} times in a row on numbers {block[0]} to {block[1] - 1}, perhaps for want "
            f"of memory: try fewer workers, or workers=1. Its last words: {self._last_words()}"
        )

    def end(self) -> None:
        """Kill the process, for good."""
        with self.lock:
            self.ended = True
            _bury(self.process)

    def _exchange(self, block: Block) -> bytes:
        requests, answers = _pipes(self.process)
        requests.write(BLOCK.pack(*block))
        requests.flush()
        return _read(answers, *SIZE.unpack(_read(answers, SIZE.size)))

    def _restart(self) -> None:
        with self.lock:
            if self.ended:
                raise RuntimeError("the pool of worker processes has ended")
            _bury(self.process)
            self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        # Only the path is given: a script that starts workers is not run again in each of them.
        start = f"from {__name__} import serve; serve({str(self.folder)!r})"
        code = f"import sys; sys.path[:] = {sys.path!r}; {start}"
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**MALLOC, **os.environ, **THREADS},
                start_new_session=True,  # Ctrl-C at the terminal is for the process that started us
            )

    def _last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        return "; ".join(line.strip() for line in lines[-4:] if line.strip()) or "none."


def share(job: Job[object], folder: Path) -> None:
    """Write a job for other processes: its arrays as they are, one after the other, and all else beside them."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        rest = cloudpickle.dumps(job, protocol=5, buffer_callback=buffers.append)
    except Exception as error:
        raise ValueError(f"the game cannot be sent to worker processes ({error}): use workers=1") from error
    places = []
    with (folder / "arrays").open("wb") as file:
        file.write(bytes(ALIGNMENT))  # an empty file cannot be mapped
        for buffer in buffers:
            raw = buffer.raw()
            file.write(bytes(-file.tell() % ALIGNMENT))
            places.append((file.tell(), raw.nbytes, raw.readonly))
            file.write(raw)
    (folder / "job").write_bytes(cloudpickle.dumps((places, rest)))


def load(folder: Path) -> Job[Any]:
    """The job that `share` wrote. Its arrays are mapped: read by all processes, copied page by page if written to.

    They can be written to exactly if they could before, since compiled code is kept by the types of its arguments.
    """
    places, rest = pickle.loads((folder / "job").read_bytes())
    with (folder / "arrays").open("rb") as file:
        arrays = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    views = (arrays[begin : begin + size] for begin, size, _ in places)
    buffers = [view.toreadonly() if readonly else view for view, (_, _, readonly) in zip(views, places, strict=True)]
    job: Job[Any] = pickle.loads(rest, buffers=buffers)
    return job


def serve(name: str) -> None:
    """The far side of `Worker`: answer block after block until the pipe ends."""
    folder = Path(name)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a game prints goes to the log, not among the answers
    faulthandler.enable()
    inbox: SimpleQueue[Block] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, inbox, folder), daemon=True).start()
    job: Job[Any] | None = None
    while True:
        block = inbox.get()
        try:
            if job is None:
                job = load(folder)
                threadpool_limits(1, user_api="blas")  # for good, now that all libraries are loaded
            answer = cloudpickle.dumps((job(*block), None))
        except BaseException as error:  # raised again where it was asked for
            answer = _pack(error)
        try:
            answers.write(SIZE.pack(len(answer)))
            answers.write(answer)
            answers.flush()
        except OSError:
            _leave(folder)


def _listen(requests: IO[bytes], inbox: "SimpleQueue[Block]", folder: Path) -> None:
    """Hear the end of the pipe at once, even while a block is under way."""
    while True:
        try:
            begin, end = BLOCK.unpack(_read(requests, BLOCK.size))
        except EOFError:
            _leave(folder)
        inbox.put((begin, end))


def _leave(folder: Path) -> NoReturn:
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _pack(error: BaseException) -> bytes:
    """The error with the place where it happened as a note; in words alone if it cannot be sent."""
    error.add_note(f"in a worker process:\n{traceback.format_exc()}")
    try:
        packed: bytes = cloudpickle.dumps((None, error))
        pickle.loads(packed)
    except Exception:
        packed = cloudpickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
    return packed


def _read(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _bury(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in _pipes(process):
        with suppress(OSError):  # a request that nobody reads any more
            pipe.close()
