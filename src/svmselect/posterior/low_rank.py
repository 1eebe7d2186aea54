"""A prior of low rank from a few landmarks, chosen greedily.

Cholesky factorisation with the largest remaining variance as pivot, stopped after r columns, gives
F (n x r) and landmarks P with

    F F' = K_:P K_PP^-1 K_P: = K^,

the Nystrom approximation from the landmarks P: equal to K in the rows and columns of P, and
everywhere when r = n. It costs O(n r^2) and reads r columns of K. With the landmarks held, K^ is a
smooth function of those columns, and a cotangent G on it pulls back, with Y = K_:P K_PP^-1, to
2 G Y on K_:P and -Y'G Y on K_PP: the exact derivative of the approximate value (the choice of P is
piecewise constant). Fine & Scheinberg 2001; Williams & Seeger 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The landmarks ``rows``, in the order chosen, and ``factor`` = F."""

    rows: IntArray
    factor: Array

    @classmethod
    def choose(cls, K: Array, rank: int) -> Landmarks:
        """Choose at most ``rank`` landmarks, fewer where K has no more to give. O(n r^2)."""
        n = len(K)
        if not 1 <= rank <= n:
            raise ValueError(f"rank must be between 1 and the {n} points, got {rank}")
        left = K.diagonal().copy()
        least = n * np.finfo(float).eps * float(left.max())
        factor = np.zeros((n, rank), order="F")
        rows: list[int] = []
        for j in range(rank):
            i = int(left.argmax())
            if left[i] <= least:
                break
            column = (K[:, i] - factor[:, :j] @ factor[i, :j]) / np.sqrt(left[i])
            column[rows] = 0.0  # exactly: those variances are used up
            factor[:, j] = column
            left -= column**2
            left[i] = -np.inf
            rows.append(i)
        return cls(np.array(rows, dtype=np.intp), factor[:, : len(rows)])

    @cached_property
    def weights(self) -> Array:
        """Y = K_:P K_PP^-1, n x r: every latent value as a combination of the landmarks'."""
        # K_:P = F F_P' and K_PP = F_P F_P', F_P a lower triangle
        corner = self.factor[self.rows]
        return np.asarray(solve_triangular(corner, self.factor.T, lower=True, trans=1).T)

    def spread_dual(self, b: Array) -> Array:
        """The vector a, zero but on the landmarks, with K a = K^ b."""
        a = np.zeros_like(b)
        a[self.rows] = b @ self.weights
        return a

    def pullback(self, GY: Array) -> Array:
        """Turn the product G Y into the cotangent on K, n x n and zero but in the columns P."""
        on_columns = 2.0 * GY
        on_columns[self.rows] -= self.weights.T @ GY
        whole = np.zeros((len(GY), len(GY)))
        whole[:, self.rows] = on_columns
        return whole
