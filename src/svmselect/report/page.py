"""The page of a report: a template, a style sheet and a script, put into one file."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from svmselect.report.figures import figures, slices
from svmselect.report.record import Report
from svmselect.report.words import number, percent, seconds

if TYPE_CHECKING:
    from jinja2 import Environment


def render(report: Report) -> str:
    """The page as text.

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
        style=_asset("page.css"),
        script=script,
        digest=digest,
    )


def _inputs(report: Report) -> list[tuple[str, float, float, str]]:
    """Name, relevance, length scale and the width of its bar in %, the most relevant first."""
    found = report.inputs
    if found is None:
        return []
    top = float(found.relevance.max()) or 1.0
    rows = [
        (name, float(share), float(length), f"{100.0 * share / top:.1f}")
        for name, share, length in zip(
            found.names, found.relevance, found.length_scale, strict=True
        )
    ]
    return sorted(rows, key=lambda row: -row[1])


def _better(report: Report) -> bool:
    """Whether some other optimum beats the choice, by more than rounding."""
    if report.landscape is None or not report.optima:
        return False
    sign = 1.0 if report.landscape.greater_is_better else -1.0
    return sign * (report.optima[0].value - report.landscape.best) > 1e-6


def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"number": number, "percent": percent, "seconds": seconds}
    return made


def _asset(name: str) -> str:
    return (files("svmselect.report") / "assets" / name).read_text(encoding="utf-8")
