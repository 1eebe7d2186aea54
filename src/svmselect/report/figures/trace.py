"""The course of the search: every value in order, and where it was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from svmselect.plots.data.levels import Levels
from svmselect.plots.data.trace import TraceData
from svmselect.report.frame import Axis, Frame
from svmselect.report.svg import dot, line
from svmselect.report.words import number
from svmselect.types import Array, IntArray

MOST = 400
"""Dots that are drawn; of more evaluations every so many-th, and all that led."""


def trace_figure(data: TraceData) -> Markup:
    """Values by evaluation; a line follows the best so far of each run."""
    low, high = value_range(data.value, data.greater_is_better)
    height = Axis.of(low, high, data.criterion)
    across = Axis.of(1.0, max(2.0, float(len(data.value))), "evaluation")
    frame = Frame(across, height, left=height.room)
    shown = np.clip(data.value, low, high)
    lines = []
    for run in range(len(data.runs)):
        for rough in (0, 1):
            at = np.flatnonzero((data.run == run) & (data.rough == rough))
            if len(at) > 1:
                best = np.clip(data.best[at], low, high)
                lines.append(
                    line(_steps(frame, at + 1.0, best), "curve rough" if rough else "curve")
                )
    dots = [
        dot(frame.at_x(i + 1.0), frame.at_y(shown[i]), 3.2, _kind(data, i), tip_of(data, i))
        for i in thinned(data)
        if np.isfinite(shown[i])
    ]
    return frame.svg("the search's trace", frame.grid(), *lines, *dots, frame.axes())


def places_figure(data: TraceData) -> Markup:
    """Where the search looked, darker where the criterion is better."""
    finite = np.flatnonzero(np.isfinite(data.value))
    frame = Frame(
        Axis.of(*_padded(data.log_C[finite]), "C", log=True),
        Axis.of(*_padded(data.log_width[finite]), data.width, log=True),
        height=360.0,
    )
    levels = Levels.of(data.value[finite], data.greater_is_better)
    kept = set(thinned(data))
    order = [i for i in finite[np.argsort(levels.gaps(data.value[finite]))[::-1]] if i in kept]
    dots = [
        dot(
            frame.at_x(data.log_C[i]),
            frame.at_y(data.log_width[i]),
            4.5,
            f"pt place l{levels.band(data.value[i])}",
            tip_of(data, i),
        )
        for i in order
    ]
    return frame.svg("where the search looked", frame.grid(), *dots, frame.axes(), kind="square")


def tip_of(data: TraceData, i: int) -> str:
    """An evaluation in words."""
    where = f"C {number(float(np.exp(data.log_C[i])))}"
    if np.isfinite(data.log_width[i]):
        where += f", {data.width} {number(float(np.exp(data.log_width[i])))}"
    run = f" of {data.runs[data.run[i]]}" if len(data.runs) > 1 else ""
    rough = " (rough)" if data.rough[i] else ""
    return f"{i + 1}{run}: {number(float(data.value[i]), 5)}{rough} at {where}"


def value_range(values: Array, greater_is_better: bool) -> tuple[float, float]:
    """From the best value to most of the others: far outliers do not flatten the rest."""
    finite = np.sort(values[np.isfinite(values)])
    if not len(finite):
        return 0.0, 1.0
    sign = 1.0 if greater_is_better else -1.0
    ranked = np.sort(sign * finite)[::-1]
    best, typical, worst = ranked[0], ranked[(3 * len(ranked)) // 4], ranked[-1]
    limit = max(worst, best - 4.0 * (best - typical)) if best > typical else worst
    pad = 0.06 * (best - limit) or 0.05 * abs(best) or 1.0
    ends = sign * (limit - pad), sign * (best + pad)
    return float(min(ends)), float(max(ends))


def thinned(data: TraceData) -> IntArray:
    """Which evaluations get a dot."""
    n = len(data.value)
    led = np.flatnonzero(data.value == data.best)
    step = -(-n // MOST)
    led = led[:: -(-len(led) // MOST)] if len(led) else led
    return np.unique(np.concatenate([np.arange(0, n, step), led, [n - 1]]))


def _kind(data: TraceData, i: int) -> str:
    return "pt dot rough" if data.rough[i] else "pt dot"


def _steps(frame: Frame, xs: Any, ys: Array) -> Array:
    """A line that stays level until the next improvement."""
    change = np.flatnonzero(np.diff(ys)) + 1
    x = np.concatenate([[xs[0]], np.repeat(xs[change], 2), [xs[-1]]])
    y = np.repeat(ys[np.concatenate([[0], change])], 2)
    return frame.points(x, y)


def _padded(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    pad = 0.06 * (high - low) or 0.5
    return low - pad, high + pad
