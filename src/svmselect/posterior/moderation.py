"""Kwok's posterior: a Gaussian around the trained machine, by the curvature of a smoothed hinge.

In the space of features the prior is N(0, C I) and minus the log-likelihood the sum of slacks. With
the hinge smoothed by a sigmoid of slope eta its second derivative at point i is r_i, so that the
posterior of the weights is N(w, A^-1), A = I/C + sum_i r_i phi_i phi_i'; at a new point the
activation w'phi + b has the machine's decision as its mean and

    variance = C [k(x, x) - k_m' (K_mm + 1/(C r_m))^-1 k_m],

m the points with r > 0, which are those near the margin. The offset counts as known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from svmselect.machine import Solution
from svmselect.posterior.predictive import latent_variance
from svmselect.types import Array, IntArray

ETA = 100.0
"""Kwok's slope of the sigmoid."""


@dataclass(frozen=True, eq=False)
class Moderation:
    """The variance of the activation at any point.

    Attributes
    ----------
    rows : ndarray of int
        The points near the margin, m.
    inner : ndarray of shape (m, m)
        (K_mm + 1/(C w r))^-1.
    C : float
        The penalty.
    """

    rows: IntArray
    inner: Array
    C: float

    @classmethod
    def of(cls, K: Array, solution: Solution, eta: float = ETA) -> Moderation:
        """Take it from a trained machine.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The Gram matrix the machine was trained with.
        solution : Solution
            The machine, with the hinge loss.
        eta : float, default 100.0
            Slope of the sigmoid that smooths the hinge.

        Returns
        -------
        Moderation
            The posterior's variance. O(m^3).
        """
        r = np.maximum(smoothed_curvature(1.0 - solution.margin, eta)[0], 0.0)
        precision = solution.C * solution.weights * r
        # below that the data say nothing that counts beside the prior
        rows = np.flatnonzero(precision * K.diagonal() > 1e-12)
        if not len(rows):
            return cls(rows, np.zeros((0, 0)), solution.C)
        A = K[np.ix_(rows, rows)] + np.diag(1.0 / precision[rows])
        inner = cho_solve(cho_factor(A), np.eye(len(rows)))
        return cls(rows, 0.5 * (inner + inner.T), solution.C)

    def variance(self, cross: Array, diagonal: Array) -> Array:
        """Compute the variance at new points.

        Parameters
        ----------
        cross : ndarray of shape (q, m)
            The kernel between them and ``rows``.
        diagonal : ndarray of shape (q,)
            The kernel with themselves.

        Returns
        -------
        ndarray of shape (q,)
            The variances of the activation.
        """
        return self.C * latent_variance(cross, diagonal, self.inner)


def smoothed_curvature(u: Array, eta: float) -> tuple[Array, Array]:
    """r(u) = u s''(u) + 2 s'(u) for s(u) = 1/(1 + exp(-eta u)), and r'(u); r is even, r(0) = eta/2.

    The second derivative of u s(u), a hinge with a rounded corner (KW eqs 13-16).
    """
    s = np.asarray(expit(eta * u))
    first = eta * s * np.asarray(expit(-eta * u))
    second = eta * first * (1.0 - 2.0 * s)
    third = eta**2 * first * (1.0 - 6.0 * s + 6.0 * s**2)
    return u * second + 2.0 * first, u * third + 3.0 * second
