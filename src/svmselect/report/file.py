"""A report on disk: as a page, and as a line of a trace file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from svmselect.files.lines import append_line
from svmselect.files.whole import write_whole
from svmselect.report.page import render
from svmselect.report.record import FORMAT, Report
from svmselect.search.trace import read_lines


def write(report: Report, path: str | os.PathLike[str], model: Any = None) -> None:
    """Write the page: one HTML file that needs nothing else.

    Parameters
    ----------
    report : Report
        The report.
    path : str or path-like
        The file.
    model : AutoSVC or AutoKLR, optional
        The model that the page is of: it remembers the file as ``report_``, and its card in a
        notebook has a link to the page.
    """
    write_whole(path, render(report))
    if model is not None:
        model.report_ = os.fspath(path)


def append(report: Report, path: str | os.PathLike[str]) -> None:
    """Add the report to a trace file as one line, which readers of evaluations pass over.

    ``of_trace`` then gives the same report, so the page can be drawn again from the file alone.

    Parameters
    ----------
    report : Report
        The report.
    path : str or path-like
        The trace file.
    """
    target = Path(path)
    header, _ = read_lines(target)
    if header is None:
        raise ValueError(f"{path} has no complete first line, so it is no trace to add a report to")
    line = {"svmselect": "report", "format": FORMAT, "report": json.loads(report.to_json())}
    append_line(target, json.dumps(line, allow_nan=False) + "\n")
