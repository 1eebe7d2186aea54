"""The losses: one a file; a file added to this folder is found by ``available``.

Who wants to know something about a loss asks it; nobody else compares the names of losses.
"""

from __future__ import annotations

from functools import cache

from svmselect.machine.losses.base import Curve, Loss
from svmselect.machine.losses.hinge import Hinge
from svmselect.machine.losses.logistic import Logistic
from svmselect.machine.losses.squared_hinge import SquaredHinge
from svmselect.registry import classes_of

__all__ = ["Curve", "Hinge", "Logistic", "Loss", "SquaredHinge", "available", "get_loss"]


@cache
def available() -> dict[str, Loss]:
    """List the losses by name, found by listing this folder.

    Returns
    -------
    dict
        Names to losses; those of machines with support vectors come first.
    """
    found: list[Loss] = [cls() for cls in classes_of(__name__, Loss)]
    found.sort(key=lambda loss: (loss.smooth, loss.name))
    return {loss.name: loss for loss in found}


def get_loss(name: str) -> Loss:
    """Look a loss up by name.

    Parameters
    ----------
    name : {"hinge", "squared_hinge", "logistic"}
        The name.

    Returns
    -------
    Loss
        The loss.
    """
    known = available()
    try:
        return known[name]
    except KeyError:
        raise ValueError(f"loss={name!r} is not one of {', '.join(map(repr, known))}") from None
