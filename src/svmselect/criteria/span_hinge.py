"""Spans of the hinge: free vectors, and those at their bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.spans import Spans, factor, lonely, off_diagonal, penalty
from svmselect.machine import ActiveSystem
from svmselect.machine.bordered import Bordered
from svmselect.types import Array, BoolArray, IntArray, Sensitivity

_DEPENDS = 1e-7  # coefficients below are round-off


@dataclass(frozen=True, eq=False)
class HingeSpans(Spans):
    """change = delta S^2 and excess = change - z, delta the part of alpha that has to go.

    One copy of a row of weight w gone, the others carry up to C (w - 1) between them, so that
    delta = (alpha - C (w - 1))_+, all of alpha where w <= 1. The order is ``free``, ``bound``, and
    last what depends on the other free vectors: they take its part over, S = 0.

    ``P`` is the inverse on ``free``, ``c`` holds the free part of N^-1 v for each of ``bound``.
    """

    free: IntArray
    bound: IntArray
    eta: float
    delta: Array
    P: Array
    E: Array
    c: Array

    @classmethod
    def of(cls, system: ActiveSystem, eta: float) -> HingeSpans:
        """Compute the spans. O(|F|^3 + |F|^2 |B|)."""
        s, K = system.solution, system.K
        C = s.C * s.weights
        free, matrix = system.free, system.matrix
        size = s.alpha * (1.0 - s.alpha / np.where(C > 0, C, 1.0))  # a
        if eta > 0:
            free, matrix = factor(system, s.free, penalty(eta, size[s.free]))
        E, P = penalty(eta, size[free]), matrix.inverse()
        bound, rest = s.bound, np.setdiff1d(s.free, free)
        S2_free = np.full(len(free), np.inf)
        if not lonely(matrix):
            np.divide(1.0, P.diagonal(), out=S2_free, where=P.diagonal() > 0)
            S2_free = np.maximum(S2_free - E, 0.0)
            S2_free[_replaceable(matrix, K[np.ix_(free, rest)])] = 0.0
        c, shift = matrix.solve(K[np.ix_(free, bound)], 1.0)
        S2_bound = K.diagonal()[bound] - np.einsum("ij,ij->j", K[np.ix_(free, bound)], c) - shift
        if s.fit_intercept and not len(free):
            S2_bound = np.full(len(bound), np.inf)
        rows = np.concatenate([free, bound, rest])
        squared = np.concatenate([S2_free, np.maximum(S2_bound, 0.0), np.zeros(len(rest))])
        w = s.weights[rows]
        delta = np.maximum(s.alpha[rows] - s.C * np.maximum(w - 1.0, 0.0), 0.0)
        change = np.multiply(delta, squared, out=np.zeros(len(rows)), where=delta > 0)
        z = np.ones(len(rows))  # of free vectors, without their round-off
        at_bound = slice(len(free), len(free) + len(bound))
        z[at_bound] = np.minimum(s.margin[bound], 1.0)
        return cls(system, rows, squared, change, change - z, free, bound, eta, delta, P, E, c)

    def pullback(self, excess: Array) -> Sensitivity:
        system, s, K = self.system, self.system.solution, self.system.K
        free, bound, P, c = self.free, self.bound, self.P, self.c
        n, m = len(K), len(free)
        finite = np.isfinite(self.squared) & (self.delta > 0)
        on_excess = np.where(np.isfinite(self.excess), excess, 0.0)
        on_span = np.where(finite, on_excess * self.delta, 0.0)
        on_free = np.zeros(m)  # of -P_pp; a span that is zero because of the dependent ones stays
        moving = finite[:m] & (self.squared[:m] > 0)
        np.divide(on_span[:m], P.diagonal() ** 2, out=on_free, where=moving)
        on_bound = on_span[m : m + len(bound)]

        gram = np.zeros((n, n))
        block = (P * on_free) @ P + (c * on_bound) @ c.T
        gram[np.ix_(free, free)] = block
        gram[np.ix_(free, bound)] = -2.0 * c * on_bound
        gram[bound, bound] += on_bound
        on_E = off_diagonal(P, on_free) + c**2 @ on_bound

        on_delta = np.where(finite, on_excess * np.where(finite, self.squared, 0.0), 0.0)
        beta, w = np.zeros(n), s.weights[self.rows]
        beta[self.rows] = s.y[self.rows] * on_delta
        slope = -float(on_delta @ (s.C * np.maximum(w - 1.0, 0.0)))
        if self.eta > 0:  # E = eta/a: dE = -E/a da, da = (1 - 2 p) dalpha + alpha p dlog C
            alpha = s.alpha[free]
            p = alpha / (s.C * s.weights[free])
            a = np.maximum(alpha * (1.0 - p), np.finfo(float).tiny)
            on_a = -on_E * self.E / a
            beta[free] += s.y[free] * on_a * (1.0 - 2.0 * p)
            slope += float(on_a @ (alpha * p))
        decision = np.zeros(n)
        decision[bound] = -s.y[bound] * on_excess[m : m + len(bound)]
        return system.pullback(decision=decision, beta=beta, log_C=slope, gram=gram)


def _replaceable(matrix: Bordered, dependent: Array) -> BoolArray:
    """Which free vectors one of the dependent columns could replace: they have no span either."""
    weights, _ = matrix.solve(dependent, 1.0)
    return np.asarray(np.abs(weights).max(axis=1, initial=0.0) > _DEPENDS)
