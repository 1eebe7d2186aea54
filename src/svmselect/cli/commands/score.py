"""``svmselect score``: one criterion at one setting."""

from __future__ import annotations

from typing import Annotated

import typer

from svmselect.cli import options as of


def score(
    data: of.Data,
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion",
            "-c",
            metavar="NAME",
            help="See: svmselect list criteria.",
            rich_help_panel=of.MODEL,
        ),
    ],
    target: of.Target = None,
    C: Annotated[
        float,
        typer.Option("--C", "-C", metavar="NUMBER", help="The penalty.", rich_help_panel=of.MODEL),
    ] = 1.0,
    kernel: Annotated[
        str,
        typer.Option(
            "--kernel",
            "-k",
            metavar="NAME",
            help="See: svmselect list kernels.",
            rich_help_panel=of.MODEL,
        ),
    ] = "rbf",
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME=VALUE",
            help="Of the kernel, e.g. length_scale=2; repeatable.",
            rich_help_panel=of.MODEL,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="Of the criterion, e.g. cv=10; repeatable.",
            rich_help_panel=of.MODEL,
        ),
    ] = None,
    loss: of.Losses = of.Loss.hinge,
    intercept: Annotated[
        bool,
        typer.Option(
            "--intercept/--no-intercept",
            help="Whether the machine has one.",
            rich_help_panel=of.MODEL,
        ),
    ] = True,
    standardize: Annotated[
        bool,
        typer.Option("--standardize/--no-standardize", help="The inputs.", rich_help_panel=of.DATA),
    ] = True,
    gradient: Annotated[
        bool,
        typer.Option(
            "--gradient", help="Also the slopes in the logarithms.", rich_help_panel=of.RUN
        ),
    ] = False,
    missing: of.MissingValues = of.Missing.auto,
    ignore: of.Ignore = None,
    use: of.Use = None,
    categorical: of.Categorical = None,
    ordered: of.Ordered = None,
    header: of.Header = None,
    rows: of.Rows = None,
    seed: of.Seed = 0,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> None:
    """Evaluate one criterion at one setting of C and the kernel, on a table of two classes."""
    from svmselect.cli.console import Output
    from svmselect.cli.prepare import TableOptions
    from svmselect.cli.score import ScoreOptions, run

    table = TableOptions.of(target, header, missing, ignore, use, rows, seed, categorical, ordered)
    options = ScoreOptions(
        criterion=criterion,
        C=C,
        kernel=kernel,
        parameters=tuple(parameter or ()),
        options=tuple(option or ()),
        loss=loss.value,
        intercept=intercept,
        standardize=standardize,
        gradient=gradient,
    )
    run(data, table, options, Output(quiet, as_json))
