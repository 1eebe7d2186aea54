"""Do probabilities keep their word: predicted against observed frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.probability.intervals import wilson
from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class CalibrationData:
    """Bins of held-out rows by predicted probability; ``low`` and ``high`` hold 95 % (Wilson).

    Two classes: the probability of the second one, ``label``. More: that of the predicted class,
    observed by how often it was right. ``log_loss`` and ``brier`` are of all rows, as scikit-learn
    has them: the mean over rows of (p - y)^2, of more than two classes the sum over the classes of
    that. ``source`` says which rows these are.
    """

    label: str
    predicted: Array
    observed: Array
    low: Array
    high: Array
    count: IntArray
    rows: int
    error: float
    log_loss: float
    brier: float
    source: str


def calibration_data(
    probabilities: Array, codes: IntArray, classes: NDArray[Any], source: str, bins: int = 10
) -> CalibrationData:
    """Bin held-out rows: ``codes`` are positions in ``classes``, one row of probabilities each.

    Bins hold equally many rows, so that each says something; ties stay together.
    """
    n, k = probabilities.shape
    if n != len(codes) or k != len(classes):
        raise ValueError(f"{probabilities.shape} probabilities of {len(codes)} rows, {k} classes")
    if k == 2:
        p, hit, label = probabilities[:, 1], codes == 1, str(classes[1])
    else:
        p, hit = probabilities.max(axis=1), probabilities.argmax(axis=1) == codes
        label = "the predicted class"
    edges = np.unique(np.quantile(p, np.linspace(0.0, 1.0, bins + 1)[1:-1]))
    place = np.unique(np.searchsorted(edges, p, side="right"), return_inverse=True)[1].ravel()
    count = np.bincount(place)
    observed = np.bincount(place, hit) / count
    low, high = wilson(observed, count)
    target = np.eye(k)[codes]
    chosen = np.clip(probabilities[np.arange(n), codes], 1e-15, 1.0)
    return CalibrationData(
        label=label,
        predicted=np.bincount(place, p) / count,
        observed=observed,
        low=low,
        high=high,
        count=count,
        rows=n,
        error=float(np.mean(probabilities.argmax(axis=1) != codes)),
        log_loss=float(-np.mean(np.log(chosen))),
        brier=float(np.mean(((probabilities - target) ** 2).sum(axis=1))) / (2 if k == 2 else 1),
        source=source,
    )


def of_rows(model: Any, X: Any, y: Any, bins: int = 10, source: str = "") -> CalibrationData:
    """Rows that the model has not seen."""
    codes = codes_of(y, model.classes_)
    said = source or f"{len(codes)} rows given"
    return calibration_data(model.predict_proba(X), codes, model.classes_, said, bins)


def codes_of(y: Any, classes: NDArray[Any]) -> IntArray:
    """The place of each label among the classes; an unknown label is an error."""
    labels = np.asarray(y)
    codes = np.searchsorted(classes, labels)
    codes = np.minimum(codes, len(classes) - 1)
    unknown = np.flatnonzero(classes[codes] != labels)
    if len(unknown):
        row = unknown[0]
        raise ValueError(
            f"label {labels.tolist()[row]!r} in row {row} is no class that the model knows: "
            f"{', '.join(map(repr, classes.tolist()[:10]))}"
        )
    return codes
