"""Rows of a table on disk, read and encoded a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svmselect.parallel import added, threads
from svmselect.rows.base import Chunk, Told
from svmselect.tables import Encoder, Source
from svmselect.tables.gather import labels_of
from svmselect.types import IntArray

Make = Callable[..., Any]
"""Makes a chunk of the number of its first row and of its parts: a frame; inputs and labels."""
Ask = tuple[Make, Callable[..., Any], tuple[Any, ...]]
"""How a chunk is made, a function of it, and the function's other arguments."""


@dataclass(frozen=True, eq=False)
class TableChunks:
    """Makes chunks of data frames of a source, inputs as the encoder says.

    Rows without a label do not count, nor do those of the sorted numbers ``left``, from 0. Labels
    are ``texts``, as the command line has them, or values as they are.
    """

    source: Source
    encoder: Encoder
    target: str
    left: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    texts: bool = True

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return len(self.encoder.columns)

    def __call__(self, first: int, frame: Any) -> Chunk:
        """A chunk of the rows from number ``first`` on."""
        table = self.encoder.read(frame, self.source, first)
        X = self.encoder.encode(table, self.source.title)
        names, places = labels_in(frame[self.target], self.texts)
        here = slice(*np.searchsorted(self.left, [first, first + len(frame)]))
        places[self.left[here] - first] = -1
        return Chunk(X, places, names, None, first)


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of a source: read one piece after another, encoded and added up by threads."""

    make: TableChunks
    workers: int | None = None

    @property
    def title(self) -> str:
        """The name of the file."""
        return self.make.source.title

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return self.make.width

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        with threads(self.workers) as pool:
            return added(pool, answer, self._tasks((self.make, function, arguments)), told)

    def _tasks(self, ask: Ask) -> Iterator[tuple[int, tuple[Any, ...]]]:
        first = 0
        for frame in self.make.source.frames():
            yield len(frame), (ask, first, frame)
            first += len(frame)


def answer(ask: Ask, first: int, *parts: Any) -> Any:
    """What a function says of the chunk that is made of some parts."""
    make, function, arguments = ask
    return function(make(first, *parts), *arguments)


def labels_in(column: Any, texts: bool) -> tuple[Any, Any]:
    """Sorted labels of a column, and each row's place among them; -1 for none."""
    import pandas as pd

    places, values = pd.factorize(column, use_na_sentinel=True)
    plain = np.asarray(values)
    if texts or plain.dtype.kind not in "iufb":
        found = labels_of(np.asarray(values, dtype=object))  # a few, where the cells are many
        known = np.array([one is not None for one in found], dtype=np.bool_)
        names, inverse = np.unique(found[known].astype(str), return_inverse=True)
    else:
        known = np.ones(len(plain), dtype=np.bool_)
        names, inverse = np.unique(plain, return_inverse=True)
    order = np.full(len(known) + 1, -1, dtype=np.int32)  # the last is for places of -1
    order[:-1][known] = inverse
    return names, order[places]
