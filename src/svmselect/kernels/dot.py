"""Kernels of the inner product: what Linear and Polynomial share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .leaf import Leaf
from .tangents import Memo, Shared, Tangent
from .tiles import Array, Block


class InnerProduct(Leaf):
    """k(x, z) = f(x.z); a subclass gives f and its derivatives on a tile of inner products."""

    stationary = False
    needs_scaling = True

    @abstractmethod
    def profile(self, t: Array) -> None:
        """Replace t = x.z by f(t)."""

    @abstractmethod
    def pull(self, t: Array, G: Array, K: Array | None) -> Array:
        """Sum of G * df(t)/dtheta, for each parameter; ``K`` is f(t) if known, ``t`` is spent."""

    def _diag(self, X: Array) -> Array:
        t: Array = np.einsum("ij,ij->i", X, X)
        self.profile(t)
        return t

    def block(self, X: Array, Z: Array | None) -> Block:
        return _InnerProductBlock(self, X, X if Z is None else Z)

    @abstractmethod
    def derivatives(self, t: Array, K: Array) -> list[Array]:
        """df(t)/dtheta as matrices, a parameter each; ``t`` is spent."""

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        return [Shared(matrix) for matrix in self.derivatives(X @ X.T, K)]


class _InnerProductBlock(Block):
    def __init__(self, kernel: InnerProduct, X: Array, Z: Array) -> None:
        self.kernel, self.X, self.Z = kernel, X, Z

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        np.matmul(self.X[rows], self.Z[cols].T, out=out)
        self.kernel.profile(out)

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        return self.kernel.pull(self.X[rows] @ self.Z[cols].T, G, K)
