"""Workbooks of Excel (.xlsx), through openpyxl."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from errno import EINVAL
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from svmselect.files.unpacked import DAMAGE, limit, too_large
from svmselect.tables.source import Source, unique_names

_WORKBOOK = "xl/workbook.xml"
_CELL = 8  # bytes of a cell in memory, at least


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet, which are in memory."""

    names: tuple[str, ...]
    content: Any

    def frames(self, rows: int) -> Iterator[Any]:
        """Pieces of it."""
        for first in range(0, len(self.content), rows):
            yield self.content.iloc[first : first + rows]


def is_excel(path: Path) -> bool:
    """Whether an archive is a workbook."""
    try:
        with ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except DAMAGE:
        return False


def excel_source(path: Path, title: str, header: bool | None) -> Source:
    """Read the first sheet; its first row has the names unless ``header`` is False."""
    import pandas as pd

    _check_size(path, title)
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise ValueError(
            f"workbooks need the package openpyxl ({error}): pip install 'svmselect[excel]', or "
            "save the sheet as CSV"
        ) from None
    sheets, rows = _first_sheet(path, title)
    found = pd.DataFrame(rows, dtype=object).dropna(axis=1, how="all")
    if found.shape[1] < 2:
        raise ValueError(f"{title} has one column only; a table needs the target and an input")
    notes = []
    if len(sheets) > 1:
        notes.append(f"the first of {len(sheets)} sheets is read, {sheets[0]!r}")
    if header is False:
        names = tuple(f"column {i}" for i in range(1, found.shape[1] + 1))
        notes.append(f"no header line: the columns are called {names[0]} to {names[-1]}")
    else:
        names = unique_names(["" if pd.isna(n) else str(n) for n in found.iloc[0]])
        found = found.iloc[1:]
    content = found.set_axis(list(names), axis=1).reset_index(drop=True)
    words = f"Excel, sheet {sheets[0]!r}"
    return Source(path, title, words, names, Sheet(names, content), notes=tuple(notes))


def _first_sheet(path: Path, title: str) -> tuple[list[str], list[list[Any]]]:
    """The names of all sheets, and the rows of the first that are not empty, all of one width."""
    from openpyxl import load_workbook

    most = limit(path.stat().st_size)
    rows, width = list[list[Any]](), 0
    try:
        with closing(load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
            sheets = [str(one.title) for one in book.worksheets]
            book.worksheets[0].reset_dimensions()  # what the file says of them may be wrong
            for cells in book.worksheets[0].iter_rows():
                row = [_value(cell) for cell in cells]
                while row and row[-1] is None:
                    row.pop()
                if row:
                    rows.append(row)
                    width = max(width, len(row))
                if len(rows) * width * _CELL > most:  # one cell may stand very far out
                    break
    except MemoryError:
        raise
    except Exception as error:  # openpyxl expects sound files, and ends in anything on others
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise  # of the disk, not of what is on it
        raise ValueError(
            f"{title} is no complete workbook, or damaged: {' '.join(str(error).split())[:200]}; "
            "save the sheet as CSV"
        ) from None
    if len(rows) * width * _CELL > most:
        raise too_large(title, most)
    return sheets, [row + [None] * (width - len(row)) for row in rows]


def _value(cell: Any) -> Any:
    """What a cell holds, None for nothing and for errors such as #N/A."""
    value = cell.value
    if cell.data_type == "e" or (isinstance(value, str) and not value.strip()):
        return None
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


def _check_size(path: Path, title: str) -> None:
    """Refuse a workbook that unpacks to far more than it has."""
    most = limit(path.stat().st_size)
    with ZipFile(path) as archive:
        if sum(one.file_size for one in archive.infolist()) > most:
            raise too_large(title, most)
