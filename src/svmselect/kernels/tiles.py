"""Gram matrices tile by tile: every elementwise pass runs on data that is still in cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = tuple[NDArray[np.intp], NDArray[np.intp]]

TILE = 200
"""Side of a tile: 320 KB, so that a tile and its scratch copy fit in a second-level cache.

Not a power of two: a transposed write at such a stride keeps missing the cache (five times slower).
"""

_BELOW = np.tri(TILE, k=-1, dtype=np.bool_)

NEAR = 2.0**-16
"""Pairs closer than this, relative to their norms, have their distance recomputed exactly."""

_LARGEST = 1e150
"""Scaled inputs are clipped here: their squares and the sums of those stay finite."""


class Block(ABC):
    """A kernel bound to two sets of rows; it fills and differentiates one tile at a time."""

    @abstractmethod
    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        """Write k(x_i, z_j) for one tile.

        Parameters
        ----------
        rows, cols : slice
            The rows and columns of the tile.
        out : ndarray
            The array that receives the values.
        """

    @abstractmethod
    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        """Compute ``sum_ij G_ij dK_ij/dtheta`` over one tile.

        Parameters
        ----------
        rows, cols : slice
            The rows and columns of the tile.
        G : ndarray
            What multiplies the derivatives.
        K : ndarray or None
            The kernel's values on the tile, if they are known.

        Returns
        -------
        ndarray of shape (p,)
            One number for each entry of ``theta``.
        """


@runtime_checkable
class Tiled(Protocol):
    """A matrix that is made tile by tile, so that it need not be there as a whole."""

    def tile(self, rows: slice, cols: slice) -> Array:
        """One tile of it."""


def tiles(n: int, m: int, symmetric: bool) -> Iterator[tuple[slice, slice]]:
    """Cover an (n, m) matrix; only the diagonal tiles and those above if it is symmetric."""
    for i in range(0, n, TILE):
        for j in range(i if symmetric else 0, m, TILE):
            yield slice(i, min(i + TILE, n)), slice(j, min(j + TILE, m))


def mirror(tile: Array) -> None:
    """Copy the upper triangle of a square tile onto the lower."""
    n = len(tile)
    np.copyto(tile, tile.T, where=_BELOW[:n, :n])


def assemble(fill: Callable[[slice, slice, Array], object], out: Array, symmetric: bool) -> None:
    """Fill a matrix tile by tile; of a symmetric one half, and copy that onto the other."""
    n, m = out.shape
    for rows, cols in tiles(n, m, symmetric):
        tile = np.empty((rows.stop - rows.start, cols.stop - cols.start))
        fill(rows, cols, tile)
        if symmetric and rows == cols:
            # A matrix product need not round (i, j) and (j, i) alike.
            mirror(tile)
        elif symmetric:
            out[cols, rows] = tile.T
        out[rows, cols] = tile


@dataclass(frozen=True, eq=False)
class Distances:
    """Squared Euclidean distances between the rows of two centred, scaled matrices.

    |a - b|^2 = |a|^2 + |b|^2 - 2 a.b is one matrix product, norms included. It cancels where two
    points are close beside their norms; those pairs are found and recomputed by differences, so
    the relative error stays near 1e-11 even for almost coincident points, and no distance is
    negative.
    """

    X: Array
    Z: Array
    length_scale: Array
    A: Array
    B: Array
    left: Array
    right: Array
    a2: Array
    b2: Array
    symmetric: bool

    @classmethod
    def of(cls, X: Array, Z: Array | None, length_scale: Array) -> Distances:
        """Centre on the mean of the columns, divide by the length scales, prepare the product."""
        columns = Columns.of(X if Z is None else Z, length_scale)
        return columns.symmetric if Z is None else columns.from_rows(X)

    @staticmethod
    def typical(X: Array) -> float:
        """The median distance between different rows, 1 if there are none; at length scale 1."""
        squares = np.einsum("ij,ij->i", X, X)
        d2 = (squares[:, None] + squares - 2.0 * X @ X.T)[np.triu_indices(len(X), 1)]
        d2 = d2[d2 > 1e-12 * max(float(squares.max(initial=0.0)), 1e-300)]
        return float(np.sqrt(np.median(d2))) if len(d2) else 1.0

    @staticmethod
    def known(X: Array, memo: dict[Any, Any]) -> Array:
        """The whole matrix at length scale 1, made once and kept in ``memo``."""
        if "squares" not in memo:
            memo["squares"] = squared_distances(X)
        return np.asarray(memo["squares"])

    @staticmethod
    def factor(length_scale: float) -> float:
        """What multiplies that matrix for another length scale."""
        return float(length_scale**-2)

    def fill(self, rows: slice, cols: slice, out: Array) -> Pairs | None:
        """Write the tile of squared distances; give the pairs that were recomputed, if any."""
        np.matmul(self.left[rows], self.right[cols].T, out=out)
        diagonal = self.symmetric and rows == cols
        if diagonal:
            np.fill_diagonal(out, np.inf)
        a2, b2 = self.a2[rows], self.b2[cols]
        pairs: Pairs | None = None
        if out.min() < NEAR * (a2.max() + b2.max()):
            i, j = np.nonzero(out < NEAR * np.add.outer(a2, b2))
            if i.size:
                pairs = (i, j)
                for part, D2 in self.differences(rows, cols, pairs):
                    out[i[part], j[part]] = D2.sum(axis=1)
        if diagonal:
            np.fill_diagonal(out, 0.0)
        return pairs

    def differences(self, rows: slice, cols: slice, pairs: Pairs) -> Iterator[tuple[slice, Array]]:
        """Squared scaled differences of the inputs of pairs, in chunks of bounded memory.

        Of the inputs as they came: one distant row moves the centre, and subtracting a large
        centre rounds the small differences away.
        """
        X, Z = self.X[rows], self.Z[cols]
        i, j = pairs
        step = max(1, 2**19 // max(X.shape[1], 1))
        for start in range(0, len(i), step):
            part = slice(start, start + step)
            D = _scaled(X[i[part]], Z[j[part]], self.length_scale)
            yield part, np.multiply(D, D, out=D)

    def contract(self, rows: slice, cols: slice, V: Array, pairs: Pairs | None) -> Array:
        """Sum_ij V_ij (a_i - b_j)^2, coordinate by coordinate; overwrites ``V``."""
        A, B = self.A[rows], self.B[cols]
        total = np.zeros(A.shape[1])
        if pairs is not None:
            # The expansion below cancels for these as it does for the distance itself.
            weights = V[pairs]
            for part, D2 in self.differences(rows, cols, pairs):
                total += weights[part] @ D2
            V[pairs] = 0.0
        if self.symmetric and rows == cols:
            np.fill_diagonal(V, 0.0)
        total += V.sum(axis=1) @ (A * A)
        total += V.sum(axis=0) @ (B * B)
        total -= 2.0 * np.einsum("ij,ij->j", A, V @ B)
        return total


@dataclass(frozen=True, eq=False)
class Columns:
    """What distances to the rows of Z need to know of them alone."""

    Z: Array
    length_scale: Array
    centre: Array
    B: Array
    right: Array
    b2: Array

    @classmethod
    def of(cls, Z: Array, length_scale: Array) -> Columns:
        """Centre on the mean of Z, divide by the length scales."""
        centre = (Z / max(len(Z), 1)).sum(axis=0)
        B = _scaled(Z, centre, length_scale)
        b2 = np.einsum("ij,ij->i", B, B)
        right = np.column_stack((B, np.ones(len(B)), b2))
        return cls(Z, length_scale, centre, B, right, b2)

    @property
    def symmetric(self) -> Distances:
        """The distances between the rows of Z."""
        return self._distances(self.Z, self.B, self.b2, symmetric=True)

    def from_rows(self, X: Array) -> Distances:
        """The distances from the rows of X."""
        A = _scaled(X, self.centre, self.length_scale)
        return self._distances(X, A, np.einsum("ij,ij->i", A, A), symmetric=False)

    def _distances(self, X: Array, A: Array, a2: Array, symmetric: bool) -> Distances:
        left = np.empty((len(A), A.shape[1] + 2))
        np.multiply(A, -2.0, out=left[:, :-2])
        left[:, -2], left[:, -1] = a2, 1.0
        return Distances(
            X, self.Z, self.length_scale, A, self.B, left, self.right, a2, self.b2, symmetric
        )


def squared_distances(X: Array) -> Array:
    """|x_i - x_j|^2 of all pairs of rows, exactly symmetric. O(n^2 d)."""
    D = np.empty((len(X), len(X)))
    assemble(Distances.of(X, None, np.ones(())).fill, D, symmetric=True)
    return D


def _scaled(X: Array, origin: Array, length_scale: Array) -> Array:
    A = X - origin
    A /= length_scale
    return np.clip(A, -_LARGEST, _LARGEST, out=A)
