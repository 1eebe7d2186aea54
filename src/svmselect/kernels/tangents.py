"""How a Gram matrix moves with its parameters, as operators on vectors.

``Kernel.pullback`` answers for one number and any number of parameters; these answer for many
numbers, the held-out decisions, which is what a Gauss-Newton method asks for. None of them holds
more than one matrix for a parameter that all inputs share, or one for all length scales together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..types import IntArray
from .tiles import Array, Block

Memo = dict[Any, Any]
"""What a set of rows keeps from one kernel to the next: squared distances."""


class Tangent(ABC):
    """dK/dtheta for one or several entries of theta."""

    @abstractmethod
    def along(self, rows: Any, used: Any, v: Array) -> Array:
        """Sum over j in ``used`` of (dK_ij/dtheta) v_j, for i in ``rows``: a column an entry."""

    @abstractmethod
    def times(self, W: Array) -> Tangent:
        """The same of W * K, for a matrix W that stays as it is."""

    def arrays(self) -> tuple[Any, ...] | None:
        """The arrays that compiled code can work with; None where there are none."""
        return None


@dataclass(frozen=True, eq=False)
class Shared(Tangent):
    """One parameter, its derivative a matrix that is there, or the product with one that is."""

    matrix: Array
    other: Array | None = None
    scale: float = 1.0

    def along(self, rows: Any, used: Any, v: Array) -> Array:
        at = np.ix_(rows, used)
        block = self.matrix[at] if self.other is None else self.matrix[at] * self.other[at]
        return np.asarray(block @ (self.scale * v))[:, None]

    def times(self, W: Array) -> Shared:
        return replace(self, matrix=W * self.matrix)

    def arrays(self) -> tuple[Any, ...]:
        return self.matrix, self.other, self.scale


@dataclass(frozen=True, eq=False)
class PerInput(Tangent):
    """One length scale an input: dK_ij/dlog l_a = M_ij (s_ia - s_ja)^2, s the scaled inputs.

    The square is expanded, so all inputs together are one product with M. Inputs that are one
    variable, by ``variables``, share a length scale and are summed.
    """

    M: Array
    scaled: Array
    variables: IntArray | None = None

    def along(self, rows: Any, used: Any, v: Array) -> Array:
        S, T = self.scaled[rows], self.scaled[used]
        d, b = S.shape[1], v[:, None]
        P = self.M[np.ix_(rows, used)] @ np.hstack([b, b * T, b * T * T])
        found = np.asarray(S * S * P[:, :1] - 2.0 * S * P[:, 1 : d + 1] + P[:, d + 1 :])
        return self.together(found)

    def together(self, found: Array) -> Array:
        """The columns of each variable summed."""
        if self.variables is None:
            return found
        member = np.eye(int(self.variables.max()) + 1)[self.variables]
        return np.asarray(found @ member)

    def times(self, W: Array) -> PerInput:
        return replace(self, M=W * self.M)

    def arrays(self) -> tuple[Any, ...]:
        if self.variables is None:
            return self.M, self.scaled, None, self.scaled.shape[1]
        return self.M, self.scaled, self.variables, int(self.variables.max()) + 1


@dataclass(frozen=True, eq=False)
class RowByRow(Tangent):
    """For a kernel that only knows how to pull a cotangent back: one row after the other."""

    block: Block
    size: int
    weights: Array | None = None

    def along(self, rows: Any, used: Any, v: Array) -> Array:
        whole = np.zeros(self.size)
        whole[used] = v
        found = []
        for i in rows:
            G = whole[None, :] if self.weights is None else (self.weights[i] * whole)[None, :]
            found.append(self.block.pull(slice(i, i + 1), slice(0, self.size), G.copy(), None))
        return np.array(found)

    def times(self, W: Array) -> RowByRow:
        return replace(self, weights=W if self.weights is None else W * self.weights)


def directional(tangents: Sequence[Tangent], rows: Any, used: Any, v: Array) -> Array:
    """(dK/dtheta) v at ``rows``, all entries of theta side by side; v is zero beyond ``used``."""
    return np.hstack([tangent.along(rows, used, v) for tangent in tangents])
