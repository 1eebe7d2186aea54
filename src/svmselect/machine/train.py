"""``solve``: an exact support vector machine or kernel logistic regression for one Gram matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from svmselect.clock import look
from svmselect.machine.batch import Group, train_compiled
from svmselect.machine.box_qp import BoxQP, solve_box
from svmselect.machine.check import (
    check_gram,
    check_penalty,
    check_scale,
    check_signs,
    check_weights,
)
from svmselect.machine.joint import serves, train_jointly
from svmselect.machine.losses import get_loss
from svmselect.machine.newton import newton
from svmselect.machine.reference import ABSENT, AT_LOWER, AT_UPPER, FREE, PARKED
from svmselect.machine.solution import Solution, describe
from svmselect.types import Array, IntArray

_FAINT = 1e-3  # a decision as small is computed for itself


def solve(
    K: ArrayLike,
    y: ArrayLike,
    C: float,
    loss: str = "hinge",
    fit_intercept: bool = True,
    weights: ArrayLike | None = None,
    start: Solution | None = None,
) -> Solution:
    """Train a support vector machine or kernel logistic regression exactly, for one Gram matrix.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The Gram matrix, symmetric and positive semi-definite.
    y : array-like of shape (n,)
        The labels, -1 and +1.
    C : float
        The penalty.
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
        The loss.
    fit_intercept : bool, default True
        Whether to fit an unpenalised intercept b.
    weights : array-like of shape (n,), optional
        Sample weights, all 1 if None. A row of weight zero is not trained on, but its decision
        value is computed.
    start : Solution, optional
        A solution for the same points at other hyperparameters or weights, to start from: its
        active sets are usually a few exchanges away.

    Returns
    -------
    Solution
        The optimum. ``status`` says so, with advice, where it was not reached.

    Notes
    -----
    Minimises ``1/2 beta'K beta + C sum_i w_i loss(y_i f_i)``, ``f = K beta + b``, until the
    relative duality gap and the residual are below 1e-9, or below 100 times the rounding error of
    evaluating the objective where that is larger.

    Cost: about n steps of O(n) at most and a few factorisations of the free block (hinges), or
    about ten factorisations of an n x n matrix (logistic; from 500 rows on some tens of products
    with K instead, where these lead to the same). Memory: K itself and O(n + m^2), with m free
    points.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect.kernels import RBF
    >>> from svmselect.machine import solve
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    >>> solution = solve(RBF()(X), y, C=10.0)
    >>> bool(np.all(np.sign(solution.decision) == y)), solution.status.ok
    (True, True)
    """
    get_loss(loss)
    gram = check_gram(K)
    signs = check_signs(y, len(gram))
    w = check_weights(weights, signs)
    if start is not None and len(start.beta) != len(signs):
        raise ValueError(
            f"start was trained on {len(start.beta)} points, this problem has {len(signs)}; "
            "start from a solution for the same points, or leave it out"
        )
    return train(gram, signs, C, loss, fit_intercept, w, start)


def train(
    K: Array,
    y: Array,
    C: float,
    loss: str,
    fit_intercept: bool,
    weights: Array,
    start: Solution | None = None,
) -> Solution:
    """``solve`` for arguments that are known to be sound, but for the size of K and of C w."""
    ((machine,),) = train_together(
        K, [Group(None, y, weights[None], (start,))], C, loss, fit_intercept
    )
    return machine


def train_together(
    K: Array,
    groups: Sequence[Group],
    C: float,
    loss: str,
    fit_intercept: bool,
    threads: int = 1,
) -> list[list[Solution]]:
    """``train`` for many machines at once, to the same result on any number of threads.

    Of a group the machines without a start of their own start from its first.
    """
    check_scale(K)
    tables = [group.weights for group in groups]  # one look at all of them: pairs may be many
    C = check_penalty(C, tables[0] if len(tables) == 1 else np.concatenate(tables, axis=None))
    look()
    found = _found(K, groups, C, loss, fit_intercept, threads)
    by = _train_dual if get_loss(loss).quadratic else _train_primal
    whole = []
    for group, machines in zip(groups, found, strict=True):
        done: list[Solution] = []
        block: Array | None = None
        for machine, weights, known in zip(machines, group.weights, group.starts, strict=True):
            if machine is None:
                look()
                start = known or (done[0] if done else None)
                if block is None:
                    block = K if group.rows is None else K[np.ix_(group.rows, group.rows)]
                machine = by(block, group.y, C, loss, fit_intercept, weights, start)
            done.append(machine)
        whole.append(done)
    return whole


def _found(
    K: Array, groups: Sequence[Group], C: float, loss: str, fit_intercept: bool, threads: int
) -> list[list[Solution | None]]:
    """Machines of many rows and a smooth loss side by side, all others by the compiled code."""
    found: list[list[Solution | None]] = []
    for group in groups:
        made: list[Solution | None] = [None]
        if serves(loss, len(group.y)):
            block = K if group.rows is None else K[np.ix_(group.rows, group.rows)]
            made = train_jointly(
                block, group.y, group.weights, C, loss, fit_intercept, group.starts
            )
        found.append(made)
    left = [i for i, made in enumerate(found) if None in made]
    if left:
        rest = train_compiled(K, [groups[i] for i in left], C, loss, fit_intercept, threads)
        for i, made in zip(left, rest, strict=True):
            found[i] = made
    return found


def _train_primal(
    K: Array,
    y: Array,
    C: float,
    loss: str,
    fit_intercept: bool,
    weights: Array,
    start: Solution | None,
) -> Solution:
    """Newton's method on the primal, for a smooth loss: every point is free."""
    cost = C * weights
    beta0, b0 = np.zeros(len(y)), 0.0
    if start is not None:
        beta0, b0 = np.where(cost > 0, start.beta, 0.0), start.intercept if fit_intercept else 0.0
    beta, b, f, status = newton(K, y, cost, get_loss(loss), fit_intercept, beta0, b0)
    none = np.empty(0, dtype=np.intp)
    sets = (np.flatnonzero(cost > 0), none, none, ())
    return describe(K, y, weights, C, loss, fit_intercept, beta, b, f, *sets, status)


def _train_dual(
    K: Array,
    y: Array,
    C: float,
    loss: str,
    fit_intercept: bool,
    weights: Array,
    start: Solution | None,
) -> Solution:
    """The dual quadratic program, for either hinge and what is like them."""
    cost, rule = C * weights, get_loss(loss)
    limit = rule.bound(cost)
    ridge = rule.ridge(cost, cost)
    lower, upper = np.where(y < 0, -limit, 0.0), np.where(y > 0, limit, 0.0)
    qp = BoxQP(K, ridge, y, lower, upper, 0.0 if fit_intercept else None)

    def by_newton() -> Array:  # along a path of growing C: near a hard margin it needs the lead
        beta, b = np.zeros(len(y)), 0.0
        for fraction in (1e-6, 1e-4, 1e-2, 1.0):
            beta, b, _, _ = newton(K, y, fraction * cost, rule, fit_intercept, beta, b)
        return beta

    sets, beta0, stretch = None, None, 1.0
    if start is not None:
        beta0, stretch = start.beta, C / start.C
        exchanged = np.count_nonzero(weights != start.weights)
        if 0.5 <= stretch <= 2.0 and exchanged <= 0.02 * len(y) + 1:
            sets = _sets(start, y, weights, loss)
    # a point at its bound has no curvature that Newton's method could go by
    s = solve_box(qp, sets, beta0, None if rule.reaches_bound else by_newton, stretch)
    # the residual is y - (K + ridge) beta
    f = y - s.residual - ridge * s.beta + s.offset
    free = (s.states == FREE) | (s.states == PARKED)
    # a free one may have ended on its bound: it is named once
    on_bound = (s.beta == np.where(y > 0, upper, lower)) & (cost > 0) & ~free
    inside, at_bound = np.flatnonzero(free), np.flatnonzero(on_bound)
    found = (inside, at_bound, np.flatnonzero(s.states == PARKED), s.ends)
    beta, b = s.beta, s.offset
    if not (rule.curved or len(at_bound)):
        # A hard margin: at large C a margin of 1 - 1e-16 costs more than the whole norm, so the
        # free margins are rounded up to one.
        f = y - qp.residual(beta) + b  # nor may it carry what larger values left behind
        size = np.sqrt(np.maximum(K.diagonal(), 0.0))
        noise = 4e-16 * (1.0 + float(size.max() * np.sqrt((size * beta) @ (size * beta))))
        short = float(np.max(1.0 - y[inside] * f[inside], initial=0.0))
        up = 1.0 + min(noise, 1e-10) + 2.0 * min(short, 1e-10)
        beta, b, f = np.clip(beta * up, lower, upper), b * up, f * up
    if not fit_intercept:
        # far from all it was trained on a machine says next to nothing: not as y less almost y
        faint = np.flatnonzero((cost == 0) & (np.abs(f) < _FAINT))
        f[faint] = K[faint] @ beta
    return describe(K, y, weights, C, loss, fit_intercept, beta, b, f, *found, s.status)


def _sets(start: Solution, y: Array, weights: Array, loss: str) -> IntArray:
    """Active sets to start from; what start did not train on is judged by its margin."""
    full = AT_UPPER if get_loss(loss).reaches_bound else FREE
    side = np.where(y > 0, full, -full)  # of a support vector at its bound
    states = np.where(y > 0, AT_LOWER, AT_UPPER)
    states[start.bound] = side[start.bound]
    states[start.free] = FREE
    new = (start.weights == 0) & (weights > 0) & (y * start.decision < 1)
    states[new] = side[new]
    states[weights == 0] = ABSENT
    return states.astype(np.int8)
