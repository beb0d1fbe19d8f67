"""Job -> worker processes of this machine.

Worker processes map the arrays of a job from one shared file. Apart from that, each shares only a pipe with the process
that started it. When that process ends, for whatever reason, the pipe closes, and the worker removes the files and
exits. Messages between the processes are pickled; no pickle outlives the run.
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
from queue import Empty, SimpleQueue
from typing import IO, Any, NoReturn, TypeAlias, cast

import cloudpickle
from threadpoolctl import threadpool_limits

from pcwinter.estimation.jobs import Block, Job, Late, T, answer, never

AHEAD = 3  # blocks per worker that may be running, or waiting for an earlier block
POLL = 0.05  # seconds between two looks at whether the run is late
DEATHS = 3  # workers that may die on the same block before the run fails
ALIGNMENT = 64  # bytes; sums over a misaligned copy can have different bits
THREADS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # idle threads cost memory
# Let glibc keep freed memory for the next order: allocating it again costs 5% of the time. Other systems ignore this.
MALLOC = {"MALLOC_TRIM_THRESHOLD_": str(256 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
BLOCK, SIZE = struct.Struct("<qq"), struct.Struct("<q")
HURRY: Block = (-1, -1)  # in place of a block: answer with the orders that are finished

Answer: TypeAlias = tuple[Any, BaseException | None]
Task: TypeAlias = tuple[Block, "SimpleQueue[Answer]"]  # and where the answer goes


class Processes:
    """Worker processes of this machine, for one run; they start importing as soon as the pool is made."""

    def __init__(self, n: int, folder: Path) -> None:
        self.folder = folder
        self.workers: list[Worker] = []
        self.asked: SimpleQueue[Task | None] = SimpleQueue()  # None means that there are no more
        try:
            for k in range(n):
                self.workers.append(Worker(folder, folder / f"worker-{k}.log"))
        except BaseException:
            self.end()
            raise

    def run(self, job: Job[T], blocks: Iterable[Block]) -> Generator[T]:
        """The job's answer for each block; if a worker dies, a new one repeats its block."""
        return self.run_until(job, blocks, never)

    def run_until(self, job: Job[T], blocks: Iterable[Block], late: Late) -> Generator[T]:
        """The job's answer for each block; when `late()`, workers answer after the order that they are walking."""
        if any(worker.ended for worker in self.workers):
            raise RuntimeError("this pool has ended, because a pool serves only one run: open a new one")
        job.prepare()
        share(job, self.folder)
        pending: deque[SimpleQueue[Answer]] = deque()
        threads: list[threading.Thread] = []

        def wait() -> Answer:
            answered = pending.popleft()
            while not late():
                with suppress(Empty):
                    return answered.get(timeout=POLL)
            for worker in self.workers:
                worker.hurry()
            return answered.get()

        def next_answer() -> T:
            value, error = wait()
            if error is not None:
                raise error
            return cast("T", value)

        # An interrupt can arrive between any two steps. It cannot leave a lock of these queues locked. With
        # `concurrent.futures` it can, and closing the pool would then wait forever.
        try:
            for worker in self.workers:
                thread = threading.Thread(target=worker.serve, args=(self.asked,), daemon=True)
                thread.start()
                threads.append(thread)
            for block in blocks:
                pending.append(SimpleQueue())
                self.asked.put((block, pending[-1]))
                if len(pending) == AHEAD * len(self.workers):
                    yield next_answer()
            while pending:
                yield next_answer()
        finally:
            self.end()
            for thread in threads:
                thread.join()

    def end(self) -> None:
        """Kill the processes, even if they are busy."""
        self.asked.put(None)
        for worker in self.workers:
            worker.end()


class Worker:
    """A worker process, seen from the process that started it."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.folder, self.log = folder, log
        self.lock = threading.Lock()  # `end` and `ask` are called in different threads
        self.ended = self.late = False
        self.process = self._start()

    def serve(self, asked: "SimpleQueue[Task | None]") -> None:
        """Answer requests, in a thread that waits for the process, until None arrives; leave None for other workers."""
        for block, answered in iter(asked.get, None):
            try:
                answered.put((self.ask(block), None))
            except BaseException as error:  # raised again when the answer is due
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
            f"a worker process died {DEATHS} times in a row on numbers {block[0]} to {block[1] - 1}, perhaps because "
            f"memory ran out: try fewer workers, or workers=1. Its last output: {self._last_words()}"
        )

    def hurry(self) -> None:
        """Ask the process to answer after the order that it is walking."""
        if self.late:
            return
        self.late = True
        with self.lock, suppress(OSError, ValueError):  # a process that died; the next one learns it with its block
            self._send(HURRY)

    def end(self) -> None:
        """Kill the process, and do not start another."""
        with self.lock:
            self.ended = True
            _bury(self.process)

    def _exchange(self, block: Block) -> bytes:
        self._send(block, *([HURRY] if self.late else []))
        _, answers = _pipes(self.process)
        return _read(answers, *SIZE.unpack(_read(answers, SIZE.size)))

    def _send(self, *blocks: Block) -> None:
        requests, _ = _pipes(self.process)
        requests.write(b"".join(BLOCK.pack(*block) for block in blocks))  # one message: two threads may write
        requests.flush()

    def _restart(self) -> None:
        with self.lock:
            if self.ended:
                raise RuntimeError("this pool of worker processes has ended: open a new one")
            _bury(self.process)
            self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        # Only the path is passed on, so that workers do not run the user's script again.
        start = f"from {__name__} import serve; serve({str(self.folder)!r})"
        code = f"import sys; sys.path[:] = {sys.path!r}; {start}"
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**MALLOC, **os.environ, **THREADS},
                start_new_session=True,  # Ctrl-C at the terminal must reach only the process that started us
            )

    def _last_words(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        return "; ".join(line.strip() for line in lines[-4:] if line.strip()) or "none."


def share(job: Job[object], folder: Path) -> None:
    """Write a job for other processes: its raw arrays into one file, everything else into another."""
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
    """The job that `share` wrote. Its arrays are mapped: processes share each page until one of them writes to it.

    An array is writable if it was before, because compiled code is cached by the types of its arguments.
    """
    places, rest = pickle.loads((folder / "job").read_bytes())
    with (folder / "arrays").open("rb") as file:
        arrays = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    views = (arrays[begin : begin + size] for begin, size, _ in places)
    buffers = [view.toreadonly() if readonly else view for view, (_, _, readonly) in zip(views, places, strict=True)]
    job: Job[Any] = pickle.loads(rest, buffers=buffers)
    return job


def serve(name: str) -> None:
    """The main loop of a worker process: answer one block after another until the pipe closes."""
    folder = Path(name)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a game prints goes to the log, not into the answers
    faulthandler.enable()
    inbox: SimpleQueue[Block] = SimpleQueue()
    hurry = threading.Event()
    threading.Thread(target=_listen, args=(requests, inbox, hurry, folder), daemon=True).start()
    job: Job[Any] | None = None
    while True:
        block = inbox.get()
        try:
            if job is None:
                job = load(folder)
                threadpool_limits(1, user_api="blas")  # permanent, now that all libraries are loaded
            packed = cloudpickle.dumps((answer(job, block, hurry.is_set), None))
        except BaseException as error:  # raised again in the process that asked
            packed = _pack(error)
        try:
            answers.write(SIZE.pack(len(packed)))
            answers.write(packed)
            answers.flush()
        except OSError:
            _leave(folder)


def _listen(requests: IO[bytes], inbox: "SimpleQueue[Block]", hurry: threading.Event, folder: Path) -> None:
    """Notice at once when the pipe closes, or when the run is late, even while a block is running."""
    while True:
        try:
            begin, end = BLOCK.unpack(_read(requests, BLOCK.size))
        except EOFError:
            _leave(folder)
        if (begin, end) == HURRY:
            hurry.set()
        else:
            inbox.put((begin, end))


def _leave(folder: Path) -> NoReturn:
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _pack(error: BaseException) -> bytes:
    """The pickled error, with its traceback as a note; only its message if the error cannot be pickled."""
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
        with suppress(OSError):  # a request that the process did not read
            pipe.close()
