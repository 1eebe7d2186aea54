"""What a prior is: a density over hyperparameters in search coordinates (logarithms).

A prior gives log pi and its gradient at a point. What a search maximises is the log-likelihood or
evidence of *all* data plus log pi, divided by n; so a prior weighs less the more data there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.types import Array

_STEP = 1e-4


class Prior(ABC):
    """log pi(point), up to a constant, for coordinates of these names."""

    @abstractmethod
    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        """Value and gradient. Minus infinity is outside; the gradient is then not looked at."""

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        """Second derivatives of log pi; by differences of the gradient if there is no formula."""
        H = np.empty((len(point), len(point)))
        for j in range(len(point)):
            ahead, behind = point.copy(), point.copy()
            ahead[j] += _STEP
            behind[j] -= _STEP
            rise = self.log_density(ahead, names)[1] - self.log_density(behind, names)[1]
            H[j] = rise / (ahead[j] - behind[j])
        return np.asarray(0.5 * (H + H.T))

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        """The same prior where it depends on the data and the form of the kernel."""
        return self

    def __add__(self, other: Prior) -> Prior:
        return Together((self, other))


@dataclass(frozen=True)
class Together(Prior):
    """A product of priors."""

    parts: tuple[Prior, ...]

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        return Together(tuple(part.bind(data, kernel) for part in self.parts))

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        answers = [part.log_density(point, names) for part in self.parts]
        return sum(value for value, _ in answers), np.sum([g for _, g in answers], axis=0)

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        return np.asarray(np.sum([part.hessian(point, names) for part in self.parts], axis=0))


def positive(value: float, what: str) -> float:
    """Give a number that has to be positive and finite."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{what} must be a positive finite number, got {value!r}")
    return float(value)
