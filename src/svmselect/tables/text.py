"""Bytes to text: compression, byte-order marks and encodings."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
from pathlib import Path
from typing import IO, Any, cast

SAMPLE = 2**16
"""Bytes that are looked at to find out what a file is."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def bare_suffix(path: Path) -> str:
    """The file's ending without that of a compression: .csv for data.csv.gz."""
    name = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return name.suffix.lower()


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked."""
    opener = _PACKED.get(path.suffix.lower(), open)
    return cast("IO[bytes]", opener(path, "rb"))


def open_text(path: Path, encoding: str) -> IO[str]:
    """Open a file for reading as text, unpacked; line ends as they are, for csv readers."""
    opener = _PACKED.get(path.suffix.lower(), open)
    return cast("IO[str]", opener(path, "rt", encoding=encoding, newline=""))


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


def sample_lines(path: Path, encoding: str) -> list[str]:
    """The first complete lines of a file; an overlong one is cut."""
    with open_text(path, encoding) as file:
        start = file.read(SAMPLE)
        ended = not file.read(1)
    if "\0" in start:
        raise ValueError(
            f"{path.name} is no text file; give a CSV, TSV, ARFF, SVMlight or Parquet file"
        )
    lines = start.splitlines()
    return lines if ended or len(lines) < 2 else lines[:-1]
