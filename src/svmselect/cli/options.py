"""Options that several commands share."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}

# headings of the help page
DATA = "The data"
MODEL = "The choice"
RUN = "The run"
OUTPUT = "The output"


class Ard(StrEnum):
    """One length scale per input?"""

    auto = "auto"
    yes = "yes"
    no = "no"


class Rare(StrEnum):
    """What is done about classes of very few rows."""

    keep = "keep"
    drop = "drop"
    merge = "merge"


class Missing(StrEnum):
    """What is done about missing values."""

    auto = "auto"
    impute = "impute"
    refuse = "refuse"

    @property
    def learned(self) -> str:
        """What the estimators call it."""
        return "error" if self is Missing.refuse else str(self.value)


class Loss(StrEnum):
    """Which machine: support vector machines, or kernel logistic regression."""

    hinge = "hinge"
    squared_hinge = "squared_hinge"
    logistic = "logistic"


class FitLoss(StrEnum):
    """The same, or "auto": several are compared and averaged."""

    auto = "auto"
    hinge = "hinge"
    squared_hinge = "squared_hinge"
    logistic = "logistic"


def seconds(text: str) -> float:
    """A time such as 60, 60s, 1.5m or 2h."""
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", text.lower())
    if found is None or found.group(2) not in _UNITS or float(found.group(1)) == 0.0:
        raise typer.BadParameter(f"{text!r} is no time; say for instance 60s, 5m or 1h")
    return float(found.group(1)) * _UNITS[found.group(2)]


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet, Excel, JSON-lines, SVMlight or ARFF file; - for standard input.",
    ),
]
Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet, Excel, JSON-lines, SVMlight or ARFF file; several of them, a "
        "quoted pattern or a folder of Parquet files, which are one table; - for standard input.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="NAME",
        help="The column to predict, by name or position (from 1; -1: the last).",
        rich_help_panel=DATA,
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        "--test", metavar="FILE", help="Rows to test on, never trained on.", rich_help_panel=DATA
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line has the names; else found out.",
        rich_help_panel=DATA,
    ),
]
MissingValues = Annotated[
    Missing,
    typer.Option(
        "--missing",
        metavar="WAY",
        help="Gaps: auto (told by a column or a level), impute (median, most frequent) or refuse.",
        rich_help_panel=DATA,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "--ignore",
        metavar="NAME",
        help="A column to leave out; repeatable.",
        rich_help_panel=DATA,
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        "--use",
        metavar="NAME",
        help="A column to use though it looks like an identifier.",
        rich_help_panel=DATA,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="NAME",
        help="A column of categories though it looks like numbers or dates; repeatable.",
        rich_help_panel=DATA,
    ),
]
Ordered = Annotated[
    list[str] | None,
    typer.Option(
        "--ordered",
        metavar="NAME=A,B,C",
        help="A column of categories that have an order, and the order; repeatable.",
        rich_help_panel=DATA,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="NAME",
        help="A column that names groups of rows, as patients: they are held out together.",
        rich_help_panel=DATA,
    ),
]
ClassWeight = Annotated[
    list[str] | None,
    typer.Option(
        "--class-weight",
        metavar="WEIGHT",
        help="balanced, or what a class counts, as LABEL=3; repeatable.",
        rich_help_panel=MODEL,
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        "--scoring",
        metavar="NAME",
        help="A scorer of scikit-learn that decides among the best settings, e.g. f1.",
        rich_help_panel=MODEL,
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        "--rows",
        min=10,
        metavar="N",
        help="Use a random sample of so many rows.",
        rich_help_panel=DATA,
    ),
]
Criterion = Annotated[
    str,
    typer.Option(
        "--criterion",
        "-c",
        metavar="NAME",
        help="See: svmselect list criteria.",
        rich_help_panel=MODEL,
    ),
]
Search = Annotated[
    str,
    typer.Option(
        "--search", metavar="NAME", help="See: svmselect list searches.", rich_help_panel=MODEL
    ),
]
Kernel = Annotated[
    list[str] | None,
    typer.Option(
        "--kernel",
        "-k",
        metavar="NAME",
        help="See: svmselect list kernels; of several the best is taken.",
        rich_help_panel=MODEL,
    ),
]
LengthScales = Annotated[
    Ard,
    typer.Option(
        "--ard",
        metavar="WAY",
        help="A length scale for each input: auto (if it pays), yes or no.",
        rich_help_panel=MODEL,
    ),
]
Losses = Annotated[
    Loss,
    typer.Option(
        "--loss",
        metavar="NAME",
        help="hinge, squared_hinge, or logistic (kernel logistic regression).",
        rich_help_panel=MODEL,
    ),
]
FitLosses = Annotated[
    FitLoss,
    typer.Option(
        "--loss",
        metavar="NAME",
        help="auto (several, averaged), hinge, squared_hinge, or logistic (kernel logistic "
        "regression).",
        rich_help_panel=MODEL,
    ),
]
RareClasses = Annotated[
    Rare,
    typer.Option(
        "--rare",
        metavar="WAY",
        help="Classes of one or two rows: keep (chosen without where they must be), drop, or merge "
        "(make one of them).",
        rich_help_panel=MODEL,
    ),
]
Threshold = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="HOW",
        help="How predictions are decided: argmax (the most probable class), a metric to be best "
        "by, e.g. balanced_accuracy, or costs, true classes in rows: '[[0, 1], [5, 0]]'.",
        rich_help_panel=MODEL,
    ),
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        "--max-time",
        parser=seconds,
        metavar="TIME",
        help="Of a search, e.g. 60s, 5m or 1h; keeps the best so far.",
        rich_help_panel=RUN,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Worker processes; -1 for all cores.",
        rich_help_panel=RUN,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="A Dask scheduler, whose workers read and add up many rows of Parquet files.",
        rich_help_panel=RUN,
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, metavar="N", help="Of all that is random.", rich_help_panel=RUN),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="For what is written; else named after the data.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=OUTPUT),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object, for programs.", rich_help_panel=OUTPUT),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an error.", rich_help_panel=OUTPUT),
]
