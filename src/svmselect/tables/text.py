"""Bytes to text: byte-order marks, encodings, and the first lines."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from svmselect.tables.packed import open_bytes

SAMPLE = 2**16
"""Characters that are looked at to find out what a file is; more where lines are longer."""
_LINES = 3  # complete ones that are looked at in any case
_LONGEST = 2**26  # characters that these may have

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@contextmanager
def open_text(path: Path, encoding: str, title: str) -> Iterator[IO[str]]:
    """Open a file for reading as text, unpacked; line ends as they are, for csv readers."""
    with io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="") as file:
        try:
            yield file
        except UnicodeDecodeError:
            known = encoding.removesuffix("-sig").upper()
            raise ValueError(
                f"{title} has characters that are not {known} further down; save it as UTF-8"
            ) from None


def encoding_of(path: Path) -> str:
    """The encoding: by a byte-order mark, else UTF-8 where the beginning is, else Windows-1252."""
    with open_bytes(path) as file:
        start = file.read(16 * SAMPLE)
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def sample_lines(path: Path, encoding: str, title: str) -> list[str]:
    """The first complete lines of a file, a few at least however long they are."""
    with open_text(path, encoding, title) as file:
        start, ended = file.read(SAMPLE), False
        while not ended and start.count("\n") + start.count("\r") <= 2 * _LINES:
            more = file.read(len(start) or SAMPLE)
            ended = not more
            start += more
            if len(start) > _LONGEST and len(_split(start)) < 2:
                raise ValueError(
                    f"{title} has a first line of more than {_LONGEST:,} characters, which is no "
                    "line of a table; give a CSV, TSV, ARFF, SVMlight or Parquet file"
                )
            if len(start) > _LONGEST:
                break
        ended = ended or not file.read(1)
    if "\0" in start:
        raise ValueError(
            f"{title} is no text file; give a CSV, TSV, ARFF, SVMlight or Parquet file"
        )
    lines = _split(start)
    return lines if ended or len(lines) < 2 else lines[:-1]


def _split(text: str) -> list[str]:
    """Lines as the readers of tables know them, which end in nothing but \\n, \\r and both."""
    return [line.rstrip("\n") for line in io.StringIO(text, newline=None)]
