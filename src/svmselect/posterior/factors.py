"""What the posterior knows of each loss, in one table: a new loss that is to have one is a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from svmselect.machine.losses import Hinge, Logistic, Loss, SquaredHinge, get_loss
from svmselect.posterior.portable import (
    PortableHinge,
    PortableLogistic,
    PortableLoss,
    PortableSquaredHinge,
)
from svmselect.posterior.quadrature import LogisticSites, NormalisedHinge
from svmselect.posterior.sites import Sites, hinge, squared_hinge
from svmselect.types import Array


@dataclass(frozen=True)
class Factors:
    """The likelihood factors of one loss.

    ``plain`` makes the tilted moments of exp(-c loss(z)) from c = C w, and ``normalised``, from C
    and w, those of the normalised model, which is ``log_concave`` where loss(z) - loss(-z) is
    linear. ``portable`` is the loss on any device.
    """

    plain: Callable[[Array], Sites]
    normalised: Callable[[float, Array], Sites]
    log_concave: bool
    portable: type[PortableLoss]


_TABLE: dict[type[Loss], Factors] = {
    Hinge: Factors(
        plain=lambda c: partial(hinge, c=c),
        normalised=lambda C, w: NormalisedHinge(C, w, power=1),
        log_concave=False,
        portable=PortableHinge,
    ),
    SquaredHinge: Factors(
        plain=lambda c: partial(squared_hinge, c=c),
        normalised=lambda C, w: NormalisedHinge(C, w, power=2),
        log_concave=False,
        portable=PortableSquaredHinge,
    ),
    Logistic: Factors(
        plain=LogisticSites,
        normalised=lambda C, w: LogisticSites(w, C, True),
        log_concave=True,
        portable=PortableLogistic,
    ),
}


def get_factors(loss: str) -> Factors:
    """Look up the factors of a loss by its name."""
    cls = type(get_loss(loss))
    if cls not in _TABLE:
        known = ", ".join(repr(one.name) for one in _TABLE)
        raise ValueError(f"loss={loss!r} has no posterior here; one of {known} has")
    return _TABLE[cls]


def get_sites(loss: str, C: float, weights: Array, normalised: bool = False) -> Sites:
    """Give the factors exp(-C w loss(z)), or with ``normalised`` those of the normalised model.

    A weight is a power of the factor: what that many copies of a row, which share one latent value,
    multiply up to.
    """
    factors = get_factors(loss)
    return factors.normalised(C, weights) if normalised else factors.plain(C * weights)


def log_concave(loss: str, normalised: bool) -> bool:
    """Whether every site has non-negative precision."""
    return not normalised or get_factors(loss).log_concave
