"""``svmselect demo``: the whole way on data that scikit-learn brings along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from svmselect.cli import options as of


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for what is written.")
    ] = Path("svmselect-demo"),
    quiet: of.Quiet = False,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> int:
    """Fit a classifier of breast tumours, in well under a minute, and draw its report page."""
    from svmselect.cli.console import Output
    from svmselect.cli.fit import FitOptions, run
    from svmselect.cli.prepare import TableOptions
    from svmselect.files.lock import Lock

    told = Output(quiet, as_json)
    output.mkdir(parents=True, exist_ok=True)
    table = output / "tumours.csv"
    with Lock(output, "give another folder by -o"):
        _write(table)
    told.say(f"$ svmselect fit {table} --target diagnosis --holdout 0.25 -o {output}")
    told.say("")
    of_table = TableOptions(target="diagnosis")
    options = FitOptions(data=(str(table),), table=of_table, folder=output, holdout=0.25)
    return run(options, told)


def _write(path: Path) -> None:
    """The Wisconsin breast-cancer data as a table of 30 measurements and a diagnosis."""
    from sklearn.datasets import load_breast_cancer

    from svmselect.files.whole import write_whole

    bunch = load_breast_cancer(as_frame=True)
    frame = bunch.frame.drop(columns="target")
    frame["diagnosis"] = bunch.target_names[bunch.target]
    write_whole(path, frame.to_csv(index=False, lineterminator="\n"))
