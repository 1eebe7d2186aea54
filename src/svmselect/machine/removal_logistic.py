"""Whether kernel logistic regression would get a point right, had it not been trained on it.

Every removal starts from the machine with all points, linearised (one column of the inverse of its
Hessian), and is improved by Newton steps with that same Hessian, all removals at once: two matrix
products a step. It ends when the sign is certain. For beta inside the box that sums to zero the
duality gap bounds the distance to the optimum in the norm of the kernel,
1/2 |h - h*|^2 <= gap, so |h(x) - h*(x)| <= (2 k(x, x) gap)^1/2; and the best intercept for h, being
monotone in h and shifting with it, moves by no more than the largest of those.
"""

from __future__ import annotations

import numpy as np

from svmselect.clock import look
from svmselect.machine.active_system import ActiveSystem
from svmselect.machine.losses import Logistic
from svmselect.machine.solution import Solution
from svmselect.types import Array, IntArray

_STEPS = 12
_BATCH = 1_000_000  # entries of an array: removals x points
_RULE = Logistic()


def signs_without(K: Array, solution: Solution, rows: IntArray) -> Array:
    """A number with the sign of y_i f(x_i) by the machine trained without row i, for i in ``rows``.

    For the logistic loss, and rows of weight at most one. NaN where the sign stayed uncertain:
    those need a training of their own.
    """
    margins = np.full(len(rows), np.nan)
    if len(rows):
        removals = _Removals(K, solution)
        size = max(1, _BATCH // len(removals.there))
        for first in range(0, len(rows), size):
            look()
            part = slice(first, first + size)
            # near a hard margin the curvature underflows; what is not finite is not certain
            with np.errstate(over="ignore", invalid="ignore"):
                margins[part] = removals.margins(rows[part])
    return margins


class _Removals:
    """What all removals share: the machine and the inverse of its bordered Hessian."""

    def __init__(self, K: Array, s: Solution) -> None:
        system = ActiveSystem.of(K, s)
        self.there = system.free
        self.K, self.y = K[np.ix_(self.there, self.there)], s.y[self.there]
        self.beta, self.f, self.b = s.beta[self.there], s.decision[self.there], s.intercept
        self.cost, self.ridge = s.C * s.weights[self.there], system.ridge
        self.inverse = system.inverse
        self.border = s.fit_intercept
        ones = system.matrix.ones
        self.column = ones / ones.sum() if self.border else np.zeros(len(ones))
        self.size = np.sqrt(self.K.diagonal())
        self.position = np.full(len(s.y), -1)
        self.position[self.there] = np.arange(len(self.there))

    def margins(self, rows: IntArray) -> Array:
        """Refine until the signs are certain."""
        gone = self.position[rows]
        found = np.full(len(rows), np.nan)
        pull = -self.beta[gone] / self.inverse[gone, gone]
        change = pull[:, None] * self.inverse[gone]
        beta = self.beta + change
        f = self.f + change @ self.K + (pull * self.column[gone])[:, None]
        active, before = np.arange(len(rows)), np.full(len(rows), np.inf)
        for _ in range(_STEPS):
            cost = np.tile(self.cost, (len(active), 1))
            at = np.arange(len(active)), gone
            cost[at], beta[at] = 0.0, 0.0
            loose = self._centre(f, cost) if self.border else 0.0
            z, alpha = self.y * f, self.y * beta
            gap = _RULE.gap(z, alpha, cost).sum(axis=1)
            inside = ((alpha >= 0) & (alpha <= cost)).all(axis=1)
            reach = self.size[gone] + (self.size.max() if self.border else 0.0)
            # rounding: the gap is a sum of terms of the size of the cost
            error = reach * np.sqrt(2.0 * (gap + 1e-15 * self.cost.sum())) + loose
            certain = inside & (np.abs(z[at]) > error)
            found[active[certain]] = z[at][certain]
            on = ~certain & (gap < before)
            active, gone, beta, f = active[on], gone[on], beta[on], f[on]
            before, cost = gap[on], cost[on]
            if not len(active):
                break
            rho = beta - self.y * cost * _RULE.slope(self.y * f)
            step = (-self.ridge * rho) @ self.inverse
            at = np.arange(len(active)), gone
            pull = step[at] / self.inverse[gone, gone]
            shift = -(rho * self.ridge) @ self.column - pull * self.column[gone]
            step -= pull[:, None] * self.inverse[gone]
            beta = beta + step
            f = f + step @ self.K + shift[:, None]
        return found

    def _centre(self, f: Array, cost: Array) -> Array:
        """Give each row the intercept that is best for it; how far the last Newton step went."""
        step = np.zeros(len(f))
        for _ in range(3):
            slope = _RULE.slope(self.y * f)
            g = (cost * slope) @ self.y
            h = (cost * slope * (1.0 - slope)).sum(axis=1)
            step = np.clip(g / np.maximum(h, 1e-300), -5.0, 5.0)
            f += step[:, None]
        return np.abs(step)
