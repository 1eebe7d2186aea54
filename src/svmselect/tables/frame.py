"""A data frame in memory, read like a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svmselect.tables.source import Source


@dataclass(frozen=True, eq=False)
class Frame:
    """The rows of a data frame, its columns called by texts."""

    names: tuple[str, ...]
    content: Any

    def frames(self, rows: int) -> Iterator[Any]:
        """Pieces of it."""
        for first in range(0, len(self.content), rows):
            yield self.content.iloc[first : first + rows]


def frame_source(frame: Any) -> Source:
    """A pandas data frame as a source of rows."""
    names = tuple(str(name) for name in frame.columns)
    content = frame.set_axis(list(names), axis=1)
    return Source(Path(), "the data frame", "data frame", names, Frame(names, content))
