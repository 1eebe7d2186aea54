"""A report on disk: as a page, and as a line of a trace file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from svmselect.files.lines import append_line
from svmselect.files.whole import write_whole
from svmselect.report.page import render
from svmselect.report.record import FORMAT, Report
from svmselect.search.trace import read_lines


def write(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page: one HTML file that needs nothing else.

    Parameters
    ----------
    report : Report
        The report.
    path : str or path-like
        The file.
    """
    write_whole(path, render(report))


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
