"""Dates in texts, as seconds since 1970 (UTC where a zone is given)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import numpy as np

from svmselect.tables.cells import MISSING_NUMBER
from svmselect.tables.table import Column
from svmselect.types import Array

_CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})" + _CLOCK)
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + _CLOCK)
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})" + _CLOCK)
_START = datetime(1970, 1, 1, tzinfo=UTC)
_ORDERS = {_ISO: (0, 1, 2), _DOTTED: (2, 1, 0)}
_DAY_FIRST, _MONTH_FIRST = (2, 1, 0), (2, 0, 1)


def are_dates(column: Column) -> bool:
    """Whether every text that is there is a date; 3/4/2025 is one where others tell the month."""
    known = [cell for cell in column if cell is not None]
    return bool(known) and _order(known) is not None and not as_dates(column)[1].any()


def as_dates(column: Column) -> tuple[Array, np.ndarray]:
    """Seconds, NaN where there are none; and which texts are neither dates nor missing."""
    found = np.full(len(column), np.nan)
    strange = np.zeros(len(column), dtype=np.bool_)
    form = _order([cell for cell in column if cell is not None])
    for i, cell in enumerate(column):
        if cell is None or cell.lower() in MISSING_NUMBER:
            continue
        value = None if form is None else _seconds(cell, *form)
        if value is None:
            strange[i] = True
        else:
            found[i] = value
    return found, strange


def written(seconds: float) -> str:
    """Seconds since 1970 as a date, with the time of day if there is one."""
    moment = _START + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%d}" if seconds % 86400 == 0 else f"{moment:%Y-%m-%d %H:%M:%S}"


def _order(cells: list[str]) -> tuple[re.Pattern[str], tuple[int, int, int]] | None:
    """The form of the first date, and where its year, month and day stand."""
    for cell in cells:
        for form, order in _ORDERS.items():
            if form.fullmatch(cell):
                return form, order
        if _SLASHED.fullmatch(cell):
            return _slashed(cells)
        if cell.lower() not in MISSING_NUMBER:
            return None
    return None


def _slashed(cells: list[str]) -> tuple[re.Pattern[str], tuple[int, int, int]] | None:
    """Day or month first: whichever some date does not leave open; nothing if all do."""
    parts = [found.groups() for cell in cells if (found := _SLASHED.fullmatch(cell))]
    if any(int(first) > 12 for first, *_ in parts):
        return _SLASHED, _DAY_FIRST
    if any(int(second) > 12 for _, second, *_ in parts):
        return _SLASHED, _MONTH_FIRST
    return None


def _seconds(cell: str, form: re.Pattern[str], order: tuple[int, int, int]) -> float | None:
    found = form.fullmatch(cell)
    if found is None:
        return None
    groups = found.groups()
    year, month, day = (int(groups[i]) for i in order)
    hour, minute, second = (int(part or 0) for part in groups[3:6])
    fraction, zone = groups[6], groups[7]
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    elapsed = (moment - _START) / timedelta(seconds=1)
    if fraction:
        elapsed += float(f"0.{fraction}")
    if zone and zone != "Z":
        digits = zone.replace(":", "")
        shift = 3600 * int(digits[1:3]) + 60 * int(digits[3:5])
        elapsed -= shift if digits[0] == "+" else -shift
    return float(elapsed)
