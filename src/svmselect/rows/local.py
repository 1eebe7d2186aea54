"""Rows that this process reads: arrays, memory maps, iterators of chunks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.parallel import added, threads
from svmselect.rows.base import Chunk, Told
from svmselect.types import Array

CHUNK = 2**16
"""Rows that are given to a thread at a time, where they lie in an array."""


@dataclass(frozen=True, eq=False)
class LocalRows:
    """What ``chunks()`` gives, every time it is called; ``workers`` threads add it up.

    They are as many as linear algebra would use if that is None.
    """

    title: str
    width: int
    chunks: Callable[[], Iterator[Chunk]]
    workers: int | None = None

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        tasks = ((len(chunk), (chunk, *arguments)) for chunk in self.chunks())
        with threads(self.workers) as pool:
            return added(pool, function, tasks, told)


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Arrays of inputs and labels, in memory or mapped into it."""

    X: NDArray[Any]
    y: NDArray[Any]
    weights: Array | None = None
    workers: int | None = None
    title: str = "the array"
    size: int = CHUNK

    @property
    def width(self) -> int:
        """The number of inputs."""
        return int(self.X.shape[1])

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
        local = LocalRows(self.title, self.width, self.chunks, self.workers)
        return local.total(function, *arguments, told=told)


@contextmanager
def spooled(pieces: Iterable[Any], workers: int | None = None) -> Iterator[LocalRows]:
    """Rows of an iterable of pairs (X, y), or of triples (X, y, weights).

    What can be iterated again is; what cannot, such as a generator, is written to a temporary
    folder first, since a fit reads its rows several times.
    """
    if iter(pieces) is not pieces:
        first = next(iter(pieces), None)
        yield LocalRows("the iterable", _width(first), lambda: _chunks(pieces), workers)
        return
    with tempfile.TemporaryDirectory(prefix="svmselect-") as folder:
        count = 0
        for count, piece in enumerate(pieces, start=1):
            _width(piece, count)
            for name, part in zip("Xyw", piece, strict=False):
                np.save(Path(folder) / f"{name}{count}.npy", _plain(part))
        stored = _Stored(Path(folder), count)
        first = next(iter(stored), None)
        yield LocalRows("the iterator", _width(first), lambda: _chunks(stored), workers)


@dataclass(frozen=True)
class _Stored:
    """The pieces of an iterator, as they were written down."""

    folder: Path
    count: int

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        for i in range(1, self.count + 1):
            there = [self.folder / f"{name}{i}.npy" for name in "Xyw"]
            yield tuple(np.load(path, mmap_mode="r") for path in there if path.exists())


def _plain(part: Any) -> NDArray[Any]:
    """An array that can be saved without pickling."""
    made = np.asarray(part)
    return made.astype(str) if made.dtype == object else made


def _width(piece: Any, number: int = 1) -> int:
    """How many columns a piece has; refuses what is no piece."""
    if piece is None:
        raise ValueError("the iterator gave nothing; yield pairs (X, y)")
    try:
        X, y, *rest = piece
        shape = np.shape(X)
        fits = len(shape) == 2 and shape[0] == len(y) and len(rest) < 2
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"piece {number} of the iterator is no pair (X, y) of a matrix and as many labels; "
            "yield pairs, or triples with weights"
        )
    return int(shape[1])


def _chunks(pieces: Iterable[Any]) -> Iterator[Chunk]:
    """Chunks of a piece at a time, large pieces cut."""
    first, width = 0, None
    for i, piece in enumerate(pieces, start=1):
        here = _width(piece, i)
        if width is not None and here != width:
            raise ValueError(f"piece {i} of the iterator has {here} columns, those before {width}")
        width = here
        X, y, *rest = (np.asarray(part) for part in piece)
        for chunk in ArrayRows(X, y, rest[0] if rest else None).chunks():
            yield replace(chunk, first=first + chunk.first)
        first += len(y)
