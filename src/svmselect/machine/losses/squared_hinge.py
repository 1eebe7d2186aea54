"""The squared hinge loss of support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from math import cosh, exp, log, log1p, sqrt, tanh

import numpy as np

from svmselect.machine.losses.base import INFINITY, Loss
from svmselect.types import Array


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The squared hinge loss, ``1/2 (1 - z)_+^2``: alpha >= 0, and K + I/C in place of K.

    Notes
    -----
    scikit-learn's ``LinearSVC`` has no factor 1/2, so that its C is half of this one.
    """

    name = "squared_hinge"
    quadratic = True
    curved = True
    smooth = False
    reaches_bound = False
    compiled = "squared_hinge"

    def value(self, z: Array) -> Array:
        return 0.5 * np.maximum(1.0 - z, 0.0) ** 2

    def slope(self, z: Array) -> Array:
        return np.maximum(1.0 - z, 0.0)

    def curvature(self, z: Array) -> Array:
        return (z < 1.0).astype(float)

    def bound(self, C: Array) -> Array:
        return np.where(C > 0, INFINITY, 0.0)

    def ridge(self, C: Array, alpha: Array) -> Array:
        return np.divide(1.0, C, out=np.zeros_like(C), where=C > 0)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        slack = np.maximum(1.0 - z, 0.0)
        square = np.where(C > 0, (C * slack - alpha) ** 2 / (2.0 * np.where(C > 0, C, 1.0)), 0.0)
        return square + alpha * np.maximum(z - 1.0, 0.0)

    def log_kappa(self, C: float) -> tuple[float, float]:
        # z = tanh(C z): 0 up to C = 1, beyond it the positive root; by the envelope theorem the
        # slope is (1 - z^2)/2
        if C <= 1.0:
            return 0.5 * C - log(2.0), 0.5
        u = _root(C)
        # ln(1/kappa) = -C (1-z)^2/2 + ln(1 + e^-2u), u = C z, and 1 - z from tanh: nothing cancels
        small = exp(-2.0 * u)
        short = 2.0 * small / (1.0 + small)
        slope = 0.5 / cosh(u) ** 2 if u < 300.0 else 0.0
        return 0.5 * C * short**2 - log1p(small), slope


def _root(C: float) -> float:
    """The positive solution of u = C tanh(u), C > 1."""
    if C > 20.0:
        return C * tanh(C)  # e^-40 away from the solution at most
    u = sqrt(3.0 * (C - 1.0) * (1.0 + 0.2 * (C - 1.0)))  # of u/tanh(u) = 1 + u^2/3 - u^4/45 + ...
    if C < 1.0 + 1e-5:
        return u
    # u/tanh(u) is convex: Newton's method falls monotonically to the root after its first step
    for _ in range(60):
        t = tanh(u)
        slope = 1.0 / t - u * (1.0 / (t * t) - 1.0)
        step = (u / t - C) / slope
        u -= step
        if abs(step) <= 1e-15 * u:
            break
    return u
