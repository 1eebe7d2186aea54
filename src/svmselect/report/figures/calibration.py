"""The calibration curve: predicted probabilities against what was observed."""

from __future__ import annotations

from markupsafe import Markup

from svmselect.plots.data.calibration import CalibrationData
from svmselect.report.frame import Axis, Frame
from svmselect.report.svg import dot, element, line
from svmselect.report.words import percent


def calibration_figure(data: CalibrationData) -> Markup:
    """Bins with their 95 % intervals; a machine that keeps its word is on the diagonal."""
    start = 0.0 if data.label != "the predicted class" else min(0.5, float(data.predicted.min()))
    start = min(start, float(data.low.min())) if start > 0 else 0.0
    frame = Frame(
        Axis.of(start, 1.0, "probability predicted"),
        Axis.of(start, 1.0, "share observed"),
        height=380.0,
    )
    diagonal = line(frame.points([start, 1.0], [start, 1.0]), "diagonal")
    marks = []
    bins = zip(data.predicted, data.observed, data.low, data.high, data.count, strict=True)
    for p, observed, low, high, count in bins:
        x = frame.at_x(p)
        marks.append(
            element("line", x1=x, x2=x, y1=frame.at_y(low), y2=frame.at_y(high), class_="interval")
        )
        tip = (
            f"predicted {percent(p)}, observed {percent(observed)} of {count} rows "
            f"(95 %: {percent(low)} to {percent(high)})"
        )
        marks.append(dot(x, frame.at_y(observed), 5.0, "mark pt", tip))
    curve = line(frame.points(data.predicted, data.observed), "curve")
    return frame.svg(
        "calibration curve", frame.grid(), diagonal, curve, *marks, frame.axes(), kind="square"
    )
