"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .dot import InnerProduct
from .tiles import Array


@dataclass(frozen=True, repr=False)
class Linear(InnerProduct):
    """Linear kernel, ``k(x, z) = scale x.z``.

    Parameters
    ----------
    scale : float, default 1.0
        The prior variance of each weight.

    Notes
    -----
    It has no constant: add ``Constant`` for a penalised offset.
    """

    scale: float = 1.0

    box: ClassVar[dict[str, tuple[float, float]]] = {"scale": (1e-5, 1e4)}

    def profile(self, t: Array) -> None:
        t *= self.scale

    def derivatives(self, t: Array, K: Array) -> list[Array]:
        return [K]

    def pull(self, t: Array, G: Array, K: Array | None) -> Array:
        return np.array([self.scale * np.vdot(G, t)])
