"""Variants of PC-Winter: what each experiment asks for."""

from collections.abc import Callable
from typing import Any

import pytest

from pcwinter.experiments import variants
from pcwinter.experiments.output import Outcome
from pcwinter.experiments.study import Study
from stub_study import Stub

PAIRS = {"-".join(map(str, pair)): {"truncation": pair} for pair in ((0.5, 0.7), (0.9, 0.7), (0.5, 0.9))}
NUMBERS = {f"{n} orders": {"permutations": n} for n in (10, 50, 100)}
FAMILIES = {"PC-Winter": "dfs", "level only (L)": "level", "precedence only (P)": "precedence", "free": "free"}
WHOLE = {"truncation": (), "permutations": 200}


@pytest.mark.parametrize(
    ("experiment", "usual", "expected"),
    [
        (variants.truncation, (0.5, 0.7), PAIRS | {"none": {"truncation": ()}}),
        (variants.truncation, (0.7, 0.9), {"0.7-0.9": {"truncation": (0.7, 0.9)}} | PAIRS),
        (variants.permutations, (), NUMBERS | {"converged": {"permutations": None}}),
        (variants.ablation, (), {name: {"orders": family} | WHOLE for name, family in FAMILIES.items()}),
    ],
)
def test_variants_of_pc_winter(
    experiment: Callable[[Study, int], Outcome], usual: tuple[float, ...], expected: dict[str, dict[str, Any]]
) -> None:
    study = Stub(truncation=usual, mine=((300, 3000, 60.0),))
    ((_, rows),) = experiment(study, 1).tables.items()
    assert study.asks("own") == study.asks("path") == list(expected.values())
    orders = [given.get("permutations") or 300 for given in expected.values() for _ in range(2)]
    if experiment is variants.permutations:
        beside = rows.pop()
        assert (beside["method"], beside["orders"], beside["seconds"], beside["mean"]) == ("Data Shapley", 40, 8, 0.04)
    assert [row["method"] for row in rows] == [f"{name}, {level}" for name in expected for level in ("own", "path")]
    assert [row["orders"] for row in rows] == orders
    assert [row["seconds"] for row in rows] == pytest.approx([n / 5 for n in orders])
    assert [row["mean"] for row in rows] == pytest.approx([n / 1000 for n in orders])


@pytest.mark.parametrize("head", ["ridge", "softmax"])
def test_either_head_is_ablated_with_as_many_orders_of_every_family(head: str) -> None:
    for asked, drawn in ((None, 200), (70, 70)):
        study = Stub(head=head, orders=asked, mine=((300, 3000, 60.0),))
        variants.ablation(study, 1)
        assert [given["permutations"] for given in study.asks("own")] == [drawn] * 4
