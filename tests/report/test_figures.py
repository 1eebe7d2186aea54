"""Figures: what is drawn where, and how little of it when there is much."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from svmselect.plots.data.landscape import LandscapeData, Path, Slice
from svmselect.plots.data.trace import TraceData, trace_data
from svmselect.report import Report, render
from svmselect.report.figures.error import error_figure
from svmselect.report.figures.landscape import landscape_figure, slice_figures
from svmselect.report.figures.trace import MOST, places_figure, trace_figure, value_range
from svmselect.report.optima import ends, hills, other_optima
from svmselect.report.record import ErrorRates, Rate
from svmselect.search.trace import Record, Trace
from svmselect.types import Evaluation

NAMES = ("log C", "rbf.length_scale")


def record(run: str, index: int, point: Any, loss: float) -> Record:
    return Record(run, index, NAMES, Evaluation(np.array(point), loss, details={"value": -loss}))


def course(values: Any) -> TraceData:
    made = [record("0", i, [0.01 * i, -0.01 * i], -v) for i, v in enumerate(values)]
    return trace_data(made, "likelihood", True)


def landscape(values: Any, **more: Any) -> LandscapeData:
    n, m = values.shape
    given = {
        "criterion": "likelihood",
        "greater_is_better": True,
        "width": "length scale",
        "log_C": np.linspace(-2, 2, m),
        "log_width": np.linspace(-1, 1, n),
        "values": values,
        "at": np.zeros(2),
        "best": float(np.nanmax(values)),
        "paths": (),
        "slices": (),
        "hills": np.empty((0, 3)),
        "unit": 0.01,
        "notes": (),
    }
    return LandscapeData(**(given | more))


def parsed(figure: Any) -> ET.Element:
    return ET.fromstring(str(figure))


def of_class(figure: Any, name: str) -> list[ET.Element]:
    return [e for e in parsed(figure).iter() if name in e.attrib.get("class", "").split()]


def test_every_evaluation_has_its_dot() -> None:
    values = np.array([-0.5, -0.2, -0.3, -0.1])
    dots = of_class(trace_figure(course(values)), "pt")
    assert len(dots) == 4
    heights = [-float(d.attrib["cy"]) for d in dots]
    assert np.array_equal(np.argsort(heights), np.argsort(values))
    assert dots[3][0].text == "4: −0.10000 at C 1.03, length scale 0.970"


def test_long_traces_are_thinned_but_keep_their_leaders() -> None:
    rng = np.random.default_rng(0)
    data = course(-np.abs(rng.normal(size=5000)))
    figure = trace_figure(data)
    dots = of_class(figure, "pt")
    assert 0.9 * MOST <= len(dots) <= 2 * MOST + 1
    told = {d[0].text.partition(":")[0] for d in dots if d[0].text}
    led = np.flatnonzero(data.value == data.best)
    assert {str(i + 1) for i in led} <= told
    assert len(str(figure)) < 150_000
    assert len(str(places_figure(data))) < 150_000


def test_values_that_are_none_are_left_out_and_far_ones_at_the_edge() -> None:
    data = course([-0.5, -np.inf, -0.4, -1e9, -0.45, np.nan, -0.42, -0.41, -0.4])
    dots = of_class(trace_figure(data), "pt")
    assert len(dots) == 8
    heights = [float(d.attrib["cy"]) for d in dots]
    assert heights[1] == heights[3] == max(heights) > heights[0]
    low, high = value_range(data.value, True)
    assert -0.6 > low > -2
    assert high > -0.4
    assert value_range(np.array([np.nan]), True) == (0.0, 1.0)
    down = value_range(-data.value, False)
    assert down == pytest.approx((-high, -low))


@pytest.mark.parametrize("shape", [(3, 3), (5, 7), (17, 17)])
def test_contours_cover_the_landscape(shape: tuple[int, int]) -> None:
    y, x = np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
    figure = landscape_figure(landscape(-(x**2) - y**2))
    assert len(of_class(figure, "node")) == shape[0] * shape[1]
    assert of_class(figure, "l9")  # the best band is there, and around the middle
    (mark,) = of_class(figure, "chosen")
    inside = [float(n) for n in of_class(figure, "l9")[0].attrib["d"][1:].split("L")[0].split(",")]
    assert (
        np.hypot(inside[0] - float(mark.attrib["cx"]), inside[1] - float(mark.attrib["cy"])) < 150
    )


def test_landscapes_that_are_flat_or_full_of_holes() -> None:
    assert of_class(landscape_figure(landscape(np.zeros((5, 5)))), "chosen")
    holed = -np.add.outer(np.arange(5.0), np.arange(5.0))
    holed[0, :3] = -np.inf
    holed[4, 4] = np.nan
    figure = landscape_figure(landscape(holed))
    assert "nan" not in "".join(e.attrib.get("d", "") for e in parsed(figure).iter())


def test_the_way_is_cut_where_it_leaves_the_picture() -> None:
    way = Path(
        run="0",
        log_C=np.array([0.0, 9.0, 0.5, 0.6]),
        log_width=np.zeros(4),
        value=np.array([-3.0, -2.0, -1.0, 0.0]),
        leading=np.ones(4),
        rough=np.zeros(4),
    )
    figure = landscape_figure(landscape(-np.ones((3, 3)), paths=(way,)))
    assert len(of_class(figure, "way")) == 1
    assert len(of_class(figure, "step")) == 3


def test_a_landscape_without_width_is_a_curve_and_slices_have_names() -> None:
    values = np.array([[-3.0, -1.0, -2.0]])
    one = Slice("rbf.length_scale[1]", np.linspace(-1, 1, 3), values[0], 0.0)
    data = landscape(values, log_width=np.empty(0), slices=(one,), best=-1.0)
    assert of_class(landscape_figure(data), "curve")
    assert [name for name, _ in slice_figures(data, ["a", "b"])] == ["length scale of b"]
    assert [name for name, _ in slice_figures(data, ())] == ["rbf.length_scale[1]"]


def test_the_error_is_drawn_to_scale() -> None:
    rate = Rate(0.1, 0.05, 0.2, 100, "rows")
    figure = error_figure(ErrorRates(rate, replace(rate, error=0.2, high=0.4), 0.5))
    first, second = (float(e.attrib["cx"]) for e in of_class(figure, "pt"))
    (guess,) = of_class(figure, "guess")
    zero = 2 * first - second
    assert (float(guess.attrib["x1"]) - zero) / (first - zero) == pytest.approx(5.0, rel=0.02)


def test_ends_of_runs_that_are_the_same_count_once() -> None:
    trace = Trace(
        (
            record("0", 0, [0.0, 0.0], 3.0),
            record("0", 1, [1.0, 1.0], 1.0),
            record("1", 0, [1.01, 1.0], 1.1),
            record("2", 0, [3.0, 3.0], 2.0),
            record("3", 0, [9.0, 9.0], np.inf),
        )
    )
    found = ends(trace)
    assert [one.source for one in found] == ["run 0", "run 2"]
    assert dict(found[0].where)["C"] == pytest.approx(np.e)
    assert found[0].value == -1.0


def test_other_ends_of_a_fit_by_a_criterion() -> None:
    class Refit:
        default = separate = False

    class Source:
        notes = ()
        greater_is_better = True
        shift = 0.5
        point = np.array([1.5, 1.0])
        records = (record("0", 0, [1.0, 1.0], 1.0), record("1", 0, [3.0, 3.0], 2.0))

    data = landscape(np.zeros((3, 3)), hills=np.array([[0.0, 0.0, -1.5]]))
    found = other_optima(Refit(), Source(), data)  # type: ignore[arg-type]
    assert [(one.source, one.value) for one in found] == [("the landscape", -1.5), ("run 1", -2.0)]


def test_a_better_optimum_is_told(three_classes: Report) -> None:
    assert three_classes.landscape is not None
    best = three_classes.landscape.best
    hill = np.array([[0.0, 0.0, best + 0.1]])
    assert "has a better likelihood" not in render(three_classes)
    better = replace(three_classes.landscape, hills=hill)
    told = replace(three_classes, landscape=better, optima=hills(better))
    assert "has a better likelihood" in render(told)


def test_a_page_of_very_much_stays_small(ugly: Report) -> None:
    rng = np.random.default_rng(0)
    assert ugly.inputs is not None
    inputs = replace(
        ugly.inputs,
        names=tuple(f"a rather long name of column {a}" for a in range(500)),
        relevance=rng.dirichlet(np.ones(500)),
        length_scale=rng.random(500),
        influence=rng.random(500),
    )
    page = render(replace(ugly, inputs=inputs, trace=course(-np.abs(rng.normal(size=20_000)))))
    assert len(page.encode()) < 500_000
