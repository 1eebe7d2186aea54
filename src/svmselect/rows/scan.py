"""The first pass: how many rows, of which labels, and a sample of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.rows.base import Chunk, keys
from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class Scan:
    """``sample`` rows are those with the least keys, so it is the same however rows are cut.

    ``rows`` have weight, of all that were ``read``; ``mass`` is the sum of the weights, ``labels``
    how many rows have each label.
    """

    rows: int
    read: int
    labels: Counter[Any]
    mass: float
    most: int
    numbers: IntArray
    key: Array
    X: Array
    y: NDArray[Any]
    weights: Array

    def __add__(self, other: Scan) -> Scan:
        parts = [
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("numbers", "key", "X", "y", "weights")
        ]
        labels = Counter(self.labels)
        labels.update(other.labels)
        mass = self.mass + other.mass
        made = Scan(self.rows + other.rows, self.read + other.read, labels, mass, self.most, *parts)
        # cut only now and then: each cut copies the sample
        return made._cut() if len(made.key) > 2 * self.most else made

    def cut(self) -> Scan:
        """The sample cut to its size, in the order of the keys."""
        return self._cut()

    def _cut(self) -> Scan:
        kept = np.argsort(self.key)[: self.most]
        parts = (getattr(self, name)[kept] for name in ("numbers", "key", "X", "y", "weights"))
        return Scan(self.rows, self.read, self.labels, self.mass, self.most, *parts)


def scan(chunk: Chunk, seed: int, most: int) -> Scan:
    """Count the labels of a chunk, check its inputs, and keep the rows with the least keys."""
    X = np.asarray(chunk.X)
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"rows {chunk.first + 1} and on are {X.dtype}, not numbers; encode them first"
        )
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(X))[0])
        raise ValueError(
            f"input {column + 1} of row {chunk.first + row + 1} is {X[row, column]}; fill missing "
            "values in, or leave the row out"
        )
    counts = chunk.counts()
    if (counts < 0).any() or not np.isfinite(counts).all():
        raise ValueError("a weight is negative or not finite; weights count copies of a row")
    here = np.flatnonzero(counts > 0)
    numbers = chunk.first + here
    key = keys(numbers, seed)
    kept = np.arange(len(here))
    if len(here) > most:
        kept = np.sort(np.argpartition(key, most)[:most])
    there = np.bincount(chunk.places[here], minlength=len(chunk.names))
    labels = {name: int(n) for name, n in zip(chunk.names.tolist(), there, strict=True) if n}
    rows = here[kept]
    return Scan(
        len(here),
        len(chunk),
        Counter(labels),
        float(counts.sum()),
        most,
        numbers[kept],
        key[kept],
        X[rows].astype(np.float64),
        chunk.names[chunk.places[rows]],
        counts[rows],
    )
