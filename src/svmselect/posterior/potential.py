"""The potential V = -ln(likelihood) of many latent vectors at once, and its derivatives.

Coordinates are margins z = y theta, one latent vector a column. With weights w and l the loss,

    V(z) = C sum_i w_i l(z_i),                       or, normalised over the two labels,
    V(z) = sum_i w_i ln(1 + e^{t_i}),  t_i = C (l(z_i) - l(-z_i)),

the second since -ln [e^{-C l(z)} / (e^{-C l(z)} + e^{-C l(-z)})] is the softplus of t. Written
with operations that NumPy and torch share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from svmselect.devices import Matrix
from svmselect.machine.losses import get_loss
from svmselect.posterior.backend import Backend
from svmselect.posterior.factors import get_factors
from svmselect.posterior.noise import array_module
from svmselect.posterior.portable import PortableLoss, sigmoid, softplus
from svmselect.types import Array

Force = Callable[[Matrix], Matrix]


@dataclass(frozen=True, eq=False)
class Potential:
    """V for given C, weights and loss; every method takes an (n, chains) matrix of margins."""

    C: float
    rule: PortableLoss
    kinked: bool  # whether the slope jumps, by one, at z = 1
    normalised: bool
    weights: Matrix  # (n,), on the device
    xp: Any

    @classmethod
    def of(cls, C: float, loss: str, normalised: bool, weights: Array, on: Backend) -> Potential:
        """Move the weights to the device."""
        xp = array_module(on)
        rule, kinked = get_factors(loss).portable(xp), not get_loss(loss).curved
        return cls(C, rule, kinked, normalised, on.put(np.asarray(weights, float)), xp)

    @cached_property
    def _scale(self) -> Matrix:
        return -self.C * self.weights[:, None]

    def value(self, z: Matrix) -> Matrix:
        """V of every column."""
        if self.normalised:
            return self.weights @ softplus(self.xp, self.rule.odds(self.C, z))
        return self.C * (self.weights @ self.rule.value(z))

    def by_log_C(self, z: Matrix) -> Matrix:
        """dV/dlog C of every column."""
        if not self.normalised:
            return self.value(z)
        t = self.rule.odds(self.C, z)
        return self.weights @ (sigmoid(self.xp, t) * t)

    def by_log_C_twice(self, z: Matrix) -> Matrix:
        """d2V/dlog C^2 of every column."""
        if not self.normalised:
            return self.value(z)
        t = self.rule.odds(self.C, z)
        p = sigmoid(self.xp, t)
        return self.weights @ (p * t * (1.0 + (1.0 - p) * t))

    def slope(self, z: Matrix) -> Matrix:
        """g_i = dV/dz_i; at a kink, that of the flatter side."""
        own = self.rule.slope(z)
        return self._assemble(z, own, self.rule.slope(-z) if self.normalised else z)

    def slope_by_log_C(self, z: Matrix) -> Matrix:
        """dg_i/dlog C."""
        g = self.slope(z)
        if not self.normalised:
            return g
        t = self.rule.odds(self.C, z)
        return g * (1.0 + t * (1.0 - sigmoid(self.xp, t)))

    def force(self, mean: Matrix, shrink: float, width: Matrix) -> Force:
        """Build delta -> the slope at mean + shrink * delta, averaged over z +- width.

        Only the jumps of the hinge's slope are averaged; where the slope is continuous it is left
        as it is. A leapfrog step may use any function of each coordinate as its force.
        """
        if not self.kinked:
            return lambda delta: self.slope(mean + shrink * delta)
        clip = self.xp.clip
        slant = shrink / (2.0 * width)
        level = 0.5 + (1.0 - mean) / (2.0 * width)
        if not self.normalised:
            scale = self._scale
            return lambda delta: scale * clip(level - slant * delta, 0.0, 1.0)
        other = 0.5 + (1.0 + mean) / (2.0 * width)

        def both(delta: Matrix) -> Matrix:
            tilt = slant * delta
            ramps = clip(level - tilt, 0.0, 1.0), clip(other + tilt, 0.0, 1.0)
            return self._assemble(mean + shrink * delta, *ramps)

        return both

    def _assemble(self, z: Matrix, own: Matrix, other: Matrix) -> Matrix:
        """Slope from -l'(z) and, in the normalised model, -l'(-z)."""
        if not self.normalised:
            return self._scale * own
        return self._scale * sigmoid(self.xp, self.rule.odds(self.C, z)) * (own + other)
