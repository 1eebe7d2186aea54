"""The expected error: what the folds say, what rows held apart say, what guessing is."""

from __future__ import annotations

from markupsafe import Markup

from svmselect.report.frame import Axis, Frame
from svmselect.report.record import ErrorRates, Rate
from svmselect.report.svg import dot, element, group, text
from svmselect.report.words import percent


def error_figure(error: ErrorRates) -> Markup:
    """Rates with their 95 % intervals, and the error of always saying the commonest class."""
    rates = [("folds", error.folds)]
    if error.held_out is not None:
        rates.append(("held apart", error.held_out))
    top = max(error.baseline, *(rate.high for _, rate in rates)) * 1.08
    axis = Axis.of(0.0, 100.0 * top, "error in %", most=6)
    height = 78.0 + 34.0 * len(rates)
    frame = Frame(axis, Axis(0.0, 1.0, ""), height=height, left=104.0, top=26.0)
    bottom = frame.height - frame.bottom
    rows = [_row(frame, frame.top + 17.0 + 34.0 * i, name, r) for i, (name, r) in enumerate(rates)]
    x = frame.at_x(100.0 * error.baseline)
    anchor = "end" if x > frame.width / 2 else "start"
    guess = group(
        element("line", x1=x, x2=x, y1=frame.top - 6, y2=bottom, class_="guess"),
        text(x, frame.top - 11, f"always the commonest class: {percent(error.baseline)}", "note",
             anchor),
    )  # fmt: skip
    return frame.svg("expected error with 95 % intervals", frame.grid(), guess, *rows, frame.axes())


def _row(frame: Frame, y: float, name: str, rate: Rate) -> Markup:
    low, high = frame.at_x(100.0 * rate.low), frame.at_x(100.0 * rate.high)
    tip = (
        f"{name}: {percent(rate.error)}, with 95 % between {percent(rate.low)} and "
        f"{percent(rate.high)}; {rate.source}"
    )
    return group(
        text(frame.left - 9, y + 4, name, "tick", "end"),
        element("line", x1=low, x2=high, y1=y, y2=y, class_="interval"),
        dot(frame.at_x(100.0 * rate.error), y, 5.5, "mark pt", tip),
    )
