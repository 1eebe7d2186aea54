"""The page of a report: a template, a style sheet and a script, put into one file."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from svmselect.report.figures import figures, slices
from svmselect.report.figures.landscape import tried
from svmselect.report.record import Report
from svmselect.report.words import more_rows, number, percent, seconds

if TYPE_CHECKING:
    from jinja2 import Environment


def render(report: Report) -> str:
    """Make the page of a report, as text.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        The HTML.

    Notes
    -----
    Whatever comes from data is escaped by the template; and should that ever fail, the page's
    security policy runs no script but ours, which it knows by its hash.
    """
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = _environment().from_string(_asset("page.html.j2"))
    return template.render(
        report=report,
        figures=figures(report),
        slices=slices(report),
        inputs=_inputs(report),
        better=_better(report),
        tried=_tried(report),
        areas={curve.label: curve.auc for curve in report.curves} if len(report.curves) > 1 else {},
        more_rows="" if report.learning is None else more_rows(report.learning),
        counted=report.counted,
        style=_asset("page.css"),
        script=script,
        digest=digest,
    )


@dataclass(frozen=True)
class _Input:
    """A row of the table of inputs; ``bar`` is the length of its bar in %."""

    name: str
    relevance: float
    influence: float
    length_scale: float
    bar: str


def _inputs(report: Report) -> list[_Input]:
    """What counts most first: by influence, by relevance where that is not known."""
    found = report.inputs
    if found is None:
        return []
    known = bool(np.isfinite(found.influence).all())
    height = found.influence if known else found.relevance
    top = float(height.max()) or 1.0
    order = np.argsort(-height, kind="stable")
    return [
        _Input(
            found.names[a],
            float(found.relevance[a]),
            float(found.influence[a]),
            float(found.length_scale[a]),
            f"{100.0 * height[a] / top:.1f}",
        )
        for a in order
    ]


def _tried(report: Report) -> int:
    """How many settings of the search are seen in the landscape."""
    data = report.landscape
    return tried(data) if data is not None and len(data.log_width) else 0


def _better(report: Report) -> bool:
    """Whether some other optimum beats the choice, by a unit of log-likelihood or a row."""
    if report.landscape is None or not report.optima:
        return False
    sign = 1.0 if report.landscape.greater_is_better else -1.0
    return sign * (report.optima[0].value - report.landscape.best) > report.landscape.unit


def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"number": number, "percent": percent, "seconds": seconds}
    return made


def _asset(name: str) -> str:
    return (files("svmselect.report") / "assets" / name).read_text(encoding="utf-8")
