"""What the catalogue knows of a data set."""

from __future__ import annotations

from dataclasses import dataclass

from svmselect.datasets.sources.base import Source


@dataclass(frozen=True)
class Entry:
    """One data set: its size, which every source must match, its papers and its sources.

    ``positives`` is the number of rows of class +1, None where it is left to chance. The sources
    are tried in their order; a folder of the user's comes first, since it may hold the original
    partitions, then what can be generated, then installed packages, then OpenML.
    """

    name: str
    n: int
    d: int
    positives: int | None
    about: str
    papers: tuple[str, ...]
    sources: tuple[Source, ...]
