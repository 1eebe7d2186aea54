"""Newton's method on the primal, for the losses with a curvature: logistic and squared hinge.

The step solves (K + D) beta + b 1 = f + y slope/curvature with D = 1/(C w curvature), on the points
where the loss has a curvature. (The form I + D^-1/2 K D^-1/2 of Gaussian-process codes conditions
alike, but subtracts numbers of size C from one another.) O(n^3) a step; 5 to 40 steps. For the
logistic loss this is the reference, of which ``joint.py`` is the quick form for many rows; for the
squared hinge it finds the support vectors where working-set descent would crawl.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmselect.clock import look
from svmselect.machine.bordered import Bordered
from svmselect.machine.losses import Loss
from svmselect.types import OK, Array, IntArray, Status

System = tuple[IntArray, Array, Bordered]  # the points with a curvature, their ridge, the factor

_MAX_STEPS = 200
_ROUNDING = 1e-15  # of a decision value, relative to its size
_GAIN = 0.2
_SLACK = 1e-9  # by which rounding may raise the objective near its minimum


def newton(
    K: Array,
    y: Array,
    cost: Array,
    loss: Loss,
    fit_intercept: bool,
    beta: Array,
    intercept: float,
) -> tuple[Array, float, Array, Status]:
    """Minimise 1/2 beta'K beta + sum_i cost_i loss(y_i f_i); (beta, b, f, status)."""
    here = np.flatnonzero(cost > 0)
    if len(here) < len(y):
        inner, b, _, status = newton(
            K[np.ix_(here, here)], y[here], cost[here], loss, fit_intercept, beta[here], intercept
        )
        whole = np.zeros(len(y))
        whole[here] = inner
        return whole, b, K[:, here] @ inner + b, status

    f = K @ beta + intercept
    value = _objective(beta, f, intercept, y, cost, loss)
    zero = np.zeros_like(beta)
    if not value <= (value_zero := _objective(zero, zero, 0.0, y, cost, loss)):
        beta, intercept, f, value = zero, 0.0, zero, value_zero
    best, stalled = (value, beta, f, intercept), 0
    for _ in range(_MAX_STEPS):
        target, b, system = _newton_point(K, y, cost, loss, fit_intercept, f)
        d_beta, d_f, d_b = target - beta, K @ target + b - f, b - intercept
        # along the step the norm is a parabola: derivative first + t second
        first = 0.5 * float(d_beta @ (f - intercept) + beta @ (d_f - d_b))
        second = float(d_beta @ (d_f - d_b))
        step = _line_search(first, second, f, d_f, y, cost, loss)
        beta, f, intercept = beta + step * d_beta, f + step * d_f, intercept + step * d_b
        if step == 1.0 and loss.smooth:
            nearer = _chords(K, y, cost, loss, system, beta, intercept)
            if nearer is not None:
                return *nearer, OK
        before, value = value, _objective(beta, f, intercept, y, cost, loss)
        if value < best[0]:
            best = value, beta, f, intercept
        stalled = stalled + 1 if value >= before - 1e-14 * abs(before) else 0
        if stalled == 2:
            break
    else:
        _, beta, f, intercept = best
        advice = "Newton's method used all its steps: lower C or rescale the kernel"
        return beta, intercept, f, Status("max-iterations", advice)
    if not value <= best[0] + _SLACK * abs(best[0]):  # a badly rounded direction led uphill
        _, beta, f, intercept = best
    # One more step at full length squares what error is left.
    target, b, _ = _newton_point(K, y, cost, loss, fit_intercept, f)
    f_target = K @ target + b
    before, after = (
        np.abs(v - y * cost * loss.slope(y * g)).max() for v, g in ((beta, f), (target, f_target))
    )
    if after <= before:
        beta, intercept, f = target, b, f_target
    return beta, intercept, K @ beta + intercept, OK


def _chords(
    K: Array, y: Array, cost: Array, loss: Loss, system: System, beta: Array, intercept: float
) -> tuple[Array, float, Array] | None:
    """Go on with the factorisation at hand, O(n^2) a step, if that leads all the way; else None.

    Near the optimum the curvature hardly changes, and a Newton step with the last one gains a digit
    or more for a small part of the price.
    """
    F, ridge, factored = system
    if len(F) < len(y):
        return None
    error, diagonal = np.inf, K.diagonal()
    for _ in range(_MAX_STEPS):
        f = K @ beta + intercept
        rest = y * cost * loss.slope(y * f) - beta
        # near a hard margin beta is far below C w: its own size counts
        before, error = error, float(np.abs(rest).max() / max(np.abs(beta).max(), 1e-300))
        if not error <= _GAIN * before:
            # |K_ij|^2 <= K_ii K_jj, and independent rounding errors add in squares
            size = float(np.sqrt(diagonal.max() * (diagonal @ beta**2)))
            limit = min(_ROUNDING * (1.0 + size), 1e-13)
            return (beta, intercept, f) if error <= limit else None
        d_beta, d_b = factored.solve(ridge * rest, -beta.sum())
        beta, intercept = beta + d_beta, intercept + float(d_b)
    return None


def _objective(beta: Array, f: Array, b: float, y: Array, cost: Array, loss: Loss) -> float:
    return float(0.5 * beta @ (f - b) + cost @ loss.value(y * f))


def _line_search(
    first: float, second: float, f: Array, d_f: Array, y: Array, cost: Array, loss: Loss
) -> float:
    """The minimum of the convex objective along the step, within (0, 1]; 1 near the optimum."""

    def derivative(t: float) -> float:
        return first + t * second - float((cost * y * loss.slope(y * (f + t * d_f))) @ d_f)

    at_zero, at_one = derivative(0.0), derivative(1.0)
    if at_one <= 1e-3 * abs(at_zero) or at_zero >= 0.0:
        return 1.0
    return halving(derivative, at_zero)


def halving(derivative: Callable[[float], float], at_zero: float) -> float:
    """Where in (0, 1) a derivative that rises from below zero to above it is all but zero."""
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        value = derivative(middle)
        low, high = (middle, high) if value < 0 else (low, middle)
        if abs(value) <= 1e-3 * abs(at_zero):
            break
    return 0.5 * (low + high)


def _newton_point(
    K: Array, y: Array, cost: Array, loss: Loss, fit_intercept: bool, f: Array
) -> tuple[Array, float, System]:
    """Where the quadratic model at f has its minimum, and the system that says so, factored."""
    look()
    z = y * f
    W = cost * loss.curvature(z)
    F = np.flatnonzero(W > 1e-280)
    target = np.zeros(len(y))
    # W > 0 on F keeps A far from singular unless C K exceeds 1/eps; then a little more ridge
    K_FF, ridge = K[np.ix_(F, F)], 1.0 / W[F]
    system = Bordered.of(K_FF, ridge, fit_intercept)
    jitter = 1e-15 * float(K_FF.diagonal().max(initial=1e-300))
    while system is None:
        jitter *= 10.0
        if not jitter < 1e300:  # no lift helps
            raise ValueError("K holds entries that are not finite; rescale the inputs")
        system = Bordered.of(K_FF, ridge + jitter, fit_intercept)
    rhs = f[F] + y[F] * (loss.slope(z[F]) * cost[F] * ridge)
    x, b = system.solve(rhs)
    error, total = rhs - K_FF @ x - ridge * x - b, -x.sum()
    dx, db = system.solve(error, total)
    target[F] = x + dx
    return target, float(b + db) if fit_intercept else 0.0, (F, ridge, system)
