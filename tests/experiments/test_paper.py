"""The numbers of the paper agree with each other, so that none was copied wrongly."""

from pcwinter.experiments.paper import EDGES, HOURS, LIMITED, RETRAININGS
from pcwinter.graph.io.datasets import DATASETS


def test_every_public_graph_has_its_numbers() -> None:
    assert set(RETRAININGS) == set(HOURS) == set(DATASETS) - {"demo"}
    assert set(EDGES) <= set(HOURS)


def test_truncation_saves_retrainings() -> None:
    assert all(visits < players for players, visits in RETRAININGS.values())


def test_hours_an_order_times_orders_are_the_hours_in_total() -> None:
    for methods in HOURS.values():
        for each, orders, total in methods.values():
            assert abs(each * orders - total) <= 0.0005 * orders + 0.005  # all are rounded


def test_who_was_stopped_took_about_120_hours() -> None:
    long = {(name, method) for name, rows in HOURS.items() for method, (_, _, total) in rows.items() if total > 115}
    assert long == LIMITED
