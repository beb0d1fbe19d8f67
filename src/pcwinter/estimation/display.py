"""Progress of a run -> one line on a terminal, or a log line every half minute elsewhere; and Ctrl-C.

The first Ctrl-C ends the run after the current order. The second one ends the process at once. A thread handles both,
because Python cannot interrupt its main thread inside compiled code, which may run for many seconds.
"""

import io
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TextIO

from pcwinter._util.checks import count
from pcwinter.estimation.stopping import FIRST, USUAL, Progress, Rule

LOG = 30.0  # seconds between log lines
REFRESH = 0.5  # seconds between updates of the line on a terminal
TREND = 5  # recent blocks that the forecast uses
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def now_and_then(say: Callable[[str], None], what: str) -> Callable[[int, int], None]:
    """A function of (done, total) that reports progress every half minute."""
    last = time.perf_counter()

    def tell(done: int, of: int) -> None:
        nonlocal last
        if time.perf_counter() - last > LOG:
            last = time.perf_counter()
            say(f"{what}: {done:,} of {of:,}")

    return tell


class Display:
    """The progress line of a run, and the handling of Ctrl-C; use it in a `with` statement.

    Pass the display as the `progress` of `value` or `run`, and `stop | display.interrupted` as its stopping rule.
    `stop` is the rule that ends the run otherwise. `quiet` prints nothing. `stream` is where to print, stderr by
    default. `again` tells the user how to continue after an interruption. Without `listen`, signals have their usual
    effect.
    """

    def __init__(
        self,
        stop: Rule = USUAL,
        *,
        quiet: bool = False,
        stream: TextIO | None = None,
        again: str = "resume=True",
        listen: bool = True,
    ) -> None:
        self.tolerance, self.max_seconds = stop.settings.get("tolerance"), stop.settings.get("max_seconds")
        self.limit, self.again, self.listen = stop.limit, again, listen
        self.interrupted = Rule(self._interrupted, late=lambda seconds, orders: self.signal != 0)
        self.stream = stream or sys.stderr or io.StringIO()  # sys.stderr is None if it was closed
        self.quiet, self.live = quiet, self.stream.isatty()
        self.comma = " · " if (self.stream.encoding or "utf-8").lower().startswith("utf") else ", "
        self.signal = 0  # the first signal that arrived
        self.sentence: str | None = None  # the status of an interrupted run
        self.history: list[Progress] = []  # the last blocks of this process
        self.doing = "starting"  # before the first block
        self.began = time.perf_counter()
        self.over = threading.Event()

    def __call__(self, now: Progress) -> None:
        """Show the progress after a block of orders."""
        self.history = [*self.history, now][-TREND:]

    def stage(self, what: str) -> None:
        """Show `what` until the first block of orders is complete."""
        self.doing = what

    def _interrupted(self, now: Progress) -> str | None:
        if self.signal:
            self.sentence = f"Interrupted after {count(now.orders, 'order')}: {self.again} continues the run."
        return self.sentence

    def __enter__(self) -> "Display":
        self.threads: list[threading.Thread] = []
        if self.listen:
            self.inlet, self.outlet = os.pipe()
            os.set_blocking(self.outlet, False)
            self.wakeup = signal.set_wakeup_fd(self.outlet, warn_on_full_buffer=False)
            self.handlers = {which: signal.signal(which, _ignore) for which in SIGNALS}
            self.threads.append(threading.Thread(target=self._listen, daemon=True))
        if not self.quiet:
            self.threads.append(threading.Thread(target=self._tick, daemon=True))
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        if self.listen:
            for which, handler in self.handlers.items():
                signal.signal(which, handler)
            signal.set_wakeup_fd(self.wakeup)
            os.write(self.outlet, b"\0")
        for thread in self.threads:
            thread.join()
        if self.listen:
            os.close(self.inlet)
            os.close(self.outlet)
        self._clear()

    def line(self, seconds: float) -> str:
        """The state of the run in one line, `seconds` after its start."""
        if not self.history:
            slow = self.doing == "compiling" and seconds > 5
            return f"{self.doing}, {clock(seconds)}{'; this takes about a minute in the first run' if slow else ''}"
        now, tolerance = self.history[-1], self.tolerance
        total = f" of {self.limit:,}" if tolerance is None and self.limit is not None else ""
        parts = [f"{now.orders:,}{total} orders"]
        moved = f"values moved by {now.change:.1%}" if now.change < float("inf") else "too early to compare"
        parts.append(moved if tolerance is None else f"{moved} (stops below {100 * tolerance:.3g}%)")
        parts.append(f"{now.evaluations / max(now.seconds, 1e-9):,.0f} utilities/s")
        left = self.left()
        parts.append(clock(seconds) + (f", about {clock(left)} left" if left is not None else ""))
        return self.comma.join(parts)

    def left(self) -> float | None:
        """Estimated seconds until the end, or None; the change of the values falls like 1 / orders."""
        now = self.history[-1]
        orders = float("inf") if self.limit is None else float(self.limit)
        if self.tolerance is not None:
            moves = sorted(past.change * past.orders for past in self.history if past.change < float("inf"))
            if not moves:
                return None
            orders = min(orders, max(moves[len(moves) // 2] / self.tolerance, now.orders))
        if orders == float("inf") and self.max_seconds is None:
            return None
        seconds = (orders - now.orders) * now.seconds / now.orders
        past = now.setup + now.seconds
        return seconds if self.max_seconds is None else min(seconds, max(self.max_seconds - past, 0.0))

    def _listen(self) -> None:
        while not self.over.is_set():
            for byte in os.read(self.inlet, 16):
                if byte in SIGNALS:
                    self._heard(byte)

    def _heard(self, which: int) -> None:
        if self.signal:
            self.say(f"Stopped. Continue from the last checkpoint with {self.again}.")
            os._exit(128 + which)
        self.signal = which
        current = "current" if self.history or self.doing == FIRST else "first"
        self.say(f"Stopping after the {current} order. Press Ctrl-C again to stop at once.")

    def _tick(self) -> None:
        while not self.over.wait(REFRESH if self.live else LOG):
            text = self.line(time.perf_counter() - self.began)
            if self.live:
                self._write(f"\r\033[K{text[: max(shutil.get_terminal_size().columns - 1, 10)]}")
            else:
                self._write(f"{time.strftime('%H:%M:%S')} {text}\n")

    def say(self, sentence: str) -> None:
        """Print a sentence on a separate line, above the progress line."""
        if not self.quiet:
            self._clear()
            self._write(f"{sentence}\n")

    def _clear(self) -> None:
        if self.live and not self.quiet:
            self._write("\r\033[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a closed terminal must neither end the run nor keep it from ending
            self.stream.write(text)
            self.stream.flush()


def clock(seconds: float) -> str:
    """Seconds as minutes or hours: 0:07, 12:30, 3:05:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _ignore(which: int, frame: FrameType | None) -> None:
    """Do nothing: the byte that the signal writes into the pipe is enough."""
