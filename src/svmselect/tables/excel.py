"""Workbooks of Excel (.xlsx), through pandas and openpyxl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from svmselect.files.unpacked import limit, too_large
from svmselect.tables.source import Source, unique_names

_WORKBOOK = "xl/workbook.xml"


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
    except (BadZipFile, OSError):
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
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            found = pd.read_excel(book, sheet_name=0, header=None, dtype=object)
    except (ValueError, TypeError, KeyError, IndexError, BadZipFile, OSError, SyntaxError) as error:
        raise ValueError(
            f"{title} is no complete workbook, or damaged: {' '.join(str(error).split())[:200]}; "
            "save the sheet as CSV"
        ) from None
    found = found.dropna(how="all").dropna(axis=1, how="all")
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


def _check_size(path: Path, title: str) -> None:
    """Refuse a workbook that unpacks to far more than it has."""
    most = limit(path.stat().st_size)
    with ZipFile(path) as archive:
        if sum(one.file_size for one in archive.infolist()) > most:
            raise too_large(title, most)
