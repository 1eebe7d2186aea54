"""A table on disk, whatever its format: its columns, and its rows piece by piece."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from svmselect.files.whole import naming
from svmselect.tables.packed import open_bytes

PIECE = 20_000
"""Rows that are read at a time, of tables of usual width."""
_CELLS = 2_000_000  # at a time, of wider ones


class Format(Protocol):
    """What knows how to read one kind of file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the file."""

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames of so many rows, one after another."""


@dataclass(frozen=True, eq=False)
class Source:
    """A file that has been looked at, not yet read.

    ``words`` describe the format; ``target`` is the column a format itself says is to be predicted;
    ``decimal`` the decimal mark of its texts; ``nominal`` the columns that are categories however
    they look; ``sparse`` whether a column that is not there is zero; ``parquet`` the files that a
    cluster can read by itself, with columns ``stored``.
    """

    path: Path
    title: str
    words: str
    names: tuple[str, ...]
    format: Format
    target: str | None = None
    decimal: str = "."
    nominal: frozenset[str] = frozenset()
    sparse: bool = False
    notes: tuple[str, ...] = ()
    parquet: tuple[Path, ...] = ()
    stored: tuple[str, ...] = ()

    def frames(self) -> Iterator[Any]:
        """Data frames of a bounded number of cells, one after another."""
        rows = max(1, min(PIECE, _CELLS // max(1, len(self.names))))
        yield from self.format.frames(rows)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file, by which it is known again; empty where there is none."""
        if not self.path.is_file():
            return ""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def column(self, wanted: str | None) -> str:
        """The column that is meant by a name or a position (from 1; -1 is the last)."""
        if wanted is None:
            if self.target is not None:
                return self.target
            raise ValueError(
                f"which column of {self.title} is to be predicted? Say --target NAME; "
                f"its columns are {listed(self.names)}"
            )
        if wanted in self.names:
            return wanted
        alike = [name for name in self.names if name.strip().lower() == wanted.strip().lower()]
        if len(alike) == 1:
            return alike[0]
        try:
            position = int(wanted)
        except ValueError:
            raise ValueError(
                f"{self.title} has no column {wanted!r}; its columns are {listed(self.names)}"
            ) from None
        count = len(self.names)
        if not (1 <= position <= count or -count <= position <= -1):
            raise ValueError(
                f"{self.title} has no column {position}; it has {count}, counted from 1, "
                "and -1 is the last"
            )
        return self.names[position - 1 if position > 0 else position]


def open_source(path: str | Path | Sequence[str | Path], header: bool | None = None) -> Source:
    """Look at a file, by its content rather than its name; "-" is standard input.

    A folder of Parquet files, a pattern and a list of names are one table of several files.
    ``header`` says whether the first line of a text table has the names, None to find out.
    """
    from svmselect.tables.several import several

    def open_one(file: Path) -> Source:
        if not file.exists():
            raise ValueError(f"there is no file {file}; check the name and the folder")
        return _open(file, file.name, header)

    wanted = [path] if isinstance(path, str | Path) else list(path)
    if [str(one) for one in wanted] == ["-"]:
        return _open(_spooled(), "standard input", header)
    return several(wanted, open_one)


def _open(path: Path, title: str, header: bool | None) -> Source:
    with open_bytes(path) as file:
        start = file.read(4096)
    if not start.strip():
        raise ValueError(f"{title} is empty; give a table with a header line and rows")
    if start.startswith(b"PAR1"):
        from svmselect.tables.parquet import parquet_source

        return parquet_source(path, title)
    if start.startswith(b"PK\x03\x04"):
        from svmselect.tables.excel import excel_source, is_excel

        if is_excel(path):
            return excel_source(path, title, header)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise ValueError(
            f"{title} is an archive, an old workbook or a model file; give a table, "
            "e.g. a sheet saved as CSV or .xlsx"
        )
    from svmselect.tables.arff import arff_source, is_arff
    from svmselect.tables.delimited import delimited_source
    from svmselect.tables.jsonlines import is_json_lines, json_source
    from svmselect.tables.svmlight import is_svmlight, svmlight_source
    from svmselect.tables.text import encoding_of, sample_lines

    encoding = encoding_of(path)
    lines = sample_lines(path, encoding, title)
    if is_arff(lines):
        return arff_source(path, title, encoding)
    if is_json_lines(lines):
        return json_source(path, title, encoding)
    if is_svmlight(lines):
        return svmlight_source(path, title)
    return delimited_source(path, title, encoding, lines, header)


def _spooled() -> Path:
    """Standard input as a file, since it is read twice; the system clears its temporary folder."""
    import atexit
    import shutil

    with tempfile.NamedTemporaryFile(prefix="svmselect-", delete=False) as file:
        path = Path(file.name)
        atexit.register(path.unlink, missing_ok=True)
        with naming(path):
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
    return path


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names for all columns, each once: an empty one is named by its position."""
    made: list[str] = []
    seen: set[str] = set()
    next_: dict[str, int] = {}  # what the next of the same name is tried with
    for position, name in enumerate(names, start=1):
        fresh = base = name.strip() or f"column {position}"
        while fresh in seen:
            again = next_.get(base, 2)
            fresh, next_[base] = f"{base} ({again})", again + 1
        seen.add(fresh)
        made.append(fresh)
    return tuple(made)


def renamed(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """A note on names that stand over several columns, if there are any."""
    fresh = [n for old, n in zip(given, names, strict=True) if old.strip() and old.strip() != n]
    if not fresh:
        return ()
    known = Counter(name.strip() for name in given if name.strip())
    twice = [repr(name) for name, times in known.items() if times > 1]
    kind = "is the name" if len(twice) == 1 else "are names"
    others = ", ".join(map(repr, fresh[:4])) + (", ..." if len(fresh) > 4 else "")
    shown = ", ".join(twice[:4]) + (", ..." if len(twice) > 4 else "")
    return (f"{shown} {kind} of more than one column: the others are called {others}",)


def listed(names: Sequence[str], most: int = 8) -> str:
    """A few names for a sentence."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
