"""The charts of a report, drawn from known numbers."""

import re
from dataclasses import replace

import numpy as np

from pcwinter import report
from pcwinter.runs.read import Run
from small_runs import with_story


def test_convergence_has_a_line_at_the_tolerance(run: Run) -> None:
    longer = replace(run, change=np.array([np.inf, np.inf, 0.8, 0.3, 0.04]))
    longer = with_story(longer, permutations=45)
    old: dict[str, float | None] = {
        "tolerance": 0.05,
        "permutations": 45,
        "max_permutations": 2000,
        "max_seconds": None,
    }
    without: list[dict[str, float | None]] = [old, {"permutations": 45}, {}]
    for stop in without:
        assert ">tolerance 0.05<" not in report.page(with_story(longer, stop=stop))
    drawn: list[dict[str, float | None]] = [
        {**old, "permutations": None},
        {"tolerance": 0.05, "max_permutations": 2000},
    ]
    for stop in drawn:
        page = report.page(with_story(longer, stop=stop))
        assert ">tolerance 0.05<" in page
    assert "4.00% at the end" in page
    (curve,) = re.findall(r'<polyline points="([^"]*)" class="curve"', page)
    assert len(curve.split()) == 3
    still = with_story(replace(run, change=np.array([np.inf, np.inf, 0.0])), permutations=30)
    assert "0.00% at the end" in report.page(still)
