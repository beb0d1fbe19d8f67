"""Dropping nodes: what is asked for, and the numbers of the tables."""

import pytest

from pcwinter.experiments import drop_nodes
from stub_study import Spent, Stub


@pytest.mark.parametrize(
    ("spent", "fewer", "limits"),
    [
        (((100, 1000, 20.0), (40, 4000, 8.0)), (None, 40), [{"most": 1000}]),
        (((100, 1000, 4.0), (50, 250, 8.0)), (25, None), [{"time_limit": 4.0}]),
        (((100, 1000, 20.0), (50, 960, 20.8)), (None, None), []),
        (((100, 1000, 20.0), (50, 940, 21.2)), (94, None), [{"time_limit": 20.0}]),
        (((100, 1000, 20.0), (50, 1060, 18.8)), (None, 94), [{"most": 1000}]),
        (((100, 1000, 20.0), (1, 1, 0.01)), (1, 1), []),
    ],
)
def test_whoever_spent_more_is_asked_again_with_less(
    spent: tuple[Spent, Spent], fewer: tuple[int | None, int | None], limits: list[dict[str, float]]
) -> None:
    study = Stub(mine=spent[:1], theirs=spent[1:])
    drop_nodes.fair(study, 1)
    assert study.asks("path") == [{"permutations": orders} for orders in (None, *fewer)]
    assert study.asks("own") == [{}, *study.asks("path")]
    assert study.asks("Data Shapley") == [{}, *limits]


def test_the_fair_table_has_means_of_what_was_spent() -> None:
    rows = drop_nodes.fair(Stub(), 2)
    names = ("mean", "mean sd", "orders", "evaluations", "seconds")
    found = {(row["budget"], row["method"]): [row[name] for name in names] for row in rows}
    sd = 0.5**0.5  # of two numbers with the difference 1
    expected = {
        "same rule": ([0.1, 0, 100, 1000, 12], [0.045, 0.01 * sd, 45, 2125, 8]),
        "equal evaluations": ([0.0625, 0.075 * sd, 62.5, 625, 10.5], [0.03, 0.04 * sd, 30, 625, 5]),
        "equal time": ([0.07, 0.06 * sd, 70, 700, 6], [0.0325, 0.015 * sd, 32.5, 2062.5, 6]),
    }
    assert len(found) == 9
    for budget, (ours, other) in expected.items():
        assert found[budget, "PC-Winter (own)"] == found[budget, "PC-Winter (path)"] == pytest.approx(ours)
        assert found[budget, "Data Shapley"] == pytest.approx(other)


@pytest.mark.parametrize("which", ["unlabelled", "labelled", "mixed"])
def test_tables_of_nodes_that_are_dropped(which: str) -> None:
    rows, *fair = drop_nodes.run(Stub(), 2, which).tables.values()
    assert len(fair) == ("rebound sd" in rows[0]) == (which == "unlabelled")
    names = ("orders", "evaluations", "seconds", "rebound", "labelled among the first", "labelled in all")
    found = {row["method"]: [row.get(name) for name in names] for row in rows}
    for method, spent, rebound, share in (
        ("PC-Winter (own)", (100, 1000, 12), 0.1, 0.75),
        ("PC-Winter (path)", (100, 1000, 12), 0.1, 0),
        ("Data Shapley", (45, 2125, 8), 0.045, 1),
        ("random", (None, None, 1), 0, 0),
    ):
        shares = (share, 2 / 6) if which == "mixed" else (None, None)
        assert found[method] == pytest.approx([*spent, rebound if which == "unlabelled" else None, *shares])
