"""Tables: as text, as CSV, and read back."""

from pathlib import Path

import numpy as np
import pytest

from pcwinter.experiments.curves import Curve
from pcwinter.experiments.output import Outcome, edges_summary, markdown, read_table, spread, write


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


def test_means_and_spreads_over_seeds() -> None:
    found = spread("mean", [1.0, 2.0, 4.0])
    assert found == pytest.approx({"mean": 7 / 3, "mean sd": np.std([1, 2, 4], ddof=1)})
    assert np.isnan(spread("mean", [1.0])["mean sd"])
    assert "| 2.3333 ± 1.5275 |" in markdown([{"method": "a", **found}])


def test_tables_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    outcome = Outcome("demo drop-nodes", x="nodes dropped", notes=["one", "two"])
    outcome.add("a, own", 0, Curve(np.array([0, 5]), np.array([0.5, 0.25])))
    rows = [{"method": "a, own", "mean": 0.1 + 0.2, "n": 3}, {"method": "b|c", "mean": float("nan"), "more": 1e-300}]
    outcome.tables["demo drop-nodes"] = rows
    files = {path.name for path in write(outcome, tmp_path)}
    assert files == {path.name for path in tmp_path.iterdir()}
    assert {f"demo-drop-nodes.{end}" for end in ("csv", "svg", "png", "md", "table.csv", "notes.md")} == files
    assert read_table(tmp_path / "demo-drop-nodes.table.csv") == [
        {"method": "a, own", "mean": 0.1 + 0.2, "n": 3, "more": None},
        {"method": "b|c", "mean": None, "n": None, "more": 1e-300},
    ]
    assert (tmp_path / "demo-drop-nodes.csv").read_text().splitlines()[1:] == ['"a, own",0,0,0.5', '"a, own",0,5,0.25']
    outcome.notes.clear()
    write(outcome, tmp_path)
    assert not (tmp_path / "demo-drop-nodes.notes.md").exists()  # those of the earlier run
    assert read_table(tmp_path / "none.csv") == []


def test_the_summary_of_edges_that_are_added() -> None:
    outcome = Outcome("one")
    outcome.add("a", 0, Curve(np.array([0, 1, 10]), np.array([0.2, 0.6, 0.5])))
    outcome.add("a", 1, Curve(np.array([0, 1, 10]), np.array([0.2, 0.3, 0.7])))
    (row,) = edges_summary(outcome)
    wanted = {"at 10 %": 0.45, "share that reaches all": (0.1 + 1.0) / 2, "whole graph": 0.6, "seeds": 2}
    assert {name: row[name] for name in wanted} == pytest.approx(wanted)
