"""The way to the fixed point of expectation propagation.

While far away, a sweep takes Newton's step for the dual at given cavity variances, shortened until
the convex function that the dual minimises falls, and moves the log variances part of the way that
the sites call for: each site less when its call changed sign. Once near, Newton's method in all
unknowns. Where the sweeps get lost, the path of growing C is followed instead, warm from one C to
the next: at small C the factors are nearly flat.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmselect.clock import look
from svmselect.posterior.approximation import Start
from svmselect.posterior.fixed_point import TINY, Equations, State
from svmselect.types import OK, Array, Status

_NEAR = 1.0  # the residual below which Newton's method takes over
_LEAP = 1.5  # the most a sweep changes ln s2
_PATIENCE = 3  # sweeps to take after a Newton step that did not help
_LOST = 25  # sweeps that should have come near
_FINE = 1e-6  # a residual that no longer falls below this is as good as rounding allows
_COARSE = 1e-5  # above this the gradient is off in the sixth digit
_FITS = 0.3  # how far a neighbour's dual may be from its sites' slopes to start from it
_ROUGH = 0.05  # good enough to go on along the path


def find_fixed_point(
    equations: Callable[[float], Equations], C: float, start: Start | None, tol: float, limit: int
) -> tuple[State, int, Status]:
    """Give the fixed point for this C, the factorisations it took, and whether it is one."""
    at = equations(C)
    used = 0
    if start is not None:
        warm, used = _warm(at, start)
        if warm is not None:
            state, more, found = _iterate(warm, tol, min(limit, _LOST))
            used += more
            if found:
                return state, used, _judge(state, found)
    state, more, found = _iterate(_cold(at), tol, min(limit, _LOST))
    used += more
    if not found and used < limit:
        state, more, found = _follow_path(equations, C, tol, limit - used)
        used += more
    return state, used, _judge(state, found)


def _follow_path(
    equations: Callable[[float], Equations], C: float, tol: float, limit: int
) -> tuple[State, int, bool]:
    """Raise C from a ten-thousandth, in steps of up to a hundred, smaller where one fails."""
    c, reached, factor, used = 1e-4 * C, 0.0, 100.0, 0
    good = state = _cold(equations(c))
    while used < limit:
        goal = tol if c >= C else _ROUGH
        state, more, found = _iterate(state, goal, min(limit - used, _LOST))
        used += more
        if found and c >= C:
            return state, used, True
        if found:
            good, reached = state, c
        else:
            factor = np.sqrt(factor)
            if factor < 1.05 or reached == 0.0:
                break
        c = min(C, reached * factor) if reached * factor < 0.999 * C else C
        moved = equations(c).visit(good.dual, good.log_s2)
        if moved is None:
            break
        state = moved
    return state, used, False


def _iterate(state: State, tol: float, limit: int) -> tuple[State, int, bool]:
    """Sweep, then Newton; give up after ``limit`` factorisations unless near."""
    stuck, patience = 0, 0
    damping, last = np.ones_like(state.m), np.zeros_like(state.m)
    count = 1
    while state.residual > max(tol, 10.0 * state.noise):
        look()
        if stuck > 1 and state.residual < _FINE:
            break
        if count >= limit and (state.residual > _NEAR or count >= 2 * limit):
            return state, count, False
        count += 1
        if state.residual < _NEAR and patience == 0:
            new = _visit(state, *state.newton())
            if new is None or new.residual > state.residual:
                patience, stuck = _PATIENCE, stuck + 1
                continue
        else:
            call = np.clip(state.call, -_LEAP, _LEAP)
            damping = np.where(call * last < 0, 0.5 * damping, np.minimum(1.5 * damping, 1.0))
            last = call
            new = _visit(state, _descend(state), damping * call)
            patience = max(patience - 1, 0)
            if new is None:
                return state, count, False
        stuck = stuck + 1 if new.residual > 0.5 * state.residual else 0
        state = new
    return state, count, True


def _descend(state: State) -> Array:
    """Newton's step for the dual, shortened until the objective falls. O(n^2)."""
    at, s2, (db, dm) = state.equations, state.s2, state.descent()
    g = state.tilted.slope
    start = at.objective(state.m, s2)
    slope = float((state.tilted.curvature * (state.m + s2 * g - at.apply(g))) @ dm)
    short = 1.0
    for _ in range(40):
        allowed = start + 1e-4 * short * slope + 1e-12 * abs(start)
        if at.objective(state.m + short * dm, s2) <= allowed:
            return short * db
        short *= 0.5
    return np.zeros_like(db)  # rounding hides what there is to gain


def _visit(state: State, db: Array, dl: Array) -> State | None:
    """Go there, or where there is no Gaussian, part of the way."""
    for part in (1.0, 0.5, 0.25, 0.125, 0.0625):
        new = state.equations.visit(state.dual + part * db, state.log_s2 + part * dl)
        if new is not None and np.isfinite(new.residual):
            return new
    return None


def _warm(equations: Equations, start: Start) -> tuple[State | None, int]:
    """Start near a neighbour; also the factorisations spent before the first visit.

    Its dual and cavities where they still fit the sites, else the posterior that its sites have
    under the prior as it is now.
    """
    dual, log_s2, spent = equations.y * start.dual, np.log(np.maximum(start.cavity, TINY)), 0
    if not equations.mismatch(dual, log_s2) < _FITS:
        latent, spent = equations.prior.condition(start.precision), 1
        if latent is None or not (latent.retained > 0).all():
            return None, spent
        dual = equations.y * latent.solve(start.shift)
        log_s2 = np.log(np.maximum(latent.variance / latent.retained, TINY))
    state = equations.visit(dual, log_s2)
    return (state if state is not None and np.isfinite(state.residual) else None), spent


def _cold(equations: Equations) -> State:
    """Start from the prior; where a factor is not log-concave there, from a narrower cavity."""
    log_s2 = np.log(np.maximum(equations.prior.diagonal, TINY))
    for narrower in (0.0, 1.0, 2.0, 4.0, 8.0, 16.0):
        state = equations.visit(np.zeros_like(log_s2), log_s2 - narrower)
        if state is not None:
            return state
    raise ValueError(
        "expectation propagation cannot start: K is not positive semi-definite to working "
        "precision; use a positive definite kernel, or add a small constant to K's diagonal"
    )


def _judge(state: State, found: bool) -> Status:
    if not found:
        return Status(
            "not converged",
            f"expectation propagation stopped at a residual of {state.residual:.1e}; lower C or "
            "the amplitude of the kernel, shorten its length scale, or allow more sweeps",
        )
    if state.residual > _COARSE:
        return Status(
            "inexact",
            f"rounding leaves a residual of {state.residual:.1e}: the kernel matrix is close to "
            "singular for this C; shorten the length scale, or lower C or the amplitude",
        )
    return OK
