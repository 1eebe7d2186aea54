"""Which tilted moments belong to a loss, its penalty and the weights."""

from __future__ import annotations

from svmselect.posterior.quadrature import LogisticSites, NormalisedHinge
from svmselect.posterior.sites import Sites, hinge, squared_hinge
from svmselect.types import Array


def get_sites(loss: str, C: float, weights: Array, normalised: bool = False) -> Sites:
    """Give the factors exp(-C w loss(z)), or with ``normalised`` those of the normalised model.

    A weight is a power of the factor: what that many copies of a row, which share one latent value,
    multiply up to.
    """
    c = C * weights
    if loss == "logistic":
        return LogisticSites(weights, C, True) if normalised else LogisticSites(c)
    if normalised:
        return NormalisedHinge(C, weights, 1 if loss == "hinge" else 2)
    rule = hinge if loss == "hinge" else squared_hinge
    return lambda m, s2: rule(m, s2, c)


def log_concave(loss: str, normalised: bool) -> bool:
    """Whether every site has non-negative precision."""
    return loss == "logistic" or not normalised
