"""Wide normal densities around what the data suggest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.names import parameters
from svmselect.priors.base import Prior
from svmselect.priors.typical import from_data
from svmselect.types import Array, IntArray


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
        for members, scale in _parts(names, self.C, self.length_scale, self.other):
            gap = float((point[members] - self.centre[members]).mean())
            value -= 0.5 * (gap / scale) ** 2
            slope[members] -= gap / scale**2 / len(members)
        return value, slope

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        H = np.zeros((len(point), len(point)))
        for members, scale in _parts(names, self.C, self.length_scale, self.other):
            H[np.ix_(members, members)] -= (scale * len(members)) ** -2.0
        return H


@lru_cache(maxsize=64)
def _parts(
    names: tuple[str, ...], C: float, length_scale: float, other: float
) -> tuple[tuple[IntArray, float], ...]:
    """Coordinates whose mean has a density, and its standard deviation."""
    parts = [(np.array([0]), C)]
    for name, members in parameters(names[1:]).items():
        scale = length_scale if "length_scale" in name else other
        if np.isfinite(scale):
            parts.append((np.array(members) + 1, scale))
    return tuple(parts)
