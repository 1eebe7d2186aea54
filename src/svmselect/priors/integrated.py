"""Shrinkage with its strength integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.kernels.names import deviations, vectors
from svmselect.priors.base import Prior, positive
from svmselect.types import Array


@dataclass(frozen=True)
class Integrated(Prior):
    """``Shrinkage`` with its strength tau integrated out.

    Its tails are heavy, so that one input may differ a lot from the others.

    Parameters
    ----------
    a : float, default 1.0
        Shape of the Gamma density of 1/tau^2.
    b : float, default 0.1
        Rate of that density.

    Notes
    -----
    The log density is ``-(a + m/2) log(b + |gap|^2 / 2)``, with gap the deviations of the
    logarithms of the length scales from their mean and m the number of independent ones (one less
    than the length of each vector).
    """

    a: float = 1.0
    b: float = 0.1

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        gap = deviations(point, names)
        m = sum(len(group) - 1 for group in vectors(names))
        power = positive(self.a, "a") + 0.5 * m
        inner = positive(self.b, "b") + 0.5 * float(gap @ gap)
        return float(-power * np.log(inner)), -power * gap / inner
