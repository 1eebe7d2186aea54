"""The rows of a table in memory: all of them, or a random sample of bounded size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from svmselect.tables.cells import as_numbers, label, read_column, texts
from svmselect.tables.dates import are_dates, as_dates
from svmselect.tables.source import Source
from svmselect.tables.table import DATE, Column, Table
from svmselect.types import Array

ROWS = 200_000
"""The most rows that are kept."""
CELLS = 2**26
"""The most cells that are kept: half a gigabyte of numbers."""

_MEASURED = 20  # distinct numbers, beyond which a column is no set of codes
_STRAY = 0.1  # the largest part of such a column that is a slip of the pen


def gather(
    source: Source, target: str | None = None, limit: int | None = None, seed: int = 0
) -> Table:
    """Read a table, keeping at most ``limit`` rows, every one with the same chance.

    The target and the columns that the format calls categories stay texts, unless these are dates.
    """
    most = min(limit or ROWS, max(1, CELLS // max(1, len(source.names))))
    rng = np.random.default_rng(seed)
    kept: list[tuple[Table, Array]] = []
    held = total = 0
    nominal = source.nominal | ({target} if target is not None else set())
    for frame in source.frames():
        columns = {
            name: read_column(frame[name], source.decimal, name in nominal) for name in source.names
        }
        numbers = np.arange(total + 1, total + len(frame) + 1)
        total += len(frame)
        kept.append((Table(columns, numbers, total), rng.random(len(frame))))
        held += len(frame)
        if held > 2 * most:
            kept = [_thinned(*_merged(kept), most)]
            held = most
    if not total:
        raise ValueError(f"{source.title} has a header and no rows; give at least some rows")
    table, keys = _merged(kept)
    table, _ = _thinned(table, keys, most)
    typed = {name: _typed(name, table, source) for name in source.names if name not in nominal}
    for name in nominal:
        typed[name] = table.columns[name]
    dates = [n for n, c in typed.items() if n != target and c.dtype == object and are_dates(c)]
    typed |= {name: as_dates(typed[name])[0] for name in dates}
    roles = dict.fromkeys(dates, DATE)
    return Table({name: typed[name] for name in source.names}, table.rows, total, roles)


def labels_of(column: Column) -> NDArray[np.object_]:
    """Class labels: texts, 1.0 as 1; None where missing."""
    found = texts(column)
    return np.array([None if cell is None else label(cell) for cell in found], dtype=object)


def _merged(parts: Sequence[tuple[Table, Array]]) -> tuple[Table, Array]:
    if len(parts) == 1:
        return parts[0]
    names = list(parts[0][0].columns)
    columns = {name: _joined([table.columns[name] for table, _ in parts]) for name in names}
    rows = np.concatenate([table.rows for table, _ in parts])
    return Table(columns, rows, parts[-1][0].total), np.concatenate([keys for _, keys in parts])


def _joined(parts: Sequence[Column]) -> Column:
    if all(part.dtype == np.float64 for part in parts):
        return np.concatenate(parts)
    return np.concatenate([part if part.dtype == object else texts(part) for part in parts])


def _thinned(table: Table, keys: Array, most: int) -> tuple[Table, Array]:
    """The rows with the least keys, in the order of the file."""
    if len(table) <= most:
        return table, keys
    chosen = np.sort(np.argpartition(keys, most - 1)[:most])
    return table.take(chosen), keys[chosen]


def _typed(name: str, table: Table, source: Source) -> Column:
    """Numbers if all known cells are numbers; refuses a number column with a slip in it."""
    column = table.columns[name]
    if column.dtype != object:
        return column
    found, strange = as_numbers(column, source.decimal)
    numbers = found[~np.isnan(found)]
    if not len(numbers):
        return column
    if not strange.any():
        return found
    slips = int(strange.sum()) <= _STRAY * len(numbers)
    if slips and len(np.unique(numbers)) > _MEASURED:
        first = int(np.argmax(strange))
        raise ValueError(
            f"column {name!r} of {source.title} has numbers but for {int(strange.sum())} cells, "
            f"the first in row {table.rows[first]}: {column[first]!r}; correct it, leave it empty, "
            f"or leave the column out by --ignore {name!r}"
        )
    return column
