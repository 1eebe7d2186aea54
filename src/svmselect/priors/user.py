"""A function as a prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svmselect.priors.base import Prior
from svmselect.types import Array


@dataclass(frozen=True)
class User(Prior):
    """A function of the point as a prior.

    Parameters
    ----------
    function : callable
        A function of the point that returns (log density, gradient), or the log density alone. In
        that case the gradient is by central differences.
    name : str, default ""
        What stands for the function in checkpoints: functions cannot be compared.
    step : float, default 1e-5
        Step of the differences.
    """

    function: Callable[[Array], Any]
    name: str = ""
    step: float = field(default=1e-5, repr=False)

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        answer = self.function(point)
        if isinstance(answer, tuple):
            value, gradient = float(answer[0]), np.asarray(answer[1], dtype=np.float64)
            if gradient.shape != point.shape:
                raise ValueError(
                    f"the prior's gradient has shape {gradient.shape}; give one entry for each of "
                    f"{', '.join(names)}"
                )
            return value, gradient
        slopes = np.zeros_like(point)
        for j in range(len(point)):
            ahead, behind = point.copy(), point.copy()
            ahead[j] += self.step
            behind[j] -= self.step
            difference = float(self.function(ahead)) - float(self.function(behind))
            slopes[j] = difference / (ahead[j] - behind[j])
        return float(answer), slopes

    def __repr__(self) -> str:
        label = self.name or getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"User({label})"
