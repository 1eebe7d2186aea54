"""Which inputs a fitted kernel looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from svmselect.kernels import Kernel
from svmselect.kernels.stationary import Stationary
from svmselect.types import Array


def relevance(kernels: Sequence[Kernel], spread: Array) -> Array:
    """(spread_a / l_a)^2 of every input, summing to one; the mean over kernels and their parts.

    ``spread`` is the standard deviation of the inputs as the kernel sees them, so that an input
    that does not vary has no relevance. Without length scales all others are alike.
    """
    d = len(spread)
    parts = []
    for kernel in kernels:
        leaves = [leaf for leaf in kernel.leaves() if isinstance(leaf, Stationary)]
        lengths = [leaf.by_column() for leaf in leaves] or [np.ones(())]
        parts += [(spread / length) ** 2 for length in lengths]
    shares = [part / part.sum() if part.sum() > 0 else np.full(d, 1.0 / d) for part in parts]
    return np.asarray(np.mean(shares, axis=0))


def scales(kernel: Kernel) -> tuple[float | Array, ...]:
    """The length scales of each stationary part, as numbers or vectors."""
    leaves = [leaf for leaf in kernel.leaves() if isinstance(leaf, Stationary)]
    lengths = (np.array(leaf.length_scale, dtype=np.float64) for leaf in leaves)
    return tuple(length if length.ndim else float(length) for length in lengths)


def spread_of(X: Any, weights: Array) -> Array:
    """Weighted standard deviations, zero for a column that does not vary; rows may be sparse."""
    share = weights / weights.sum()
    if sparse.issparse(X):
        mean, square = (np.asarray(share @ part).ravel() for part in (X, X.multiply(X)))
        variance = square - mean**2
        return np.sqrt(np.where(variance > 1e-12 * square, variance, 0.0))
    varies = X.min(axis=0) < X.max(axis=0)
    return np.where(varies, np.sqrt(share @ (X - share @ X) ** 2), 0.0)
