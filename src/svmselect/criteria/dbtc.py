"""Distance between two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.types import Sensitivity

_ORIGIN = 1e-300  # a point with K_ii below is at the origin


@dataclass(frozen=True)
class DBTC(Criterion):
    """The squared distance between the means of the two classes in feature space.

    Parameters
    ----------
    normalised : bool, default True
        Whether to give every point length one first, ``K_ij / (K_ii K_jj)^1/2``, as the method
        needs: without it a larger amplitude is always better.

    Notes
    -----
    The value is ``u'K u`` with ``u_i = w_i y_i / (total weight of the class of i)``. No machine is
    trained, and C does not enter. Any loss. A weight counts as copies of its row. O(n^2).

    References
    ----------
    Sun, Zheng, Li & Zhou 2010.
    """

    normalised: bool = True

    name = "dbtc"
    greater_is_better = True
    serves = every("hinge", "squared_hinge", "logistic")
    scaling = 0.0
    formula = "|mean of class + - mean of class -|^2 in feature space"
    cost = "O(n^2)"
    reference = "Sun, Zheng, Li & Zhou 2010"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        K, y, w = context.K, context.y, context.weights
        u = np.where(y > 0, w / w[y > 0].sum(), -w / w[y < 0].sum())
        if self.normalised:  # a point at the origin of feature space has no direction: it stays
            somewhere = K.diagonal() > _ORIGIN
            u = np.divide(u, np.sqrt(K.diagonal()), out=np.zeros_like(u), where=somewhere)
        Ku = K @ u
        value = float(max(u @ Ku, 0.0))
        details = {"distance": float(np.sqrt(value))}
        if not gradient:
            return Verdict(value, details=details)
        dense = None
        if self.normalised:
            share = np.divide(u * Ku, K.diagonal(), out=np.zeros_like(u), where=somewhere)
            dense = np.diag(-share)
        return Verdict(value, Sensitivity(u[:, None], u[:, None], 0.0, dense), details=details)
