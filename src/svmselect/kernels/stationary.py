"""Kernels of a scaled distance: what RBF and Matern share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from .leaf import Leaf
from .tangents import Memo, PerInput, Shared, Tangent
from .tiles import Array, Block, Columns, Distances, assemble

LengthScale: TypeAlias = float | Sequence[float]


class Stationary(Leaf):
    """Base class of kernels of a scaled distance, k(x, z) = f(s).

    Attributes
    ----------
    length_scale : float or sequence of float
        One length scale for all inputs, or one for each.

    Notes
    -----
    ``s = sum_a (x_a - z_a)^2 / l_a^2``. A subclass writes ``profile``, which is f, and ``slope``,
    both in place on a tile of s. Since ``dk/dlog l_a = -2 f'(s) (x_a - z_a)^2 / l_a^2``, the
    derivatives with respect to all length scales together are two matrix products.

    ``distances`` makes s, and ``parted`` is what moves with the length scales; those of another sum
    over the inputs make kernels of that sum, where ``slope`` gives what multiplies each share.
    """

    stationary = True
    needs_scaling = True
    box: ClassVar[dict[str, tuple[float, float]]] = {"length_scale": (1e-3, 1e4)}
    per_input: ClassVar[frozenset[str]] = frozenset({"length_scale"})

    distances: ClassVar[type[Distances]] = Distances
    parted: ClassVar[type[PerInput]] = PerInput
    length_scale: LengthScale

    @abstractmethod
    def profile(self, s: Array) -> None:
        """Replace s by f(s).

        Parameters
        ----------
        s : ndarray
            A tile of scaled squared distances, changed in place.
        """

    @abstractmethod
    def slope(self, s: Array, K: Array | None) -> None:
        """Replace s by -2 f'(s).

        Parameters
        ----------
        s : ndarray
            A tile of scaled squared distances, changed in place. Any finite value will do where s =
            0.
        K : ndarray or None
            The values f(s), if they are known.
        """

    def _diag(self, X: Array) -> Array:
        return np.ones(len(X))

    def block(self, X: Array, Z: Array | None) -> Block:
        return StationaryBlock(self, self.distances.of(X, Z, self._scales(X)))

    def against(self, Z: Array) -> Callable[[Array], Block]:
        columns = Columns.of(Z, self._scales(Z))
        return lambda X: StationaryBlock(self, columns.from_rows(X))

    def _scales(self, X: Array) -> Array:
        """The length scales, which have to be as many as the columns, or one."""
        length_scale = np.asarray(self.length_scale)
        if length_scale.ndim and len(length_scale) != X.shape[1]:
            raise ValueError(
                f"{self._label('length_scale')} has {len(length_scale)} entries but the data have "
                f"{X.shape[1]} columns; give one for each column, or one number for all"
            )
        return length_scale

    def gram(self, X: Array, memo: Memo) -> Array:
        if not isinstance(self.length_scale, float):
            return self(X)
        with np.errstate(over="ignore", under="ignore"):
            s = self.distances.known(X, memo, self.length_scale)
            self.profile(s)
        return s

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        if isinstance(self.length_scale, float):
            with np.errstate(over="ignore", under="ignore"):
                s = self.distances.known(X, memo, self.length_scale)
                return [Shared(self.slopes(s, K) * s)]
        distances = self.distances.of(X, None, np.asarray(self.length_scale))
        return [self.parted(self.slopes(None, K, distances), distances.A)]

    def slopes(self, s: Array | None, K: Array, distances: Distances | None = None) -> Array:
        """Compute -2 f'(s) of all pairs of rows.

        Parameters
        ----------
        s : ndarray of shape (n, n) or None
            The scaled squared distances, if they are at hand.
        K : ndarray of shape (n, n)
            The values f(s).
        distances : Distances, optional
            What makes s where it is not at hand.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix.
        """
        if s is None:
            assert distances is not None
            s = np.empty_like(K)
            assemble(distances.fill, s, symmetric=True)
        else:
            s = s.copy()
        self.slope(s, K)
        return s


class StationaryBlock(Block):
    """A stationary kernel bound to two sets of rows."""

    def __init__(self, kernel: Stationary, distances: Distances) -> None:
        self.kernel = kernel
        self.distances = distances

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        self.distances.fill(rows, cols, out)
        self.kernel.profile(out)

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        s = np.empty_like(G)
        pairs = self.distances.fill(rows, cols, s)
        V = s.copy()
        self.kernel.slope(V, K)
        V *= G
        if isinstance(self.kernel.length_scale, float):
            return np.array([np.vdot(V, s)])
        return self.distances.contract(rows, cols, V, pairs)
