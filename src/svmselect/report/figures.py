"""All figures of a report as inline SVG."""

from __future__ import annotations

from svmselect.report.record import Report


def figures(report: Report) -> dict[str, str]:
    """The figures that the report's data allow, by name."""
    return {} if report.trace is None else {}
