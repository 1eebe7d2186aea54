"""Flat inside a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from svmselect.kernels.names import matching
from svmselect.priors.base import Prior
from svmselect.types import Array


@dataclass(frozen=True)
class Box(Prior):
    """Flat inside, nothing outside: ``at`` maps names as ``Gaussian`` does to (low, high), logs."""

    at: Mapping[str, tuple[float, float]]

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        low, high = self.limits(names)
        inside = bool(np.all((point >= low) & (point <= high)))
        return (0.0 if inside else -np.inf), np.zeros_like(point)

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        return np.zeros((len(point), len(point)))

    def limits(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """The box over all coordinates; ``select`` does not look outside it."""
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        for name, (a, b) in self.at.items():
            if not a < b:
                raise ValueError(f"the box of {name!r} is empty: ({a}, {b}); give low < high")
            members = matching(name, names)
            low[members], high[members] = a, b
        return low, high
