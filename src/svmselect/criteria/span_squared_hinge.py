"""Spans of the squared hinge: every support vector is free, and K + I/C is the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.spans import Spans, factor, lonely, off_diagonal, penalty
from svmselect.machine import ActiveSystem
from svmselect.types import Array, Sensitivity


@dataclass(frozen=True, eq=False)
class SquaredHingeSpans(Spans):
    """alpha S^2 - 1 is the excess; change = alpha (S^2 - 1/C), as z = 1 - alpha/C.

    k copies of a row have alpha/k and a ridge k (D + E) each, so that the entry of the inverse
    belonging to one copy is h = (1 - 1/k) / (k (D + E)) + P_ii/k^2, and S^2 = 1/h - k E.
    """

    eta: float
    P: Array
    D: Array
    E: Array

    @classmethod
    def of(cls, system: ActiveSystem, eta: float) -> SquaredHingeSpans:
        """Compute the spans. O(|SV|^3)."""
        s = system.solution
        known = eta == 0
        rows = system.free if known else s.free
        E = penalty(eta, s.alpha[rows])
        D = 1.0 / (s.C * s.weights[rows])
        matrix = system.matrix
        if not known:
            rows, matrix = factor(system, rows, D + E)
            E, D = penalty(eta, s.alpha[rows]), 1.0 / (s.C * s.weights[rows])
        P = system.inverse if known else matrix.inverse()
        k = np.maximum(s.weights[rows], 1.0)
        h = (1.0 - 1.0 / k) / (k * (D + E)) + P.diagonal() / k**2
        finite = (h > 0) & (not lonely(matrix))
        u = np.full(len(rows), np.inf)  # alpha S^2, of one copy
        np.divide(s.alpha[rows] / k, h, out=u, where=finite)
        u = np.maximum(u - E * s.alpha[rows], 0.0)
        squared = u * k / s.alpha[rows]
        change = u - s.alpha[rows] / (s.C * s.weights[rows])
        return cls(system, rows, squared, change, u - 1.0, eta, P, D, E)

    def pullback(self, excess: Array) -> Sensitivity:
        system, rows, P = self.system, self.rows, self.P
        s = system.solution
        alpha, k, ridge = s.alpha[rows], np.maximum(s.weights[rows], 1.0), self.D + self.E
        finite = np.isfinite(self.excess)
        on_span = np.where(finite, excess * alpha / k, 0.0)
        h = np.where(finite, (1.0 - 1.0 / k) / (k * ridge) + P.diagonal() / k**2, 1.0)
        on_P = on_span / (h * k) ** 2  # of -P_pp, through S^2 = 1/h - k E
        on_own = on_span * (1.0 - 1.0 / k) / (k * ridge**2 * h**2)
        cotangent = (P * on_P) @ P
        on_D = cotangent.diagonal() + on_own
        own = np.where(k > 1, on_P * P.diagonal() ** 2 + on_own - k * on_span, 0.0)
        on_E = off_diagonal(P, on_P) + own
        on_alpha = np.where(finite, excess * self.squared / k, 0.0) - on_E * self.E / alpha
        n = len(system.K)
        gram, beta = np.zeros((n, n)), np.zeros(n)
        gram[np.ix_(rows, rows)] = cotangent
        beta[rows] = s.y[rows] * on_alpha
        return system.pullback(beta=beta, log_C=-float(on_D @ self.D), gram=gram)
