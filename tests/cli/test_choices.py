"""The words of the options are those of the library."""

import os
from pathlib import Path

import pcwinter as pw
from command import FAST, call
from pcwinter.cli import choices
from pcwinter.experiments import EXPERIMENTS
from pcwinter.experiments.curves import WHICH
from pcwinter.experiments.judge import ON
from pcwinter.experiments.study import PARTS
from pcwinter.game import orders
from pcwinter.game.problem import COALITIONS, EMPTY
from pcwinter.graph.features import NORMALIZATIONS
from pcwinter.graph.filters import FILTERS
from pcwinter.graph.graph import SETTINGS
from pcwinter.graph.propagation import NORMALISATIONS
from pcwinter.values import PRESETS


def test_the_lists_of_the_command_line_are_those_of_the_library() -> None:
    assert set(choices.DATASETS) == set(pw.DATASETS)
    assert set(choices.METRICS) == set(pw.METRICS)
    assert set(choices.FEATURES) == set(NORMALIZATIONS)
    assert set(choices.ORDERS) == set(orders.FAMILIES)
    assert choices.REMAINDERS == orders.REMAINDERS
    assert choices.COALITIONS == COALITIONS
    assert choices.EMPTY == EMPTY
    assert choices.FILTERS == FILTERS
    assert set(choices.PRESETS) == set(PRESETS)
    assert choices.NORMALISATIONS == NORMALISATIONS
    assert choices.SETTINGS == SETTINGS
    assert choices.WHICH == WHICH
    assert choices.ON == ON
    assert choices.PARTS == PARTS
    assert set(choices.EXPERIMENTS) == {name.split()[0] for name in EXPERIMENTS} | {"all"}


def test_a_leading_tilde_is_home(folder: Path, tmp_path: Path) -> None:
    done = call("value", folder, "--out=~/run", "--permutations", 5, *FAST, env={**os.environ, "HOME": str(tmp_path)})
    assert done.returncode == 0
    assert (tmp_path / "run" / "run.json").is_file()
