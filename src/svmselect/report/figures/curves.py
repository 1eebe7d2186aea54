"""How well the probabilities rank rows: found against falsely called, and precision by recall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from svmselect.plots.data.curves import CurveData
from svmselect.report.frame import Axis, Frame
from svmselect.report.svg import dot, line
from svmselect.report.words import percent
from svmselect.types import Array

MOST = 10
"""Classes whose curves can be told apart."""
_MARKS = 24  # points of a curve that tell their threshold


def found_figure(curves: Sequence[CurveData]) -> Markup:
    """Receiver operating characteristic: what is found against what is falsely called so."""
    frame = _frame("share of the others called so", "share of the class found")
    diagonal = line(frame.points([0.0, 1.0], [0.0, 1.0]), "diagonal")
    drawn = []
    for i, one in enumerate(curves):
        x, y = np.append(0.0, one.false), np.append(0.0, one.found)
        drawn.append(line(frame.points(x, y), f"curve c{i}" if len(curves) > 1 else "curve"))
    marks = [_marks(frame, one, one.false, one.found, len(curves)) for one in curves]
    here = [_here(frame, one, one.at[0], one.at[1], i, len(curves)) for i, one in enumerate(curves)]
    return frame.svg(
        "ROC curve", frame.grid(), diagonal, *drawn, *marks, *here, frame.axes(), kind="square"
    )


def precision_figure(curves: Sequence[CurveData]) -> Markup:
    """Precision against recall; a step from point to point, as average precision counts."""
    frame = _frame("share of the class found", "share right of what is called so")
    drawn = []
    for i, one in enumerate(curves):
        x = np.repeat(np.append(0.0, one.found), 2)[1:]
        y = np.repeat(one.right, 2)
        kind = f"c{i}" if len(curves) > 1 else ""
        drawn.append(line(frame.points(x[:-1], y), f"curve {kind}".strip()))
        if len(curves) == 1:
            drawn.append(line(frame.points([0.0, 1.0], [one.share] * 2), "diagonal"))
    marks = [_marks(frame, one, one.found, one.right, len(curves)) for one in curves]
    here = [
        _here(frame, one, one.at[1], one.at[2], i, len(curves))
        for i, one in enumerate(curves)
        if np.isfinite(one.at[2])
    ]
    return frame.svg(
        "precision-recall curve", frame.grid(), *drawn, *marks, *here, frame.axes(), kind="square"
    )


def _frame(x: str, y: str) -> Frame:
    across, up = Axis.of(0.0, 1.0, x), Axis.of(0.0, 1.0, y)
    return Frame(Axis(-0.02, 1.02, x, False, across.ticks), Axis(-0.02, 1.02, y, False, up.ticks),
                 height=380.0)  # fmt: skip


def _marks(frame: Frame, one: CurveData, xs: Array, ys: Array, of: int) -> Markup:
    """Points that say their threshold, when pointed at."""
    n = len(xs)
    chosen = np.unique(np.linspace(0, n - 1, min(n, _MARKS)).round().astype(int))
    who = f"{one.label}, " if of > 1 else ""
    return Markup().join(
        dot(
            frame.at_x(xs[i]),
            frame.at_y(ys[i]),
            5.0,
            "pt node",
            f"{who}called so from {percent(one.threshold[i])} on: {percent(one.found[i])} found, "
            f"{percent(one.false[i])} of the others called so, {percent(one.right[i])} right",
        )
        for i in chosen
    )


def _here(frame: Frame, one: CurveData, x: float, y: float, i: int, of: int) -> Markup:
    """Where the model decides."""
    false, found, right = one.at
    kind = f"chosen c{i} pt" if of > 1 else "chosen pt"
    who = f"{one.label}, " if of > 1 else ""
    tip = (
        f"{who}as the model decides: {percent(found)} found, {percent(false)} of the others called "
        f"so, {percent(right)} right"
    )
    return dot(frame.at_x(x), frame.at_y(y), 5.5, kind, tip)
