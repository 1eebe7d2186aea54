"""Error rates as the command line tells them: with an interval, and on which rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.cli.console import percent
from svmselect.probability.intervals import interval
from svmselect.types import ErrorEstimate


@dataclass(frozen=True)
class Tested:
    """An error rate with its 95 % interval; ``by`` says on which rows."""

    error: float
    low: float
    high: float
    rows: int
    by: str

    @classmethod
    def seen(cls, estimate: ErrorEstimate, by: str) -> Tested:
        """With its interval."""
        low, high = interval(estimate)
        return cls(estimate.error, low, high, max(1, round(estimate.n)), by)

    @classmethod
    def of(cls, model: Any, X: Any, y: NDArray[Any], by: str) -> Tested:
        """The error on rows that the model has not seen."""
        wrong = float(np.mean(model.predict(X) != y))
        return cls.seen(ErrorEstimate(wrong, len(y)), by)

    @property
    def words(self) -> str:
        """In one line."""
        interval = f"{100 * self.low:.1f} to {percent(self.high)}"
        return f"{percent(self.error)} (95 % interval {interval}), {self.by}"

    @property
    def fields(self) -> dict[str, Any]:
        """For programs."""
        return {
            "value": self.error, "low": self.low, "high": self.high, "rows": self.rows,
            "by": self.by,
        }  # fmt: skip


def cross_validated(model: Any) -> Tested:
    """What the folds, or the held-out part of many rows, say of a fitted model."""
    selection = model.selection_
    estimate, members = selection.error, float(np.sum(selection.members))
    rows = max(1, round(estimate.n))
    many = rows < 0.9 * members
    by = f"{rows:,} rows held out" if many else f"{selection.folds}-fold cross-validation"
    if estimate.of == "pairs":
        by += ", in pairs of classes"
    return Tested.seen(estimate, by)
