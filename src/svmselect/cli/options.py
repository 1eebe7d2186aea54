"""Options that several commands share."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Ard(StrEnum):
    """One length scale per input?"""

    auto = "auto"
    yes = "yes"
    no = "no"


class Missing(StrEnum):
    """What is done about missing values."""

    refuse = "refuse"
    impute = "impute"


class Loss(StrEnum):
    """Which machine: support vector machines, or kernel logistic regression."""

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
        metavar="DATA", help="A CSV, TSV, Parquet, SVMlight or ARFF file; - for standard input."
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", help="The column to predict, by name or position (from 1; -1: the last)."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", help="Whether the first line has the names. [default: find out]"
    ),
]
MissingValues = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="Missing values: refuse them, or impute the median or the most frequent category.",
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option("--ignore", help="A column to leave out; may be repeated.")
]
Use = Annotated[
    list[str] | None,
    typer.Option("--use", help="A column to use though it looks like an identifier."),
]
Rows = Annotated[
    int | None, typer.Option("--rows", min=10, help="Use a random sample of so many rows.")
]
Criterion = Annotated[str, typer.Option("--criterion", "-c", help="See: svmselect list criteria.")]
Search = Annotated[str, typer.Option("--search", help="See: svmselect list searches.")]
Kernel = Annotated[
    list[str] | None,
    typer.Option("--kernel", "-k", help="See: svmselect list kernels; several are compared."),
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        "--max-time", parser=seconds, metavar="TIME", help="For the search, e.g. 60s, 5m or 1h."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", help="Worker processes; -1 for all cores.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of all that is random.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Folder = Annotated[
    Path | None, typer.Option("--output", "-o", help="The folder for what is written.")
]
