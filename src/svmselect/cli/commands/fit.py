"""``svmselect fit``: from a table to a model, its trace and a report page."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path
from typing import Annotated

import typer

from svmselect.cli import options as of


def fit(
    data: of.Tables,
    target: of.Target = None,
    test: of.Test = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout",
            metavar="PART",
            help="Hold this part of the rows apart for a test, e.g. 0.25.",
            rich_help_panel=of.DATA,
        ),
    ] = None,
    missing: of.MissingValues = of.Missing.auto,
    ignore: of.Ignore = None,
    use: of.Use = None,
    categorical: of.Categorical = None,
    ordered: of.Ordered = None,
    groups: of.Groups = None,
    header: of.Header = None,
    rows: of.Rows = None,
    criterion: of.Criterion = "auto",
    search: of.Search = "auto",
    kernel: of.Kernel = None,
    ard: of.LengthScales = of.Ard.auto,
    loss: of.FitLosses = of.FitLoss.auto,
    class_weight: of.ClassWeight = None,
    rare: of.RareClasses = of.Rare.keep,
    scoring: of.Scoring = None,
    threshold: of.Threshold = "argmax",
    max_time: of.MaxTime = None,
    jobs: of.Jobs = None,
    dask: of.Cluster = None,
    seed: of.Seed = 0,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the search in the folder.", rich_help_panel=of.RUN
        ),
    ] = False,
    grid: Annotated[
        bool,
        typer.Option("--grid", help="Also run the plain grid, to compare.", rich_help_panel=of.RUN),
    ] = False,
    output: of.Folder = None,
    page: Annotated[
        bool,
        typer.Option(
            "--report/--no-report", help="Whether to draw the page.", rich_help_panel=of.OUTPUT
        ),
    ] = True,
    onnx: Annotated[
        bool,
        typer.Option(
            "--onnx",
            help="Also write model.onnx, for runtimes without Python.",
            rich_help_panel=of.OUTPUT,
        ),
    ] = False,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> int:
    """Choose the hyperparameters for a table, train, and write model, trace and report page."""
    from svmselect.cli.console import Output
    from svmselect.cli.fit import FitOptions, run
    from svmselect.cli.prepare import TableOptions

    if test is not None and holdout is not None:
        raise ValueError("--test and --holdout are two ways to test; give one of them")
    if holdout is not None and not 0.0 < holdout < 1.0:
        raise ValueError(f"--holdout {holdout:g} is no part of the rows; give e.g. 0.25")
    table = TableOptions.of(
        target, header, missing, ignore, use, rows, seed, categorical, ordered, groups
    )
    options = FitOptions(
        data=tuple(data),
        table=table,
        folder=_folder(data[0]) if output is None else output,
        test=test,
        holdout=holdout,
        criterion=criterion,
        search=search,
        kernels=tuple(kernel or ()),
        ard=ard.value,
        loss=loss.value,
        threshold=threshold,
        max_time=max_time,
        jobs=jobs,
        resume=resume,
        grid=grid,
        page=page,
        class_weight=tuple(class_weight or ()),
        rare=rare.value,
        scoring=scoring,
        onnx=onnx,
        dask=dask,
    )
    return run(options, Output(quiet, as_json))


def _folder(data: str) -> Path:
    """A folder beside where we are, named after the data file, or the folder that it is in."""
    path = Path(data)
    while has_magic(path.name) and not path.exists():
        path = path.parent
    stem = path.name.split(".")[0] or path.name.strip(".")
    if data == "-" or not stem:
        return Path("svmselect-out")
    folder = Path(stem)
    holds_data = path.is_dir()
    free = folder.is_dir() or not folder.exists()
    return folder if free and not holds_data else Path(f"{stem}-out")
