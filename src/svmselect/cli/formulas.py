"""Cells that a spreadsheet would take for formulas, and so might run."""

from __future__ import annotations

import math

from svmselect.tables.cells import number

# what formulas begin with, also in the wide characters of East Asian keyboards
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def escaped(cell: str) -> str:
    """The cell with an apostrophe before it if it may be a formula; numbers stay numbers."""
    if not cell.lstrip(" ").startswith(_STARTS):
        return cell
    value = number(cell) if cell.isascii() and cell.strip() == cell else None
    return cell if value is not None and math.isfinite(value) else f"'{cell}"
