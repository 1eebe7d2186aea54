"""JSON lines: an object in every line, its keys the columns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from svmselect.tables.source import Source, unique_names
from svmselect.tables.text import open_text


@dataclass(frozen=True)
class JsonLines:
    """Objects; a key that one lacks is a missing value."""

    path: Path
    title: str
    encoding: str
    names: tuple[str, ...]
    keys: tuple[str, ...]

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames of whatever the values are."""
        import pandas as pd

        seen = 0
        lines = _objects(self.path, self.title, self.encoding)
        while part := list(islice(lines, rows)):
            columns = {
                name: [one.get(key) for _, one in part]
                for name, key in zip(self.names, self.keys, strict=True)
            }
            index = range(seen, seen + len(part))
            seen += len(part)
            yield pd.DataFrame(columns, index=index, dtype=object)


def is_json_lines(lines: Sequence[str]) -> bool:
    """Whether the first line that is not empty is an object."""
    first = next((line.strip() for line in lines if line.strip()), "")
    if not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def json_source(path: Path, title: str, encoding: str) -> Source:
    """Find all keys, which takes one pass; refuses values that are no single ones."""
    keys: dict[str, None] = {}
    for number, one in _objects(path, title, encoding):
        for key, value in one.items():
            if isinstance(value, list | dict):
                raise ValueError(
                    f"column {key!r} of {title} is nested in line {number}; a table has one value "
                    "in a cell, so flatten the column or leave it out"
                )
            keys.setdefault(key)
    if len(keys) < 2:
        raise ValueError(f"{title} has one column only; a table needs the target and an input")
    names = unique_names(list(keys))
    reader = JsonLines(path, title, encoding, names, tuple(keys))
    return Source(path, title, "JSON lines", names, reader)


def _objects(path: Path, title: str, encoding: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines that are not empty, numbered from 1."""
    with open_text(path, encoding, title) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"line {number} of {title} is no JSON: {error}") from None
            if not isinstance(found, dict):
                raise ValueError(
                    f'line {number} of {title} is no JSON object; write {{"name": value, ...}} '
                    "in every line"
                )
            yield number, found
