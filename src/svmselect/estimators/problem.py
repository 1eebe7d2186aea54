"""What is fitted: distinct rows in an order of their own, weights, scaling, folds, pairs.

A weight counts copies of a row, and zero its absence; so rows of weight zero are dropped, and rows
that agree in everything, fold included, become one whose weight is their sum. The rows are sorted
by their content. Hence a fit depends neither on the order of the rows nor on whether copies come
as rows or as weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.data import Dataset, Pair
from svmselect.estimators.folds import Splits, make_splits
from svmselect.estimators.scaling import Scaling
from svmselect.estimators.strategies.default import Coarse
from svmselect.types import Array, BoolArray, IntArray, Note

_FEW = 4


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to be classified, each with the first row of the caller's that it stands for.

    ``where`` is the row here of each of the caller's, -1 of those without weight. ``counts`` are
    the sample weights, ``weights`` the same times the class weights, rescaled to leave the sum
    unchanged: those are costs, not counts. ``penalty`` undoes that: a row's bound is penalty * C *
    sample weight * class weight. ``coarse`` is what a look at the rows, as they are scaled, has
    found already of what the default strategy begins with.
    """

    X: Array
    codes: IntArray
    classes: NDArray[Any]
    weights: Array
    counts: Array
    first: IntArray
    where: IntArray
    splits: Splits
    scaling: Scaling
    penalty: float
    notes: tuple[Note, ...]
    coarse: Coarse | None = None

    @classmethod
    def of(
        cls,
        X: Array,
        y: NDArray[Any],
        sample_weight: Array | None,
        groups: NDArray[Any] | None,
        cv: Any,
        class_weight: Any,
        standardize: bool,
        seed: int,
        bend: bool = False,
        spans: Array | None = None,
    ) -> Problem:
        """Drop, sort, split, merge, scale and weigh; the arguments are checked arrays."""
        w = np.ones(len(y)) if sample_weight is None else sample_weight
        kept = np.flatnonzero(w > 0)
        classes, codes = _classes(y[kept], bool(len(kept) < len(y)))
        parts = [codes[:, None], X[kept]]
        tie_breakers: list[NDArray[Any]] = [w[kept, None]]
        if groups is not None:
            tie_breakers.insert(0, np.unique(groups[kept], return_inverse=True)[1][:, None])
        order, _ = _sorted(parts + tie_breakers)
        splits = make_splits(cv, X, y, kept[order], codes[order], groups, seed, classes)
        splits = splits.at(np.argsort(order))
        order, new = _sorted([*parts, splits.test, splits.train, splits.again])
        begins = np.flatnonzero(new)
        sums = np.add.reduceat(w[kept][order], begins)
        rows = order[begins]
        first = np.minimum.reduceat(kept[order], begins)
        where = np.full(len(y), -1)
        where[kept[order]] = np.cumsum(new) - 1
        scaling = Scaling.of(X[first], sums, standardize, bend, spans)
        factors = class_factors(class_weight, classes, codes[rows], sums)
        total = float(sums.sum())
        folded = sums * factors[codes[rows]]
        penalty = total / float(folded.sum())
        notes = list(splits.notes)
        if total < 0.5 * len(kept):
            said = (
                f"the weights of {len(kept)} rows sum to {total:.3g}: weights count copies of a "
                "row, so the data count for few; multiply the weights to make their mean one"
            )
            notes.append(Note("data", said))
        return cls(
            X=scaling(X[first]),
            codes=codes[rows],
            classes=classes,
            weights=folded * penalty,
            counts=sums,
            first=first,
            where=where,
            splits=splits.at(rows),
            scaling=scaling,
            penalty=penalty,
            notes=tuple(notes),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def scaled(self, X: Array, scaling: Scaling) -> Problem:
        """The same rows of the caller's X, scaled otherwise."""
        return replace(self, X=scaling(X[self.first]), scaling=scaling, coarse=None)

    def pairs(self) -> list[Pair]:
        """One two-class problem for each pair of classes; +1 is the later class."""
        made = []
        for i, j in combinations(range(len(self.classes)), 2):
            rows = np.flatnonzero((self.codes == i) | (self.codes == j))
            held = self.splits.test[rows]
            used = held.any(axis=0)
            tests, again = (
                tuple(np.flatnonzero(t) for t in table[rows].T if t.any())
                for table in (self.splits.test, self.splits.again)
            )
            trains: tuple[IntArray, ...] = ()
            if not self.splits.complete:
                trains = tuple(self.splits.train[rows][:, used].T)
            y = np.where(self.codes[rows] == j, 1.0, -1.0)
            made.append(Pair(rows, y, self.weights[rows], tests, again, trains))
        return made

    def dataset(self, pair: Pair) -> Dataset:
        """A pair as ``select`` knows it."""
        return Dataset.of(self.X[pair.rows], pair.y, pair.weights)


def class_factors(class_weight: Any, classes: NDArray[Any], codes: IntArray, w: Array) -> Array:
    """What each class counts: 1, a dict's entries (1 where it has none), or "balanced"."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f"class_weight={class_weight!r} is not None, 'balanced' or a dict of weights"
            )
        mass = np.bincount(codes, w, len(classes))
        return np.asarray(mass.sum() / (len(classes) * mass))
    try:
        given = dict(class_weight)
    except (TypeError, ValueError):
        raise ValueError(
            f"class_weight={class_weight!r} is not None, 'balanced' or a dict of weights"
        ) from None
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise ValueError(
            f"class_weight names {unknown[0]!r}, which is no class of y; the classes are "
            f"{', '.join(map(repr, labels))}"
        )
    factors = np.array([float(given.get(label, 1.0)) for label in labels])
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        bad = labels[int(np.argmin(np.isfinite(factors) & (factors > 0)))]
        raise ValueError(
            f"class_weight[{bad!r}] is {given[bad]!r}; give positive finite numbers, and leave the "
            "rows of a class out to leave out the class"
        )
    return factors


def _classes(y: NDArray[Any], dropped: bool) -> tuple[NDArray[Any], IntArray]:
    """The labels, sorted, and each row's place among them."""
    if not len(y):
        raise ValueError("every sample weight is zero; give at least two classes rows with weight")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        which = " that have weight" if dropped else ""
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}, in all {len(y)} rows{which}; "
            "a classifier needs rows of two classes or more"
        )
    return classes, codes.ravel()


def _sorted(parts: list[NDArray[Any]]) -> tuple[IntArray, BoolArray]:
    """The order of rows by their columns, the first one first; and where a new row begins there.

    By value, so that shifting or stretching a column leaves the order as it is.
    """
    table = np.hstack([np.asarray(part, dtype=np.float64) for part in parts])
    # a few columns tell most rows apart; all are sorted by only if they do not
    for count in (_FEW, table.shape[1]):
        order = np.lexsort(table[:, count - 1 :: -1].T)
        ranked = table[order]
        new = np.ones(len(table), dtype=np.bool_)
        new[1:] = (ranked[1:, :count] != ranked[:-1, :count]).any(axis=1)
        if new.all():
            break
    return order, new
