"""Kernels of the inner product: what Linear and Polynomial share."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .leaf import Leaf
from .tangents import Memo, Shared, Tangent
from .tiles import Array, Block


class InnerProduct(Leaf):
    """Base class of kernels of the inner product, k(x, z) = f(x.z)."""

    stationary = False
    needs_scaling = True

    @abstractmethod
    def profile(self, t: Array) -> None:
        """Replace t = x.z by f(t).

        Parameters
        ----------
        t : ndarray
            A tile of inner products, changed in place.
        """

    @abstractmethod
    def pull(self, t: Array, G: Array, K: Array | None) -> Array:
        """Compute the sum of ``G * df(t)/dtheta`` for each parameter.

        Parameters
        ----------
        t : ndarray
            A tile of inner products, which may be overwritten.
        G : ndarray
            What multiplies the derivatives.
        K : ndarray or None
            The values f(t), if they are known.

        Returns
        -------
        ndarray of shape (p,)
            One number for each parameter.
        """

    def _diag(self, X: Array) -> Array:
        t: Array = np.einsum("ij,ij->i", X, X)
        self.profile(t)
        return t

    def block(self, X: Array, Z: Array | None) -> Block:
        return _InnerProductBlock(self, X, X if Z is None else Z)

    @abstractmethod
    def derivatives(self, t: Array, K: Array) -> list[Array]:
        """Compute df(t)/dtheta, a matrix for each parameter.

        Parameters
        ----------
        t : ndarray
            Inner products, which may be overwritten.
        K : ndarray
            The values f(t).

        Returns
        -------
        list of ndarray
            One matrix for each parameter.
        """

    def gram(self, X: Array, memo: Memo) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            t = _known_products(X, memo).copy()
            self.profile(t)
        return t

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        return [Shared(matrix) for matrix in self.derivatives(_known_products(X, memo).copy(), K)]


def _known_products(X: Array, memo: Memo) -> Array:
    """The inner products of all rows, made once and kept in ``memo``."""
    if "products" not in memo:
        memo["products"] = X @ X.T
    return np.asarray(memo["products"])


class _InnerProductBlock(Block):
    def __init__(self, kernel: InnerProduct, X: Array, Z: Array) -> None:
        self.kernel, self.X, self.Z = kernel, X, Z

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        np.matmul(self.X[rows], self.Z[cols].T, out=out)
        self.kernel.profile(out)

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        return self.kernel.pull(self.X[rows] @ self.Z[cols].T, G, K)
