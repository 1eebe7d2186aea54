"""Tilted moments: one likelihood factor against a Gaussian cavity, for the two hinges.

With cavity N(m, s2) for the margin z and factor t(z) = exp(-c loss(z)), expectation propagation
asks for ln Z, Z = int t(z) N(z; m, s2) dz, its derivatives in m and the tilted variance. Both
hinges are exponentials of a quadratic on either side of z = 1, so the tilted distribution is a
mixture of two half-normals back to back: mass q below, where 1 - z has mean ``under`` and variance
V, and 1 - q above, where z - 1 has mean ``over`` and variance W. Everything is then a sum of
positive terms, and no digit is lost however hard the cavity is cut:

    g = dlnZ/dm = -c E[loss'(z)],        h = -d2lnZ/dm2 = c Cov[loss'(z), z] / s2 >= 0,
    tilted variance = q V + (1-q) W + q (1-q) (under + over)^2 = s2 (1 - h s2),
    dlnZ/dlog c = -c E[loss(z)].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr

from svmselect.posterior.half_normal import half_normal
from svmselect.types import Array


@dataclass(frozen=True)
class Tilted:
    """What expectation propagation asks of every factor.

    ``slope`` = dlnZ/dm, ``curvature`` = -d2lnZ/dm2, ``shrink`` = tilted variance / cavity variance
    (= 1 - curvature * s2), ``log_C`` = dlnZ/dlog C.
    """

    log_Z: Array
    slope: Array
    curvature: Array
    shrink: Array
    log_C: Array

    @property
    def precision(self) -> Array:
        """Precision of the Gaussian site with which the cavity has the tilted variance."""
        return self.curvature / self.shrink


Sites = Callable[[Array, Array], Tilted]
"""(m, s2) -> Tilted, for the factors of all points."""


def hinge(m: Array, s2: Array, c: Array) -> Tilted:
    """t(z) = exp(-c (1-z)_+), c = C w, zero where a point is absent. O(n)."""
    s = np.sqrt(s2)
    a = (1.0 - m) / s
    v = c * s - a  # below z = 1 the tilt moves the Gaussian up by c s2
    log_over, over, W = half_normal(a)
    log_under, under, V = half_normal(v)
    odds = log_under - log_over
    q, p = expit(odds), expit(-odds)
    # Z = Phi(-a) + exp((v^2 - a^2)/2) Phi(-v), from the larger part
    below = 0.5 * c * s * (v - a) + log_ndtr(-v)
    log_Z = np.where(odds < 0, log_ndtr(-a) + _softplus(odds), below + _softplus(-odds))
    gap = under + over
    return Tilted(
        log_Z=log_Z,
        slope=c * q,
        curvature=c / s * q * p * gap,
        shrink=q * V + p * W + q * p * gap**2,
        log_C=-c * s * q * under,
    )


def squared_hinge(m: Array, s2: Array, c: Array) -> Tilted:
    """t(z) = exp(-c/2 (1-z)_+^2), c = C w, zero where a point is absent. O(n)."""
    s = np.sqrt(s2)
    a = (1.0 - m) / s
    root = np.sqrt(1.0 + c * s2)  # below z = 1 the standard deviation is s / root
    log_over, over, W = half_normal(a)
    log_under, under, V = half_normal(-a / root)
    under, V = under / root, V / root**2
    odds = log_under - log_over - np.log(root)
    q, p = expit(odds), expit(-odds)
    below = -0.5 * c * (1.0 - m) ** 2 / root**2 + log_ndtr(a / root) - np.log(root)
    log_Z = np.where(odds < 0, log_ndtr(-a) + _softplus(odds), below + _softplus(-odds))
    gap = under + over
    return Tilted(
        log_Z=log_Z,
        slope=c * s * q * under,
        curvature=c * q * (V + p * under * gap),
        shrink=q * V + p * W + q * p * gap**2,
        log_C=-0.5 * c * s2 * q * (V + under**2),
    )


def _softplus(x: Array) -> Array:
    return np.log1p(np.exp(np.minimum(x, 0.0))) + np.maximum(x, 0.0)
