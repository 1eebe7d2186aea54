"""What decided over C and the width as filled contours, with the path; and slices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from svmselect.kernels.names import stem
from svmselect.plots.data.landscape import LandscapeData, Slice
from svmselect.plots.data.levels import BANDS, Levels, smoothed
from svmselect.report.figures.trace import value_range
from svmselect.report.frame import Axis, Frame
from svmselect.report.svg import dot, element, group, line, path
from svmselect.report.words import number
from svmselect.types import BoolArray, IntArray

PATHS = 6
"""Runs whose way is drawn."""


def landscape_figure(data: LandscapeData) -> Markup:
    """Contours around the choice; a curve over C where the kernel has no width."""
    if not len(data.log_width):
        only = Slice("log C", data.log_C, data.values[0], float(data.at[0]))
        return _curve(only, data)
    x, y = data.log_C, data.log_width
    frame = Frame(
        Axis.of(float(x[0]), float(x[-1]), "C", log=True),
        Axis.of(float(y[0]), float(y[-1]), data.width, log=True),
        height=380.0,
    )
    levels = Levels.of(np.append(data.values, data.best), data.greater_is_better)
    return frame.svg(
        "the criterion's landscape over C and the width",
        group(*_bands(frame, data, levels), class_="bands"),
        group(*_ways(frame, data), class_="ways"),
        group(*_nodes(frame, data), class_="nodes"),
        _mark(frame, float(data.at[0]), float(data.at[1]), data),
        frame.axes(),
        kind="square landscape",
    )


def slice_figures(data: LandscapeData, inputs: Sequence[str]) -> list[tuple[str, Markup]]:
    """One small figure for each further parameter, and what it is called."""
    return [(_named(one.name, inputs), _small(one, data)) for one in data.slices]


def _bands(frame: Frame, data: LandscapeData, levels: Levels) -> list[Markup]:
    """Filled contours, from the worst band, which is the ground, to the best."""
    from contourpy import FillType, contour_generator

    gaps = np.minimum(levels.gaps(data.values), 2.0 * levels.edges[-1])
    x, y, z = smoothed(data.log_C, data.log_width, gaps)
    made = [
        element(
            "rect",
            x=frame.left,
            y=frame.top,
            width=frame.width - frame.left - frame.right,
            height=frame.height - frame.top - frame.bottom,
            class_="l0",
        )
    ]
    drawing = contour_generator(x, y, z, fill_type=FillType.OuterOffset, name="serial")
    for band in range(1, BANDS):
        # all that is at least as good as this band: later ones are painted over earlier ones
        filled = drawing.filled(-1.0, float(levels.edges[BANDS - band]))
        parts = [
            path(frame.points(ring[:, 0], ring[:, 1]), closed=True)
            for polygon, offsets in zip(filled[0], filled[1], strict=True)
            if polygon is not None and offsets is not None
            for ring in np.split(polygon, offsets[1:-1])
        ]
        if parts:
            made.append(element("path", d="".join(parts), class_=f"l{band}", fill_rule="evenodd"))
    return made


def _ways(frame: Frame, data: LandscapeData) -> list[Markup]:
    """The best so far of each run as a line, other evaluations as dots."""
    made = []
    for way in data.paths[:PATHS]:
        inside = [frame.inside(a, b) for a, b in zip(way.log_C, way.log_width, strict=True)]
        led = way.leading > 0
        for part in _stretches(led, np.array(inside)):
            if len(part) > 1:
                made.append(line(frame.points(way.log_C[part], way.log_width[part]), "way"))
        for i in _seen(np.array(inside)):
            x, y = frame.at_x(way.log_C[i]), frame.at_y(way.log_width[i])
            kind = "step rough" if way.rough[i] else "step led" if led[i] else "step"
            made.append(dot(x, y, 2.6, kind))
    for log_C, log_width, _ in data.hills:
        made.append(dot(frame.at_x(log_C), frame.at_y(log_width), 5.0, "hill"))
    return made


def _seen(inside: BoolArray) -> IntArray:
    """Which evaluations get a dot: those in the picture, thinned where they are many."""
    seen = np.flatnonzero(inside)
    return seen[:: -(-len(seen) // 60)] if len(seen) else seen


def tried(data: LandscapeData) -> int:
    """How many of the settings that the search tried are in the picture, beside the choice."""
    low = np.array([data.log_C[0], data.log_width[0]])
    high = np.array([data.log_C[-1], data.log_width[-1]])
    apart = 0.03 * (high - low)
    count = 0
    for way in data.paths[:PATHS]:
        where = np.column_stack([way.log_C, way.log_width])
        inside = ((where >= low) & (where <= high)).all(axis=1)
        count += int((inside & (np.abs(where - data.at) > apart).any(axis=1)).sum())
    return count


def _stretches(led: BoolArray, inside: BoolArray) -> list[IntArray]:
    """Successive leaders, cut where the way leaves the picture."""
    leaders = np.flatnonzero(led)
    if not len(leaders):
        return []
    cuts = np.flatnonzero(~inside[leaders])
    return [part[inside[part]] for part in np.split(leaders, cuts)]


def _nodes(frame: Frame, data: LandscapeData) -> list[Markup]:
    """Points of the grid, which tell their value when pointed at."""
    step = frame.at_x(data.log_C[1]) - frame.at_x(data.log_C[0])
    made = []
    for i, log_width in enumerate(data.log_width):
        for j, log_C in enumerate(data.log_C):
            tip = (
                f"C {number(float(np.exp(log_C)))}, {data.width} "
                f"{number(float(np.exp(log_width)))}: {number(float(data.values[i, j]), 4)}"
            )
            made.append(dot(frame.at_x(log_C), frame.at_y(log_width), step / 2, "pt node", tip))
    return made


def _mark(frame: Frame, x: float, y: float, data: LandscapeData) -> Markup:
    said = f"chosen: C {number(float(np.exp(x)))}, {data.width} {number(float(np.exp(y)))}: "
    at_x, at_y = frame.at_x(x), frame.at_y(y)
    return group(
        dot(at_x, at_y, 8.0, "halo"),
        dot(at_x, at_y, 6.0, "chosen pt", said + number(data.best, 4)),
    )


def _small(one: Slice, data: LandscapeData) -> Markup:
    frame = Frame(
        Axis.of(float(one.log_value[0]), float(one.log_value[-1]), "", log=True, most=3),
        Axis(*_common(data), ""),
        width=220.0,
        height=150.0,
        left=12.0,
        right=12.0,
        top=10.0,
        bottom=24.0,
    )
    return _drawn(one, data, frame, "slice")


def _curve(one: Slice, data: LandscapeData) -> Markup:
    low, high = value_range(np.append(one.value, data.best), data.greater_is_better)
    height = Axis.of(low, high, data.criterion)
    across = Axis.of(float(one.log_value[0]), float(one.log_value[-1]), "C", log=True)
    return _drawn(one, data, Frame(across, height, left=height.room), "")


def _drawn(one: Slice, data: LandscapeData, frame: Frame, kind: str) -> Markup:
    low, high = frame.y.low, frame.y.high
    values = np.clip(np.where(np.isfinite(one.value), one.value, low), low, high)
    curve = line(frame.points(one.log_value, values), "curve")
    dots = [
        dot(
            frame.at_x(a),
            frame.at_y(v),
            2.2,
            "pt dot",
            f"{number(float(np.exp(a)))}: {number(float(told), 4)}",
        )
        for a, v, told in zip(one.log_value, values, one.value, strict=True)
    ]
    mark = dot(
        frame.at_x(one.at),
        frame.at_y(min(max(data.best, low), high)),
        5.0,
        "chosen pt",
        f"chosen, {number(float(np.exp(one.at)))}: {number(data.best, 4)}",
    )
    return frame.svg("a slice", frame.grid(), curve, *dots, mark, frame.axes(), kind=kind)


def _common(data: LandscapeData) -> tuple[float, float]:
    """One range for all slices, so that a flat one looks flat."""
    values = np.concatenate([one.value for one in data.slices] + [[data.best]])
    return value_range(values, data.greater_is_better)


def _named(name: str, inputs: Sequence[str]) -> str:
    """A parameter as a reader knows it: the length scale of an input by the input's name."""
    if stem(name) != name and stem(name).endswith("length_scale"):
        position = int(name[len(stem(name)) + 1 : -1])
        if position < len(inputs):
            return f"length scale of {inputs[position]}"
    return name
