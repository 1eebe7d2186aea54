"""Wide normal densities around what the data suggest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.names import matching, stem
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
    centre : ndarray, optional
        The means; set by ``bind``.

    Notes
    -----
    The means are those of ``svmselect.priors.typical.from_data``: for standardised, balanced data a
    length scale of about sqrt(d), and C between 1 and 3. Other parameters are flat.
    """

    C: float = 3.0
    length_scale: float = 1.0
    centre: Array | None = field(default=None, repr=False, compare=False)

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        return replace(self, centre=from_data(data, kernel))

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        if self.centre is None:
            raise ValueError("Vague depends on the data: use it through select, or bind it first")
        groups = {stem(name): matching(stem(name), names) for name in names[1:]}
        parts = [([0], self.C)]
        parts += [(m, self.length_scale) for name, m in groups.items() if "length_scale" in name]
        value, slope = 0.0, np.zeros_like(point)
        for members, scale in parts:
            gap = float((point[members] - self.centre[members]).mean())
            value -= 0.5 * (gap / scale) ** 2
            slope[members] -= gap / scale**2 / len(members)
        return value, slope
