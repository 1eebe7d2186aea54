"""``svmselect report``: the page of a trace, drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svmselect.cli import options as of


def report(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="A trace.jsonl of fit or of select.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page. [default: report.html beside the trace]"),
    ] = None,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> None:
    """Draw the report page of a trace file again, without the data."""
    from svmselect import report as pages
    from svmselect.cli.console import Output

    file = trace / "trace.jsonl" if trace.is_dir() else trace
    if not file.exists():
        raise ValueError(f"there is no file {file}; svmselect fit writes one, trace.jsonl")
    try:
        page = pages.of_trace(file)
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no trace of svmselect: it is no text file") from None
    target = output or file.parent / "report.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    pages.write(page, target)
    told = Output(quiet, as_json)
    told.result({"report": str(target)})
    told.say(f"Open this page: {target}")
