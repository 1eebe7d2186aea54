"""The logistic loss of kernel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import expit

from svmselect.machine.losses.base import Loss
from svmselect.types import Array


@dataclass(frozen=True)
class Logistic(Loss):
    """The logistic loss, ``log(1 + e^-z)``: alpha in (0, C), with alpha/C = 1 - p."""

    name = "logistic"
    quadratic = False
    curved = True
    smooth = True
    reaches_bound = False
    compiled = "logistic"

    def value(self, z: Array) -> Array:
        return np.logaddexp(0.0, -z)

    def slope(self, z: Array) -> Array:
        return np.asarray(expit(-z))

    def curvature(self, z: Array) -> Array:
        return np.asarray(expit(z) * expit(-z))

    def bound(self, C: Array) -> Array:
        return C

    def ridge(self, C: Array, alpha: Array) -> Array:
        curvature = alpha * (C - alpha) / np.where(C > 0, C, 1.0)
        return 1.0 / np.maximum(curvature, 1e-250)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        # C times the divergence of alpha/C from expit(-z), both kept away from 0/0
        p = np.clip(np.divide(alpha, C, out=np.full_like(C, 0.5), where=C > 0), 0.0, 1.0)
        log_q, log_1q = -np.logaddexp(0.0, z), -np.logaddexp(0.0, -z)
        inner = np.where(p > 0, p * (np.log(np.where(p > 0, p, 1.0)) - log_q), 0.0)
        outer = np.where(p < 1, (1 - p) * (np.log1p(-np.where(p < 1, p, 0.0)) - log_1q), 0.0)
        outside = np.where(C > 0, np.abs(alpha - C * p), 0.0)  # of the box, where Newton may end
        return np.asarray(C * np.maximum(inner + outer, 0.0) + outside * np.abs(z))

    def log_kappa(self, C: float) -> tuple[float, float]:
        # the maximum is at z = 0 for C < 1, at infinity beyond
        return (0.0, 0.0) if C >= 1.0 else ((C - 1.0) * log(2.0), log(2.0))
