"""Classes of so few rows that no fold can hold one out and train on another.

The choice is made without them. Then every pair with such a class is trained with what was chosen,
and its sigmoid, for which nothing was held out, is put through Platt's targets at two points: the
class's own rows, and the median of the other class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from svmselect.data import Pair
from svmselect.estimators.chosen import Chosen, OutOfFold
from svmselect.estimators.machines import Machines
from svmselect.estimators.problem import Problem
from svmselect.machine.train import train
from svmselect.probability.calibration import FLAT, Sigmoid
from svmselect.probability.recalibration import Recalibration
from svmselect.types import Array, IntArray, Note

RARE = ("keep", "drop", "merge")
_FEW = 3  # rows, below which a class is dropped or merged where that is asked
_MOST = 2000  # rows of the other class that a machine of a pair is trained with
_MANY, _PART = 20, 0.2  # different numbers, and per row, from which a target looks like a number


@dataclass(frozen=True, eq=False)
class Apart:
    """Labels and weights for the choice; ``rows`` are to be added to the machines afterwards.

    ``lone`` is whether one of the two classes that are left cannot be held out.
    """

    y: NDArray[Any]
    weights: Array | None
    rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    notes: tuple[Note, ...] = ()
    lone: bool = False


def set_apart(
    y: NDArray[Any], weights: Array | None, groups: NDArray[Any] | None, rare: str, able: bool
) -> Apart:
    """Keep, drop or merge the rows of rare classes; at least two classes stay.

    A row that is apart has weight zero. ``able`` is whether machines can be added afterwards.
    """
    if rare not in RARE:
        raise ValueError(f"rare={rare!r} is not one of {', '.join(map(repr, RARE))}")
    there = np.ones(len(y), dtype=np.bool_) if weights is None else weights > 0
    sizes = _sizes(y[there], None if groups is None else groups[there])
    notes: list[Note] = []
    few = [label for label, (rows, _) in sizes.items() if rows < _FEW]
    if rare == "merge" and len(few) > 1:
        into = max(few, key=lambda label: sizes[label][0])
        y = y.copy()
        y[np.isin(y, few)] = into
        notes.append(Note("data", f"classes of one or two rows are one, {into!r}: {_listed(few)}"))
        sizes = _sizes(y[there], None if groups is None else groups[there])
    alone = few if rare == "drop" else [label for label, (_, units) in sizes.items() if units < 2]
    stay = max(0, 2 - (len(sizes) - len(alone)))
    alone = sorted(alone, key=lambda label: -sizes[label][0])[stay:]
    lone = any(sizes[label][1] < 2 for label in sizes if label not in alone)
    if lone:
        weights = _thinned(y, weights, there, sizes, alone, notes)
    if not alone:
        return Apart(y, weights, notes=tuple(notes), lone=lone)
    rows = np.flatnonzero(there & np.isin(y, alone))
    made = np.ones(len(y)) if weights is None else weights.copy()
    made[rows] = 0.0
    kept = rare != "drop" and able
    told = f"{_listed(alone)}: too few rows to hold one out and train on another, so the choice "
    told += "is made without them, and they are " + (
        "predicted where they are near" if kept else "never predicted"
    )
    notes.append(Note("data", told))
    return Apart(y, made, rows if kept else rows[:0], tuple(notes), lone)


def _thinned(
    y: NDArray[Any],
    weights: Array | None,
    there: NDArray[np.bool_],
    sizes: dict[Any, tuple[int, int]],
    alone: list[Any],
    notes: list[Note],
) -> Array | None:
    """Weight zero for what is too much beside a class that cannot be held out."""
    label = max((label for label in sizes if label not in alone), key=lambda one: sizes[one][0])
    rows = np.flatnonzero(there & (y == label))
    if len(rows) <= _MOST:
        return weights
    made = np.ones(len(y)) if weights is None else weights.copy()
    kept = rows[np.linspace(0, len(rows) - 1, _MOST).astype(np.intp)]
    made[np.setdiff1d(rows, kept)] = 0.0
    notes.append(Note("data", f"{_MOST:,} of the {len(rows):,} rows of {label!r} are used"))
    return made


def by_two_points(problem: Problem, pairs: Sequence[Pair], chosen: Chosen, loss: str) -> Chosen:
    """With a sigmoid through Platt's targets at two points, where all of a class is in all folds.

    What is held out is of one class then, and tells nothing of the other.
    """
    if not problem.splits.lone:
        return chosen
    (pair,), (C, kernel) = pairs, chosen.setting.of(0)
    K = kernel(problem.X[pair.rows])
    machine = train(K, pair.y, C, loss, chosen.setting.fit_intercept, pair.weights)
    sign = -float(pair.y[problem.splits.test[pair.rows].any(axis=1)][0])
    slope, shift = _through(machine.decision, pair.y == sign, sign)
    sigmoids = (Sigmoid(slope, shift, float(machine.decision.std()) or 1.0),)
    if chosen.held_out is None:
        return replace(chosen, sigmoids=sigmoids)
    held = OutOfFold(chosen.held_out.rows, chosen.held_out.decisions)
    error, kept = held.judged(problem, sigmoids)
    return replace(chosen, sigmoids=sigmoids, error=error, held_out=kept)


def looks_like_numbers(y: NDArray[Any]) -> None:
    """Refuse a target of so many different numbers that it is none of classes."""
    if y.dtype.kind not in "iuf":
        return
    count = len(np.unique(y))
    if count > max(_MANY, _PART * len(y)):
        raise ValueError(
            f"y has {count} different numbers in {len(y)} rows and looks like a target of "
            "regression; for classes of a number cut it into ranges, e.g. by pandas.qcut, and "
            "give labels that are no numbers as texts"
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """Machines of all pairs, their support vectors sorted by class: rows of the caller's X."""

    classes: NDArray[Any]
    rows: IntArray
    member: IntArray
    coefficients: Array
    intercepts: Array
    slopes: Array
    recalibration: Array | None

    @classmethod
    def of(cls, problem: Problem, machines: Machines, used: IntArray) -> Fitted:
        """The machines that were chosen."""
        return cls(
            problem.classes, problem.first[used], problem.codes[used], machines.coefficients,
            machines.intercepts, machines.slopes,
            None if machines.recalibration is None else machines.recalibration.table,
        )  # fmt: skip

    def with_rare(
        self, apart: Apart, X: Array, problem: Problem, chosen: Chosen, loss: str
    ) -> Fitted:
        """With machines of every pair that has a class which was apart."""
        if not len(apart.rows):
            return self
        classes = np.unique(np.concatenate([self.classes, apart.y[apart.rows]]))
        place = np.searchsorted(classes, self.classes)
        known = {
            (place[i], place[j]): p
            for p, (i, j) in enumerate(combinations(range(len(self.classes)), 2))
        }
        # the rows of the problem, and after them those that were apart
        rows = np.concatenate([problem.first, apart.rows])
        codes = np.searchsorted(classes, apart.y[rows])
        scaled = np.vstack([problem.X, problem.scaling(X[apart.rows])])
        weights = np.concatenate([problem.weights, np.full(len(apart.rows), problem.penalty)])
        at = np.searchsorted(problem.first, self.rows, sorter=np.argsort(problem.first))
        at = np.argsort(problem.first)[at]
        pairs = list(combinations(range(len(classes)), 2))
        coefficients = np.zeros((len(rows), len(pairs)))
        intercepts, slopes = np.zeros(len(pairs)), np.zeros(len(pairs))
        C, kernel = chosen.setting.of(0)
        for p, (i, j) in enumerate(pairs):
            if (i, j) in known:
                old = known[i, j]
                coefficients[at, p] = self.coefficients[:, old]
                intercepts[p], slopes[p] = self.intercepts[old], self.slopes[old]
                continue
            own = classes[j] in set(apart.y[apart.rows].tolist())
            lone, others = (j, i) if own else (i, j)
            some = np.flatnonzero(codes == others)
            some = some[np.linspace(0, len(some) - 1, min(len(some), _MOST)).astype(np.intp)]
            both = np.concatenate([some, np.flatnonzero(codes == lone)])
            y = np.where(codes[both] == j, 1.0, -1.0)
            K, intercept = kernel(scaled[both]), chosen.setting.fit_intercept
            solution = train(K, y, C, loss, intercept, weights[both])
            slopes[p], shift = _through(
                solution.decision, codes[both] == lone, 1.0 if own else -1.0
            )
            coefficients[both, p] = solution.beta
            intercepts[p] = solution.intercept + shift
        used = np.flatnonzero(coefficients.any(axis=1))
        used = used[np.lexsort((rows[used], codes[used]))]
        return replace(
            self, classes=classes, rows=rows[used], member=codes[used],
            coefficients=coefficients[used], intercepts=intercepts, slopes=slopes,
            recalibration=self._widened(place, len(classes)),
        )  # fmt: skip

    def _widened(self, place: IntArray, k: int) -> Array | None:
        """The recalibration of the classes that were held out, and of others what is like it."""
        if self.recalibration is None:
            return None
        return Recalibration(self.recalibration).widened(place, k).table


def _through(f: Array, lone: NDArray[np.bool_], sign: float) -> tuple[float, float]:
    """Slope and shift: Platt's targets at the median decision of either side."""
    high, low = float(np.median(sign * f[lone])), float(np.median(sign * f[~lone]))
    m, n = int(lone.sum()), int((~lone).sum())
    top, bottom = float(logit((m + 1.0) / (m + 2.0))), float(logit(1.0 / (n + 2.0)))
    rise = (top - bottom) / (high - low) if high > low else FLAT / (float(f.std()) or 1.0)
    return -rise, sign * (bottom / rise - low)


def _sizes(y: NDArray[Any], groups: NDArray[Any] | None) -> dict[Any, tuple[int, int]]:
    """How many rows each class has, and how many groups."""
    rows = Counter(y.tolist())
    if groups is None:
        return {label: (count, count) for label, count in rows.items()}
    units = Counter(label for label, _ in set(zip(y.tolist(), groups.tolist(), strict=True)))
    return {label: (count, units[label]) for label, count in rows.items()}


def _listed(labels: list[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:5])
    return shown + (f", ... ({len(labels)} classes)" if len(labels) > 5 else "")
