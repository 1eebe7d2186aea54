"""A primal-dual interior-point method for the quadratic program of ``box_qp``.

Slow (one Cholesky factorisation of n x n an iteration) and nearly indifferent to conditioning and
to the size of the box: what finds the active sets where working-set descent would crawl. Mehrotra's
predictor and corrector (1992); Fine & Scheinberg (2001) for the support vector machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from svmselect.types import Array, BoolArray

_INFINITE = 1e299

Solve = Callable[[Array], Array]


def interior_point(
    H: Any,
    target: Array,
    lower: Array,
    upper: Array,
    total: float | None,
    scale: float,
    max_iterations: int = 100,
    lifted: Callable[[Array], Solve | None] | None = None,
) -> tuple[Array, Array, Array]:
    """Minimise 1/2 x'Hx - target'x over the box [and sum(x) = total]; (x, z_lower, z_upper).

    ``z_lower`` and ``z_upper`` are the multipliers of the bounds, ``scale`` is the size of a
    residual. ``lifted`` solves with H + diag(its argument), where H is no array but something that
    multiplies vectors. O(n^3) an iteration, 15 to 40 iterations.
    """
    has_lower, has_upper = lower > -_INFINITE, upper < _INFINITE
    # Units of x and of the residual, so that C of 1e-3 and of 1e8 look alike; start in the middle.
    span = np.where(has_lower & has_upper, upper - lower, 0.0)
    unit = float(np.median(span[span > 0])) if np.any(span > 0) else 1.0
    x = np.where(has_lower, lower + unit, np.where(has_upper, upper - unit, 0.0))
    x = np.where(span > 0, lower + 0.5 * span, x)
    # The distances to the bounds are carried along: recomputed from x they would round to zero.
    a, c = np.where(has_lower, x - lower, 1.0), np.where(has_upper, upper - x, 1.0)
    z_lower, z_upper = np.where(has_lower, scale, 0.0), np.where(has_upper, scale, 0.0)
    offset, sides = 0.0, max(int(has_lower.sum() + has_upper.sum()), 1)
    best = (np.inf, x, z_lower, z_upper)
    stalled = 0
    for _ in range(max_iterations):
        mu = (a @ z_lower + c @ z_upper) / sides
        dual = H @ x - target - z_lower + z_upper + offset
        primal = 0.0 if total is None else total - x.sum()
        error = max(np.abs(dual).max() / scale, abs(primal) / (unit * len(x)), mu / (unit * scale))
        stalled = 0 if error < 0.5 * best[0] else stalled + 1
        # of two that are alike but for round-off the later one is the more complementary
        if error < 3.0 * best[0]:
            best = (min(float(error), best[0]), x, z_lower, z_upper)
        if error < 1e-14 or stalled == (4 if best[0] < 1e-8 else 20):
            break
        theta = z_lower / a + z_upper / c
        solve = _lifted(H, theta) if lifted is None else lifted(theta)
        if solve is None:
            break
        ones = None if total is None else solve(np.ones(len(x)))
        system = _Newton(solve, ones, dual, primal, a, c, z_lower, z_upper)
        dx, shift, da, dc = system.direction(-a * z_lower, -c * z_upper)
        step_x = min(_reach(a, dx, has_lower), _reach(c, -dx, has_upper))
        step_z = min(_reach(z_lower, da, has_lower), _reach(z_upper, dc, has_upper))
        ahead = (a + step_x * dx) @ np.where(has_lower, z_lower + step_z * da, 0.0)
        ahead += (c - step_x * dx) @ np.where(has_upper, z_upper + step_z * dc, 0.0)
        aim = (max(float(ahead), 0.0) / sides / mu) ** 3 * mu
        dx, shift, da, dc = system.direction(
            np.where(has_lower, aim - a * z_lower - dx * da, 0.0),
            np.where(has_upper, aim - c * z_upper + dx * dc, 0.0),
        )
        # One step length for both: the Hessian couples x into the dual residual.
        step = min(
            _reach(a, dx, has_lower),
            _reach(c, -dx, has_upper),
            _reach(z_lower, da, has_lower),
            _reach(z_upper, dc, has_upper),
        )
        step = min(1.0, 0.995 * step)
        if step < 1e-10:
            break
        x = x + step * dx
        a, c = np.where(has_lower, a + step * dx, 1.0), np.where(has_upper, c - step * dx, 1.0)
        offset += step * shift
        z_lower = np.where(has_lower, z_lower + step * da, 0.0)
        z_upper = np.where(has_upper, z_upper + step * dc, 0.0)
    return best[1:]


@dataclass(frozen=True)
class _Newton:
    """The linearised optimality conditions at one iterate, factored."""

    solve: Solve
    ones: Array | None
    dual: Array
    primal: float
    a: Array
    c: Array
    z_lower: Array
    z_upper: Array

    def direction(self, push_a: Array, push_c: Array) -> tuple[Array, float, Array, Array]:
        """Change of (x, offset, z_lower, z_upper) that adds push_* to the products a z and c z."""
        dx = self.solve(-self.dual + push_a / self.a - push_c / self.c)
        shift = 0.0
        if self.ones is not None:
            shift = float((dx.sum() - self.primal) / self.ones.sum())
            dx = dx - shift * self.ones
        dz_lower = (push_a - self.z_lower * dx) / self.a
        return dx, shift, dz_lower, (push_c + self.z_upper * dx) / self.c


def _lifted(H: Array, theta: Array) -> Solve | None:
    """Factor H + diag(theta), lifted a little where round-off makes it indefinite."""
    jitter = 0.0
    for _ in range(6):
        A = H.copy()
        A.flat[:: len(A) + 1] += theta + jitter
        try:
            factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
            return partial(cho_solve, factor)
        except LinAlgError:
            jitter = max(100.0 * jitter, 1e-15 * float(H.diagonal().max()))
    return None


def _reach(value: Array, change: Array, there: BoolArray) -> float:
    """How far one may go before a positive value vanishes."""
    down = there & (change < 0)
    return float(np.min(-value[down] / change[down], initial=1e9))
