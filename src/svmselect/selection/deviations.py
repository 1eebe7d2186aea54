"""The third level of inference on length scales: what their freedom to part costs, and brings.

The deviations of each vector of length scales from its mean are integrated out by Laplace's method
(Kwok 2000 does so with the hyperparameters of the second level).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, lapack

from svmselect.kernels.names import deviations, vectors
from svmselect.priors import Shrinkage
from svmselect.types import Array

_MANY = 200  # coordinates from which on it pays to look for a Hessian of few directions
_ROUNDING = 1e-10  # relative to the Hessian, what a factor of it may miss


@dataclass(frozen=True, eq=False)
class Deviations:
    """A quadratic model of the negative log-likelihood of all data over the deviations.

    ``curvatures`` are eigenvalues of its Hessian there, at least 0, and ``axes`` their directions
    in all coordinates, (p, r). In the ``flat`` directions that are left it has no curvature: the
    Hessian of n rows and p > n inputs is of rank n.
    """

    names: tuple[str, ...]
    curvatures: Array
    axes: Array
    flat: int = 0

    @classmethod
    def of(cls, H: Array, names: tuple[str, ...]) -> Deviations:
        """Decompose the Hessian over (log C, parameters), once. O(p^2 r) for rank r << p."""
        groups = vectors(names)
        m = sum(len(group) - 1 for group in groups)
        root = _root(_projected(H, groups)) if m > _MANY else None
        if root is not None and 2 * root.shape[1] < m:
            axes, values, _ = np.linalg.svd(root, full_matrices=False)
            return cls(names, values**2, axes, m - len(values))
        parts = [np.linalg.svd(np.ones((1, len(group))))[2][1:].T for group in groups]
        Q = np.zeros((len(names), m))
        Q[[i for group in groups for i in group]] = block_diag(*parts)
        values, V = np.linalg.eigh(Q.T @ H @ Q)
        return cls(names, np.maximum(values, 0.0), Q @ V)

    def volume(self, prior: Shrinkage, point: Array) -> float:
        """What the negative log posterior lacks to a negative log marginal likelihood.

        1/2 log det(Q'(H + W)Q) + m log z, W the precisions of the prior, Q a basis of the m
        deviations and z the normaliser of one deviation over that of a unit normal. With normal
        tails W = 1/tau^2 and z = tau, which makes 1/2 sum_j log(1 + tau^2 h_j).
        """
        if not np.isfinite(prior.tails):
            return 0.5 * float(np.log1p(prior.tau**2 * self.curvatures).sum())
        w = prior.precision(point, self.names)
        m = len(self.curvatures) + self.flat
        if not self.flat:
            whole = np.diag(self.curvatures) + self.axes.T @ (w[:, None] * self.axes)
            return 0.5 * float(np.linalg.slogdet(whole)[1]) + m * prior.log_normaliser
        # det(Q'(W + A A')Q) = det(Q'WQ) det(1 + A' Q (Q'WQ)^-1 Q' A), group by group without Q
        A = self.axes * np.sqrt(self.curvatures)
        inner, logdet = np.eye(A.shape[1]), 0.0
        for group in vectors(self.names):
            part, over = A[group], 1.0 / w[group]
            mean = over @ part
            inner += part.T @ (over[:, None] * part) - np.outer(mean, mean) / over.sum()
            logdet += float(np.log(over.sum() / len(group)) - np.log(over).sum())
        logdet += float(np.linalg.slogdet(inner)[1])
        return 0.5 * logdet + m * prior.log_normaliser

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
        if self.flat:
            g = deviations(gradient, self.names) - self.axes @ g
            u = deviations(point, self.names) - self.axes @ u
            change -= 0.5 * float(g @ g) / precision + float(g @ u)
        return float(change) + self.volume(prior, point)


def _projected(H: Array, groups: list[list[int]]) -> Array:
    """The Hessian over the deviations, in all coordinates."""
    made = np.zeros_like(H)
    for one in groups:
        for other in groups:
            part = H[np.ix_(one, other)]
            part = part - part.mean(axis=0)
            made[np.ix_(one, other)] = part - part.mean(axis=1)[:, None]
    return made


def _root(H: Array) -> Array | None:
    """A with A A' = H and no more columns than its rank; None where H is indefinite."""
    factor, pivots, rank, _ = lapack.dpstrf(H, lower=1)
    A = np.zeros((len(H), rank))
    A[pivots - 1] = np.tril(factor)[:, :rank]
    missed = float(np.abs(A @ A.T - H).max())
    return A if missed <= _ROUNDING * float(np.abs(H).max()) else None
