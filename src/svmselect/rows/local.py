"""Rows that this process reads: arrays, memory maps, iterators of chunks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.parallel import Pool, Serial, added
from svmselect.rows.base import Chunk, Told
from svmselect.types import Array

CHUNK = 2**16
"""Rows that are given to a thread at a time, where they lie in an array."""


@dataclass(frozen=True, eq=False)
class LocalRows:
    """What ``chunks()`` gives, every time it is called; ``pool`` does the work."""

    title: str
    chunks: Callable[[], Iterator[Chunk]]
    pool: Pool = field(default_factory=Serial)

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        tasks = ((len(chunk), (chunk, *arguments)) for chunk in self.chunks())
        return added(self.pool, function, tasks, told)


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Arrays of inputs and labels, in memory or mapped into it."""

    X: NDArray[Any]
    y: NDArray[Any]
    weights: Array | None = None
    pool: Pool = field(default_factory=Serial)
    title: str = "the array"
    size: int = CHUNK

    def part(self, count: int) -> ArrayRows:
        """The first so many."""
        w = None if self.weights is None else self.weights[:count]
        return replace(self, X=self.X[:count], y=self.y[:count], weights=w)

    def chunks(self) -> Iterator[Chunk]:
        """Views of so many rows, one after another."""
        for first in range(0, len(self.y), self.size):
            part = slice(first, first + self.size)
            w = None if self.weights is None else self.weights[part]
            yield Chunk.of(self.X[part], self.y[part], w, first)

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        return LocalRows(self.title, self.chunks, self.pool).total(
            function, *arguments, told=told
        )


@contextmanager
def spooled(pieces: Iterable[Any], pool: Pool) -> Iterator[LocalRows]:
    """Rows of an iterable of pairs (X, y), or (X, y, weights).

    What can be iterated again is; what cannot, such as a generator, is written to a temporary
    folder first, since a fit reads its rows several times.
    """
    if iter(pieces) is not pieces:
        yield LocalRows("the iterable", lambda: _chunks(pieces), pool)
        return
    with tempfile.TemporaryDirectory(prefix="svmselect-") as folder:
        count = 0
        for count, piece in enumerate(pieces, start=1):
            for name, part in zip("Xyw", piece, strict=False):
                np.save(Path(folder) / f"{name}{count}.npy", _plain(part))
        again = lambda: _chunks(_stored(Path(folder), count))  # noqa: E731
        yield LocalRows("the iterator", again, pool)


def _plain(part: Any) -> NDArray[Any]:
    """An array that can be saved without pickling."""
    made = np.asarray(part)
    return made.astype(str) if made.dtype == object else made


def _stored(folder: Path, count: int) -> Iterator[tuple[NDArray[Any], ...]]:
    for i in range(1, count + 1):
        there = [folder / f"{name}{i}.npy" for name in "Xyw"]
        yield tuple(np.load(path, mmap_mode="r") for path in there if path.exists())


def _chunks(pieces: Iterable[Any]) -> Iterator[Chunk]:
    """Chunks of a piece at a time, large pieces cut."""
    first, width = 0, None
    for i, piece in enumerate(pieces):
        try:
            X, y, *rest = piece
            shape = np.shape(X)
        except (TypeError, ValueError):
            shape, y, rest = (), (), []
        if len(shape) != 2 or shape[0] != len(y) or len(rest) > 1:
            raise ValueError(
                f"piece {i} of the iterator is no pair (X, y) of a matrix and as many labels; "
                "yield pairs, or triples with weights"
            )
        if width is not None and shape[1] != width:
            raise ValueError(f"piece {i} of the iterator has {shape[1]} columns, not {width}")
        width = shape[1]
        X, y = np.asarray(X), np.asarray(y)
        weights = None if not rest else np.asarray(rest[0], dtype=np.float64)
        part = ArrayRows(X, y, weights)
        for chunk in part.chunks():
            yield Chunk(chunk.X, chunk.places, chunk.names, chunk.weights, first + chunk.first)
        first += len(y)
