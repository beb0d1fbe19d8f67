"""Figures: bands over the seeds, panels, and what is drawn."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from pcwinter.experiments import reproduce
from pcwinter.experiments.curves import Curve
from pcwinter.experiments.figures import _draw_panel, _panels, band, draw
from pcwinter.experiments.output import Outcome
from pcwinter.experiments.study import Study


def test_panels_of_own_and_path() -> None:
    curve = Curve(np.array([0, 1]), np.array([0.5, 0.6]))
    outcome = Outcome("toy", x="dropped")
    for name in ("a, own", "a, path", "b, b, own", "b, b, path"):
        outcome.add(name, 0, curve)
    assert {level: list(methods) for level, methods in _panels(outcome.drawing.bands).items()} == {
        "own": ["a", "b, b"],
        "path": ["a", "b, b"],
    }
    for name in ("$dear$", "$dear$, somehow"):
        outcome.add(name, 0, curve)
    assert {level: list(methods) for level, methods in _panels(outcome.drawing.bands).items()} == {
        "own": ["a", "b, b", "$dear$"],
        "path": ["a", "b, b", "$dear$"],
    }
    assert list(_panels(dict.fromkeys(("a", "a, x", "b"), outcome.drawing.bands["a, own"]))[""]) == ["a", "b"]
    svg = draw([outcome.drawing, Outcome("other", x="dropped", curves={"only here": {0: curve}}).drawing])[
        "svg"
    ].decode()
    assert all(f"<!-- {name} -->" in svg for name in ("toy, own", "toy, path", "other", "only here", "$dear$"))


def test_curves_with_fewer_points_are_interpolated() -> None:
    many = Curve(np.array([0, 25, 50, 75, 100]), np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    few = Curve(np.array([0, 50, 100]), np.array([0.5, 0.3, 0.9]))
    for curves in ((many, few), (few, many)):
        found = band(curves)
        assert found.steps.tolist() == many.count.tolist()
        np.testing.assert_allclose(found.mean, [0.3, 0.3, 0.3, 0.5, 0.7])


def test_figures_are_refused_before_the_work(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcwinter.experiments.figures.find_spec", lambda name: None)
    monkeypatch.setattr(Study, "baseline", lambda *_: pytest.fail("began to work"))
    with pytest.raises(ValueError, match="figures need Matplotlib: pip install"):
        next(reproduce(study, "add-edges"))
    assert "players" in next(reproduce(study, "counts", seeds=1))


def test_a_figure_shows_the_mean_and_the_range() -> None:
    found = band([Curve(np.array([0, 7]), np.array(accuracy)) for accuracy in ([0.5, 0.5], [0.75, 0.5], [0.25, 0.2])])
    expected = np.array([[0, 7], [0.5, 0.4], [0.25, 0.2], [0.75, 0.5]])
    np.testing.assert_allclose(np.array(found), expected)
    axes = Figure().subplots()
    _draw_panel(axes, {"a": found}, {"a": ("black", "-")})
    (line,), (area,) = axes.get_lines(), axes.collections
    np.testing.assert_allclose(np.asarray(line.get_xydata()).T, expected[:2])
    corners = {tuple(corner) for corner in np.asarray(area.get_paths()[0].vertices).tolist()}
    assert corners == {(0, 0.25), (0, 0.75), (7, 0.2), (7, 0.5)}
    axes = Figure().subplots()
    _draw_panel(axes, {"a": found}, {"a": ("black", "-")}, shade=False)
    assert (len(axes.get_lines()), len(axes.collections)) == (1, 0)
