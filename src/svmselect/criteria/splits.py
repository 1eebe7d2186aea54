"""What a user gives as ``cv`` where it is no number: pairs of row numbers, checked once for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.types import Array, IntArray


def no_folds(cv: Any) -> ValueError:
    """What is said of a ``cv`` that can be no folds at all."""
    return ValueError(
        "cv must be a number of folds, a splitter with split(X, y), or an iterable of "
        f"(training rows, held-out rows), got {cv!r}"
    )


def as_pairs(cv: Any) -> list[tuple[Any, Any]]:
    """The pairs (training rows, held-out rows) of an iterable; anything else is refused."""
    if isinstance(cv, str | bytes):
        raise no_folds(cv)
    try:
        pairs = [tuple(pair) for pair in cv]
    except TypeError:
        raise no_folds(cv) from None
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError("cv must hold at least one pair (training rows, held-out rows)")
    return pairs


def row_numbers(part: Any, number: int) -> IntArray:
    """Row numbers of one side of a split, from numbers or from a mask."""
    rows = np.asarray(part)
    if rows.dtype == np.bool_:
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise ValueError(f"cv: split {number} must list row numbers, got an array of {rows.dtype}")
    return rows.astype(np.intp)


def check_range(rows: IntArray, n: int, number: int) -> None:
    """Refuse numbers that no row has."""
    bad = rows[(rows < 0) | (rows >= n)]
    if len(bad):
        raise ValueError(f"cv: split {number} names row {bad[0]}; there are rows 0 to {n - 1}")


def check_trained(mass: Array | IntArray, classes: NDArray[Any], number: int) -> None:
    """Refuse a split that leaves nothing of a class to train on; ``mass`` is what is left."""
    gone = np.flatnonzero(mass == 0)
    if len(gone):
        label = classes.tolist()[gone[0]]
        raise ValueError(
            f"cv: split {number} leaves no row of class {label!r} to train on; use stratified "
            "folds, or fewer"
        )
