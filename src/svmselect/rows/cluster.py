"""Rows in a collection of Dask's: they stay on the workers, who add them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.parallel import Dask, added, threads
from svmselect.rows.base import Chunk, Told, keys
from svmselect.rows.tables import Make, TableChunks, answer, labels_in
from svmselect.tables import Encoder
from svmselect.tables.dataframe import table_of
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Blocks of rows, each of which is parts (inputs, labels, weights) that are Dask's or arrays.

    The sum is taken in the order of the blocks, and so is the same on any cluster; a block of a
    worker that dies is made again on another, by the scheduler, and counted once. Without a cluster
    they are computed here one after another.
    """

    title: str
    width: int
    blocks: tuple[tuple[Any, ...], ...]
    sizes: tuple[int, ...]
    make: Make
    cluster: Dask | None

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        if self.cluster is None:
            with threads(None) as pool:
                return added(pool, function, self._here(arguments), told)
        ask = self.cluster.hold((self.make, function, arguments))
        return added(self.cluster, answer, self._tasks(self.cluster, ask), told)

    def _tasks(self, cluster: Dask, ask: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
        firsts = np.cumsum([0, *self.sizes])
        for block, size, first in zip(self.blocks, self.sizes, firsts, strict=False):
            parts = (cluster.block(part) if _lazy(part) else part for part in block)
            yield size, (ask, int(first), *parts)

    def _here(self, arguments: tuple[Any, ...]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        firsts = np.cumsum([0, *self.sizes])
        for block, size, first in zip(self.blocks, self.sizes, firsts, strict=False):
            parts = (part.compute() if _lazy(part) else part for part in block)
            yield size, (self.make(int(first), *parts), *arguments)


def _lazy(part: Any) -> bool:
    return hasattr(type(part), "__dask_graph__")


def array_chunk(first: int, X: Any, y: Any, weights: Any = None) -> Chunk:
    """A chunk of arrays."""
    names, places = labels_in(np.asarray(y), False)
    if np.shape(X)[0] != len(places):
        raise ValueError(
            f"a block of X has {np.shape(X)[0]} rows and that of y {len(places)}; chunk them alike"
        )
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    return Chunk(np.asarray(X), places, names, w, first)


def frame_chunk(encoder: Encoder, first: int, X: Any, y: Any, weights: Any = None) -> Chunk:
    """A chunk of a data frame, encoded."""
    matrix = encoder.encode(encoder.typed(table_of(X), "X"), "X")
    return array_chunk(first, matrix, y, weights)


def bare(first: int, *parts: Any) -> tuple[Any, ...]:
    """No chunk: the number of the first row and the parts."""
    return (first, *parts)


@dataclass(frozen=True, eq=False)
class Some:
    """Rows of a data frame with the least keys, as they came."""

    frame: Any
    key: Array
    most: int

    def __add__(self, other: Some) -> Some:
        import pandas as pd

        frame = pd.concat([self.frame, other.frame], ignore_index=True)
        made = Some(frame, np.concatenate([self.key, other.key]), self.most)
        return made if len(made.key) <= 2 * self.most else made.cut()

    def cut(self) -> Some:
        """As many as are wanted."""
        kept = np.sort(np.argsort(self.key)[: self.most])
        return replace(self, frame=self.frame.iloc[kept], key=self.key[kept])


def some(block: tuple[Any, ...], seed: int, most: int) -> Some:
    """The rows of a block with the least keys."""
    first, frame = block[:2]
    key = keys(first + np.arange(len(frame)), seed)
    return Some(frame, key, most).cut()


def parquet_rows(make: TableChunks, files: Sequence[Path], cluster: Dask) -> ClusterRows:
    """The rows of Parquet files, which the workers read."""
    blocks = tuple((part,) for file in files for part in cluster.parquet(str(file)))
    sizes = sizes_of(blocks, cluster)
    called = partial(_named, make)
    return ClusterRows(make.source.title, make.width, blocks, sizes, called, cluster)


def _named(make: TableChunks, first: int, frame: Any) -> Chunk:
    """A chunk of a frame as Dask reads it, its columns called as we call them."""
    source = make.source
    stored = dict(zip(source.stored, source.names, strict=True))
    return make(first, frame[list(stored)].rename(columns=stored))


def sizes_of(blocks: Sequence[tuple[Any, ...]], cluster: Dask | None) -> tuple[int, ...]:
    """How many rows each block has: a pass over the data where Dask does not know."""
    unknown = ClusterRows("", 0, tuple(block[:1] for block in blocks), (0,) * len(blocks), bare,
                          cluster)  # fmt: skip
    return tuple(unknown.total(_count) or ())


def _count(block: tuple[Any, ...]) -> tuple[int]:
    return (len(block[1]),)


def encoded(encoder: Encoder) -> Make:
    """Chunks of frames, by what was learned of their columns."""
    return partial(frame_chunk, encoder)


def split(values: NDArray[Any], sizes: Sequence[int]) -> list[NDArray[Any]]:
    """An array in memory in blocks."""
    return np.split(values, np.cumsum(sizes)[:-1])
