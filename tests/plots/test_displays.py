"""The displays: scikit-learn's convention, drawn from everything they say they draw."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

from svmselect import plots
from svmselect.plots.data.boundary import of_estimator
from svmselect.search.trace import Trace


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    pyplot.close("all")


def drawn(display: Any) -> None:
    """It has axes and a figure, and drawing leaves ink."""
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())
    assert np.ptp(pixels[..., :3], axis=(0, 1)).max() > 100


def again(display: Any) -> None:
    """Plotting on given axes draws there and nowhere else."""
    figure, ax = pyplot.subplots()
    before = pyplot.get_fignums()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert pyplot.get_fignums() == before


@pytest.mark.parametrize("name", ["two", "three", "logistic", "separate", "gacv", "linear"])
def test_displays_of_estimators(fits: Any, name: str) -> None:
    model, X, y = fits[name]
    made = [
        plots.TraceDisplay.from_estimator(model),
        plots.LandscapeDisplay.from_estimator(model, X, y, size=3),
        plots.LengthScaleDisplay.from_estimator(model),
        plots.LengthScaleDisplay.from_estimator(model, X=X, kind="influence"),
        plots.CriteriaDisplay.from_estimator(model, X, y, criteria=["likelihood"]),
        plots.CalibrationDisplay.from_estimator(model, X, y),
        plots.CalibrationDisplay.from_folds(model, X, y, bins=5),
        plots.DecisionBoundaryDisplay.from_estimator(model, X, y, inputs=(0, 1), size=20),
    ]
    for display in made:
        drawn(display)
        again(display)


def test_displays_of_selections(selection: Any) -> None:
    made = [
        plots.TraceDisplay.from_selection(selection),
        plots.TraceDisplay.from_trace(selection.trace),
        plots.LandscapeDisplay.from_selection(selection, size=5),
        plots.LengthScaleDisplay.from_selection(selection, kind="length_scale"),
        plots.CriteriaDisplay.from_selection(selection, criteria=["span"], parameter="width"),
        plots.DecisionBoundaryDisplay.from_selection(selection, inputs=(1, 2), size=20),
    ]
    for display in made:
        drawn(display)
        again(display)


def test_the_trace_that_is_drawn_is_the_search(selection: Any) -> None:
    display = plots.TraceDisplay.from_selection(selection)
    first = display.lines_[0]
    run = next(iter(selection.trace.runs.values()))
    assert np.array_equal(first.get_ydata(), np.maximum.accumulate(run.values))
    assert "higher is better" in display.ax_.get_ylabel()


def test_the_choice_is_marked_in_the_landscape(selection: Any) -> None:
    display = plots.LandscapeDisplay.from_selection(selection, size=3)
    (mark,) = [line for line in display.ax_.lines if line.get_label() == "chosen"]
    width = np.exp(np.mean(np.log(selection.kernel.length_scale)))
    assert np.allclose(mark.get_xydata(), [[selection.C, width]])
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    slices = display.plot_slices()
    shown = [ax for ax in slices.axes if ax.get_visible()]
    assert len(shown) == 3
    assert [ax.get_title() for ax in shown] == [one.name for one in display.data.slices]


def test_no_slices_where_there_is_no_other_parameter(fits: Any) -> None:
    model, X, y = fits["logistic"]
    display = plots.LandscapeDisplay.from_estimator(model, X, y, size=3)
    with pytest.raises(ValueError, match="no slice to draw"):
        display.plot_slices()


def test_bars_are_the_inputs_that_count_most(fits: Any) -> None:
    model = fits["ard"][0]
    names = ["a", "$b$", "c" * 99]
    display = plots.LengthScaleDisplay.from_estimator(model, names=names, most=2)
    shown = [bar.get_width() for bar in display.bars_]
    assert shown == sorted(model.feature_importances_)[1:]
    assert "and 1 inputs more" in display.ax_.get_title(loc="left")
    display.figure_.canvas.draw()  # a dollar sign is no formula
    with pytest.raises(ValueError, match="not one of 'relevance'"):
        display.plot(kind="size")
    with pytest.raises(ValueError, match="no influence to draw: give X"):
        display.plot(kind="influence")
    with pytest.raises(ValueError, match="the kernel has none"):
        plots.LengthScaleDisplay.from_estimator(fits["linear"][0], kind="length_scale")


def test_calibration_is_drawn_as_counted(fits: Any) -> None:
    model, X, y = fits["two"]
    display = plots.CalibrationDisplay.from_estimator(model, X, y, bins=4)
    x, height = display.line_.lines[0].get_data()
    assert np.array_equal(x, display.data.predicted)
    assert np.array_equal(height, display.data.observed)
    assert "yes" in display.ax_.get_xlabel()


def test_a_boundary_is_where_the_decision_turns(fits: Any) -> None:
    model, X, y = fits["two"]
    display = plots.DecisionBoundaryDisplay(of_estimator(model, X, y, (0, 1), size=60)).plot()
    (contour,) = [c for c in display.ax_.collections if "Contour" in type(c).__name__]
    row = np.tile(np.median(X, axis=0), (len(contour.get_paths()[0].vertices), 1))
    row[:, :2] = contour.get_paths()[0].vertices
    assert np.allclose(model.predict_proba(row)[:, 1], 0.5, atol=0.02)
    assert [p.get_label() for p in display.points_] == ["no", "yes"]


def test_an_empty_trace_has_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="the trace is empty"):
        plots.TraceDisplay.from_trace(Trace(()))


def test_matplotlib_is_loaded_when_something_is_drawn() -> None:
    code = (
        "import sklearn.utils, sys; before = set(sys.modules); "  # which may load pandas itself
        "import svmselect.plots, svmselect.report, svmselect.plots.data.landscape; "
        "print(*{'matplotlib', 'pandas', 'jinja2', 'contourpy'} & set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
