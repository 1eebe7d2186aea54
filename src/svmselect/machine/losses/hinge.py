"""The hinge loss of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from svmselect.machine.losses.base import Curve, Loss
from svmselect.types import Array


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge loss, ``(1 - z)_+``: alpha in [0, C]."""

    name = "hinge"
    quadratic = True
    curved = False
    smooth = False
    reaches_bound = True
    compiled = "hinge"

    def value(self, z: Array) -> Array:
        return np.maximum(1.0 - z, 0.0)

    def slope(self, z: Array) -> Array:
        return (z < 1.0).astype(float)

    def curvature(self, z: Array) -> Array:
        return np.zeros_like(z)

    def bound(self, C: Array) -> Array:
        return C

    def ridge(self, C: Array, alpha: Array) -> Array:
        return np.zeros_like(C)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        return C * self.value(z) - alpha * (1.0 - z)

    def log_kappa(self, C: float) -> tuple[float, float]:
        small = exp(-2.0 * C)  # the maximum is at z = 1: kappa = 1/(1 + e^-2C)
        return -log1p(small), 2.0 * small / (1.0 + small)

    def residual(self, z: Array, alpha: Array, C: Array) -> Array:
        # in units of the margin: the slope does not say how far a point is from the corner
        return np.where(
            alpha <= 0,
            np.maximum(1 - z, 0),
            np.where(alpha >= C, np.maximum(z - 1, 0), np.abs(1 - z)),
        )

    def rounded(self, delta: float) -> Curve:
        return RoundedHinge(delta)


@dataclass(frozen=True)
class RoundedHinge:
    """(1 - z)_+ with a parabola in place of its corner, ``delta`` to each side."""

    delta: float

    def value(self, z: Array) -> Array:
        """0, (1 + delta - z)^2 / (4 delta), 1 - z: from right to left."""
        inside = np.clip(1.0 + self.delta - z, 0.0, 2.0 * self.delta)
        return np.asarray(inside**2 / (4.0 * self.delta) + np.maximum(1.0 - self.delta - z, 0.0))

    def slope(self, z: Array) -> Array:
        """-d/dz, from 0 to 1."""
        return np.clip((1.0 + self.delta - z) / (2.0 * self.delta), 0.0, 1.0)

    def curvature(self, z: Array) -> Array:
        """1/(2 delta) inside the corner."""
        return np.where(np.abs(1.0 - z) < self.delta, 0.5 / self.delta, 0.0)
