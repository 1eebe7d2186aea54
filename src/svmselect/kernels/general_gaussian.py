"""The Gaussian kernel of any ellipsoid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .leaf import Leaf
from .tiles import Array, Block, Distances

_ONE = np.ones(())


@dataclass(frozen=True, repr=False)
class GeneralGaussian(Leaf):
    """Gaussian kernel of a positive definite matrix, ``k(x, z) = exp(-(x - z)' M (x - z) / 2)``.

    Parameters
    ----------
    entries : sequence of float, default (1.0,)
        Exponentials of the upper triangle of log M, the matrix logarithm, row by row: d (d + 1) / 2
        numbers for d inputs. ``of`` makes them from M. One number is a multiple of the unit matrix,
        for any d.

    Notes
    -----
    M = exp(S) with S symmetric is positive definite whatever S is, and every M has one S; so the
    search is free in the entries of S, which are the logarithms of ``entries``. Off the diagonal an
    entry below one is a negative one of S. A diagonal M is that of ``RBF`` with a length scale for
    each input, ``M_aa = 1 / l_a^2``; what is new are inputs that are combined. The derivative in S
    is that of the matrix exponential. O(d^2) parameters: for a handful of inputs.

    References
    ----------
    Glasmachers & Igel 2005 (Gradient-based adaptation of general Gaussian kernels).

    Examples
    --------
    >>> from svmselect.kernels import GeneralGaussian
    >>> kernel = GeneralGaussian.of([[2.0, -1.0], [-1.0, 2.0]])
    >>> kernel([[0.0, 0.0]], [[1.0, 1.0], [1.0, -1.0]]).round(4)  # exp(-1), exp(-3)
    array([[0.3679, 0.0498]])
    """

    entries: Sequence[float] = (1.0,)

    stationary = True
    needs_scaling = True
    box: ClassVar[dict[str, tuple[float, float]]] = {"entries": (1e-6, 1e6)}
    per_input: ClassVar[frozenset[str]] = frozenset({"entries"})

    def __post_init__(self) -> None:
        """Check that they fill a triangle."""
        super().__post_init__()
        object.__setattr__(self, "entries", tuple(np.atleast_1d(self.entries).tolist()))
        d = self.inputs
        if d * (d + 1) // 2 != len(self.entries):
            raise ValueError(
                f"{self._label('entries')} has {len(self.entries)} numbers, which fill no "
                "triangle; d inputs need d (d + 1) / 2 (see GeneralGaussian.of)"
            )

    @classmethod
    def of(cls, matrix: ArrayLike) -> Self:
        """Make the kernel of a matrix.

        Parameters
        ----------
        matrix : array-like of shape (d, d)
            M, symmetric and positive definite.

        Returns
        -------
        GeneralGaussian
            The kernel.
        """
        M = np.asarray(matrix, dtype=np.float64)
        if M.ndim != 2 or M.shape[0] != M.shape[1] or not np.allclose(M, M.T):
            raise ValueError(f"the matrix must be square and symmetric, got shape {M.shape}")
        values, V = np.linalg.eigh(M)
        if not values[0] > 0:
            raise ValueError(
                f"the matrix must be positive definite; its least eigenvalue is {values[0]:.3g}"
            )
        S = (V * np.log(values)) @ V.T
        return cls(tuple(np.exp(S[np.triu_indices(len(S))]).tolist()))

    @property
    def inputs(self) -> int:
        """How many inputs the matrix is for; one: any number of them."""
        return (isqrt(8 * len(self.entries) + 1) - 1) // 2

    @property
    def matrix(self) -> Array:
        """M."""
        values, V = self._spectrum
        return np.asarray((V * np.exp(values)) @ V.T)

    @property
    def names(self) -> tuple[str, ...]:
        # no index of one number: these are no vector of alike parameters
        pairs = zip(*np.triu_indices(self.inputs), strict=True)
        return tuple(f"generalgaussian.entry[{i},{j}]" for i, j in pairs)

    @property
    def _spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues and vectors of S = log M."""
        d = self.inputs
        S = np.zeros((d, d))
        S[np.triu_indices(d)] = self.theta
        values, V = np.linalg.eigh(S, UPLO="U")
        return values, V

    def _diag(self, X: Array) -> Array:
        return np.ones(len(X))

    def block(self, X: Array, Z: Array | None) -> Block:
        if self.inputs > 1 and X.shape[1] != self.inputs:
            raise ValueError(
                f"{type(self).__name__} has a matrix for {self.inputs} inputs but the data have "
                f"{X.shape[1]} columns"
            )
        values, V = self._spectrum
        if self.inputs == 1:
            values, V = np.repeat(values, X.shape[1]), np.eye(X.shape[1])
        return _Block(values, V, self.inputs == 1, X, Z)


class _Block(Block):
    """Distances of inputs mapped by M^1/2."""

    def __init__(self, values: Array, V: Array, single: bool, X: Array, Z: Array | None) -> None:
        self.values, self.V, self.single = values, V, single
        # in the eigenvectors' coordinates, where M is diagonal
        root = np.exp(0.5 * self.values)
        self.distances = Distances.of(
            X @ self.V * root, None if Z is None else Z @ self.V * root, _ONE
        )

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        self.distances.fill(rows, cols, out)
        out *= -0.5
        np.exp(out, out=out)

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        if K is None:
            K = np.empty_like(G)
            self.fill(rows, cols, K)
        W = G * K
        A, B = self.distances.A[rows], self.distances.B[cols]
        # sum_ij W_ij (a_i - b_j)(a_i - b_j)', in the eigenvectors' coordinates times root M
        cross = A.T @ W @ B
        Q = (A.T * W.sum(axis=1)) @ A + (B.T * W.sum(axis=0)) @ B - cross - cross.T
        if self.single:
            return np.array([-0.5 * np.trace(Q)])
        # the derivative of exp at S: the eigenvalues' divided differences; root M taken out of Q
        gap = np.subtract.outer(self.values, self.values)
        # (e^a - e^b)/(a - b) = e^((a+b)/2) sinh(gap/2)/(gap/2), and Q has e^((a+b)/2) already
        half = 0.5 * gap
        ratio = np.where(np.abs(half) > 1e-6, np.sinh(half) / np.where(half == 0, 1.0, half), 1.0)
        H = self.V @ (ratio * Q) @ self.V.T
        upper = np.triu_indices(len(H))
        return np.asarray(-0.5 * np.where(upper[0] == upper[1], 1.0, 2.0) * H[upper])
