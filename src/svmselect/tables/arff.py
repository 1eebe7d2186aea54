"""ARFF, the format of Weka and OpenML: a header that declares columns, then comma-separated rows.

SciPy's reader takes the whole file at once and no text; here the header is read and the rows go
through pandas, piece by piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from svmselect.tables.delimited import text_frames
from svmselect.tables.source import Source, renamed, unique_names
from svmselect.tables.text import open_text

# A backslash belongs to a pair, so that a name can be read in one way only: were it also a letter,
# time would grow exponentially with the backslashes. A name that ends in a single one, as 'C:\',
# has no end then, and is read again without pairs.
_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:\\.|[^'\\])*'|'[^']*'|"(?:\\.|[^"\\])*"|"[^"]*"|[^\s{]+)\s*(.*)""",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(^|[,\n])[ \t]*'")
_NUMBERS = ("numeric", "real", "integer")
_TARGETS = ("class", "target", "label")


@dataclass(frozen=True)
class Arff:
    """The rows after @data."""

    path: Path
    title: str
    encoding: str
    names: tuple[str, ...]

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames of texts."""
        with open_text(self.path, self.encoding, self.title) as file:
            _header(file)
            place = file.tell()
            start = file.read(2**16)
            if start.lstrip().startswith("{"):
                raise ValueError(f"{self.title} has sparse ARFF rows; save them as SVMlight or CSV")
            file.seek(place)
            quote = "'" if _QUOTED.search(start) else '"'
            yield from text_frames(file, self.title, self.names, ",", quote, 0, rows, "%")


def is_arff(lines: Sequence[str]) -> bool:
    """Whether the first line that is no comment begins with @."""
    for line in lines:
        text = line.strip()
        if text and not text.startswith("%"):
            return text.lower().startswith(("@relation", "@attribute"))
    return False


def arff_source(path: Path, title: str, encoding: str) -> Source:
    """Read the header; the target is the column called class, target or label, else the last."""
    with open_text(path, encoding, title) as file:
        declared, complete = _header(file)
    if not declared or not complete:
        raise ValueError(
            f"{title} is no complete ARFF file: it has no "
            f"{'@data line' if declared else '@attribute lines'}; save it again"
        )
    given = [name for name, _ in declared]
    names = unique_names(given)
    if len(names) < 2:
        raise ValueError(f"{title} has one column only; a table needs the target and an input")
    kinds = [kind.split()[0].lower() if kind else "" for _, kind in declared]
    nominal = [name for name, kind in zip(names, kinds, strict=True) if kind not in _NUMBERS]
    named = [name for name in names if name.lower() in _TARGETS]
    return Source(
        path, title, "ARFF", names, Arff(path, title, encoding, names),
        target=named[-1] if named else names[-1], nominal=frozenset(nominal),
        notes=renamed(given, names),
    )  # fmt: skip


def _header(file: IO[str]) -> tuple[list[tuple[str, str]], bool]:
    """Names and types up to the line @data, and whether it came; the file stands after it."""
    declared: list[tuple[str, str]] = []
    while line := file.readline():
        text = line.strip()
        if text.lower().startswith("@data"):
            return declared, True
        found = _ATTRIBUTE.match(text)
        if found:
            name, kind = found.groups()
            if name[0] in "'\"":
                name = re.sub(r"\\(.)", r"\1", name[1:-1])
            declared.append((name, kind.strip()))
    return declared, False
