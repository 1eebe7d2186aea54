"""Machines of a smooth loss over the same rows, such as the folds of an evaluation, side by side.

Newton's method on the primal as in ``newton.py``, whose steps here come from conjugate gradients
(``conjugate.py``): some dozens of columns stand for K in the preconditioner, for all machines
together, and K itself has the last word, so that the answer is as exact. What does not converge so,
such as machines with a tiny length scale at a large C, is left to a factorisation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmselect.clock import look
from svmselect.machine.conjugate import (
    Preconditioner,
    columns_of,
    conjugate_gradients,
    products,
)
from svmselect.machine.losses import Loss, get_loss
from svmselect.machine.newton import halving
from svmselect.machine.solution import Solution, describe
from svmselect.types import OK, Array, IntArray

FEWEST = 500
"""Rows from which on this is faster than to factor."""
_COLUMNS = 2.0  # times the square root of the rows
_STEPS = 25
_PRODUCTS = 40  # a step
_ROUNDING = 4e-15
_FINE, _COARSE = 1e-12, 1e-10  # relative residual at the end: what rounding makes of it, between
_NEAR = 0.02  # relative residual from where steps have full length, and the curvature stays


def serves(loss: str, n: int) -> bool:
    """Whether machines of this loss over so many rows are trained here."""
    return get_loss(loss).smooth and n >= FEWEST


def columns_for(n: int) -> int:
    """How many columns stand for K of n rows, at most."""
    return int(_COLUMNS * np.sqrt(n))


def train_jointly(
    K: Array,
    y: Array,
    weights: Array,
    C: float,
    loss: str,
    fit_intercept: bool,
    starts: Sequence[Solution | None],
) -> list[Solution | None]:
    """A machine for each row of ``weights``; None for each that was left undone."""
    k = len(weights)
    first = starts[0]
    begin = None
    if first is not None:
        begin = np.array([(first if s is None else s).decision for s in starts])
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            found = _minimise(K, y, C * weights, get_loss(loss), fit_intercept, begin)
    except FloatingPointError:
        found = None
    if found is None:
        return [None] * k
    none = np.empty(0, dtype=np.intp)
    made: list[Solution | None] = []
    for one, beta, b, f in zip(weights, *found, strict=True):
        free = np.flatnonzero(one > 0)
        s = describe(K, y, one, C, loss, fit_intercept, beta, float(b), f, free, none, none, (), OK)
        made.append(s if s.status.ok else None)
    return made


def _minimise(
    K: Array, y: Array, cost: Array, loss: Loss, border: bool, begin: Array | None
) -> tuple[Array, Array, Array] | None:
    """(beta, b, f), a row a machine, from decision values or none; None: not converged."""
    trained, every = cost > 0, np.arange(len(cost))
    f = np.zeros_like(cost) if begin is None else begin
    W = cost * loss.curvature(y * f)
    if not np.all(W[trained] > 1e-200):
        return None
    look()
    L, left = columns_of(K, W.max(axis=0), columns_for(len(y)))
    diagonal = K.diagonal()
    by = Preconditioner(L, left, W, border)
    beta, P, b = np.zeros_like(cost), np.zeros_like(cost), np.zeros(len(cost))
    if begin is not None:
        # the minimum of the quadratic model at f, of which a start gives no more than f
        target = y * cost * loss.slope(y * f)
        beta = by.balanced(target[:, None])[:, 0]
        P = products(K, beta)
        R = np.divide(target - beta, W, out=np.zeros_like(W), where=trained)
        R += np.where(trained, f - P, 0.0)
        led = conjugate_gradients(K, W, R[:, None], by, every, 0.05, _PRODUCTS)
        if led is None:
            return None
        beta, P, b = beta + led[0][:, 0], P + led[1][:, 0], led[2][:, 0]
        f = P + b[:, None]
        value = 0.5 * (beta * P).sum(axis=1) + (cost * loss.value(y * f)).sum(axis=1)
        worse = ~(value <= cost.sum(axis=1) * float(loss.value(np.zeros(1))[0]))
        beta[worse], P[worse], b[worse] = 0.0, 0.0, 0.0
    live, made_at, before = every, 1.0, np.inf
    for step in range(_STEPS):
        look()
        here = _Here.of(y, cost, loss, live, beta, P, b)
        limit = np.clip(_ROUNDING * (1.0 + here.size(diagonal)), _FINE, _COARSE)
        if step and np.any(here.error <= limit):  # judged on products that nothing was added to
            P[live] = products(K, beta[live])
            here = _Here.of(y, cost, loss, live, beta, P, b)
            open_ = here.error > limit
            if not open_.any():
                return beta, b, P + b[:, None]
            live = live[open_]
            here = _Here.of(y, cost, loss, live, beta, P, b)
        worst = float(here.error.max())
        if not np.all(here.W[trained[live]] > 1e-200) or not np.isfinite(worst):
            return None
        if worst < 1e-6 and worst > 0.5 * before:
            return beta, b, products(K, beta) + b[:, None]  # at its rounding, or not: see there
        before = worst
        if (step or begin is not None) and max(worst, made_at) > _NEAR:
            whole = np.ones_like(cost)
            whole[live] = here.W
            by, made_at = Preconditioner(L, left, whole, border), worst
        gain = max(float(np.clip(worst, 1e-4, 0.1)), 0.3 * _FINE / worst)
        R = np.divide(here.rest, here.W, out=np.zeros_like(here.W), where=trained[live])
        led = conjugate_gradients(K, here.W, R[:, None], by, live, gain, _PRODUCTS)
        if led is None:
            return None
        d_beta, d_P, d_b = led[0][:, 0], led[1][:, 0], led[2][:, 0]
        length = np.ones(len(live))
        if worst > _NEAR:
            length = here.lengths(y, loss, d_beta, d_P, d_b)
        beta[live] += length[:, None] * d_beta
        P[live] += length[:, None] * d_P
        b[live] += length * d_b
    return None


class _Here:
    """Where some machines are: what their conditions lack (``rest``), and the curvature."""

    def __init__(self, cost: Array, beta: Array, P: Array, f: Array, rest: Array, W: Array) -> None:
        self.cost, self.beta, self.P, self.f, self.rest, self.W = cost, beta, P, f, rest, W
        size = np.maximum(np.abs(beta).max(axis=1), 1e-300)
        self.error = np.abs(rest).max(axis=1) / size

    @classmethod
    def of(
        cls,
        y: Array,
        cost: Array,
        loss: Loss,
        live: IntArray,
        beta: Array,
        P: Array,
        b: Array,
    ) -> _Here:
        cost, beta, P = cost[live], beta[live], P[live]
        f = P + b[live, None]
        z = y * f
        rest = y * cost * loss.slope(z) - beta
        return cls(cost, beta, P, f, rest, cost * loss.curvature(z))

    def size(self, diagonal: Array) -> Array:
        """Of decision values: |K_ij|^2 <= K_ii K_jj, and rounding errors add in squares."""
        return np.asarray(np.sqrt(max(float(diagonal.max()), 0.0) * (self.beta**2 @ diagonal)))

    def lengths(self, y: Array, loss: Loss, d_beta: Array, d_P: Array, d_b: Array) -> Array:
        """How far to go along each step: to the minimum of the convex objective, at most 1."""
        first = 0.5 * ((d_beta * self.P).sum(axis=1) + (self.beta * d_P).sum(axis=1))
        second = (d_beta * d_P).sum(axis=1)
        d_f = d_P + d_b[:, None]
        slopes = y * self.cost * d_f
        zero = first - (slopes * loss.slope(y * self.f)).sum(axis=1)
        one = first + second - (slopes * loss.slope(y * (self.f + d_f))).sum(axis=1)
        found = np.ones(len(first))
        for i in np.flatnonzero((zero < 0) & (one > 1e-3 * np.abs(zero))):

            def derivative(t: float, i: int = int(i)) -> float:
                moved = loss.slope(y * (self.f[i] + t * d_f[i]))
                return float(first[i] + t * second[i] - slopes[i] @ moved)

            found[i] = halving(derivative, float(zero[i]))
        return found
