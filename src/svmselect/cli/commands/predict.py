"""``svmselect predict``: labels and probabilities for the rows of a new table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svmselect.cli import options as of


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit has written.")],
    data: of.Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The CSV file to write. [default: standard output]"),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="A column of DATA to copy to the output; may be repeated."),
    ] = None,
    missing: Annotated[
        of.Missing | None,
        typer.Option("--missing", help="Missing values. [default: as the model was fitted]"),
    ] = None,
    header: of.Header = None,
    escape: Annotated[
        bool,
        typer.Option(
            "--escape-formulas",
            help="Put ' before texts that a spreadsheet would take for formulas.",
        ),
    ] = False,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="PART",
            help="Also give sets of classes that hold the true one so often, e.g. 0.9.",
        ),
    ] = None,
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> None:
    """Predict the rows of a table, however many: labels and probabilities, as CSV."""
    from svmselect.cli.console import Output
    from svmselect.cli.predict import run

    told = Output(quiet, as_json)
    run(model, data, output, tuple(keep or ()), missing, header, told, escape, coverage)
