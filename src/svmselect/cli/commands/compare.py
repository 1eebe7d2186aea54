"""``svmselect compare``: several criteria side by side on one table."""

from __future__ import annotations

from typing import Annotated

import typer

from svmselect.cli import options as of


def compare(
    data: of.Data,
    target: of.Target = None,
    criterion: Annotated[
        list[str] | None,
        typer.Option(
            "--criterion",
            "-c",
            metavar="NAME",
            help="Repeatable; see: svmselect list criteria.",
            rich_help_panel=of.MODEL,
        ),
    ] = None,
    test: of.Test = None,
    holdout: Annotated[
        float,
        typer.Option(
            "--holdout",
            metavar="PART",
            help="The part of the rows that is held apart.",
            rich_help_panel=of.DATA,
        ),
    ] = 0.25,
    search: of.Search = "auto",
    kernel: of.Kernel = None,
    ard: of.LengthScales = of.Ard.auto,
    missing: of.MissingValues = of.Missing.auto,
    ignore: of.Ignore = None,
    use: of.Use = None,
    categorical: of.Categorical = None,
    ordered: of.Ordered = None,
    header: of.Header = None,
    rows: of.Rows = None,
    max_time: of.MaxTime = None,
    jobs: of.Jobs = None,
    seed: of.Seed = 0,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> int:
    """Let several criteria choose, and test what each has chosen on rows held apart."""
    from svmselect.cli.compare import CompareOptions, run
    from svmselect.cli.console import Output
    from svmselect.cli.prepare import TableOptions

    if not 0.0 < holdout < 1.0:
        raise ValueError(f"--holdout {holdout:g} is no part of the rows; give e.g. 0.25")
    table = TableOptions.of(target, header, missing, ignore, use, rows, seed, categorical, ordered)
    options = CompareOptions(
        data=data,
        table=table,
        criteria=tuple(dict.fromkeys(criterion or ("auto", "likelihood", "span", "cv-error"))),
        test=test,
        holdout=holdout,
        search=search,
        kernels=tuple(kernel or ()),
        ard=ard.value,
        max_time=max_time,
        jobs=jobs,
    )
    return run(options, Output(quiet, as_json))
