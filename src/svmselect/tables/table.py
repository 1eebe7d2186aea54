"""Typed columns in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.types import IntArray

Column = NDArray[Any]


@dataclass(frozen=True)
class Role:
    """What a column is: "number", "category", "ordered" (``levels`` in their order) or "date"."""

    kind: str
    levels: tuple[str, ...] = ()


NUMBER, CATEGORY, DATE = Role("number"), Role("category"), Role("date")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name: float64 with NaN, or texts with None, where a value is missing.

    ``rows`` has the number of each row in the file, from 1; ``total`` how many there were.
    ``roles`` says what columns are that are not what they look like: dates are seconds since 1970,
    and words may have an order.
    """

    columns: Mapping[str, Column]
    rows: IntArray
    total: int
    roles: Mapping[str, Role] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def role(self, name: str) -> Role:
        """What a column is: as said, or as it looks."""
        looks = CATEGORY if self.columns[name].dtype == object else NUMBER
        return self.roles.get(name, looks)

    def __getitem__(self, kept: Any) -> Table:
        return self.take(kept)

    def take(self, kept: Any) -> Table:
        """Some of the rows."""
        columns = {name: column[kept] for name, column in self.columns.items()}
        return replace(self, columns=columns, rows=self.rows[kept])

    def without(self, names: Sequence[str]) -> Table:
        """Some of the columns."""
        gone = set(names)
        columns = {name: column for name, column in self.columns.items() if name not in gone}
        return replace(self, columns=columns)


def joined(tables: Sequence[Table]) -> Table:
    """The rows of tables of the same columns, one after another."""
    names = list(tables[0].columns)
    columns = {name: np.concatenate([one.columns[name] for one in tables]) for name in names}
    rows = np.concatenate([one.rows for one in tables])
    return Table(columns, rows, tables[-1].total, tables[0].roles)


def missing_in(column: Column) -> np.ndarray:
    """Which cells are missing."""
    if column.dtype == object:
        return np.array([cell is None for cell in column], dtype=np.bool_)
    return np.isnan(column)


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
        f"in row {table.rows[int(np.argmax(gap))]}; "
        "fill them in, or let missing='auto' (--missing auto) use them"
    )
