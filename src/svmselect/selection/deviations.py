"""The third level of inference on length scales: what their freedom to part costs, and brings.

The deviations of each vector of length scales from its mean are integrated out by Laplace's method
(Kwok 2000 does so with the hyperparameters of the second level).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from svmselect.kernels.names import vectors
from svmselect.priors import Shrinkage
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class Deviations:
    """A quadratic model of the negative log-likelihood of all data over the deviations.

    ``curvatures`` are the eigenvalues of its Hessian there, at least 0, and ``axes`` their
    directions in all coordinates, (p, m).
    """

    names: tuple[str, ...]
    curvatures: Array
    axes: Array

    @classmethod
    def of(cls, H: Array, names: tuple[str, ...]) -> Deviations:
        """Decompose the Hessian over (log C, parameters), once. O(p^3)."""
        groups = vectors(names)
        parts = [np.linalg.svd(np.ones((1, len(group))))[2][1:].T for group in groups]
        Q = np.zeros((len(names), sum(part.shape[1] for part in parts)))
        Q[[i for group in groups for i in group]] = block_diag(*parts)
        values, V = np.linalg.eigh(Q.T @ H @ Q)
        return cls(names, np.maximum(values, 0.0), Q @ V)

    def volume(self, prior: Shrinkage, point: Array) -> float:
        """What the negative log posterior lacks to a negative log marginal likelihood.

        1/2 log det(Q'(H + W)Q) + m log z, W the precisions of the prior and z the normaliser of one
        deviation over that of a unit normal. With normal tails W = 1/tau^2 and z = tau, which
        makes 1/2 sum_j log(1 + tau^2 h_j).
        """
        if not np.isfinite(prior.tails):
            return 0.5 * float(np.log1p(prior.tau**2 * self.curvatures).sum())
        W = self.axes.T @ (prior.precision(point, self.names)[:, None] * self.axes)
        whole = np.diag(self.curvatures) + W
        return 0.5 * float(np.linalg.slogdet(whole)[1]) + len(W) * prior.log_normaliser

    def expected(self, gradient: Array, prior: Shrinkage, point: Array) -> float:
        """How the negative log marginal likelihood would change by descending, by this model.

        ``gradient`` is that of the negative log-likelihood; the change is from the likelihood
        alone at ``point``. With normal tails each direction is minimised for itself:
        g x + 1/2 h x^2 + (u + x)^2 / (2 tau^2).
        """
        h, precision = self.curvatures, prior.tau**-2
        g, u = self.axes.T @ gradient, self.axes.T @ point
        x = -(g + u * precision) / (h + precision)
        change = g @ x + 0.5 * h @ x**2 + 0.5 * precision * float(np.sum((u + x) ** 2))
        return float(change) + self.volume(prior, point)
