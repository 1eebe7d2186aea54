"""One table in several files: a folder of Parquet files, a pattern, or a list of names."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from svmselect.tables.source import Source, listed

_HIDDEN = ("_", ".")  # how the names of files begin that are no part of a table


@dataclass(frozen=True, eq=False)
class Several:
    """The rows of several sources with the same columns, one after another."""

    names: tuple[str, ...]
    parts: tuple[Source, ...]

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames of each, their columns in the order of the first."""
        seen = 0
        for part in self.parts:
            for frame in part.format.frames(rows):
                piece = frame[list(self.names)]
                piece.index = range(seen, seen + len(piece))
                seen += len(piece)
                yield piece


def files_of(wanted: str | Path) -> list[Path]:
    """The files meant by a name, a pattern, or a folder, whose Parquet files are one table."""
    path = Path(wanted)
    if path.is_dir():
        found = [
            one
            for one in sorted(path.rglob("*.parquet"))
            if not any(part.startswith(_HIDDEN) for part in one.relative_to(path).parts)
        ]
        if not found:
            raise ValueError(
                f"{path} is a folder without Parquet files; give a file in it, or a pattern such "
                f"as '{path}/*.csv'"
            )
        return found
    if path.exists() or not glob.has_magic(str(wanted)):
        return [path]
    matching = [Path(one) for one in sorted(glob.glob(str(wanted), recursive=True))]
    if not matching:
        raise ValueError(f"no file is like {str(wanted)!r}; check the pattern and the folder")
    return matching


def joined_source(sources: Sequence[Source], title: str) -> Source:
    """One source of all of them; refuses files whose columns differ."""
    first, *others = sources
    for other in others:
        if set(other.names) != set(first.names):
            strange = sorted(set(other.names) ^ set(first.names))
            raise ValueError(
                f"{other.title} has other columns than {first.title}: {listed(strange, 4)} "
                "only in one of them; files of one table have the same columns"
            )
        if (other.target, other.decimal, other.sparse) != (
            first.target, first.decimal, first.sparse
        ):  # fmt: skip
            raise ValueError(
                f"{other.title} is written in another way than {first.title}; files of one table "
                "have the same format"
            )
    words = first.words if not others else f"{len(sources)} files, {first.words}"
    nominal = frozenset().union(*(one.nominal for one in sources))
    notes = tuple(dict.fromkeys(note for one in sources for note in one.notes))
    return replace(
        first, title=title, words=words, format=Several(first.names, tuple(sources)),
        nominal=nominal, notes=notes, path=first.path.parent,
        parquet=tuple(file for one in sources for file in one.parquet),
    )  # fmt: skip


def several(wanted: Sequence[str | Path], open_one: Callable[[Path], Source]) -> Source:
    """One table of all files that these names, patterns and folders mean."""
    files = [file for one in wanted for file in files_of(one)]
    if not files:
        raise ValueError("no file is named; give at least one")
    sources = [open_one(file) for file in files]
    if len(sources) == 1:
        return sources[0]
    title = str(wanted[0]) if len(wanted) == 1 else f"{files[0].name} and {len(files) - 1} more"
    return joined_source(sources, title)
