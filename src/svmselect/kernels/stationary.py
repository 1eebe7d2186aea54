"""Kernels of a scaled distance: what RBF and Matern share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .leaf import Leaf
from .tangents import Memo, PerInput, Shared, Tangent
from .tiles import Array, Block, Columns, Distances, assemble

LengthScale: TypeAlias = float | Sequence[float]


class Stationary(Leaf):
    """Base class of kernels of a scaled distance, k(x, z) = f(s).

    Attributes
    ----------
    length_scale : float or sequence of float
        One length scale for all inputs, or one for each variable.
    variables : sequence of int, optional
        The variable that each column belongs to, counted from 0; each its own where None.

    Notes
    -----
    ``s = sum_a (x_a - z_a)^2 / l_a^2``, the columns of one variable with one l. A subclass writes
    ``profile``, which is f, and ``slope``, both in place on a tile of s. Since ``dk/dlog l_a = -2
    f'(s) (x_a - z_a)^2 / l_a^2``, the derivatives with respect to all length scales together are
    two matrix products.

    ``distances`` makes s, and ``moving`` is what moves with the length scales; those of another sum
    over the inputs make kernels of that sum, where ``slope`` gives what multiplies each share.
    """

    stationary = True
    needs_scaling = True
    box: ClassVar[dict[str, tuple[float, float]]] = {"length_scale": (1e-3, 1e4)}
    per_input: ClassVar[frozenset[str]] = frozenset({"length_scale"})

    distances: ClassVar[type[Distances]] = Distances
    moving: ClassVar[type[PerInput]] = PerInput
    length_scale: LengthScale
    variables: Sequence[int] | None = None

    def __post_init__(self) -> None:
        """Check, and give sequences as tuples."""
        super().__post_init__()
        if self.variables is None:
            return
        found = np.asarray(self.variables)
        if (
            found.ndim != 1
            or found.dtype.kind not in "iu"
            or not np.array_equal(np.unique(found), np.arange(found.max(initial=-1) + 1))
        ):
            raise ValueError(
                f"{self._label('variables')} must be whole numbers from 0 on, one for each column "
                f"and none left out, got {self.variables!r}"
            )
        object.__setattr__(self, "variables", tuple(found.tolist()))
        scales = self.length_scale
        if isinstance(scales, tuple) and len(scales) != found.max() + 1:
            raise ValueError(
                f"{self._label('length_scale')} has {len(scales)} entries for {found.max() + 1} "
                "variables; give one for each, or one number for all"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Sequences as arrays: a model file has a node for each entry of a tuple."""
        return {k: np.array(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo that; older files have tuples."""
        back = {k: tuple(v.tolist()) if isinstance(v, np.ndarray) else v for k, v in state.items()}
        vars(self).update(back)

    def parted(self, columns: int) -> Self:
        """Give every variable a length scale of its own.

        Parameters
        ----------
        columns : int
            The number of columns of the inputs.

        Returns
        -------
        Stationary
            The kernel, its one length scale repeated; the kernel itself if it has several.
        """
        if isinstance(self.length_scale, tuple):
            return self
        count = columns if self.variables is None else max(self.variables) + 1
        return self.with_scales([float(self.by_column())] * count)

    def with_scales(self, length_scale: LengthScale) -> Self:
        """Give the kernel other length scales.

        Parameters
        ----------
        length_scale : float or sequence of float
            One for all inputs, or one for each variable.

        Returns
        -------
        Stationary
            The kernel.
        """
        changed: Any = replace(self, length_scale=length_scale)  # type: ignore[type-var]
        return changed  # type: ignore[no-any-return]

    def by_column(self, values: ArrayLike | None = None) -> Array:
        """Give the length scale of each column, or one number for all.

        Parameters
        ----------
        values : array-like, optional
            Other numbers, one a variable, in place of the length scales.

        Returns
        -------
        ndarray
            One number a column; a number alone stays alone.
        """
        given = np.asarray(self.length_scale if values is None else values, dtype=np.float64)
        if given.ndim == 0 or self.variables is None:
            return given
        return np.asarray(given[list(self.variables)])

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
        length_scale = self.by_column()
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
            s = self.distances.known(X, memo) * self.distances.factor(self.length_scale)
            self.profile(s)
        return s

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        if isinstance(self.length_scale, float):
            with np.errstate(over="ignore", under="ignore"):
                squares = self.distances.known(X, memo)
                scale = self.distances.factor(self.length_scale)
                return [Shared(self.slopes(squares, scale, K), squares, scale)]
        distances = self.distances.of(X, None, self.by_column())
        slopes = self.slopes(distances, 1.0, K)
        if self.variables is None:
            return [self.moving(slopes, distances.A)]
        return [self.moving(slopes, distances.A, np.asarray(self.variables))]

    def slopes(self, squares: Array | Distances, scale: float, K: Array) -> Array:
        """Compute -2 f'(s) of all pairs of rows.

        Parameters
        ----------
        squares : ndarray of shape (n, n) or Distances
            The squared distances, or what makes them where they are not at hand.
        scale : float
            What multiplies them to give s.
        K : ndarray of shape (n, n)
            The values f(s).

        Returns
        -------
        ndarray of shape (n, n)
            The matrix; it may be ``K``.
        """
        if isinstance(squares, Distances):
            s = np.empty_like(K)
            assemble(squares.fill, s, symmetric=True)
        else:
            s = squares * scale
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
        found = self.distances.contract(rows, cols, V, pairs)
        if self.kernel.variables is None:
            return found
        return np.asarray(np.bincount(self.kernel.variables, found), dtype=np.float64)
