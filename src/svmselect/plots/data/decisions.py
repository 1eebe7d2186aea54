"""What was decided about held-out rows: true against predicted classes, and the doubtful rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.probability.intervals import wilson
from svmselect.probability.thresholds import decide, decision_table
from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class DecisionData:
    """``table[i, j]``: how many rows of class i, by weight, were called j. By class, the rest.

    ``error`` is the share of a class's rows that were called something else, with its 95 % interval
    (Wilson); ``right`` the share of what was called so that was so, NaN where nothing was.
    ``source`` says which rows these are.
    """

    classes: tuple[str, ...]
    table: Array
    error: Array
    low: Array
    high: Array
    right: Array
    source: str

    @property
    def rows(self) -> Array:
        """How many rows there were of each class."""
        return np.asarray(self.table.sum(axis=1))

    def confusions(self, most: int) -> list[tuple[str, str, float, float]]:
        """True class, what it was taken for, how often, which share of its rows; worst first."""
        wrong = self.table * (1.0 - np.eye(len(self.table)))
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        places = [divmod(int(place), len(self.table)) for place in order]
        return [
            (
                self.classes[i],
                self.classes[j],
                float(wrong[i, j]),
                float(wrong[i, j] / self.rows[i]),
            )
            for i, j in places
            if wrong[i, j]
        ]


@dataclass(frozen=True)
class Doubt:
    """A held-out row: its number, its label, what it was called, and how probable that was."""

    row: int
    label: str
    called: str
    probability: float


def decision_data(
    predicted: IntArray, codes: IntArray, weights: Array, classes: NDArray[Any], source: str
) -> DecisionData:
    """Count; ``predicted`` and ``codes`` are positions in ``classes``."""
    table = decision_table(codes, predicted, weights, len(classes))
    rows, called, hits = table.sum(axis=1), table.sum(axis=0), table.diagonal()
    some = np.where(rows > 0, rows, 1.0)
    error = np.where(rows > 0, 1.0 - hits / some, np.nan)
    low, high = wilson(np.nan_to_num(error), some)
    return DecisionData(
        classes=tuple(map(str, classes.tolist())),
        table=table,
        error=error,
        low=np.where(rows > 0, low, np.nan),
        high=np.where(rows > 0, high, np.nan),
        right=np.where(called > 0, hits / np.where(called > 0, called, 1.0), np.nan),
        source=source,
    )


def decided(probabilities: Array, threshold: Any) -> IntArray:
    """The classes that a model with this ``threshold_`` calls rows of these probabilities."""
    if isinstance(threshold, np.ndarray):
        return decide(probabilities, threshold)
    if probabilities.shape[1] == 2:
        return np.asarray(probabilities[:, 1] > threshold, dtype=np.intp)
    return np.asarray(probabilities.argmax(axis=1))


def doubts(
    probabilities: Array,
    predicted: IntArray,
    codes: IntArray,
    classes: NDArray[Any],
    numbers: Sequence[int] | IntArray,
    most: int = 8,
) -> tuple[tuple[Doubt, ...], tuple[Doubt, ...]]:
    """The rows that are least sure, and those that are surest among the wrong ones."""
    names = list(map(str, classes.tolist()))
    two = np.sort(probabilities, axis=1)[:, -2:]
    lead = two[:, 1] - two[:, 0]

    def told(order: IntArray) -> tuple[Doubt, ...]:
        return tuple(
            Doubt(
                int(numbers[i]),
                names[codes[i]],
                names[predicted[i]],
                float(probabilities[i, predicted[i]]),
            )
            for i in order
        )

    wrong = np.flatnonzero(predicted != codes)
    worst = wrong[np.argsort(-probabilities[wrong, predicted[wrong]], kind="stable")]
    return told(np.argsort(lead, kind="stable")[:most]), told(worst[:most])
