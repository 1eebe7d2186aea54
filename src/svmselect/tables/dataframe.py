"""Data frames in memory, of pandas, polars and whatever narwhals knows, as typed columns."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from svmselect.tables.cells import texts
from svmselect.tables.dates import are_dates, as_dates
from svmselect.tables.table import CATEGORY, DATE, NUMBER, Column, Role, Table

_START = datetime(1970, 1, 1, tzinfo=UTC)


def as_frame(X: Any) -> Any:
    """A data frame as narwhals knows it, None for anything else."""
    if isinstance(X, np.ndarray) or not hasattr(type(X), "columns"):
        return None
    import narwhals as nw

    try:
        found = nw.from_native(X, pass_through=True)
    except ValueError:  # of names that occur twice, which we say in our words
        _check_names(X.columns, "X")
        raise
    if isinstance(found, nw.LazyFrame):
        raise TypeError("X is a lazy frame, which has no rows yet; give X.collect()")
    return found if isinstance(found, nw.DataFrame) else None


def table_of(X: Any, title: str = "X") -> Table:
    """The columns of a data frame, typed; refuses what no column of a table can be."""
    frame = as_frame(X)
    names = _check_names(frame.columns, title)
    columns: dict[str, Column] = {}
    roles: dict[str, Role] = {}
    for position, name in enumerate(names):
        columns[name], role = _typed(frame[:, position], name, title)
        if role.kind in ("date", "ordered"):
            roles[name] = role
    rows = np.arange(len(frame))
    return Table(columns, rows, len(frame), roles)


def _check_names(given: Iterable[Any], title: str) -> list[str]:
    """The names of columns as texts; refuses one that occurs twice."""
    names = [str(name) for name in given]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(
            f"{title} has two columns {twice[0]!r}; a model finds columns by name, so give each "
            "a name of its own"
        )
    return names


def _typed(series: Any, name: str, title: str) -> tuple[Column, Role]:
    import narwhals as nw

    kind = series.dtype
    if kind.is_numeric():
        return _numbers(series), NUMBER
    if kind == nw.Boolean or kind == nw.Categorical or kind == nw.String:
        return _worded(texts(series.to_list()))
    if kind == nw.Enum:
        levels = tuple(texts(list(kind.categories)).tolist())
        return texts(series.to_list()), Role("ordered", levels)
    if kind.is_nested():
        raise _nested(name, title, str(kind))
    native = series.to_native()
    if str(getattr(native, "dtype", "")).startswith("period"):  # of pandas: when they begin
        return _of_cells(native.dt.to_timestamp().tolist(), name, title)
    return _of_cells(series.to_list(), name, title)


def _numbers(series: Any) -> Column:
    native = series.to_native()
    if hasattr(native, "to_numpy") and not hasattr(native, "null_count"):  # of pandas and its kin
        return np.asarray(native.to_numpy(dtype=np.float64, na_value=np.nan))
    import narwhals as nw

    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _worded(cells: Column) -> tuple[Column, Role]:
    """Texts: dates if that is what all of them are, else categories, however they look."""
    return (as_dates(cells)[0], DATE) if are_dates(cells) else (cells, CATEGORY)


def _of_cells(cells: Sequence[Any], name: str, title: str) -> tuple[Column, Role]:
    """A column of any objects: by what they are, as texts where they are of several kinds."""
    known = [cell for cell in cells if not _is_missing(cell)]
    for cell in known:
        if isinstance(cell, list | tuple | dict | set | np.ndarray | complex) or _nameless(cell):
            raise _nested(name, title, f"a {type(cell).__name__}")
    missing = [_is_missing(cell) for cell in cells]
    if known and all(isinstance(cell, bool | np.bool_) for cell in known):
        return texts([None if gap else c for c, gap in zip(cells, missing, strict=True)]), CATEGORY
    for kinds, number, role in (
        ((numbers.Real, Decimal), _real, NUMBER),
        (date, _moment, DATE),
        (timedelta, timedelta.total_seconds, NUMBER),
        (time, _clock, NUMBER),
    ):
        if known and all(isinstance(cell, kinds) and not isinstance(cell, bool) for cell in known):
            made = [np.nan if gap else number(c) for c, gap in zip(cells, missing, strict=True)]
            return np.array(made, dtype=np.float64), role
    return _worded(texts([None if gap else c for c, gap in zip(cells, missing, strict=True)]))


def _nameless(cell: Any) -> bool:
    """Whether all that could be written of an object is where it is in memory."""
    kind: Any = type(cell)
    return bool(kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__)


def _is_missing(cell: Any) -> bool:
    """None, NaN, NaT and pandas' NA: what is not itself."""
    if cell is None:
        return True
    if isinstance(cell, list | tuple | dict | set | np.ndarray | str):
        return False
    same = cell == cell
    return not isinstance(same, bool | np.bool_) or not same


def _real(cell: Any) -> float:
    """A number; infinite, so that it is refused by name, where no float is as large."""
    try:
        return float(cell)
    except OverflowError:
        return np.inf if cell > 0 else -np.inf


def _moment(cell: date) -> float:
    """Seconds since 1970, UTC; a date without a zone as if it were UTC."""
    if not isinstance(cell, datetime):
        return float((cell - _START.date()).days * 86400)
    aware = cell if cell.tzinfo is not None else cell.replace(tzinfo=UTC)
    return (aware - _START).total_seconds()


def _clock(cell: time) -> float:
    return cell.hour * 3600.0 + cell.minute * 60.0 + cell.second + cell.microsecond * 1e-6


def _nested(name: str, title: str, what: str) -> TypeError:
    return TypeError(
        f"column {name!r} of {title} holds {what[:40]} in a cell, where a table has one number, "
        "word or date; make columns of it"
    )
