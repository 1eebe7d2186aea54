"""The constant kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .leaf import Leaf
from .tangents import Memo, Shared, Tangent
from .tiles import Array, Block


@dataclass(frozen=True, repr=False)
class Constant(Leaf):
    """Constant kernel, ``k(x, z) = value``.

    As a factor it is the variance of the latent function; as a term it is the prior variance of
    a penalised offset.

    Parameters
    ----------
    value : float, default 1.0
        The constant.

    Examples
    --------
    >>> from svmselect.kernels import RBF, Constant
    >>> kernel = Constant(2.0) * RBF() + Constant(0.1)  # the same as 2.0 * RBF() + 0.1
    """

    value: float = 1.0

    stationary = True
    needs_scaling = False
    box: ClassVar[dict[str, tuple[float, float]]] = {"value": (1e-4, 1e4)}

    @property
    def scalar(self) -> float:
        return self.value

    def additive_constant(self) -> float:
        return self.value

    def _diag(self, X: Array) -> Array:
        return np.full(len(X), self.value)

    def block(self, X: Array, Z: Array | None) -> Block:
        return _ConstantBlock(self.value)

    def tangents(self, X: Array, K: Array, memo: Memo) -> list[Tangent]:
        return [Shared(K)]


class _ConstantBlock(Block):
    def __init__(self, value: float) -> None:
        self.value = value

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        out.fill(self.value)

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        return np.array([self.value * G.sum()])
