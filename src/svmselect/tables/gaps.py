"""Gaps in arrays of numbers, which are NaN there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.tables.telling import pays
from svmselect.types import Array, BoolArray, IntArray

NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Gaps:
    """What stands in for gaps: the median of each column, and a column that tells of them.

    ``told`` are the columns whose gaps say something, as in a data frame: each is followed by the
    column that is 1 where it is missing. A gap elsewhere becomes the median and no more, and
    ``filled`` says that there were such.
    """

    middle: Array
    told: BoolArray
    filled: bool = False

    @classmethod
    def of(cls, X: Array, missing: str = "auto", y: NDArray[Any] | None = None) -> Gaps:
        """Learn medians, and which gaps to tell: where that pays, all of them without labels."""
        gaps = np.isnan(X)
        there = gaps.any(axis=0)
        middle = np.zeros(X.shape[1])
        middle[~there] = np.median(X[:, ~there], axis=0)
        for a in np.flatnonzero(there):
            known = X[~gaps[:, a], a]
            middle[a] = np.median(known) if len(known) else 0.0
        told = np.asarray(there & ~gaps.all(axis=0), dtype=np.bool_)
        if missing != "auto":
            return cls(middle, np.zeros_like(told))
        if y is not None and told.any():
            classes = np.unique(y, return_inverse=True)[1].ravel()
            told &= [bool(t) and pays(X[:, a], classes) for a, t in enumerate(told)]
        return cls(middle, told, bool(np.any(there & ~told)))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        told = ~np.isnan(self.spans)
        pairs = zip(self.owners.tolist(), told.tolist(), strict=True)
        return tuple(f"x{a} is missing" if gap else f"x{a}" for a, gap in pairs)

    @property
    def owners(self) -> IntArray:
        """The input that each encoded column comes from."""
        return np.repeat(np.arange(len(self.told)), 1 + self.told.astype(np.intp))

    @property
    def variables(self) -> IntArray:
        """The length scale that each encoded column has: one for each input."""
        return self.owners

    @property
    def spans(self) -> Array:
        """What each encoded column is divided by; NaN where that is its standard deviation."""
        spans = np.full(len(self.owners), NAN)
        spans[1:][np.diff(self.owners) == 0] = 1.0
        return spans

    @property
    def plain(self) -> bool:
        """Whether the columns are the inputs as they are."""
        return not self.told.any() and not self.filled

    def encode(self, X: Array) -> Array:
        """The columns, filled in, and those that tell of gaps; X itself if it has none to tell."""
        gaps = np.isnan(X)
        if self.plain and not gaps.any():
            return X
        filled = np.where(gaps, self.middle, X)
        wide = filled[:, self.owners]
        second = np.flatnonzero(~np.isnan(self.spans))
        wide[:, second] = gaps[:, self.told]
        return wide
