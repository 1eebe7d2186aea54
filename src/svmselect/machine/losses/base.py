"""What a loss is: all that the machines, the criteria and the posterior ask of it.

With margin z = y f and weights w the objective is 1/2 beta'K beta + C sum_i w_i loss(z_i), and at
the optimum alpha_i = -C w_i loss'(z_i).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np

from svmselect.types import Array

INFINITY = 1e300  # an unbounded side of the box, as the compiled code knows it


class Curve(Protocol):
    """A convex function of the margin, as Newton's method asks for it."""

    def value(self, z: Array) -> Array:
        """Compute loss(z)."""

    def slope(self, z: Array) -> Array:
        """Compute -loss'(z)."""

    def curvature(self, z: Array) -> Array:
        """Compute loss''(z)."""


class Loss(ABC):
    """A convex loss that falls with the margin. A subclass is one file in this folder.

    Attributes
    ----------
    name : str
        The name by which users ask for it.
    quadratic : bool
        Whether the dual is a quadratic program: alpha is in [0, ``bound``], a free point has
        ``z = 1 - ridge alpha``, and the ridge depends on C alone. If not, the loss must be smooth,
        and Newton's method trains the primal.
    curved : bool
        Whether the slope is continuous, and so the ridge above zero. If not, it jumps from 1 to 0
        at z = 1, which is where the free points then lie, and their decision values do not move.
    smooth : bool
        Whether the curvature is continuous and above zero everywhere, so that every point is free
        and no active set ever changes.
    reaches_bound : bool
        Whether alpha reaches its bound C w: ``Solution.bound`` holds these points.
    compiled : str or None
        The name of its twin in the compiled code, by which machines are trained faster; None, as
        for any new loss, if there is none.

    Notes
    -----
    ``z = y f`` is the margin. With weights w the objective is
    ``1/2 beta'K beta + C sum_i w_i loss(z_i)``, and at the optimum ``alpha_i = -C w_i loss'(z_i)``.
    """

    name: ClassVar[str]
    quadratic: ClassVar[bool]
    curved: ClassVar[bool]
    smooth: ClassVar[bool]
    reaches_bound: ClassVar[bool]
    compiled: ClassVar[str | None] = None

    @abstractmethod
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

    @abstractmethod
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

    @abstractmethod
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

    @abstractmethod
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

    @abstractmethod
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

    @abstractmethod
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

    @abstractmethod
    def log_kappa(self, C: float) -> tuple[float, float]:
        """Compute the log of the constant that makes a likelihood of the loss.

        Parameters
        ----------
        C : float
            The penalty, positive.

        Returns
        -------
        value : float
            ``-log max_z [exp(-C loss(z)) + exp(-C loss(-z))]``.
        slope : float
            Its derivative by C.
        """

    def residual(self, z: Array, alpha: Array, C: Array) -> Array:
        """Compute how far each point is from ``alpha = C slope(z)``, as a part of C.

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
            The residuals, none negative; where C is zero they mean nothing.
        """
        return np.asarray(np.abs(alpha / np.where(C > 0, C, 1.0) - self.slope(z)))

    def rounded(self, delta: float) -> Curve:
        """Return a curved function that tends to the loss as delta goes to zero.

        Parameters
        ----------
        delta : float
            How far from the loss's corner the two may differ.

        Returns
        -------
        Curve
            The loss itself, if it is curved.
        """
        return self
