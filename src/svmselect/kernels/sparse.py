"""Kernels of sparse rows: from their inner products, so that zeros are never written out.

That serves kernels of x.z and of |x - z|^2 = |x|^2 + |z|^2 - 2 x.z, which are those that stay the
same when the inputs are rotated, and sums and products of them.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from .base import Kernel, Product, Sum
from .constant import Constant
from .dot import InnerProduct
from .linear import Linear
from .stationary import Stationary
from .tiles import Array, Distances

_BLOCK = 2**20  # kernel values at a time: 8 MiB


def rotates(kernel: Kernel) -> bool:
    """Whether the kernel only looks at inner products of rows, by classes that are known here."""
    return all(
        isinstance(leaf, Constant | InnerProduct)
        or (
            isinstance(leaf, Stationary)
            and leaf.distances is Distances
            and isinstance(leaf.length_scale, float)
        )
        for leaf in kernel.leaves()
    )


def of_products(kernel: Kernel, P: Array, a2: Array, b2: Array) -> Array:
    """The kernel's values for inner products P of rows whose squared norms are a2 and b2."""
    if isinstance(kernel, Sum | Product):
        join = np.add if isinstance(kernel, Sum) else np.multiply
        return np.asarray(reduce(join, [of_products(part, P, a2, b2) for part in kernel.parts]))
    if isinstance(kernel, Constant):
        return np.full(P.shape, kernel.value)
    with np.errstate(over="ignore", under="ignore"):
        if isinstance(kernel, InnerProduct):
            values = P.copy()
        else:
            assert isinstance(kernel, Stationary)
            values = np.maximum(a2[:, None] + b2 - 2.0 * P, 0.0)
            values /= np.square(kernel.length_scale)
        kernel.profile(values)
    return values


def rotated(X: Any) -> Array:
    """Dense rows with the inner products of sparse ones, in at most as many columns as rows.

    By Cholesky's factorisation with pivoting: O(n^3 / 3), and what is left out is rounding. A row
    becomes the same whatever the order of the rows.
    """
    from scipy.linalg.lapack import dpstrf

    X = sparse.csr_matrix(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    keys = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in parts]
    canonical = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    X = X[canonical]
    G = np.asarray((X @ X.T).toarray(), order="F")
    n = len(G)
    L, order, rank, _ = dpstrf(G, tol=n * np.finfo(float).eps * G.diagonal().max(), lower=1)
    Z = np.zeros((n, max(int(rank), 1)))
    Z[canonical[order - 1], :rank] = np.tril(L)[:, :rank]
    return Z


class SparseExpansion:
    """f(x) = sum_s coefficients_s k(x, vectors_s): what ``Expansion`` is, for sparse rows."""

    def __init__(self, kernel: Kernel, vectors: Any, coefficients: Array) -> None:
        self.kernel, self.coefficients = kernel, coefficients
        self.columns = sparse.csc_matrix(vectors.T)
        self.b2 = _squares(vectors)
        self.weights = None  # of the inputs, where the kernel is linear in them
        if isinstance(kernel, Linear):
            self.weights = kernel.scale * np.asarray(self.columns @ coefficients)

    def __call__(self, X: Any) -> Array:
        """All functions at some sparse rows."""
        if self.weights is not None:
            return np.asarray(X @ self.weights)
        size = max(1, _BLOCK // max(len(self.b2), 1))
        parts = []
        for at in range(0, X.shape[0], size):
            rows = X[at : at + size]
            P = (rows @ self.columns).toarray()
            parts.append(of_products(self.kernel, P, _squares(rows), self.b2) @ self.coefficients)
        return np.concatenate(parts)


def _squares(X: Any) -> Array:
    """Squared norms of sparse rows."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()
