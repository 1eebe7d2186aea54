"""Bands of a landscape: narrow near the best value, wide far from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.types import Array

BANDS = 10


@dataclass(frozen=True, eq=False)
class Levels:
    """Bands of the gap to the best value; band 0 is the worst, the last one the best."""

    best: float
    sign: float
    edges: Array

    @classmethod
    def of(cls, values: Array, greater_is_better: bool) -> Levels:
        """Gaps grow with the square of the band, up to nine tenths of the values."""
        sign = 1.0 if greater_is_better else -1.0
        finite = sign * values[np.isfinite(values)]
        if not len(finite):
            return cls(0.0, sign, np.linspace(0.0, 1.0, BANDS))
        best = float(finite.max())
        reach = float(np.quantile(best - finite, 0.9)) or float((best - finite).max()) or 1.0
        return cls(sign * best, sign, reach * (np.arange(BANDS) / (BANDS - 1)) ** 2)

    def gaps(self, values: Array) -> Array:
        """How far values stay behind the best, zero or more; what is no number, infinitely."""
        gap = self.sign * (self.best - values)
        return np.where(np.isfinite(gap), np.maximum(gap, 0.0), np.inf)

    def band(self, value: float) -> int:
        """The band of one value."""
        gap = float(self.gaps(np.array([value]))[0])
        return BANDS - 1 - int(np.searchsorted(self.edges[1:], gap, side="left"))


def smoothed(x: Array, y: Array, z: Array, times: int = 3) -> tuple[Array, Array, Array]:
    """A finer grid by cubic splines, within the range of the values: rounder contours."""
    from scipy.interpolate import RectBivariateSpline

    if len(x) < 4 or len(y) < 4:
        return x, y, z
    fine_x, fine_y = (np.linspace(v[0], v[-1], times * (len(v) - 1) + 1) for v in (x, y))
    fine = RectBivariateSpline(y, x, z)(fine_y, fine_x)
    return fine_x, fine_y, np.clip(fine, z.min(), z.max())
