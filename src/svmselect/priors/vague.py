"""Wide normal densities around what the data suggest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.names import parameters
from svmselect.priors.base import Prior
from svmselect.priors.typical import from_data
from svmselect.types import Array


@dataclass(frozen=True)
class Vague(Prior):
    """Wide normal densities around what the data suggest.

    Parameters
    ----------
    C : float, default 3.0
        Standard deviation of log C.
    length_scale : float, default 1.0
        Standard deviation of the logarithm of a length scale (of a vector, the mean of its
        logarithms).
    other : float, default infinity
        Standard deviation of the logarithm of every other parameter; infinity is flat.
    centre : ndarray, optional
        The means. If not given, ``bind`` takes those of ``svmselect.priors.typical.from_data``: for
        standardised, balanced data a length scale of about sqrt(d), and C between 1 and 3.
    """

    C: float = 3.0
    length_scale: float = 1.0
    other: float = np.inf
    centre: Array | None = field(default=None, repr=False, compare=False)

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        return self if self.centre is not None else replace(self, centre=from_data(data, kernel))

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        if self.centre is None:
            raise ValueError("Vague depends on the data: use it through select, or bind it first")
        value, slope = 0.0, np.zeros_like(point)
        for members, scale in self._parts(names):
            gap = float((point[members] - self.centre[members]).mean())
            value -= 0.5 * (gap / scale) ** 2
            slope[members] -= gap / scale**2 / len(members)
        return value, slope

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        H = np.zeros((len(point), len(point)))
        for members, scale in self._parts(names):
            H[np.ix_(members, members)] -= (scale * len(members)) ** -2.0
        return H

    def _parts(self, names: tuple[str, ...]) -> list[tuple[list[int], float]]:
        """Coordinates whose mean has a density, and its standard deviation."""
        parts = [([0], self.C)]
        for name, members in parameters(names[1:]).items():
            members = [i + 1 for i in members]
            scale = self.length_scale if "length_scale" in name else self.other
            if np.isfinite(scale):
                parts.append((members, scale))
        return parts
