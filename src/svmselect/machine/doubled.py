"""Products in twice the working precision, for sums whose terms nearly cancel.

Each product and each sum is split into its rounded value and its rounding error, both exact (Dekker
1971; Knuth), and the errors are added up apart: the algorithm Dot2 of Ogita, Rump & Oishi (2005),
summed pairwise so that NumPy can do all rows at once.
"""

from __future__ import annotations

import numpy as np

from svmselect.types import Array

_SPLIT = 2.0**27 + 1.0
_ENTRIES = 1 << 18  # at a time


def doubled_product(K: Array, beta: Array) -> Array:
    """K beta, as if computed with twice the digits and then rounded. O(n |support of beta|)."""
    support = np.flatnonzero(beta)
    if not len(support):
        return np.zeros(len(K))
    value = beta[support]
    step = max(1, _ENTRIES // len(support))
    rows = range(0, len(K), step)
    return np.concatenate([_dot(K[i : i + step, support], value) for i in rows])


def doubled_dot(a: Array, b: Array) -> float:
    """a'b likewise."""
    return float(_dot(a[None, :], b)[0]) if len(a) else 0.0


def _dot(A: Array, b: Array) -> Array:
    """A b, at least one column."""
    total = A * b
    (A1, A2), (b1, b2) = _halves(A), _halves(b)
    errors = np.asarray((A2 * b2 - (((total - A1 * b1) - A2 * b1) - A1 * b2)).sum(axis=1))
    while total.shape[1] > 1:
        left, right, odd = total[:, :-1:2], total[:, 1::2], total[:, 2 * (total.shape[1] // 2) :]
        both = left + right
        moved = both - left
        errors += ((left - (both - moved)) + (right - moved)).sum(axis=1)
        total = np.concatenate([both, odd], axis=1)
    return np.asarray(total[:, 0] + errors)


def _halves(x: Array) -> tuple[Array, Array]:
    """Two numbers of 26 bits that add up to x."""
    large = _SPLIT * x
    high = large - (large - x)
    return high, x - high
