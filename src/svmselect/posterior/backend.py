"""The dense linear algebra of the posterior, in NumPy or, on request, in torch.

Everything of cost O(n) stays in NumPy; only n x n matrices live on the device. Arrays of both
libraries share the operators ``@ * + **``, ``.T`` and indexing, so that the algorithms are written
once; what differs is here. torch is loaded only when a device other than "cpu" is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

import numpy as np
from scipy.linalg import blas, lapack

from svmselect.devices import Matrix, load_torch
from svmselect.types import Array

_BLOCK = 256  # below this size recursion costs more than it saves
_THIN = 2500  # the same for a product with few columns


class Backend(Protocol):
    """What the posterior asks of an array library."""

    def put(self, array: Array) -> Matrix:
        """Move to the device; the result is not written to."""

    def get(self, matrix: Matrix) -> Array:
        """Move back to NumPy."""

    def add_diagonal(self, matrix: Matrix, value: Any) -> Matrix:
        """Add a number, or a vector of the device, to the diagonal, in place."""

    def zero_diagonal(self, matrix: Matrix) -> Matrix:
        """Set the diagonal to zero, in place."""

    def cholesky(self, matrix: Matrix) -> Matrix | None:
        """Lower factor, None if not positive definite; may overwrite the argument. n^3/3 flops."""

    def lower_inverse(self, lower: Matrix) -> Matrix:
        """Inverse of a lower triangle, zeros above; may overwrite the argument. n^3/3 flops."""

    def lower_gram(self, lower: Matrix) -> Matrix:
        """L'L for a lower triangle L, both halves of it. n^3/3 flops."""

    def lower_solve(self, lower: Matrix, right: Matrix) -> Matrix:
        """L^-1 right."""

    def lower_times(self, lower: Matrix, right: Matrix) -> Matrix:
        """L right; may overwrite right. Half the flops of a product."""

    def column_norms(self, matrix: Matrix) -> Array:
        """Sum of squares of each column, in NumPy."""


class NumpyBackend:
    """LAPACK through SciPy."""

    def put(self, array: Array) -> Matrix:
        return array

    def get(self, matrix: Matrix) -> Array:
        return np.asarray(matrix)

    def add_diagonal(self, matrix: Matrix, value: Any) -> Matrix:
        matrix[np.diag_indices(len(matrix))] += value
        return matrix

    def zero_diagonal(self, matrix: Matrix) -> Matrix:
        np.fill_diagonal(matrix, 0.0)
        return matrix

    def cholesky(self, matrix: Matrix) -> Matrix | None:
        # symmetric, so the transpose is the same matrix in LAPACK's order
        lower, info = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1, clean=1)
        return None if info else lower

    def lower_inverse(self, lower: Matrix) -> Matrix:
        return lapack.dtrtri(lower, lower=1, overwrite_c=1)[0]

    def lower_gram(self, lower: Matrix) -> Matrix:
        product = lapack.dlauum(lower, lower=1)[0]
        return product + np.tril(product, -1).T

    def lower_solve(self, lower: Matrix, right: Matrix) -> Matrix:
        return blas.dtrsm(1.0, lower, right, lower=1)

    def lower_times(self, lower: Matrix, right: Matrix) -> Matrix:
        # as (right' L')', so that nothing is copied
        return blas.dtrmm(1.0, lower, right.T, side=1, lower=1, trans_a=1, overwrite_b=1).T

    def column_norms(self, matrix: Matrix) -> Array:
        return np.asarray(np.einsum("ij,ij->j", matrix, matrix))


class TorchBackend:
    """torch in float64. Triangles are halved until they are small, so that the work is products."""

    def __init__(self, device: str) -> None:
        self.torch = load_torch(device)
        self.device = self.torch.device(device.removeprefix("torch-"))

    def put(self, array: Array) -> Matrix:
        given = np.ascontiguousarray(array)
        if self.device.type == "cpu" or not given.flags.writeable:  # torch shares no such memory
            return self.torch.tensor(given, dtype=self.torch.float64, device=self.device)
        return self.torch.from_numpy(given).to(self.device, dtype=self.torch.float64)

    def get(self, matrix: Matrix) -> Array:
        return np.asarray(matrix.cpu().numpy())

    def add_diagonal(self, matrix: Matrix, value: Any) -> Matrix:
        matrix.diagonal().add_(value)
        return matrix

    def zero_diagonal(self, matrix: Matrix) -> Matrix:
        matrix.diagonal().zero_()
        return matrix

    def cholesky(self, matrix: Matrix) -> Matrix | None:
        lower, info = self.torch.linalg.cholesky_ex(matrix)
        return None if int(info) else lower

    def lower_inverse(self, lower: Matrix) -> Matrix:
        out = self.torch.zeros_like(lower)
        self._invert(lower, out)
        return out

    def _invert(self, lower: Matrix, out: Matrix) -> None:
        n = len(lower)
        if n <= _BLOCK:
            eye = self.torch.eye(n, dtype=lower.dtype, device=lower.device)
            out.copy_(self.torch.linalg.solve_triangular(lower, eye, upper=False))
            return
        k = n // 2
        self._invert(lower[:k, :k], out[:k, :k])
        self._invert(lower[k:, k:], out[k:, k:])
        out[k:, :k] = -(out[k:, k:] @ (lower[k:, :k] @ out[:k, :k]))

    def lower_gram(self, lower: Matrix) -> Matrix:
        out = self.torch.empty_like(lower)
        self._gram(lower, out)
        return out

    def _gram(self, lower: Matrix, out: Matrix) -> None:
        n = len(lower)
        if n <= _BLOCK:
            out.copy_(lower.T @ lower)
            return
        k = n // 2
        self._gram(lower[:k, :k], out[:k, :k])
        self._gram(lower[k:, k:], out[k:, k:])
        out[:k, :k] += lower[k:, :k].T @ lower[k:, :k]
        out[k:, :k] = lower[k:, k:].T @ lower[k:, :k]
        out[:k, k:] = out[k:, :k].T

    def lower_solve(self, lower: Matrix, right: Matrix) -> Matrix:
        return self.torch.linalg.solve_triangular(lower, right, upper=False)

    def lower_times(self, lower: Matrix, right: Matrix) -> Matrix:
        n = len(lower)
        if n <= _THIN:
            return lower @ right
        k = n // 2
        below = lower[k:, :k] @ right[:k] + self.lower_times(lower[k:, k:], right[k:])
        return self.torch.cat((self.lower_times(lower[:k, :k], right[:k]), below))

    def column_norms(self, matrix: Matrix) -> Array:
        return self.get((matrix * matrix).sum(0))


@cache
def get_backend(device: str) -> Backend:
    """Give the backend for "cpu" (NumPy), "torch-cpu", "cuda" or "cuda:1"."""
    return NumpyBackend() if device == "cpu" else TorchBackend(device)
