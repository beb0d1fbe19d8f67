"""Tables: as text, as CSV, and read back."""

import numpy as np
import pytest

from pcwinter.experiments.curves import Curve
from pcwinter.experiments.output import Outcome, markdown


def test_tables_in_markdown() -> None:
    rows = [{"method": "a", "none": None, "mean": 0.5, "n": 1234}]
    rows += [{"method": "b", "mean": float("nan"), "n": None, "more": 12.3}]
    assert markdown(rows).splitlines() == [
        "| method | mean | n | more |",
        "| --- | --: | --: | --: |",
        "| a | 0.5000 | 1,234 |  |",
        "| b |  |  | 12.3 |",
    ]
    outcome = Outcome("one")
    outcome.add("a", 0, Curve(np.arange(3), np.array([0.3, 0.1, 0.2])))
    assert outcome.summary()[0]["mean"] == pytest.approx(0.2)
