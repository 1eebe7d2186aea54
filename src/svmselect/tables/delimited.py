"""CSV, TSV and their kin, through pandas."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svmselect.tables.sniff import parse, sniff
from svmselect.tables.source import Source, renamed, unique_names
from svmselect.tables.text import open_text


@dataclass(frozen=True)
class Delimited:
    """A text table: all cells are read as text."""

    path: Path
    title: str
    encoding: str
    delimiter: str
    names: tuple[str, ...]
    skip: int

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames of texts."""
        with open_text(self.path, self.encoding, self.title) as file:
            yield from text_frames(
                file, self.title, self.names, self.delimiter, '"', self.skip, rows
            )


def delimited_source(
    path: Path, title: str, encoding: str, lines: Sequence[str], header: bool | None
) -> Source:
    """Look at the first lines of a text table."""
    try:
        dialect = sniff(lines, header)
    except csv.Error as error:
        raise ValueError(
            f"{title} cannot be read: {error}; look for a quotation mark that is never closed"
        ) from None
    if dialect.width < 2:
        raise ValueError(
            f"{title} has one column only; a table needs the target and at least one input, "
            "separated by commas, semicolons, tabs or bars"
        )
    notes: tuple[str, ...] = ()
    skip = 0
    if dialect.header:
        at = next(i for i, line in enumerate(lines) if line.strip())
        first = parse(lines[at : at + 1], dialect.delimiter)[0]
        skip = at + 1
        if dialect.unnamed:
            first = ["row name", *first]
        first = [*first, *[""] * (dialect.width - len(first))]
        names = unique_names(first)
        notes = renamed(first, names)
    else:
        names = tuple(f"column {i}" for i in range(1, dialect.width + 1))
        notes = (f"no header line: the columns are called {names[0]} to {names[-1]}",)
    reader = Delimited(path, title, encoding, dialect.delimiter, names, skip)
    words = f"text {dialect.words}"
    return Source(path, title, words, names, reader, decimal=dialect.decimal, notes=notes)


def text_frames(
    file: Any,
    title: str,
    names: Sequence[str],
    delimiter: str,
    quote: str,
    skip: int,
    rows: int,
    comment: str | None = None,
) -> Iterator[Any]:
    """Frames of texts from an open file; a row that is too long is an error that names its line."""
    import pandas as pd

    # one name more than there are columns: where it is filled, a row is too long
    spare = "\0spare"
    try:
        with pd.read_csv(
            file,
            sep=delimiter,
            header=None,
            names=[*names, spare],
            skiprows=skip,
            index_col=False,
            dtype=str,
            keep_default_na=False,
            na_values={spare: [""]},
            quotechar=quote,
            skipinitialspace=True,
            skip_blank_lines=True,
            comment=comment,
            chunksize=rows,
        ) as reader:
            while True:
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always", pd.errors.ParserWarning)
                    frame = next(reader, None)
                if frame is None:
                    return
                lost = any(issubclass(one.category, pd.errors.ParserWarning) for one in said)
                long = frame[spare].notna().to_numpy()
                if long.any() or lost:  # lost are cells beyond the spare one
                    first, last = int(frame.index[0]) + 1, int(frame.index[-1]) + 1
                    where = f"one of the rows {first} to {last}"
                    if long.any():
                        where = f"row {int(frame.index[long][0]) + 1}"
                    raise ValueError(
                        f"{where} of {title} has more cells than the {len(names)} columns; "
                        "put text that holds the separator in quotes"
                    )
                yield frame.drop(columns=spare)
    except pd.errors.EmptyDataError:
        return
    except pd.errors.ParserError as error:
        raise ValueError(f"{title} cannot be read: {_told(str(error))}") from None


def _told(message: str) -> str:
    """Pandas' complaint in our words."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found:
        columns, line, cells = (int(group) for group in found.groups())
        return (
            f"line {line} has {cells} cells, and there are {columns - 1} columns; put text that "
            "holds the separator in quotes"
        )
    if "EOF inside string" in message:
        return "a quotation mark is opened and never closed; look for a stray one"
    return message.removeprefix("Error tokenizing data. C error: ")
