"""What a text table looks like: delimiter, decimal mark, and whether its first line has names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from svmselect.tables.cells import is_missing

# A comma last: where another one fits, commas are decimal marks or belong to the text.
_DELIMITERS = ("\t", ";", "|", ",")
_BLANKS = r"\s+"
_COMMA_NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+([eE][+-]?\d+)?")
_DOT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_ROWS = 200


@dataclass(frozen=True)
class Dialect:
    """How to read a text table; ``delimiter`` is a pattern where it is blanks.

    ``unnamed`` says that rows begin with a cell that the header has no name for, as R writes them.
    """

    delimiter: str
    decimal: str
    header: bool
    width: int
    unnamed: bool = False

    @property
    def words(self) -> str:
        """For a sentence: "separated by semicolons, decimal commas"."""
        marks = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", _BLANKS: "blanks"}
        text = f"separated by {marks[self.delimiter]}"
        return f"{text}, decimal commas" if self.decimal == "," else text


def sniff(lines: Sequence[str], header: bool | None = None) -> Dialect:
    """Find out by looking at the first lines; ``header`` overrules what is found."""
    kept = [line for line in lines if line.strip()][: _ROWS + 1]
    delimiter, rows = _split(kept)
    decimal = _decimal(rows) if delimiter != "," else "."
    width = Counter(len(row) for row in rows).most_common(1)[0][0] if rows else 0
    unnamed = len(rows) > 1 and len(rows[0]) == width - 1 and any(row[-1] for row in rows[1:])
    if unnamed and header is None:
        header = _has_names([["", *rows[0]], *rows[1:]], decimal)
    named = _has_names(rows, decimal) if header is None else header
    width = max(width, len(rows[0]) if named and rows else 0)
    return Dialect(delimiter, decimal, named, width, unnamed and named)


def parse(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Lines as rows of cells."""
    if delimiter == _BLANKS:
        return [re.split(_BLANKS, line.strip()) for line in lines]
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in reader if row]


def _split(lines: Sequence[str]) -> tuple[str, list[list[str]]]:
    """The first delimiter that cuts nearly all lines into as many cells, two or more."""
    for delimiter in (*_DELIMITERS, _BLANKS):
        try:
            rows = parse(lines, delimiter)
        except csv.Error:  # cells of no end: it is another one
            continue
        body = rows[1:] or rows
        if not body:
            break
        width, count = Counter(len(row) for row in body).most_common(1)[0]
        if width > 1 and count >= 0.9 * len(body) and len(rows[0]) > 1:
            return delimiter, rows
    # uneven: the one that cuts most, so that the reader can name the line that does not fit
    best = max(_DELIMITERS, key=lambda d: sum(line.count(d) for line in lines))
    return best, parse(lines, best)


def _decimal(rows: Sequence[Sequence[str]]) -> str:
    cells = [cell for row in rows[1:] or rows for cell in row]
    commas = sum(_COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    dots = sum(_DOT_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > dots else "."


def _has_names(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row names the columns.

    It does if some cell of it is text over a column of numbers, if it counts 0, 1, 2, ..., or if
    all its cells are different words that the columns below do not use.
    """
    if len(rows) < 2:
        return bool(rows) and not any(_numeric(cell, decimal) for cell in rows[0])
    first, rest = rows[0], rows[1:]
    if list(first) == [str(i) for i in range(len(first))]:
        return True
    columns = [[row[j] for row in rest if j < len(row)] for j in range(len(first))]
    for cell, column in zip(first, columns, strict=True):
        known = [value for value in column if not is_missing(value)]
        numbers = bool(known) and all(_numeric(value, decimal) for value in known)
        if numbers and not _numeric(cell, decimal) and not is_missing(cell):
            return True
    words = not any(_numeric(cell, decimal) or is_missing(cell) for cell in first[1:])
    fresh = all(cell not in column for cell, column in zip(first, columns, strict=True))
    return words and fresh and len(set(first)) == len(first) and not _numeric(first[0], decimal)


def _numeric(cell: str, decimal: str) -> bool:
    from svmselect.tables.cells import number

    return number(cell, decimal) is not None
