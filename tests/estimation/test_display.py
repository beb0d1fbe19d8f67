"""What a person sees while a run lasts, on a terminal and without, and what Ctrl-C does."""

import io
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import pcwinter as pw
from pcwinter.estimation import display as module
from pcwinter.estimation.display import Display, clock
from pcwinter.estimation.stopping import USUAL, Progress, at_most, converged, permutations, seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def after(orders: int, change: float, seconds: float | None = None) -> Progress:
    """Progress whose values moved by `change`."""
    now = np.ones(4)
    return Progress(
        orders=orders,
        seconds=orders / 10 if seconds is None else seconds,
        evaluations=1000 * orders,
        values=now,
        stderr=now,
        earlier=None if change == np.inf else now * (1 - change),
        halves=(now, now),
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (7.4, "0:07"), (59.6, "1:00"), (750, "12:30"), (11_100, "3:05:00")]
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_the_line_says_where_the_run_stands() -> None:
    display = Display(stream=io.StringIO())
    assert display.line(2) == "starting, 0:02"
    display.stage("compiling")
    assert display.line(2) == "compiling, 0:02"
    assert "about a minute in the first run" in display.line(20)
    display.stage("first orders")
    assert display.line(20) == "first orders, 0:20"
    display(after(10, np.inf))
    line = display.line(3)
    assert all(fact in line for fact in ("10 orders", "below 5%", "10,000 utilities/s", "0:03"))
    assert "left" not in line  # nothing to extrapolate from
    display(after(30, 0.5))
    line = display.line(5)
    assert all(fact in line for fact in ("30 orders", "50.0%", "below 5%", "10,000 utilities/s", "0:05", "0:27 left"))


def test_time_left_follows_the_trend() -> None:
    display = Display(USUAL, stream=io.StringIO())
    for orders in range(30, 110, 10):
        display(after(orders, 15 / orders))  # falls below 0.05 at order 300
    assert display.left() == pytest.approx(20.0)
    display(after(110, 1.0))  # one outlier among five blocks
    assert display.left() == pytest.approx(19.0)


def test_time_left_is_bounded_by_the_other_rules() -> None:
    for rule, left in (
        (converged() | at_most(130), 3.0),
        (USUAL | seconds(11.0), 1.0),
        (seconds(11.0), 1.0),
        (seconds(10.5), 0.5),
        (permutations(140), 4.0),
        (pw.Rule(lambda now: None), None),
    ):
        display = Display(rule, stream=io.StringIO())
        display(after(100, 0.5))
        assert display.left() == (left and pytest.approx(left))


def test_a_number_of_orders_has_no_target_to_converge_to() -> None:
    display = Display(permutations(140), stream=io.StringIO())
    display(after(100, 0.5))
    line = display.line(10)
    assert all(fact in line for fact in ("100 of 140 orders", "50.0%", "10,000 utilities/s", "0:10", "0:04 left"))
    assert "below" not in line


def test_one_line_on_a_terminal_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REFRESH", 0.005)
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    with Display(stream=stream) as display:
        display(after(100, 0.5))
        until(lambda: "100 orders" in stream.getvalue())
    lines = stream.getvalue().split("\r\033[K")
    assert "\n" not in stream.getvalue()
    assert max(map(len, lines)) == 39
    assert lines[-1] == ""  # nothing is left behind


def test_log_lines_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.LOG == 30
    monkeypatch.setattr(module, "LOG", 0.005)
    stream = io.StringIO()
    with Display(stream=stream) as display:
        display(after(100, 0.5))
        until(lambda: stream.getvalue().count("\n") > 2)
    assert "\r" not in stream.getvalue()
    assert stream.getvalue().splitlines()[-1].split(" ", 1)[1].startswith("100 orders · ")


def test_quiet_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOG", 0.001)
    monkeypatch.setattr(module, "REFRESH", 0.001)
    for stream in (io.StringIO(), Terminal()):
        with Display(stream=stream, quiet=True) as display:
            display(after(100, 0.5))
            os.kill(os.getpid(), signal.SIGINT)
            until(lambda: display.signal)
        assert stream.getvalue() == ""


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_run_after_its_block(which: signal.Signals) -> None:
    before = signal.getsignal(which)
    stream = io.StringIO()
    threads = threading.active_count()
    with Display(stream=stream) as display:
        assert display.interrupted.check(after(10, np.inf)) is None
        os.kill(os.getpid(), which)
        until(lambda: display.signal)
        status = display.interrupted.check(after(20, np.inf))
        assert status == display.sentence
        assert "20 orders" in (status or "")
    assert "Ctrl-C again" in stream.getvalue()
    assert signal.getsignal(which) is before
    assert threading.active_count() == threads


def test_before_the_first_orders_a_signal_waits_for_one() -> None:
    for stage, sentence in (("calibrating", "after the first order"), ("first orders", "after the current order")):
        stream = io.StringIO()
        with Display(stream=stream) as display:
            display.stage(stage)
            assert not display.interrupted.late(0.0, 0)
            os.kill(os.getpid(), signal.SIGINT)
            until(lambda display=display: display.signal)  # type: ignore[misc]
            assert display.interrupted.late(0.0, 0)
        assert sentence in stream.getvalue()


def test_without_listening_ctrl_c_has_its_usual_effect() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Display(stream=io.StringIO(), listen=False):
        assert signal.getsignal(signal.SIGINT) is before


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)
