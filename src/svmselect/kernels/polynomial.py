"""The inhomogeneous polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from .dot import InnerProduct
from .tiles import Array


@dataclass(frozen=True, repr=False)
class Polynomial(InnerProduct):
    """Polynomial kernel, ``k(x, z) = (scale x.z + coef0)^degree``.

    Parameters
    ----------
    degree : int, default 3
        The degree; a search leaves it as it is.
    scale : float, default 1.0
        The factor of the inner product.
    coef0 : float, default 1.0
        The constant inside the power.

    Notes
    -----
    A homogeneous polynomial (no ``coef0``) is a product of ``Linear`` kernels.
    """

    degree: int = 3
    scale: float = 1.0
    coef0: float = 1.0

    box: ClassVar[dict[str, tuple[float, float]]] = {"scale": (1e-5, 1e3), "coef0": (1e-3, 1e3)}

    def __post_init__(self) -> None:
        super().__post_init__()
        degree: Any = self.degree
        if not isinstance(degree, Integral) or degree < 1:
            raise ValueError(
                f"degree of Polynomial must be a whole number from 1 up, got {degree!r}; "
                "other powers are not positive definite in general"
            )
        object.__setattr__(self, "degree", int(degree))

    def profile(self, t: Array) -> None:
        t *= self.scale
        t += self.coef0
        _power(t, self.degree)

    def derivatives(self, t: Array, K: Array) -> list[Array]:
        t *= self.scale
        power = t + self.coef0
        _power(power, self.degree - 1)
        power *= self.degree
        t *= power
        power *= self.coef0
        return [t, power]

    def pull(self, t: Array, G: Array, K: Array | None) -> Array:
        t *= self.scale
        power = t + self.coef0
        _power(power, self.degree - 1)
        power *= G
        return self.degree * np.array([np.vdot(power, t), self.coef0 * power.sum()])


def _power(t: Array, exponent: int) -> None:
    """Raise to a whole power in place, by squaring: many times faster than ``t ** exponent``."""
    square = t.copy()
    t.fill(1.0)
    while exponent:
        if exponent & 1:
            t *= square
        exponent >>= 1
        if exponent:
            square *= square
