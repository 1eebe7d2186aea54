"""What each column is good for: an input, or nothing, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from svmselect.tables.table import Column, Table, missing_in
from svmselect.types import Array

_ID_NAME = re.compile(r"(?i)(.*[ _.-])?(id|ids|uuid|guid|key|index|nr|no|rownames?|row)|.*[a-z]ID")
_FEW = 20  # rows, below which nothing is called an identifier
_CATEGORIES = 50
_MOST_CATEGORIES = 300


@dataclass(frozen=True)
class Left:
    """A column that is not used, and the reason."""

    name: str
    reason: str


def unused(
    table: Table, target: str | None, ignore: Collection[str] = (), use: Collection[str] = ()
) -> list[Left]:
    """Columns to leave out: those to ignore, and what has one value or names rows, unless used."""
    found = []
    for name, column in table.columns.items():
        if name == target:
            continue
        if name in ignore:
            found.append(Left(name, "as asked"))
            continue
        reason = _reason(name, column)
        if reason is not None and (name not in use or reason == "it is empty"):
            found.append(Left(name, reason))
    return found


def _reason(name: str, column: Column) -> str | None:
    if column.dtype == object:
        known = np.array([cell for cell in column if cell is not None], dtype=object)
        distinct = len(set(known))
    else:
        known = column[~np.isnan(column)]
        distinct = len(np.unique(known))
    if not len(known):
        return "it is empty"
    if distinct == 1:
        return f"it has one value only, {known[0] if column.dtype == object else f'{known[0]:g}'}"
    n = len(known)
    if n < _FEW:
        return None
    if column.dtype == object:
        return _text_reason(distinct, n)
    return _number_reason(name, known, distinct, n)


def _text_reason(distinct: int, n: int) -> str | None:
    if distinct > 0.9 * n:
        return f"it names the rows: {distinct} different texts in {n} rows"
    if distinct > min(max(_CATEGORIES, 0.05 * n), _MOST_CATEGORIES):
        return f"it has {distinct} different texts, too many for categories"
    return None


def _number_reason(name: str, known: Array, distinct: int, n: int) -> str | None:
    if distinct < n or not np.array_equal(known, np.round(known)):
        return None
    steps = np.diff(known)
    if np.all(steps == 1.0):
        return "it counts the rows"
    unnamed = name.startswith("column ") or name.lower().startswith("unnamed")
    if _ID_NAME.fullmatch(name) or (unnamed and np.all(steps > 0)):
        return "it names the rows: every number occurs once"
    return None


def check_complete(table: Table, title: str) -> None:
    """Refuse missing values, by the name of the columns."""
    gaps = {name: missing_in(column) for name, column in table.columns.items()}
    worst = [(name, gap) for name, gap in gaps.items() if gap.any()]
    if not worst:
        return
    name, gap = worst[0]
    rest = ""
    if len(worst) > 1:
        others = ", ".join(repr(other) for other, _ in worst[1:4])
        rest = f" (and {others}{', ...' if len(worst) > 4 else ''})"
    count = int(gap.sum())
    raise ValueError(
        f"column {name!r}{rest} of {title} has {count} missing value{'s' * (count > 1)}, the first "
        f"in row {table.rows[int(np.argmax(gap))]}; fill them in, or say --missing impute"
    )
