"""The three losses, and what each means for the dual: the box, the ridge and the link.

With margin z = y f and weights w the objective is 1/2 beta'K beta + C sum_i w_i loss(z_i), and at
the optimum alpha_i = -C w_i loss'(z_i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import expit

from svmselect.types import Array

INFINITY = 1e300  # an unbounded side of the box, as the compiled code knows it


class Loss(Protocol):
    """What the machines and the criteria ask of a loss.

    Notes
    -----
    ``z = y f`` is the margin. With weights w the objective is
    ``1/2 beta'K beta + C sum_i w_i loss(z_i)``, and at the optimum ``alpha_i = -C w_i loss'(z_i)``.
    """

    @property
    def name(self) -> str:
        """The name by which users ask for it."""

    def value(self, z: Array) -> Array:
        """Compute loss(z).

        Parameters
        ----------
        z : ndarray
            Margins y f.

        Returns
        -------
        ndarray
            The losses.
        """

    def slope(self, z: Array) -> Array:
        """Compute -loss'(z), so that alpha = C w slope(z).

        Parameters
        ----------
        z : ndarray
            Margins y f.

        Returns
        -------
        ndarray
            The negative derivatives.
        """

    def curvature(self, z: Array) -> Array:
        """Compute loss''(z), zero where there is none.

        Parameters
        ----------
        z : ndarray
            Margins y f.

        Returns
        -------
        ndarray
            The second derivatives.
        """

    def bound(self, C: Array) -> Array:
        """Return the largest alpha allowed.

        Parameters
        ----------
        C : ndarray
            C times the weight of each point.

        Returns
        -------
        ndarray
            The upper bound of each alpha.
        """

    def ridge(self, C: Array, alpha: Array) -> Array:
        """Return the diagonal D that the loss adds to K on the free points.

        Parameters
        ----------
        C : ndarray
            C times the weight of each point.
        alpha : ndarray
            The dual variables.

        Returns
        -------
        ndarray
            The diagonal.
        """

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        """Compute each point's share of the duality gap, ``C loss(z) + conjugate + alpha z``.

        Parameters
        ----------
        z : ndarray
            Margins y f.
        alpha : ndarray
            The dual variables.
        C : ndarray
            C times the weight of each point.

        Returns
        -------
        ndarray
            The shares, none negative.
        """


@dataclass(frozen=True)
class Hinge:
    """The hinge loss, ``(1 - z)_+``: alpha in [0, C].

    Parameters
    ----------
    name : str
        The loss's name.
    """

    name: str = "hinge"

    def value(self, z: Array) -> Array:
        return np.maximum(1.0 - z, 0.0)

    def slope(self, z: Array) -> Array:
        return (z < 1.0).astype(float)

    def curvature(self, z: Array) -> Array:
        return np.zeros_like(z)

    def bound(self, C: Array) -> Array:
        return C

    def ridge(self, C: Array, alpha: Array) -> Array:
        return np.zeros_like(C)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        return C * self.value(z) - alpha * (1.0 - z)


@dataclass(frozen=True)
class SquaredHinge:
    """The squared hinge loss, ``1/2 (1 - z)_+^2``: alpha >= 0, and K + I/C in place of K.

    Parameters
    ----------
    name : str
        The loss's name.

    Notes
    -----
    scikit-learn's ``LinearSVC`` has no factor 1/2, so that its C is half of this one.
    """

    name: str = "squared_hinge"

    def value(self, z: Array) -> Array:
        return 0.5 * np.maximum(1.0 - z, 0.0) ** 2

    def slope(self, z: Array) -> Array:
        return np.maximum(1.0 - z, 0.0)

    def curvature(self, z: Array) -> Array:
        return (z < 1.0).astype(float)

    def bound(self, C: Array) -> Array:
        return np.where(C > 0, INFINITY, 0.0)

    def ridge(self, C: Array, alpha: Array) -> Array:
        return np.divide(1.0, C, out=np.zeros_like(C), where=C > 0)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        slack = np.maximum(1.0 - z, 0.0)
        square = np.where(C > 0, (C * slack - alpha) ** 2 / (2.0 * np.where(C > 0, C, 1.0)), 0.0)
        return square + alpha * np.maximum(z - 1.0, 0.0)


@dataclass(frozen=True)
class Logistic:
    """The logistic loss, ``log(1 + e^-z)``: alpha in (0, C), with alpha/C = 1 - p.

    Parameters
    ----------
    name : str
        The loss's name.
    """

    name: str = "logistic"

    def value(self, z: Array) -> Array:
        return np.logaddexp(0.0, -z)

    def slope(self, z: Array) -> Array:
        return np.asarray(expit(-z))

    def curvature(self, z: Array) -> Array:
        return np.asarray(expit(z) * expit(-z))

    def bound(self, C: Array) -> Array:
        return C

    def ridge(self, C: Array, alpha: Array) -> Array:
        curvature = alpha * (C - alpha) / np.where(C > 0, C, 1.0)
        return 1.0 / np.maximum(curvature, 1e-250)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        # C times the divergence of alpha/C from expit(-z), both kept away from 0/0
        p = np.clip(np.divide(alpha, C, out=np.full_like(C, 0.5), where=C > 0), 0.0, 1.0)
        log_q, log_1q = -np.logaddexp(0.0, z), -np.logaddexp(0.0, -z)
        inner = np.where(p > 0, p * (np.log(np.where(p > 0, p, 1.0)) - log_q), 0.0)
        outer = np.where(p < 1, (1 - p) * (np.log1p(-np.where(p < 1, p, 0.0)) - log_1q), 0.0)
        outside = np.where(C > 0, np.abs(alpha - C * p), 0.0)  # of the box, where Newton may end
        return np.asarray(C * np.maximum(inner + outer, 0.0) + outside * np.abs(z))


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Logistic())}


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
    try:
        return LOSSES[name]
    except KeyError:
        raise ValueError(f"loss={name!r} is not one of {', '.join(map(repr, LOSSES))}") from None
