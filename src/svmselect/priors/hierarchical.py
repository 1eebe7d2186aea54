"""Shrinkage whose strength is chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

from svmselect.priors.base import Prior, Together
from svmselect.priors.reach import Reach
from svmselect.priors.vague import Vague


@dataclass(frozen=True)
class Hierarchical:
    """``Shrinkage`` whose tau is itself chosen, from ``ladder`` and 0, the isotropic kernel.

    Searches run for each tau, from the optimum of the one before and from the starts; tau is that
    of the highest marginal likelihood, the deviations of the length scales integrated out by
    Laplace's method:

        J(theta; tau) + 1/2 sum_j log(1 + tau^2 h_j)      smallest

    J is the negative log posterior of all data at its minimum, h_j the d - 1 eigenvalues, at least
    0, of P H P, P = I - 11'/d, H the Hessian of the negative log-likelihood in the log scales, by
    differences of its gradient over ``step``. (That is for normal ``tails``, whose normaliser
    cancels; else see ``hierarchy.level_three``.) The ladder is climbed until ``patience`` rungs in
    a row are worse than the best. ``beside`` is the prior on C and on the mean of the length
    scales. For criteria that are log-likelihoods or evidences and have gradients.
    """

    ladder: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    step: float = 0.1
    patience: int = 3
    tails: float = 3.0
    beside: Prior = field(default_factory=lambda: Together((Reach(), Vague())))
