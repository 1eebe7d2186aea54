"""How well probabilities rank rows: one class against the others, at every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.types import Array, BoolArray, IntArray

POINTS = 200
"""Of a curve, at most; the ends and the corners stay."""


@dataclass(frozen=True, eq=False)
class CurveData:
    """One class against the others.

    At ``threshold[i]``: ``found[i]`` is the share of the class that is called so (recall, true
    positives), ``false[i]`` that of the others; ``right[i]`` the share of what is called so that is
    so (precision). Thresholds fall. ``auc`` is the area under ``found`` over ``false``, ``average``
    the average precision, ``share`` the class's part of the rows. ``at`` is where the model
    decides: (false, found, right).
    """

    label: str
    threshold: Array
    found: Array
    false: Array
    right: Array
    auc: float
    average: float
    share: float
    at: tuple[float, float, float]


def curve_data(
    probabilities: Array,
    predicted: IntArray,
    codes: IntArray,
    weights: Array,
    classes: NDArray[Any],
) -> tuple[CurveData, ...]:
    """Curves of all classes; of two classes that of the second. None for a class without rows."""
    k = len(classes)
    wanted = [1] if k == 2 else list(range(k))
    return tuple(
        _curve(probabilities[:, c], codes == c, predicted == c, weights, str(classes[c]))
        for c in wanted
        if 0 < np.count_nonzero(codes == c) < len(codes)
    )


def _curve(p: Array, own: BoolArray, called: BoolArray, w: Array, label: str) -> CurveData:
    """Count hits and false alarms from the highest probability down; ties come together."""
    order = np.argsort(-p, kind="stable")
    last = np.append(np.flatnonzero(np.diff(p[order])), len(p) - 1)
    mine, others = w * own, w * ~own
    hits, alarms = np.cumsum(mine[order])[last], np.cumsum(others[order])[last]
    found, false, right = hits / mine.sum(), alarms / others.sum(), hits / (hits + alarms)
    auc = float(np.diff(false, prepend=0.0) @ (found + np.append(0.0, found[:-1])) / 2.0)
    average = float(np.diff(found, prepend=0.0) @ right)
    caught, wrong = float(mine @ called), float(others @ called)
    precision = caught / (caught + wrong) if caught + wrong else np.nan
    at = (wrong / float(others.sum()), caught / float(mine.sum()), precision)
    kept = _corners(found, false)
    return CurveData(
        label, p[order][last][kept], found[kept], false[kept], right[kept], auc, average,
        float(mine.sum() / w.sum()), at,
    )  # fmt: skip


def _corners(found: Array, false: Array) -> IntArray:
    """Points where the curve turns, thinned evenly along it where they are too many."""
    x, y = np.diff(false, prepend=0.0) > 0, np.diff(found, prepend=0.0) > 0
    straight = (x[1:] & ~y[1:] & x[:-1] & ~y[:-1]) | (y[1:] & ~x[1:] & y[:-1] & ~x[:-1])
    kept = np.flatnonzero(np.append(~straight, True))
    if len(kept) <= POINTS:
        return kept
    way = (false + found)[kept]
    near = np.searchsorted(way, np.linspace(way[0], way[-1], POINTS))
    return np.asarray(kept[np.unique(np.minimum(near, len(kept) - 1))])
