"""A chunk of rows, and what kinds of rows have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows: inputs as they came, labels as places in ``names``, and the number of the first.

    A row whose place is -1 has no label. ``weights`` are None where every row counts once.
    """

    X: NDArray[Any]
    places: IntArray
    names: NDArray[Any]
    weights: Array | None
    first: int

    def __len__(self) -> int:
        return len(self.places)

    @classmethod
    def of(cls, X: Any, y: Any, weights: Any = None, first: int = 0) -> Chunk:
        """Make a chunk of inputs and their labels."""
        names, places = np.unique(np.asarray(y), return_inverse=True)
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(X, places.ravel().astype(np.int32), names, w, first)

    def codes(self, classes: NDArray[Any]) -> IntArray:
        """Places of the labels among the sorted ``classes``, -1 for a row without a label."""
        if not len(self.names):
            return self.places.astype(np.intp)
        found = np.minimum(np.searchsorted(classes, self.names), len(classes) - 1)
        strange = classes[found] != self.names
        if strange.any():
            new = self.names.tolist()[int(np.argmax(strange))]
            raise ValueError(
                f"the label {new!r} was not there when the rows "
                "were first read; the data must not change during a fit"
            )
        return np.where(self.places < 0, -1, found[self.places])

    def counts(self) -> Array:
        """How many copies each row counts for."""
        w = np.ones(len(self)) if self.weights is None else self.weights
        return np.where(self.places < 0, 0.0, w)


Told = Callable[[int], bool]
"""Is told after each chunk how many rows of the pass are done; whether to stop."""


class Rows(Protocol):
    """Rows that can be read again and again, in the same order."""

    @property
    def title(self) -> str:
        """What they are called."""

    @property
    def width(self) -> int:
        """The number of inputs."""

    def total(self, function: Callable[..., Any], *arguments: Any, told: Told | None = None) -> Any:
        """Add ``function(chunk, *arguments)`` over all chunks; None where there is none."""


def keys(numbers: IntArray, seed: int) -> Array:
    """Numbers in [0, 1) that look random and belong to the numbers of rows: SplitMix64."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return np.asarray((z >> np.uint64(11)).astype(np.float64) * 2.0**-53)
