"""Bands come back from their file as they were drawn."""

from pathlib import Path

import numpy as np
from reproduction.bands import bands_csv, read_bands, read_curves

from pcwinter.experiments.curves import Curve
from pcwinter.experiments.output import Outcome, write


def test_bands_are_kept_as_they_are_drawn(tmp_path: Path) -> None:
    outcome = Outcome("demo", x="dropped", y="accuracy")
    for seed, accuracy in enumerate(([0.5, 0.25], [0.75, 0.25], [0.25, 0.0])):
        outcome.add("a, b", seed, Curve(np.array([0, 7]), np.array(accuracy)))
    write(outcome, tmp_path / "demo")
    for found in (outcome.drawing, read_curves(tmp_path / "demo" / "demo.csv")):
        (tmp_path / "demo" / "demo.bands.csv").write_text(bands_csv(found))
        again = read_bands(tmp_path / "demo" / "demo.bands.csv")
        assert (again.name, again.x, again.y) == ("demo", "dropped", "accuracy")
        kept = np.array(again.bands["a, b"])
        np.testing.assert_allclose(kept, np.array([[0, 7], [0.5, 1 / 6], [0.25, 0], [0.75, 0.25]]), rtol=1e-4)
