"""What a fitted model keeps of a sigmoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.types import Array

FLAT = 1e-6
"""The least slope of a sigmoid, over the standard deviation of the decision values."""


@dataclass(frozen=True)
class Sigmoid:
    """p = 1 / (1 + exp(slope (f + shift))), slope < 0; f has standard deviation ``spread``."""

    slope: float
    shift: float
    spread: float


def upright(slope: float, offset: float, f: Array, y: Array, weights: Array) -> Sigmoid:
    """A sigmoid 1 / (1 + exp(slope f + offset)) whose slope is negative, come what may.

    Held-out values ``f`` (NaN where there is none) that do not point the right way say nothing:
    then the probability is the share of the class, with a slope just large enough to keep the order
    of f. So it is where a fit that was cut short knows of one class only.
    """
    known = np.isfinite(f)
    rate = float(weights[known & (y > 0)].sum() / weights[known].sum())
    alone = not 0.0 < rate < 1.0
    if alone:
        rate = float(weights[y > 0].sum() / weights.sum())
    f, weights = f[known], weights[known]
    share = weights / weights.sum()
    mean = float(share @ f)
    spread = float(np.sqrt(share @ (f - mean) ** 2)) or 1.0
    if alone or not slope <= -FLAT / spread:
        slope = -FLAT / spread
        offset = -float(np.log(rate / (1.0 - rate))) - slope * mean
    return Sigmoid(slope, offset / slope, spread)
