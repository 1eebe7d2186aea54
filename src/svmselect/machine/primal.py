"""A linear machine on explicit features, for many rows and a moderate number of columns.

    minimise 1/2 |theta|^2 + sum_i cost_i loss(y_i (phi_i theta + b))

by Newton's method: O(nm) a step, and O(m^2) for each row where the loss is curved. The hinge has
no curvature, so its corner is rounded: between 1 - delta and 1 + delta it is a parabola that meets
both lines smoothly, and delta shrinks from stage to stage. What is left of it changes the objective
by less than delta/4 sum(cost), and the rows inside the corner, the only ones whose squares a step
needs, become few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from svmselect.machine.losses import Curve, get_loss
from svmselect.machine.newton import halving
from svmselect.types import OK, Array, Status

Features = NDArray[np.floating[Any]]  # double or single precision

CORNERS = (0.5, 0.1, 0.02)
"""Half-widths of the hinge's rounded corner, stage by stage."""
_BLOCK = 2**21  # entries of a block of features: 16 MiB
_MAX_STEPS = 60
_PRECISE = 1e-7  # expected gain over the objective, at which the last stage ends
_ROUGH = 1e-3  # the same for those before it
_SAMPLE = 8  # a first stage on every eighth row, where enough of them are left
LOST = Status(
    "failed",
    "the machine on features met numbers that are infinite or undefined; use a smaller C, or "
    "standardise the inputs",
)


@dataclass(frozen=True, eq=False)
class LinearMachine:
    """f = Phi theta + intercept; ``decision`` at every row, rows of cost zero included."""

    theta: Array
    intercept: float
    decision: Array
    objective: float
    status: Status


def fit_linear(
    Phi: Features,
    y: Array,
    cost: Array,
    loss: str,
    start: LinearMachine | None = None,
    corners: tuple[float, ...] = CORNERS,
) -> LinearMachine:
    """Train on the rows of positive cost. Single precision features halve memory and time.

    ``start`` is a machine on the same features, at another cost. Without it, many rows are led up
    to by every eighth of them at eight times the cost.
    """
    own = get_loss(loss)
    rules: list[Curve] = [own] if own.curved else [own.rounded(delta) for delta in corners]
    theta, b, f = np.zeros(Phi.shape[1]), 0.0, np.zeros(len(y))
    if start is not None:
        theta, b, f = start.theta, start.intercept, start.decision
        rules = rules[min(1, len(rules) - 1) :]
    elif len(y) > 4 * _SAMPLE * Phi.shape[1]:
        part = slice(None, None, _SAMPLE)
        arguments = (Phi[part], y[part], _SAMPLE * cost[part], rules[0], theta, b, f[part])
        theta, b, *_ = _newton(*arguments, _ROUGH)
        f = _times(Phi, theta) + b
    objective, status = np.inf, OK
    for rule in rules:
        precise = _PRECISE if rule is rules[-1] else _ROUGH
        theta, b, f, objective, status = _newton(Phi, y, cost, rule, theta, b, f, precise)
    return LinearMachine(theta, b, _times(Phi, theta) + b, objective, status)


def _newton(
    Phi: Features,
    y: Array,
    cost: Array,
    rule: Curve,
    theta: Array,
    b: float,
    f: Array,
    precise: float,
) -> tuple[Array, float, Array, float, Status]:
    for _ in range(_MAX_STEPS):
        z = y * f
        objective = 0.5 * float(theta @ theta) + float(cost @ rule.value(z))
        if not np.isfinite(objective):
            return theta, b, f, objective, LOST
        pull = cost * y * rule.slope(z)  # minus the gradient by f
        uphill, uphill_b = theta - _transposed(Phi, pull), -float(pull.sum())
        try:
            d_theta, d_b = _step(Phi, cost * rule.curvature(z), uphill, uphill_b)
        except LinAlgError:
            return theta, b, f, objective, LOST
        gain = -float(uphill @ d_theta) - uphill_b * d_b
        d_f = _times(Phi, d_theta) + d_b
        t = _line_search(float(theta @ d_theta), float(d_theta @ d_theta), f, d_f, y, cost, rule)
        theta, b, f = theta + t * d_theta, b + t * d_b, f + t * d_f
        if t == 0.0 or not gain > precise * objective:
            return theta, b, f, objective, OK
    advice = (
        "the machine on features used all its Newton steps; its predictions are usable, but a "
        "smaller C would be safer"
    )
    return theta, b, f, objective, Status("max-iterations", advice)


def _step(Phi: Features, W: Array, uphill: Array, uphill_b: float) -> tuple[Array, float]:
    """Newton's step from (I + Phi'W Phi, the intercept's row and column)."""
    least = 1e-10 * float(W.max(initial=0.0))
    used = np.flatnonzero(least < W)
    H = np.eye(Phi.shape[1])
    border = np.zeros(Phi.shape[1])
    for rows in _blocks(len(used), Phi.shape[1]):
        w = W[used[rows]]
        root = np.sqrt(w).astype(Phi.dtype)
        part = Phi[used[rows]] * root[:, None]
        border += part.T @ root
        H += part.T @ part
    factor = cholesky(H)
    x, u = cho_solve(factor, np.column_stack([-uphill, border]), check_finite=False).T
    mass = float(W.sum())
    schur = mass - float(border @ u)
    # without a row in the corner the intercept is on a slope, and the line search decides how far
    # it goes; a Schur complement lost to rounding is no better
    if not schur > 1e-9 * mass:
        return x, -float(np.sign(uphill_b))
    d_b = (-uphill_b - float(border @ x)) / schur
    return x - u * d_b, d_b


def cholesky(H: Array) -> tuple[Array, bool]:
    """Factor H, with as much added to the diagonal as rounding in single precision asks for."""
    most = float(H.diagonal().max())
    if not np.isfinite(H).all():
        raise LinAlgError("the matrix has entries that are no numbers")
    for jitter in (0.0, *(most * 10.0 ** np.arange(-7.0, 2.0))):
        try:
            factor, lower = cho_factor(
                H + jitter * np.eye(len(H)) if jitter else H, lower=True, check_finite=False
            )
            return np.asarray(factor), bool(lower)
        except LinAlgError:
            pass
    raise LinAlgError("the matrix is not positive definite")


def _line_search(
    first: float, second: float, f: Array, d_f: Array, y: Array, cost: Array, rule: Curve
) -> float:
    """The minimum along the step within [0, 1], the objective being convex; 1 near the optimum.

    0 where rounding leaves no way down.
    """
    moving = np.flatnonzero(cost)
    z, d_z, c = (y * f)[moving], (y * d_f)[moving], cost[moving]

    def derivative(t: float) -> float:
        return first + t * second - float((c * d_z) @ rule.slope(z + t * d_z))

    at_zero = derivative(0.0)
    if at_zero >= 0.0:
        return 0.0
    if derivative(1.0) <= 1e-3 * abs(at_zero):
        return 1.0
    return halving(derivative, at_zero)


def _blocks(n: int, width: int) -> Iterator[slice]:
    """Slices of so many rows that a block has a bounded size."""
    size = max(1, _BLOCK // max(width, 1))
    return (slice(at, min(at + size, n)) for at in range(0, n, size))


def _times(Phi: Features, theta: Array) -> Array:
    """Phi theta, in the precision of Phi."""
    return np.asarray(Phi @ theta.astype(Phi.dtype), dtype=np.float64)


def _transposed(Phi: Features, v: Array) -> Array:
    """Phi' v, block by block, so that rounding does not grow with the number of rows."""
    out = np.zeros(Phi.shape[1])
    v = v.astype(Phi.dtype)
    for rows in _blocks(*Phi.shape):
        out += v[rows] @ Phi[rows]
    return out
