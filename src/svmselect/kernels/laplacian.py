"""The Laplacian kernel, of the sum of absolute differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .stationary import LengthScale, Stationary, StationaryBlock
from .tangents import PerInput
from .tiles import Array, Block, Distances, Pairs


@dataclass(frozen=True, eq=False)
class Absolute(Distances):
    """Sums of absolute differences between the rows of two scaled matrices.

    Of the inputs as they came: there is nothing to expand, so nothing cancels.
    """

    @classmethod
    def of(cls, X: Array, Z: Array | None, length_scale: Array) -> Absolute:
        A = np.ascontiguousarray(X / length_scale)
        B = A if Z is None else np.ascontiguousarray(Z / length_scale)
        none = np.empty(0)
        both = (X, X if Z is None else Z, length_scale, A, B)
        return cls(*both, none, none, none, none, symmetric=Z is None)

    @staticmethod
    def typical(X: Array) -> float:
        gaps = _city_block(X, X)[np.triu_indices(len(X), 1)]
        gaps = gaps[gaps > 1e-12 * max(float(np.abs(X).max(initial=0.0)), 1e-300)]
        return float(np.median(gaps)) if len(gaps) else 1.0

    @staticmethod
    def known(X: Array, memo: dict[Any, Any]) -> Array:
        if "absolutes" not in memo:
            memo["absolutes"] = _city_block(X, X)
        return np.asarray(memo["absolutes"])

    @staticmethod
    def factor(length_scale: float) -> float:
        return 1.0 / length_scale

    def fill(self, rows: slice, cols: slice, out: Array) -> Pairs | None:
        out[...] = _city_block(self.A[rows], self.B[cols])
        return None

    def contract(self, rows: slice, cols: slice, V: Array, pairs: Pairs | None) -> Array:
        """Sum_ij V_ij |a_i - b_j|, coordinate by coordinate."""
        A, B = self.A[rows], self.B[cols]
        gaps = (np.abs(np.subtract.outer(a, b)) for a, b in zip(A.T, B.T, strict=True))
        return np.array([np.vdot(V, gap) for gap in gaps])


class Steps(PerInput):
    """One length scale an input: dK_ij/dlog l_a = M_ij |s_ia - s_ja|, s the scaled inputs."""

    def along(self, rows: Any, used: Any, v: Array) -> Array:
        S, T = self.scaled[rows], self.scaled[used]
        M = self.M[np.ix_(rows, used)] * v
        gaps = (np.abs(np.subtract.outer(s, t)) for s, t in zip(S.T, T.T, strict=True))
        found = np.column_stack([np.einsum("ij,ij->i", M, gap) for gap in gaps])
        return self.together(found)


@dataclass(frozen=True, repr=False)
class Laplacian(Stationary):
    """Laplacian kernel, ``k(x, z) = exp(-sum_a |x_a - z_a| / l_a)``.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        One length scale for all inputs, or one for each.
    variables : sequence of int, optional
        The variable that each column belongs to, from 0 on: columns of one variable share a length
        scale. By default every column is a variable.

    Notes
    -----
    In terms of the ``gamma`` of scikit-learn's ``laplacian_kernel``, ``gamma = 1 / length_scale``.
    It is a product over the inputs of kernels that are rough in each; its functions are much like
    sums of steps, as those of trees are, and it is not the same when the inputs are rotated.

    Examples
    --------
    >>> from svmselect.kernels import Laplacian
    >>> Laplacian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 1.0]]).round(4)  # exp(-3/2)
    array([[0.2231]])
    """

    distances = Absolute
    moving = Steps
    length_scale: LengthScale = 1.0
    variables: Sequence[int] | None = None

    def against(self, Z: Array) -> Callable[[Array], Block]:
        scales = self._scales(Z)
        return lambda X: StationaryBlock(self, Absolute.of(X, Z, scales))

    def profile(self, s: Array) -> None:
        np.negative(s, out=s)
        np.exp(s, out=s)

    def slopes(self, squares: Array | Distances, scale: float, K: Array) -> Array:
        return K  # and no distance is needed

    def slope(self, s: Array, K: Array | None) -> None:
        if K is None:
            self.profile(s)
        else:
            s[...] = K


def _city_block(X: Array, Z: Array) -> Array:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, Z, "cityblock"))
