"""All figures of a report as inline SVG."""

from __future__ import annotations

from markupsafe import Markup

from svmselect.report.figures.calibration import calibration_figure
from svmselect.report.figures.curves import MOST, found_figure, precision_figure
from svmselect.report.figures.error import error_figure
from svmselect.report.figures.landscape import landscape_figure, slice_figures
from svmselect.report.figures.learning import learning_figure
from svmselect.report.figures.trace import places_figure, trace_figure
from svmselect.report.record import Report


def figures(report: Report) -> dict[str, Markup]:
    """The figures that the report's data allow, by name."""
    made: dict[str, Markup] = {}
    if report.error is not None:
        made["error"] = error_figure(report.error)
    if report.calibration is not None:
        made["calibration"] = calibration_figure(report.calibration)
    if 0 < len(report.curves) <= MOST:
        made["found"] = found_figure(report.curves)
        made["precision"] = precision_figure(report.curves)
    if report.learning is not None:
        made["learning"] = learning_figure(report.learning)
    if report.trace is not None:
        made["trace"] = trace_figure(report.trace)
        if report.landscape is None and report.trace.width:
            made["places"] = places_figure(report.trace)
    if report.landscape is not None:
        made["landscape"] = landscape_figure(report.landscape)
    return made


def slices(report: Report) -> list[tuple[str, Markup]]:
    """A small figure for each further parameter, with the name of its input where it has one."""
    if report.landscape is None:
        return []
    names = () if report.inputs is None else report.inputs.names
    return slice_figures(report.landscape, names)
