"""The bordered symmetric system that every machine comes down to,

    [[A, 1], [1', 0]] (x, shift) = (rhs, total),    A = K + diag(ridge),

or A x = rhs alone where there is no intercept; factored once, by Cholesky.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class Bordered:
    """``factor`` is the lower Cholesky factor of A + lift 11'.

    Where x sums to a given total the lift changes nothing but ``shift``, and it lets A be singular
    in the direction of the ones (a centred kernel).
    """

    factor: Array
    lift: float
    border: bool

    @classmethod
    def of(cls, K: Array, ridge: Array, border: bool) -> Bordered | None:
        """Factor the system, O(m^3); None where A is not positive definite."""
        A = K.copy()
        A.flat[:: len(A) + 1] += ridge
        border = border and len(A) > 0
        lift = (float(K.diagonal().mean()) or 1.0) if border else 0.0
        A += lift
        if not len(A):
            return cls(A, lift, border)
        L, info = lapack.dpotrf(A.T, lower=1, overwrite_a=1)  # A' is A, in LAPACK's order
        return cls(L, lift, border) if info == 0 else None

    def _block_solve(self, rhs: Array) -> Array:
        if not len(self.factor):
            return np.zeros_like(rhs)
        return np.asarray(lapack.dpotrs(self.factor, rhs, lower=1)[0])

    @cached_property
    def ones(self) -> Array:
        """(A + lift 11')^-1 1."""
        return self._block_solve(np.ones(len(self.factor)))

    def solve(self, rhs: Array, total: float | Array = 0.0) -> tuple[Array, Array]:
        """Give x and shift; ``rhs`` is a vector or a matrix of columns. O(m^2) a column."""
        x = self._block_solve(rhs)
        if not self.border:
            return x, np.zeros(rhs.shape[1:])
        shift = (x.sum(axis=0) - total) / self.ones.sum()
        x = x - np.multiply.outer(self.ones, shift)
        return x, np.asarray(shift + self.lift * np.asarray(total))

    def inverse(self) -> Array:
        """The block of the inverse that x sees. O(m^3)."""
        if not len(self.factor):
            return np.zeros((0, 0))
        half, _ = lapack.dpotri(self.factor, lower=1)  # above the diagonal zero, as the factor is
        inverse = half + half.T
        inverse.flat[:: len(half) + 1] *= 0.5
        if self.border:
            root = self.ones / np.sqrt(self.ones.sum())
            inverse -= np.outer(root, root)
        return np.asarray(inverse)

    def logdet(self) -> float:
        """log |det| of the bordered matrix."""
        value = 2.0 * float(np.log(self.factor.diagonal()).sum()) if len(self.factor) else 0.0
        return value + float(np.log(self.ones.sum())) if self.border else value
