"""Sums of kernels to fixed vectors, as predicting needs them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .base import Kernel
from .tiles import TILE, Array, Block


class Expansion:
    """f(x) = sum_s coefficients_s k(x, vectors_s), one function a column of ``coefficients``.

    What depends on the vectors alone is made once. The rows that come are known to be numbers.
    """

    def __init__(self, kernel: Kernel, vectors: Array, coefficients: Array) -> None:
        self.coefficients = coefficients
        self.bound: Callable[[Array], Block] = kernel.against(vectors)

    def __call__(self, X: Array) -> Array:
        """All functions at some rows: one pass over the vectors for all of them. O(n m d)."""
        m = len(self.coefficients)
        f = np.empty((len(X), self.coefficients.shape[1]))
        size = max(1, TILE * TILE // max(m, 1))  # rows whose kernel values stay in cache
        K = np.empty((min(size, len(X)), m))
        with np.errstate(over="ignore", under="ignore"):
            block = self.bound(X)
            for at in range(0, len(X), size):
                rows = slice(at, min(at + size, len(X)))
                part = K[: rows.stop - at]
                block.fill(rows, slice(0, m), part)
                np.matmul(part, self.coefficients, out=f[rows])
        return f
