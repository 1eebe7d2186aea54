"""A column of very many levels, told by what the target is in each: a target statistic.

``log p(class | level) - log p(class)``, the first probability shrunk to the second as if every
level had ``weight`` more rows of the usual kind. A row that is fitted to has the statistic of the
rows of other folds, so its own target is not in it; a new row has that of all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from svmselect.tables.cells import label
from svmselect.tables.inputs import NAN, Category
from svmselect.tables.table import Column
from svmselect.types import Array, IntArray

MANY = 20
"""Levels from which a statistic is thought of."""
WORTH = 5.0
"""Units of held-out log-likelihood by which it has to beat the levels themselves.

Two rows of one level tell of each other, so pure noise is counted twice: of 1,200 columns of noise
it brought more than 2 in 21 and more than 5 in none.
"""
_GAP = "(missing)"
_FOLDS = 5
_WEIGHTS = (1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True, eq=False)
class Target:
    """An input of words that became the statistic of their level; 0 where it is not known.

    ``rare`` is the share of rows whose level no other row has, as new rows may have new levels.
    """

    name: str
    levels: NDArray[np.str_]
    values: Array
    common: str
    gap: bool = False
    rare: float = 1.0
    kind: ClassVar[str] = "target statistic"

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for two classes, else one a class."""
        count = self.values.shape[1]
        return tuple(f"{self.name}: {of}" for of in (["target"] if count == 1 else range(count)))

    @property
    def parts(self) -> tuple[int, ...]:
        """One length scale."""
        return (len(self.columns),)

    @property
    def spans(self) -> tuple[float, ...]:
        """The statistic is to be standardised."""
        return (NAN,) * len(self.columns)

    @property
    def words(self) -> str:
        """What becomes of it."""
        return f"{len(self.levels)} levels, told by what the target is in each"

    @property
    def categories(self) -> tuple[str, ...]:
        """The levels."""
        return tuple(level for level in self.levels.tolist() if self.is_word(level))

    def is_word(self, level: str) -> bool:
        """Whether a level stands for a word, not for gaps."""
        return level != _GAP

    def unseen(self, column: Column) -> Counter[str]:
        """Words that the model does not know, with their numbers."""
        cells = zip(column, self._codes(column), strict=True)
        return Counter(cell for cell, code in cells if code < 0 and cell is not None)

    def _codes(self, column: Column) -> IntArray:
        place = {level: i for i, level in enumerate(self.levels.tolist())}
        return np.array([place.get(_key(cell), -1) for cell in column], dtype=np.intp)

    def encode(self, column: Column) -> Array:
        """The statistic of every cell."""
        codes = self._codes(column)
        return np.where(codes[:, None] < 0, 0.0, self.values[codes])


def worthwhile(
    one: Category, column: Column, y: NDArray[Any], groups: Any, seed: int
) -> tuple[Target, Array] | None:
    """The statistic and its values out of fold, if it says more of held-out rows than levels do."""
    keys = [_key(cell) for cell in column]
    levels, codes = np.unique(np.array(keys), return_inverse=True)
    if len(levels) < MANY or not one.pooled:
        return None
    classes = np.unique(y, return_inverse=True)[1].ravel()
    fold = _folds(len(y), groups, seed)
    told = {w: _held_out(codes.ravel(), classes, fold, w) for w in _WEIGHTS}
    best = max(_WEIGHTS, key=lambda w: _gain(told[w], classes))
    pooled = one.codes(column)
    plain = max(_gain(_held_out(pooled, classes, fold, w), classes) for w in _WEIGHTS)
    if _gain(told[best], classes) < max(plain, 0.0) + WORTH:
        return None
    values = _statistic(codes.ravel(), classes, best, len(levels))
    lone = float(np.mean(np.bincount(codes.ravel())[codes.ravel()] == 1))
    made = Target(one.name, levels, _columns(values), one.common, one.gap, lone)
    return made, _columns(told[best])


def _folds(n: int, groups: Any, seed: int) -> IntArray:
    """A fold for every row, or for every group."""
    rng = np.random.default_rng(seed)
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    return np.asarray((rng.permutation(int(units.max()) + 1) % _FOLDS)[units])


def _held_out(codes: IntArray, classes: IntArray, fold: IntArray, weight: float) -> Array:
    """The statistic of every row by the rows of the other folds."""
    k, levels = int(classes.max()) + 1, int(codes.max()) + 1
    found = np.zeros((len(codes), k))
    for f in range(_FOLDS):
        own = fold == f
        made = _statistic(codes[~own], classes[~own], weight, levels, k)
        found[own] = made[codes[own]]
    return found


def _statistic(
    codes: IntArray, classes: IntArray, weight: float, levels: int, k: int | None = None
) -> Array:
    """log p(class | level) - log p(class), levels x classes."""
    k = int(classes.max()) + 1 if k is None else k
    counts = np.zeros((levels, k))
    np.add.at(counts, (codes, classes), 1.0)
    prior = (counts.sum(axis=0) + 1.0 / k) / (counts.sum() + 1.0)
    shrunk = (counts + weight * prior) / (counts.sum(axis=1, keepdims=True) + weight)
    return np.asarray(np.log(shrunk / prior))


def _gain(statistic: Array, classes: IntArray) -> float:
    """Held-out log-likelihood of the classes by the statistic alone, over that of their shares."""
    shares = np.bincount(classes, minlength=statistic.shape[1]) / len(classes)
    p = shares * np.exp(statistic)
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(len(classes))
    return float(np.log(p[rows, classes] / shares[classes]).sum())


def _columns(statistic: Array) -> Array:
    """Of two classes the log odds, which say all."""
    return statistic[:, 1:] - statistic[:, :1] if statistic.shape[1] == 2 else statistic


def _key(cell: str | None) -> str:
    """A level, however it is spelled; a gap is one as well."""
    return _GAP if cell is None else label(" ".join(cell.split()))
