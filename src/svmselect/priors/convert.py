"""What may stand for a prior."""

from __future__ import annotations

from typing import Any

from svmselect.priors.base import Prior
from svmselect.priors.flat import Flat
from svmselect.priors.hierarchical import Hierarchical
from svmselect.priors.integrated import Integrated
from svmselect.priors.reach import Reach
from svmselect.priors.user import User
from svmselect.priors.vague import Vague


def as_prior(value: Any) -> Prior | Hierarchical:
    """Convert None, a name or a function to a prior.

    Parameters
    ----------
    value : None, str, Prior, Hierarchical or callable
        None, which is flat; "flat", "hierarchical", "integrated", "reach" or "vague"; a prior,
        which is returned as it is; or a function of the point, which becomes a ``User``.

    Returns
    -------
    Prior or Hierarchical
        The prior.
    """
    named = {
        "flat": Flat, "hierarchical": Hierarchical, "integrated": Integrated, "reach": Reach,
        "vague": Vague,
    }  # fmt: skip
    if value is None:
        return Flat()
    if isinstance(value, Prior | Hierarchical):
        return value
    if isinstance(value, str):
        if value not in named:
            raise ValueError(f"prior {value!r} is not one of {', '.join(map(repr, named))}")
        made: Prior | Hierarchical = named[value]()
        return made
    if callable(value):
        return User(value)
    raise ValueError(
        f"cannot make a prior of {value!r}; give one of svmselect.priors, a name "
        f"({', '.join(map(repr, named))}) or a function of the point"
    )
