"""What more rows would bring: the held-out error by the number of rows trained on."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from svmselect.plots.data.learning import LearningData
from svmselect.report.frame import Axis, Frame
from svmselect.report.svg import dot, element, line
from svmselect.report.words import number, percent


def learning_figure(data: LearningData) -> Markup:
    """Errors with their 95 % intervals; rows grow by factors of two."""
    sizes = np.log(data.rows)
    pad = 0.08 * float(sizes[-1] - sizes[0])
    top = 108.0 * float(data.high.max())
    ticks = tuple((float(np.log(n)), f"{n:,.0f}".replace(",", "\u202f")) for n in data.rows)
    across = Axis(float(sizes[0]) - pad, float(sizes[-1]) + pad, "rows trained on", True, ticks)
    height = Axis.of(0.0, top, "error in %")
    frame = Frame(across, height, height=260.0, left=height.room)
    bars, marks = [], []
    for x, n, error, low, high, loss in zip(
        sizes, data.rows, data.error, data.low, data.high, data.log_loss, strict=True
    ):
        at = frame.at_x(x)
        bars.append(
            element(
                "line", x1=at, x2=at, y1=frame.at_y(100.0 * low), y2=frame.at_y(100.0 * high),
                class_="interval",
            )
        )  # fmt: skip
        tip = (
            f"{n:.0f} rows: error {percent(error)} (95 %: {percent(low)} to {percent(high)}), log "
            f"loss {number(float(loss))}"
        )
        marks.append(dot(at, frame.at_y(100.0 * error), 5.0, "mark pt", tip))
    curve = line(frame.points(sizes, 100.0 * data.error), "curve")
    return frame.svg("learning curve", frame.grid(), *bars, curve, *marks, frame.axes())
