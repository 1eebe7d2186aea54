"""What each column is good for: an input, or nothing, and why."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from svmselect.tables.cells import number, texts
from svmselect.tables.dates import written
from svmselect.tables.source import Source
from svmselect.tables.table import DATE, Column, Role, Table
from svmselect.types import Array

_ID_NAME = re.compile(r"(?i)(.*[ _.-])?(id|ids|uuid|guid|key|index|nr|no|rownames?|row)|.*[a-z]ID")
_FEW = 20  # rows, below which nothing is called an identifier


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


def with_roles(
    table: Table, source: Source, categorical: Collection[str], ordered: Collection[str]
) -> Table:
    """What the user says of columns: names of categories, and NAME=A,B,C of those in an order."""
    columns, roles = dict(table.columns), dict(table.roles)
    for given in categorical:
        name = source.column(given)
        if name in roles or columns[name].dtype != object:
            columns[name] = as_words(columns[name], roles.pop(name, None))
    for given in ordered:
        said, _, order = given.partition("=")
        name = source.column(said)
        if roles.get(name) == DATE:
            raise ValueError(f"--ordered {given}: dates have an order already")
        columns[name] = as_words(columns[name], None)
        roles[name] = Role("ordered", _order(given, order, columns[name]))
    return replace(table, columns=columns, roles=roles)


def as_words(column: Column, role: Role | None) -> Column:
    """A column as texts; dates as people write them."""
    if role != DATE:
        return column if column.dtype == object else texts(column)
    return texts([None if np.isnan(cell) else written(cell) for cell in column])


def _order(given: str, order: str, column: Column) -> tuple[str, ...]:
    """The levels in the order that was said, or by size where all of them are numbers."""
    there = {cell for cell in column if cell is not None}
    if not order:
        sizes = {cell: number(cell) for cell in there}
        if any(size is None for size in sizes.values()):
            raise ValueError(f"--ordered {given}: say the order too, as --ordered {given}=low,high")
        return tuple(sorted(there, key=lambda cell: sizes[cell] or 0.0))
    levels = tuple(level.strip() for level in order.split(","))
    lacking = sorted(there - set(levels))
    if lacking or len(set(levels)) < len(levels):
        raise ValueError(
            f"--ordered {given}: "
            + (f"{lacking[0]!r} occurs and is not named" if lacking else "a level is named twice")
            + "; name every level once, from the least to the most"
        )
    return levels


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
