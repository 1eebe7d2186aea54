"""Whether it pays to tell that a value is missing, or its median says all.

A column that tells of gaps is one more thing in which rows differ. It pays where rows with a gap
have other classes than rows without, or than the rows around the median, for which they would pass.
"""

from __future__ import annotations

import numpy as np

from svmselect.types import Array, BoolArray, IntArray

WORTH = 2.0
"""Units of log-likelihood, beyond one for each further class, that telling has to bring."""
FEW = 3
"""Rows with a gap, below which nothing can be said of them."""
_AROUND = 0.2
_LEAST = 20


def pays(values: Array, classes: IntArray) -> bool:
    """Whether gaps, which are NaN, are to be told; the classes are counted from 0."""
    gaps = np.isnan(values)
    known = np.flatnonzero(~gaps)
    if np.count_nonzero(gaps) < FEW:
        return False
    size = min(len(known), max(_LEAST, round(_AROUND * len(known))))
    away = np.abs(values[known] - np.median(values[known]))
    around = np.zeros(len(values), dtype=np.bool_)
    around[known[away <= np.partition(away, size - 1)[size - 1]]] = True
    return any(_gain(gaps, others, classes) > WORTH for others in (~gaps, around))


def _gain(some: BoolArray, others: BoolArray, classes: IntArray) -> float:
    """Log-likelihood of two groups having shares of their own, less one for each that is free."""
    k = int(classes.max()) + 1
    counts = np.array([np.bincount(classes[rows], minlength=k) for rows in (some, others)], float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    there = counts > 0
    gain = float((counts[there] * np.log(counts[there] / expected[there])).sum())
    return gain - np.count_nonzero(counts.sum(axis=0)) + 1.0
