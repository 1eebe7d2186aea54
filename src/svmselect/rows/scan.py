"""The first pass: how many rows, of which labels, and a sample of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.rows.base import Chunk, keys
from svmselect.types import Array, IntArray


@dataclass(eq=False)
class Bound:
    """The key from which on rows are not wanted, since there are enough of lesser ones.

    It only falls, and is seen where the memory is shared; elsewhere more is kept than is needed.
    """

    key: float = 1.0


@dataclass(frozen=True, eq=False)
class Scan:
    """``sample`` rows are those with the least keys, so it is the same however rows are cut.

    ``rows`` have weight, of all that were ``read``; ``mass`` is the sum of the weights, ``labels``
    how many rows have each label. The rows of ``more`` are still to be joined to the sample.
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
    bound: Bound = field(default_factory=Bound)
    more: tuple[Scan, ...] = ()

    def __add__(self, other: Scan) -> Scan:
        labels = Counter(self.labels)
        labels.update(other.labels)
        made = replace(
            self,
            rows=self.rows + other.rows,
            read=self.read + other.read,
            labels=labels,
            mass=self.mass + other.mass,
            more=(*self.more, replace(other, more=()), *other.more),
        )
        held = len(self.key) + sum(len(one.key) for one in made.more)
        # joined and cut only now and then, since both copy the sample
        return made.cut() if held > 2 * self.most else made

    def cut(self) -> Scan:
        """The sample, joined and cut to its size, in the order of the keys."""
        everything = (self, *self.more)
        key = np.concatenate([one.key for one in everything])
        kept = np.argsort(key)[: self.most]
        if len(kept) == self.most:
            self.bound.key = min(self.bound.key, float(key[kept[-1]]))
        parts: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in everything])[kept]
            for name in ("numbers", "X", "y", "weights")
        }
        return replace(self, key=key[kept], more=(), **parts)


def scan(chunk: Chunk, seed: int, most: int, bound: Bound | None = None) -> Scan:
    """Count the labels of a chunk, check its inputs, and keep the rows with the least keys.

    One ``bound`` for all chunks lets those that come late keep fewer.
    """
    bound = Bound() if bound is None else bound
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
    kept = np.flatnonzero(key <= bound.key)
    if len(kept) > most:
        kept = np.sort(kept[np.argpartition(key[kept], most)[:most]])
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
        bound,
    )
