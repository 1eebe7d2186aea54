"""Squared spans of support vectors: how far a machine moves when one of them is left out.

S_p^2 = min_lambda |phi(x_p) - sum_j lambda_j phi(x_j)|^2 + sum_j E_j lambda_j^2 over the other free
vectors j, sum(lambda) = 1 with an intercept. E = 0 gives, whenever the removal of p leaves the
active sets as they are, the exact change y_p (f_p - f_p^-p) = alpha_p S_p^2 (hinge); E = eta/a
makes S continuous where a vector enters or leaves the free set, because a vanishes there (Chapelle
et al. 2002; Gold & Sollich 2003, section 3.1):

squared hinge  K + 1/C in place of K, a = alpha;
hinge          a = alpha (1 - alpha/(C w)), as a free vector leaves at zero or at its bound.

With N = [[K_FF + D + E, 1], [1', 0]] and P the block of N^-1 on F: S_p^2 = 1/P_pp - E_p for a free
p (D is part of the kernel), and K_pp - v'N^-1 v, v = (K_Fp, 1), for one at its bound. A derivative
comes from dP = -P d(K + D + E) P; that of S_p^2 by its own E_p is zero and is left out, not
cancelled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from svmselect.machine import ActiveSystem
from svmselect.machine.bordered import Bordered
from svmselect.types import Array, IntArray, Sensitivity

_LARGEST = 1e100  # of E, so that squares stay finite: a vector of alpha 1e-100 is absent


@dataclass(frozen=True, eq=False)
class Spans(ABC):
    """Spans of one machine's support vectors, in the order of ``rows``.

    ``excess`` is the predicted -y f of each, left out (one copy of it, where the weight is more):
    not below zero is an error, infinite where nothing could balance the removal. ``change`` is the
    predicted y (f - f^-p), ``squared`` is S^2.
    """

    system: ActiveSystem
    rows: IntArray
    squared: Array
    change: Array
    excess: Array

    @abstractmethod
    def pullback(self, excess: Array) -> Sensitivity:
        """Turn derivatives with respect to ``excess`` into a sensitivity; O(|F|^3 + n^2)."""


def factor(system: ActiveSystem, rows: IntArray, ridge: Array) -> tuple[IntArray, Bordered]:
    """Factor N on these rows or, where that fails, on the independent ones among them."""
    K, border = system.K, system.solution.fit_intercept
    matrix = Bordered.of(K[np.ix_(rows, rows)], ridge, border)
    while matrix is None:
        inside = np.isin(rows, system.free)
        keep = inside if not inside.all() else np.arange(len(rows)) < len(rows) - 1
        rows, ridge = rows[keep], ridge[keep]
        matrix = Bordered.of(K[np.ix_(rows, rows)], ridge, border)
    return rows, matrix


def penalty(eta: float, size: Array) -> Array:
    """E = eta/a, kept finite."""
    if eta == 0:
        return np.zeros_like(size)
    return np.minimum(eta / np.maximum(size, eta / _LARGEST), _LARGEST)


def lonely(matrix: Bordered) -> bool:
    """Whether one free vector is all there is to balance the intercept."""
    return matrix.border and len(matrix.factor) == 1


def off_diagonal(P: Array, weights: Array) -> Array:
    """sum_{j != i} P_ij^2 weights_j."""
    squares = P**2
    np.fill_diagonal(squares, 0.0)
    return np.asarray(squares @ weights)
