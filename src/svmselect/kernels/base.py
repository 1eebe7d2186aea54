"""What a kernel is, and how kernels add and multiply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import fsum, prod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data import check_matrix
from .combine import ProductBlock, SumBlock
from .tangents import Memo, RowByRow, Tangent
from .tiles import Array, Block, Tiled, assemble, tiles


class Kernel(ABC):
    """An immutable positive definite function k(x, z) with positive parameters.

    Kernels add and multiply, and a number in such an expression becomes a ``Constant``.

    Notes
    -----
    ``theta`` is the vector of the logarithms of the parameters, in the order in which the
    expression is written, and ``names`` names its entries. The class variable ``stationary`` says
    whether k depends on x - z only, ``needs_scaling`` whether the inputs should be standardised
    first.

    Examples
    --------
    >>> from svmselect.kernels import RBF
    >>> kernel = 2.0 * RBF(length_scale=[1.0, 3.0]) + 0.1
    >>> kernel.names
    ('constant.value', 'rbf.length_scale[0]', 'rbf.length_scale[1]', 'constant_2.value')
    >>> kernel([[0.0, 0.0], [1.0, 1.0]]).round(3)
    array([[2.1  , 1.248],
           [1.248, 2.1  ]])
    """

    __array_ufunc__ = None  # so that numpy scalars leave `2.0 * kernel` to us

    stationary: bool
    """Whether k(x, z) depends on x - z alone."""
    needs_scaling: bool
    """Whether the inputs should be standardised first."""

    @abstractmethod
    def leaves(self) -> Iterator[Kernel]:
        """Iterate over the elementary kernels of the expression, left to right.

        Yields
        ------
        Kernel
            An elementary kernel.
        """

    @property
    @abstractmethod
    def theta(self) -> Array:
        """Logarithms of the parameters, in the order of ``names``."""

    @property
    @abstractmethod
    def bounds(self) -> Array:
        """Default search box, of shape (p, 2), in the coordinates of ``theta``."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """A unique name for each entry of ``theta``, such as "rbf.length_scale[0]"."""

    @abstractmethod
    def at(self, theta: ArrayLike) -> Kernel:
        """Make the same expression with other parameters.

        Parameters
        ----------
        theta : array-like of shape (p,)
            Logarithms of the parameters.

        Returns
        -------
        Kernel
            The new kernel; ``k.at(k.theta) == k`` exactly.
        """

    @abstractmethod
    def block(self, X: Array, Z: Array | None) -> Block:
        """Bind the kernel to rows that have been checked.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The rows.
        Z : ndarray of shape (m, d) or None
            The columns' rows; None stands for ``X`` again.

        Returns
        -------
        Block
            What fills and differentiates the Gram matrix, one tile at a time.
        """

    def against(self, Z: Array) -> Callable[[Array], Block]:
        """Bind the kernel to columns' rows that have been checked, for one set of rows or many.

        Parameters
        ----------
        Z : ndarray of shape (m, d)
            The columns' rows. What depends on them alone is made here, once.

        Returns
        -------
        callable
            A function of rows, of shape (n, d), that returns what ``block`` does.
        """
        return lambda X: self.block(X, Z)

    @abstractmethod
    def _diag(self, X: Array) -> Array: ...

    def additive_constant(self) -> float:
        """Sum the ``Constant`` terms that the expression adds.

        With an unpenalised intercept such a term does not change the machine, only k(x, x). The
        constant inside a ``Polynomial`` is not counted: it is part of that kernel's form.

        Returns
        -------
        float
            The sum, 0.0 if there are none.
        """
        return 0.0

    @property
    def scalar(self) -> float | None:
        """The value of a kernel that is the same everywhere, else None."""
        return None

    def __call__(
        self, X: ArrayLike, Z: ArrayLike | None = None, *, out: Array | None = None
    ) -> Array:
        """Compute the Gram matrix k(x_i, z_j).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        Z : array-like of shape (m, d), optional
            The columns' rows; ``X`` again if None, and the matrix is then exactly symmetric.
        out : ndarray of shape (n, m), optional
            A float64 array that receives the result.

        Returns
        -------
        ndarray of shape (n, m)
            The matrix. O(n m d).
        """
        A, B = _rows(X, Z)
        n, m = len(A), len(A if B is None else B)
        K = np.empty((n, m)) if out is None else _receiver(out, (n, m))
        with np.errstate(over="ignore", under="ignore"):
            assemble(self.block(A, B).fill, K, symmetric=B is None)
            if B is None:
                np.fill_diagonal(K, self._diag(A))
        return K

    def diag(self, X: ArrayLike) -> Array:
        """Compute the diagonal k(x_i, x_i) of the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            The diagonal. O(n d).
        """
        return self._diag(_rows(X, None)[0])

    def pullback(
        self,
        X: ArrayLike,
        G: ArrayLike | Tiled,
        Z: ArrayLike | None = None,
        K: ArrayLike | None = None,
    ) -> Array:
        """Compute ``sum_ij G_ij dK_ij/dtheta`` for each parameter, where K = k(X, Z).

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows.
        G : array-like of shape (n, m), or an object with ``tile(rows, cols)``
            What multiplies the derivatives; it need not be symmetric. An object with ``tile``
            stands for a matrix that is never made as a whole.
        Z : array-like of shape (m, d), optional
            The columns' rows; ``X`` again if None.
        K : array-like of shape (n, m), optional
            The matrix k(X, Z) if it is known already, which spares computing exponentials.

        Returns
        -------
        ndarray of shape (p,)
            One number for each entry of ``theta``.

        Notes
        -----
        O(n m d) time and O(n d) memory: no array of shape (n, m, p) is made.
        """
        A, B = _rows(X, Z)
        n, m = len(A), len(A if B is None else B)
        cotangent = G if isinstance(G, Tiled) else _Whole(_matrix(G, "G", (n, m)))
        values = None if K is None else _matrix(K, "K", (n, m))
        total = np.zeros(len(self.theta))
        with np.errstate(over="ignore", under="ignore"):
            block = self.block(A, B)
            for rows, cols in tiles(n, m, B is None):
                tile = cotangent.tile(rows, cols)
                if B is None and rows != cols:
                    tile = tile + cotangent.tile(cols, rows).T
                known = None if values is None else values[rows, cols]
                total += block.pull(rows, cols, np.ascontiguousarray(tile), known)
        return total

    def gram(self, X: Array, memo: Memo) -> Array:
        """Compute k(X, X) for rows that have been checked.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The rows.
        memo : dict
            What these rows keep from one kernel to the next, such as squared distances; it is
            filled here.

        Returns
        -------
        ndarray of shape (n, n)
            The matrix.
        """
        return self(X)

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        """Return the derivatives of K = k(X, X) as operators on vectors, for Gauss-Newton methods.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The rows.
        K : ndarray of shape (n, n)
            The matrix k(X, X).
        memo : dict
            As in ``gram``.

        Returns
        -------
        list of Tangent
            They stand for the entries of ``theta``, in its order; one may stand for several
            entries.
        """
        return [RowByRow(self.block(X, X.copy()), len(X))]

    def __add__(self, other: Kernel | float) -> Kernel:
        right = _lift(other)
        return NotImplemented if right is None else Sum((*_parts(self, Sum), *_parts(right, Sum)))

    def __radd__(self, other: Kernel | float) -> Kernel:
        left = _lift(other)
        return NotImplemented if left is None else left + self

    def __mul__(self, other: Kernel | float) -> Kernel:
        right = _lift(other)
        if right is None:
            return NotImplemented
        return Product((*_parts(self, Product), *_parts(right, Product)))

    def __rmul__(self, other: Kernel | float) -> Kernel:
        left = _lift(other)
        return NotImplemented if left is None else left * self


@dataclass(frozen=True, repr=False)
class Composite(Kernel):
    """A kernel made of kernels; the parts keep the order in which they were written."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts or not all(isinstance(part, Kernel) for part in self.parts):
            raise ValueError(
                f"{type(self).__name__} needs a non-empty tuple of kernels, got {self.parts!r}; "
                "write the expression with + and * instead"
            )

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """Whether every part depends on x - z only."""
        return all(part.stationary for part in self.parts)

    @property
    def needs_scaling(self) -> bool:  # type: ignore[override]
        """Whether some part asks for standardised inputs."""
        return any(part.needs_scaling for part in self.parts)

    def leaves(self) -> Iterator[Kernel]:
        for part in self.parts:
            yield from part.leaves()

    @property
    def theta(self) -> Array:
        return np.concatenate([part.theta for part in self.parts])

    @property
    def bounds(self) -> Array:
        return np.concatenate([part.bounds for part in self.parts])

    @property
    def names(self) -> tuple[str, ...]:
        seen: Counter[str] = Counter()
        names: list[str] = []
        for leaf in self.leaves():
            for_leaf = leaf.names
            kind = for_leaf[0].partition(".")[0]
            seen[kind] += 1
            prefix = kind if seen[kind] == 1 else f"{kind}_{seen[kind]}"
            names.extend(prefix + name[len(kind) :] for name in for_leaf)
        return tuple(names)

    def at(self, theta: ArrayLike) -> Kernel:
        values = check_theta(theta, self)
        ends = np.cumsum([len(part.theta) for part in self.parts])[:-1]
        pieces = np.split(values, ends)
        return type(self)(tuple(p.at(v) for p, v in zip(self.parts, pieces, strict=True)))

    def _bind(self, X: Array, Z: Array | None) -> tuple[list[Block], list[float | None]]:
        return [part.block(X, Z) for part in self.parts], [part.scalar for part in self.parts]

    def _bound(self, Z: Array) -> tuple[list[Callable[[Array], Block]], list[float | None]]:
        return [part.against(Z) for part in self.parts], [part.scalar for part in self.parts]


class Sum(Composite):
    """The sum of kernels, k = k_1 + k_2 + ...; written with ``+``.

    Parameters
    ----------
    parts : tuple of Kernel
        The terms, in the order in which they are written.
    """

    def block(self, X: Array, Z: Array | None) -> Block:
        return SumBlock(*self._bind(X, Z))

    def against(self, Z: Array) -> Callable[[Array], Block]:
        bound, scalars = self._bound(Z)
        return lambda X: SumBlock([part(X) for part in bound], scalars)

    def _diag(self, X: Array) -> Array:
        total: Array = np.sum(np.array([part._diag(X) for part in self.parts]), axis=0)
        return total

    def additive_constant(self) -> float:
        return fsum(part.additive_constant() for part in self.parts)

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        return [t for part in self.parts for t in part.tangents(X, part.gram(X, memo), memo)]

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


class Product(Composite):
    """The product of kernels, k = k_1 * k_2 * ...; written with ``*``.

    Parameters
    ----------
    parts : tuple of Kernel
        The factors, in the order in which they are written.
    """

    def block(self, X: Array, Z: Array | None) -> Block:
        return ProductBlock(*self._bind(X, Z))

    def against(self, Z: Array) -> Callable[[Array], Block]:
        bound, scalars = self._bound(Z)
        return lambda X: ProductBlock([part(X) for part in bound], scalars)

    def _diag(self, X: Array) -> Array:
        total: Array = np.prod(np.array([part._diag(X) for part in self.parts]), axis=0)
        return total

    def additive_constant(self) -> float:
        return prod(part.additive_constant() for part in self.parts)

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        grams = [part.gram(X, memo) for part in self.parts]
        found: list[Tangent] = []
        for i, part in enumerate(self.parts):
            others = grams[:i] + grams[i + 1 :]
            rest = reduce(np.multiply, others) if others else np.ones_like(K)
            found += [t.times(rest) for t in part.tangents(X, grams[i], memo)]
        return found

    def __repr__(self) -> str:
        return " * ".join(f"({p!r})" if isinstance(p, Sum) else repr(p) for p in self.parts)


@dataclass(frozen=True, eq=False)
class _Whole:
    """A matrix that is there."""

    matrix: Array

    def tile(self, rows: slice, cols: slice) -> Array:
        return self.matrix[rows, cols]


def check_theta(theta: ArrayLike, kernel: Kernel) -> Array:
    """Give ``theta`` as a vector if it fits the kernel."""
    values = np.asarray(theta, dtype=np.float64)
    expected = len(kernel.theta)
    if values.shape != (expected,):
        raise ValueError(
            f"theta has shape {values.shape}, but {kernel!r} has {expected} parameters; "
            f"give the logarithms of {', '.join(kernel.names)}, in this order"
        )
    return values


def _rows(X: ArrayLike, Z: ArrayLike | None) -> tuple[Array, Array | None]:
    A = check_matrix(X, "X")[0]
    if Z is None or Z is X:
        return A, None
    B = check_matrix(Z, "Z")[0]
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"X has {A.shape[1]} columns and Z has {B.shape[1]}; "
            "both need the same inputs in the same order"
        )
    return A, B


def _matrix(values: ArrayLike, name: str, shape: tuple[int, int]) -> Array:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != shape:
        raise ValueError(f"{name} has shape {matrix.shape}; it must be {shape}, as k(X, Z) is")
    return matrix


def _receiver(out: Array, shape: tuple[int, int]) -> Array:
    if out.shape != shape or out.dtype != np.float64:
        raise ValueError(f"out is {out.dtype} of shape {out.shape}; it must be float64, {shape}")
    return out


def _parts(kernel: Kernel, kind: type[Composite]) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, kind) else (kernel,)


def _lift(value: Any) -> Kernel | None:
    from .constant import Constant  # a kernel like the others: it imports this file

    if isinstance(value, Kernel):
        return value
    return Constant(float(value)) if isinstance(value, Real) else None
