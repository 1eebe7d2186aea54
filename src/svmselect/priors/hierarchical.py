"""Shrinkage whose strength is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

from svmselect.priors.base import Prior, Together
from svmselect.priors.reach import Reach
from svmselect.priors.vague import Vague


@dataclass(frozen=True)
class Hierarchical:
    """``Shrinkage`` whose strength tau is itself chosen, by marginal likelihood.

    It serves criteria that are log-likelihoods or evidences and have gradients.

    Parameters
    ----------
    ladder : tuple of float, default (0.25, 0.5, 1.0, 2.0)
        Values of tau to try, besides 0, which is the isotropic kernel.
    step : float, default 0.1
        Step of the differences of the gradient that make the Hessian.
    patience : int, default 3
        Stop climbing the ladder after that many rungs in a row that are worse than the best.
    tails : float, default 3.0
        Degrees of freedom of the deviations' density, as in ``Shrinkage``; infinity is normal.
    beside : Prior
        The prior on C and on the mean of the length scales; by default ``Reach`` and ``Vague``.

    Notes
    -----
    Searches run for each tau, from the optimum of the one before and from the starts. The
    deviations of the length scales are integrated out by Laplace's method, and the tau with the
    smallest ::

        J(theta; tau) + 1/2 sum_j log(1 + tau^2 h_j)

    is chosen. J is the negative log posterior of all data at its minimum, h_j the d - 1
    eigenvalues, at least 0, of P H P with P = I - 11'/d, and H the Hessian of the negative
    log-likelihood in the logarithms of the length scales. (That is for normal ``tails``, whose
    normaliser cancels. For others the curvatures of the prior at the minimum stand for 1/tau^2, and
    the normaliser is added.)
    """

    ladder: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    step: float = 0.1
    patience: int = 3
    tails: float = 3.0
    beside: Prior = field(default_factory=lambda: Together((Reach(), Vague())))
