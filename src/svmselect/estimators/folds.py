"""Folds for the estimators: numbers, splitters and ready splits, with groups, as two tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.criteria.splits import as_pairs, check_range, check_trained, row_numbers
from svmselect.data import stratified_folds
from svmselect.types import Array, BoolArray, IntArray, Note

_FEW = (1000,)
"""Numbers of rows up to which the folds are drawn once more."""


@dataclass(frozen=True, eq=False)
class Splits:
    """Rows against splits: which rows are held out (``test``), which are trained on (``train``).

    An entry of ``train`` counts how often a split names the row. ``again`` are the held-out rows
    of further rounds of folds, drawn anew, for those who want to rely less on one round.
    ``lone`` is whether all that there is of a class is trained on by every split.
    """

    test: BoolArray
    train: IntArray
    again: BoolArray
    notes: tuple[Note, ...] = ()
    lone: bool = False

    def at(self, rows: IntArray) -> Splits:
        """The same splits for these rows."""
        return replace(self, test=self.test[rows], train=self.train[rows], again=self.again[rows])

    @property
    def tables(self) -> tuple[BoolArray, IntArray, BoolArray]:
        """``test``, ``train`` and ``again``."""
        return self.test, self.train, self.again

    @property
    def rounds(self) -> int:
        """How often the rows are split into folds."""
        return int(1 + self.again.shape[1] // max(self.test.shape[1], 1))

    @property
    def complete(self) -> bool:
        """Whether every split trains on all rows that it does not hold out."""
        return bool((self.train == ~self.test).all())

    def ready(self, rows: IntArray) -> list[tuple[IntArray, IntArray]]:
        """(training rows, held-out rows) as positions within ``rows``; empty ones left out."""
        test, train = self.test[rows], self.train[rows]
        return [
            (np.repeat(np.arange(len(rows)), train[:, k]), np.flatnonzero(test[:, k]))
            for k in range(test.shape[1])
            if test[:, k].any()
        ]


def make_splits(
    cv: Any,
    X: Array,
    y: NDArray[Any],
    kept: IntArray,
    codes: IntArray,
    groups: NDArray[Any] | None,
    seed: int,
    classes: NDArray[Any],
) -> Splits:
    """Splits of the rows ``kept`` of the caller's ``y``; ``codes`` are their classes.

    ``cv`` is a number of stratified folds (None: 5), a splitter, or ready splits; the last two
    speak of the caller's rows, all of them.
    """
    if isinstance(cv, bool) or (isinstance(cv, Integral) and cv < 2):
        raise ValueError(f"cv={cv!r} makes no folds; give a number from 2 on, a splitter or splits")
    if cv is None or isinstance(cv, Integral):
        wanted = 5 if cv is None else int(cv)
        members = None if groups is None else groups[kept]
        return _stratified(wanted, codes, members, seed, classes, y)
    pairs = _pairs(cv, X, y, groups)
    position = np.full(len(y), -1)
    position[kept] = np.arange(len(kept))
    test = np.zeros((len(kept), len(pairs)), dtype=np.bool_)
    train = np.zeros((len(kept), len(pairs)), dtype=np.intp)
    lone = _lone(codes, None)
    for k, (train_rows, test_rows) in enumerate(pairs):
        to_train, to_test = (_rows(part, len(y), k) for part in (train_rows, test_rows))
        np.add.at(train[:, k], position[to_train][position[to_train] >= 0], 1)
        test[position[to_test][position[to_test] >= 0], k] = True
        test[lone, k] = False
        train[lone, k] = np.maximum(train[lone, k], 1)
        _check_split(train[:, k], test[:, k], codes, classes, k)
    if not test.any():
        raise ValueError("cv holds out no row that has weight; give splits that do")
    found = Splits(test, train, np.zeros((len(kept), 0), dtype=np.bool_))
    return _around(found, lone, codes, classes) if lone.any() else found


def _stratified(
    k: int,
    codes: IntArray,
    groups: NDArray[Any] | None,
    seed: int,
    classes: NDArray[Any],
    y: NDArray[Any],
) -> Splits:
    if (lone := _lone(codes, groups)).any():
        rest = np.flatnonzero(~lone)
        others = None if groups is None else groups[rest]
        found = _stratified(k, np.zeros_like(rest), others, seed, classes, y)
        made = found.at(np.zeros(len(codes), dtype=np.intp))
        for table, part in zip(made.tables, found.tables, strict=True):
            table[lone], table[rest] = False, part
        return _around(made, lone, codes, classes)
    counts = np.bincount(codes)
    rarest = int(counts.argmin())
    label = classes.tolist()[rarest]
    if len(counts) > 1 and counts[rarest] < 2:
        rows = int(np.count_nonzero(y == classes[rarest]))
        has = "one member only" if rows < 2 else f"{rows} rows, but one only that has weight"
        raise ValueError(
            f"class {label!r} has {has}, so no fold can hold it out and train on it: add rows of "
            "this class, merge it with another class, or leave it out"
        )
    notes = []
    most = len(codes) if groups is None else len(np.unique(groups))
    if most < k and groups is not None:
        notes.append(Note("data", f"{most} folds in place of {k}: there are {most} groups"))
        if most < 2:
            raise ValueError("all rows are of one group; folds need two groups or more")
    elif most < k:
        notes.append(Note("data", f"{most} folds in place of {k}: there are {most} rows"))
    k = min(k, most)
    if counts[rarest] < k:
        said = (
            f"class {label!r} has {counts[rarest]} members, fewer than the {k} folds: its part of "
            "the cross-validation rests on little"
        )
        notes.append(Note("data", said))
    test = _round(codes, k, seed, groups)
    # the fewer the rows, the more chance has a say in how they are split
    again = [_round(codes, k, seed + r, groups) for r in range(1, _rounds(len(codes)))]
    train = (~test).astype(np.intp)
    return Splits(test, train, np.hstack([test[:, :0], *again]), tuple(notes))


def _lone(codes: IntArray, groups: NDArray[Any] | None) -> BoolArray:
    """Which rows are all that there is of one of two classes: one row, or rows of one group."""
    units = [
        len(rows) if groups is None else len(np.unique(groups[rows]))
        for rows in (np.flatnonzero(codes == code) for code in range(2))
    ]
    if codes.max() > 1 or max(units) < 2:
        return np.zeros(len(codes), dtype=np.bool_)
    return np.isin(codes, np.flatnonzero(np.array(units) < 2))


def _around(splits: Splits, lone: BoolArray, codes: IntArray, classes: NDArray[Any]) -> Splits:
    """The same with rows that every split trains on and none holds out."""
    first = int(np.flatnonzero(lone)[0])
    rows = int(lone.sum())
    said = (
        f"class {classes.tolist()[codes[first]]!r} has "
        f"{'one row' if rows == 1 else f'{rows} rows of one group'}, which all folds train on and "
        "none holds out: C and the kernel are what is usual rather than chosen, scoring and "
        "threshold have no say, probabilities of this class come from counts, and the error is "
        "that of the other"
    )
    train = splits.train.copy()
    train[lone] = np.maximum(train[lone], 1)
    kept = splits.test.any(axis=0)
    return Splits(splits.test[:, kept], train[:, kept], splits.again, (Note("data", said),), True)


def _rounds(n: int) -> int:
    """How often n rows are split into folds."""
    return 1 + sum(n <= few for few in _FEW)


def _round(codes: IntArray, k: int, seed: int, groups: NDArray[Any] | None) -> BoolArray:
    """One round of folds: each row is held out once."""
    test = np.zeros((len(codes), k), dtype=np.bool_)
    for fold, rows in enumerate(stratified_folds(codes, k, seed, groups)):
        test[rows, fold] = True
    return test


def _pairs(
    cv: Any, X: Array, y: NDArray[Any], groups: NDArray[Any] | None
) -> list[tuple[Any, Any]]:
    split = None if isinstance(cv, str | bytes) else getattr(cv, "split", None)
    return as_pairs(split(X, y, groups) if callable(split) else cv)


def _rows(part: Any, n: int, number: int) -> IntArray:
    rows = row_numbers(part, number)
    check_range(rows, n, number)
    return rows


def _check_split(
    train: IntArray, test: BoolArray, codes: IntArray, classes: NDArray[Any], number: int
) -> None:
    if (test & (train > 0)).any():
        raise ValueError(
            f"cv: split {number} trains on a row that it holds out; hold out rows that the machine "
            "does not see"
        )
    check_trained(np.bincount(codes, train, len(classes)), classes, number)
