"""No preference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.priors.base import Prior
from svmselect.types import Array


@dataclass(frozen=True)
class Flat(Prior):
    """The flat prior, which prefers no point: log density 0 everywhere."""

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        return 0.0, np.zeros_like(point)

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        return np.zeros((len(point), len(point)))
