"""Length scales shrunk to a common value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from svmselect.kernels.names import vectors
from svmselect.priors.base import Prior, positive
from svmselect.types import Array


@dataclass(frozen=True)
class Shrinkage(Prior):
    """A prior that shrinks the length scales of a vector to a common value.

    Parameters
    ----------
    tau : float
        Standard deviation of the logarithms of the length scales from their common value. 0 is the
        isotropic kernel, infinity no prior.
    tails : float, default infinity
        Degrees of freedom of Student's density in place of the normal one: with few, a few inputs
        may matter much more than the rest, which stay close together.

    Notes
    -----
    The log density is ``-1/2 sum_a (x_a - m)^2 / tau^2``, with x_a the logarithms of a vector
    parameter and m their mean, which is free. With finite ``tails`` nu it is ``-(nu + 1)/2 sum_a
    log(1 + (x_a - m)^2 / (nu tau^2))``, and m its best location. Several vectors (a kernel with two
    ARD parts) are each shrunk to their own value. Since log gamma = -2 log l, tau is twice as large
    on the scale of log gamma.
    """

    tau: float
    tails: float = np.inf

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        value, slope = 0.0, np.zeros_like(point)
        for group in vectors(names):
            gap, pull = self._pull(point[group])
            # m is at its best, or the mean: either way it needs no derivative
            slope[group] = -pull * gap
            if np.isfinite(self.tails):
                inner = np.log1p(gap**2 / (self.tails * self.tau**2))
                value -= 0.5 * (self.tails + 1.0) * float(inner.sum())
            else:
                value -= 0.5 * float(gap @ gap) / self.tau**2
        return value, slope

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        """Compute the second derivatives of the log density, exact for normal tails.

        With other tails the precisions are taken as they are, so that the result is never
        indefinite.

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
        H = np.zeros((len(point), len(point)))
        for group in vectors(names):
            pull = self._pull(point[group])[1]
            H[np.ix_(group, group)] = np.outer(pull, pull) / pull.sum() - np.diag(pull)
        return H

    def precision(self, point: Array, names: tuple[str, ...]) -> Array:
        """Compute the Gaussian precision that each entry of a vector feels.

        Parameters
        ----------
        point : ndarray of shape (p,)
            The point, in search coordinates.
        names : tuple of str
            The names of its coordinates.

        Returns
        -------
        ndarray of shape (p,)
            The precisions; 0 for coordinates that belong to no vector.
        """
        felt = np.zeros_like(point)
        for group in vectors(names):
            felt[group] = self._pull(point[group])[1]
        return felt

    @property
    def log_normaliser(self) -> float:
        """The log integral of the density of one deviation, relative to that of a unit normal."""
        if not np.isfinite(self.tails):
            return float(np.log(self.tau))
        nu = self.tails
        gammas = gammaln(0.5 * nu) - gammaln(0.5 * (nu + 1.0))
        return float(np.log(self.tau) + 0.5 * np.log(0.5 * nu) + gammas)

    def _pull(self, x: Array) -> tuple[Array, Array]:
        """Deviations from m, and the precision that pulls each back."""
        tau, nu = positive(self.tau, "tau"), self.tails
        if not np.isfinite(nu):
            return x - x.mean(), np.full(len(x), tau**-2)
        m = float(np.median(x))
        for _ in range(200):  # the weighted mean whose weights are the precisions
            pull = (nu + 1.0) / (nu * tau**2 + (x - m) ** 2)
            before, m = m, float(pull @ x / pull.sum())
            if abs(m - before) <= 1e-13 * (1.0 + abs(m)):
                break
        return x - m, (nu + 1.0) / (nu * tau**2 + (x - m) ** 2)
