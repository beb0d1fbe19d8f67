"""Ticks, numbers and texts of charts."""

import re

import numpy as np
import pytest

from pcwinter.report import svg


def test_ticks_are_round_and_inside() -> None:
    assert svg.Scale(-0.013, 0.031, 0, 100).ticks() == pytest.approx([-0.01, 0, 0.01, 0.02, 0.03])
    assert svg.Scale(0, 340, 0, 100).ticks() == [0, 100, 200, 300]
    assert svg.Scale(0.04, 1.1, 0, 100, log=True).ticks() == pytest.approx([0.1, 0.3, 1])
    assert svg.span(np.array([2.0, 2.0])) == (1.0, 3.0)
    assert svg.span(np.zeros(0)) == pytest.approx((-0.04, 1.04))


def test_ticks_that_differ_look_different() -> None:
    assert svg.numbers([0.0, 0.5, -1000.0, 20_000.0]) == ["0", "0.5", f"{svg.MINUS}1,000", "20,000"]
    assert svg.numbers([0.66201, 0.662012]) == ["0.66201", "0.662012"]
    assert svg.numbers([1e6, 1e6 + 2]) == ["1000000", "1000002"]
    assert svg.numbers([-2e-7, 0]) == [f"{svg.MINUS}2e{svg.MINUS}7", "0"]
    low, high = svg.span(np.array([0.7, 0.7 + 1e-16]))
    assert high - low == pytest.approx(0.7)


def test_small_sums_are_not_zero() -> None:
    assert [svg.signed(x) for x in (0.01234, -0.5, 0.0, -1e-17, -1.23e-7)] == [
        "+0.0123",
        f"{svg.MINUS}0.5000",
        "+0.0000",
        "+0.0000",
        f"{svg.MINUS}1.2e{svg.MINUS}07",
    ]


def test_text_that_is_too_long_ends_in_dots() -> None:
    assert svg.text(0, 0, "a short one", room=100).endswith(">a short one</text>")
    for words in ("a" * 20, "W" * 20, "概率方法研究与应用论文集"):
        cut = re.fullmatch(r"<text[^>]*>(.*)…<title>(.*)</title></text>", svg.text(0, 0, words, room=100))
        assert cut is not None
        assert cut[2] == words
        assert 0 < len(cut[1]) <= 12
