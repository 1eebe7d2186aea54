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
    """Base class of priors: a log density over hyperparameters, up to a constant.

    Notes
    -----
    A prior is a density in search coordinates, which are logarithms. What a search maximises is the
    log-likelihood or evidence of *all* data plus the log prior, divided by n; so a prior weighs
    less the more data there are.
    """

    @abstractmethod
    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        """Compute the log density and its gradient at a point.

        Parameters
        ----------
        point : ndarray of shape (p,)
            The point, in search coordinates.
        names : tuple of str
            The names of its coordinates.

        Returns
        -------
        value : float
            The log density, up to a constant; minus infinity is outside.
        gradient : ndarray of shape (p,)
            Its gradient, which is not looked at outside.
        """

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        """Compute the second derivatives of the log density.

        By differences of the gradient, where a prior has no formula of its own.

        Parameters
        ----------
        point : ndarray of shape (p,)
            The point, in search coordinates.
        names : tuple of str
            The names of its coordinates.

        Returns
        -------
        ndarray of shape (p, p)
            The second derivatives.
        """
        H = np.empty((len(point), len(point)))
        for j in range(len(point)):
            ahead, behind = point.copy(), point.copy()
            ahead[j] += _STEP
            behind[j] -= _STEP
            rise = self.log_density(ahead, names)[1] - self.log_density(behind, names)[1]
            H[j] = rise / (ahead[j] - behind[j])
        return np.asarray(0.5 * (H + H.T))

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        """Fix what depends on the data and on the form of the kernel.

        Parameters
        ----------
        data : Dataset
            The data.
        kernel : Kernel
            The kernel that is searched.

        Returns
        -------
        Prior
            The prior to use with them.
        """
        return self

    def __add__(self, other: Prior) -> Prior:
        return Together((self, other))


@dataclass(frozen=True)
class Together(Prior):
    """A product of priors: their log densities add.

    Parameters
    ----------
    parts : tuple of Prior
        The factors.
    """

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
