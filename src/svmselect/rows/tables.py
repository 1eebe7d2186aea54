"""Rows of a table on disk, read and encoded a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.rows.base import Chunk, Told
from svmselect.rows.local import LocalRows
from svmselect.tables import Encoder, Source
from svmselect.tables.gather import labels_of


@dataclass(frozen=True, eq=False)
class TableRows:
    """The rows of a source, its inputs as the encoder says; rows without a label do not count."""

    source: Source
    encoder: Encoder
    target: str
    workers: int | None = None

    @property
    def title(self) -> str:
        """The name of the file."""
        return self.source.title

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return len(self.encoder.columns)

    def chunks(self) -> Iterator[Chunk]:
        """A chunk for each piece that is read."""
        before = 0
        for frame in self.source.frames():
            table = self.encoder.read(frame, self.source, before)
            X = self.encoder.encode(table, self.source.title)
            names, places = _labels(frame[self.target])
            yield Chunk(X, places, names, None, before)
            before += len(frame)

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        local = LocalRows(self.title, self.width, self.chunks, self.workers)
        return local.total(function, *arguments, told=told)


def _labels(column: Any) -> tuple[Any, Any]:
    """Sorted labels of a column as texts, and each row's place among them; -1 for none."""
    import pandas as pd

    places, values = pd.factorize(column, use_na_sentinel=True)
    found = labels_of(np.asarray(values, dtype=object))  # a few, where the cells are many
    known = np.array([one is not None for one in found], dtype=np.bool_)
    names, inverse = np.unique(found[known].astype(str), return_inverse=True)
    order = np.full(len(found) + 1, -1, dtype=np.int32)  # the last is for places of -1
    order[:-1][known] = inverse
    return names, order[places]
