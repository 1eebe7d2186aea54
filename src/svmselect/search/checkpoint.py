"""The file a search writes as it goes, and resumes from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svmselect.files.lines import append_line
from svmselect.files.lock import Lock
from svmselect.files.whole import write_whole
from svmselect.search.trace import Record, read_lines, to_line


class Journal:
    """JSON lines: a header, then one line an evaluation, in the file as soon as it is known.

    An existing file is read back: ``known`` are its evaluations, by run and index. A last line
    without its end, torn by a kill, is cut off. A file about other data or settings is refused, and
    so is one that another process is writing.
    """

    def __init__(self, path: str | os.PathLike[str], header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.header = dict(header)
        self.names = tuple(header["names"])
        self.known: dict[str, dict[int, Record]] = {}
        self._lock = Lock(self.path, "give another file")
        begun = False
        if self.path.exists():
            found, records = read_lines(self.path)
            begun = found is not None
            if found is not None:
                _compare(found, header, self.path)
                self.header = found
            for record in records:
                self.known.setdefault(record.run, {})[record.index] = record
        if not begun:
            write_whole(self.path, json.dumps(self.header) + "\n")

    def append(self, record: Record) -> None:
        """Write one evaluation; it survives the end of this process from here on."""
        append_line(self.path, to_line(record, self.names))


def seed_of(path: str | os.PathLike[str] | None) -> int | None:
    """The seed a checkpoint was begun with, None if there is no such file yet."""
    if path is None or not Path(path).exists():
        return None
    header = read_lines(Path(path))[0]
    return None if header is None else int(header["seed"])


def _compare(found: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    remedy = "give another file, or delete this one to begin anew"
    if found["data"] != wanted["data"]:
        raise ValueError(
            f"the checkpoint {path} was written for other data (X, y or weights differ); {remedy}"
        )
    if found["seed"] != wanted["seed"]:
        raise ValueError(
            f"the checkpoint {path} was begun with random_state={found['seed']}, not "
            f"{wanted['seed']}; {remedy}, or leave random_state out to go on with that seed"
        )
    old, new = found["settings"], wanted["settings"]
    differing = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    if differing:
        shown = "; ".join(
            f"{k} was {_short(old.get(k))}, now {_short(new.get(k))}" for k in differing
        )
        raise ValueError(
            f"the checkpoint {path} was written with other settings: {shown}. "
            f"Give the same settings to go on; else {remedy}"
        )


def _short(setting: str | None, most: int = 60) -> str:
    """A setting for a sentence: folds, for one, may be thousands of numbers."""
    text = str(setting)
    return text if len(text) <= most else f"{text[:most]}..."
