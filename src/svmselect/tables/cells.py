"""Single cells and columns of them: which are missing, which are numbers, which are text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.types import Array

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "?"})
"""Lower-case markers of a missing value, in any column."""
MISSING_NUMBER = MISSING | {"none", "-", "--", ".", "missing"}
"""The same in a column whose other values are numbers."""

_THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?")
_WHOLE = re.compile(r"\+?(-?\d+)(\.0*)?")


def is_missing(cell: str) -> bool:
    """Whether a cell stands for nothing."""
    return cell.strip().lower() in MISSING


def number(cell: str, decimal: str = ".") -> float | None:
    """The number in a cell, None if there is none."""
    text = cell.strip()
    if "_" in text:  # Python reads 1_000, tables do not mean it
        return None
    try:
        return float(plain_number(text, decimal))
    except ValueError:
        return None


def plain_number(text: str, decimal: str) -> str:
    """1.234,5 as 1234.5 where commas are decimal marks."""
    if decimal == ".":
        return text
    if _THOUSANDS.fullmatch(text):
        text = text.replace(".", "")
    return text.replace(",", ".")


def texts(values: Any) -> NDArray[np.object_]:
    """Cells as stripped strings, None where they are missing; numbers as people write them."""
    made = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        made[i] = _text(value)
    return made


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return None
        plain = float(value)
        return str(int(plain)) if plain.is_integer() and abs(plain) < 1e15 else repr(plain)
    text = _plain(value).strip()
    return None if text.lower() in MISSING or text in ("<NA>", "NaT") else text


def _plain(value: Any) -> str:
    """A cell as it is written; a time after the year 9999 as NumPy writes it."""
    try:
        return str(value)
    except NotImplementedError:  # of pandas, which can hold such a time
        return str(value.to_datetime64())


def label(text: str) -> str:
    """A class label: +1, 1.0 and 1 are the same, all else is left as it is."""
    whole = _WHOLE.fullmatch(text)
    return whole.group(1) if whole else text


def as_numbers(values: NDArray[np.object_], decimal: str) -> tuple[Array, NDArray[np.bool_]]:
    """Numbers, NaN where there is none, and which cells are neither numbers nor missing."""
    import pandas as pd

    known = np.array([value is not None for value in values], dtype=np.bool_)
    cells = values[known]
    if decimal == ",":
        cells = np.array([plain_number(cell, decimal) for cell in cells], dtype=object)
    found = np.full(len(values), np.nan)
    found[known] = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce")
    strange = np.zeros(len(values), dtype=np.bool_)
    for i in np.flatnonzero(known & np.isnan(found)):
        strange[i] = values[i].lower() not in MISSING_NUMBER
    return found, strange


def read_column(raw: Any, decimal: str, as_text: bool = False) -> NDArray[Any]:
    """A column of a data frame as numbers if all its known cells are, else as texts."""
    import pandas as pd

    named = str(raw.dtype)
    words = as_text or named in ("category", "bool", "boolean") or raw.dtype.kind == "M"
    if not words and raw.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):  # of a float32 that is no number in an odd way
            return np.asarray(raw.to_numpy(dtype=np.float64, na_value=np.nan))
    if words or pd.api.types.infer_dtype(raw, skipna=True) == "boolean":
        return texts(_values(raw))  # truth values, dates and declared categories are words
    if named in ("object", "str", "string") and decimal == ".":
        quick = _quick_numbers(raw)
        if quick is not None:
            return quick
    cells = texts(_values(raw))
    found, strange = as_numbers(cells, decimal)
    return cells if strange.any() or np.isnan(found).all() else found


def _values(raw: Any) -> list[Any]:
    """The cells; in UTC where one is after the year 9999, which Python tells in no other zone."""
    try:
        return list(raw.tolist())
    except NotImplementedError:
        return list(raw.dt.tz_convert("UTC").tolist())


def _quick_numbers(raw: Any) -> Array | None:
    """All cells as numbers in one go, if that is what they are."""
    import pandas as pd

    try:
        return np.asarray(pd.to_numeric(raw), dtype=np.float64)
    except (ValueError, TypeError, OverflowError):  # the last of a whole number of 309 digits
        return None
