"""``svmselect reproduce``: a paper's tables, published beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from svmselect.cli import options as of


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="See: svmselect list papers.")],
    table: Annotated[int | None, typer.Option("--table", help="Only this table.")] = None,
    figure: Annotated[int | None, typer.Option("--figure", help="Only this figure.")] = None,
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Trials a cell; one is a short run.")
    ] = 1,
    jobs: of.Jobs = None,
    dask: Annotated[
        str | None, typer.Option("--dask", metavar="ADDRESS", help="Of a Dask scheduler.")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="A folder of .npz data sets.")
    ] = None,
    output: of.Folder = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the trials in the folder.")
    ] = False,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> int:
    """Run a paper's experiments again and set the published numbers beside ours."""
    from svmselect.cli.console import Output
    from svmselect.cli.reproduce import run

    options: dict[str, Any] = {
        "table": table,
        "figure": figure,
        "trials": trials,
        "n_jobs": jobs,
        "dask": dask,
        "data_dir": data_dir,
        "output": output,
        "resume": resume,
    }
    return run(paper, options, Output(quiet, as_json))
