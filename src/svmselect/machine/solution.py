"""The trained machine, as a frozen record."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np

from svmselect.machine.doubled import doubled_dot, doubled_product
from svmselect.machine.losses import get_loss
from svmselect.types import OK, Array, IntArray, Status

_EPS = float(np.finfo(float).eps)
_DOUBTFUL = 1e-5  # where rounding is larger, objective and gap are evaluated in twice the precision


@dataclass(frozen=True)
class Solution:
    """A trained machine, as ``solve`` returns it.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The dual variables, not negative.
    beta : ndarray of shape (n,)
        The coefficients of the decision function, ``alpha * y``.
    intercept : float
        The offset b; 0 without an intercept.
    decision : ndarray of shape (n,)
        ``K beta + intercept`` at every row of K, rows of weight zero included.
    free : ndarray of int
        The points whose alpha is strictly inside its box.
    bound : ndarray of int
        The points whose alpha is C w; of a loss that ``reaches_bound`` (hinge) only.
    dependent : ndarray of int
        A subset of ``free``: points whose column of K depends, to working precision, on those of
        the other free points, so that their alpha could be traded for the others'.
    ends : tuple of int
        Where no point is free, the two points that limit the intercept, which is then the middle of
        the interval between them; otherwise empty.
    objective : float
        The primal objective.
    gap : float
        The relative duality gap.
    kkt : float
        The largest violation of the optimality conditions, in units of the margin (hinges) or of
        probability (logistic).
    rounding : float
        The relative rounding error of evaluating the objective, below which ``gap`` and ``kkt``
        cannot be told from zero; where it exceeds 1e-5 all of these are evaluated in twice the
        precision.
    status : Status
        Whether the optimum was reached.
    y : ndarray of shape (n,)
        The labels, -1 and +1.
    weights : ndarray of shape (n,)
        The sample weights.
    C : float
        The penalty.
    loss : str
        The name of the loss.
    fit_intercept : bool
        Whether there is an unpenalised intercept.

    Notes
    -----
    Two choices are made where the optimum is not unique, and code that differentiates can see both:
    ``dependent`` and ``ends``.
    """

    alpha: Array
    beta: Array
    intercept: float
    decision: Array
    free: IntArray
    bound: IntArray
    dependent: IntArray
    ends: tuple[int, ...]
    objective: float
    gap: float
    kkt: float
    rounding: float
    status: Status
    y: Array
    weights: Array
    C: float
    loss: str
    fit_intercept: bool

    @property
    def margin(self) -> Array:
        """The margins z = y f."""
        return self.y * self.decision

    @property
    def support(self) -> IntArray:
        """The indices of the support vectors, the points with alpha > 0."""
        return np.flatnonzero(self.alpha)


def describe(
    K: Any,
    y: Array,
    weights: Array,
    C: float,
    loss: str,
    fit_intercept: bool,
    beta: Array,
    intercept: float,
    decision: Array,
    free: IntArray,
    bound: IntArray,
    dependent: IntArray,
    ends: tuple[int, ...],
    status: Status,
) -> Solution:
    """Complete the record with objective, gap and residuals. O(n).

    K may be anywhere: it is asked for its diagonal, and becomes an array where rounding is large.
    """
    rule = get_loss(loss)
    cost = C * weights
    alpha, z = y * beta, y * decision
    norm, total = float(beta @ (decision - intercept)), float(beta.sum())
    losses = float(cost @ rule.value(z))
    # Rounding: |K_ij| <= (K_ii K_jj)^1/2 bounds the error of one decision value, ``spread``; it
    # enters the norm through beta and the losses through C w wherever the loss is not flat.
    size = np.sqrt(np.maximum(K.diagonal(), 0.0))  # check_gram forgives a little below zero
    absolute = np.abs(beta)
    spread = _EPS * (1.0 + float(size.max() * (size @ absolute)))
    steep = (alpha > 0) | (rule.slope(z - spread) > 0)
    rounding = spread * (0.5 * float(absolute.sum()) + float(cost @ steep))
    rounding = (rounding + _EPS * losses) / max(abs(0.5 * norm + losses), 1e-300)
    if not rounding <= _DOUBTFUL:  # the gap below would be that of other numbers than beta's
        product = doubled_product(np.asarray(K), beta)
        norm, total = doubled_dot(beta, product), fsum(beta)
        decision = product + intercept
        # rounded down: C times what a margin lacks in its last digit may exceed the whole norm
        z = np.nextafter(y * decision, -np.inf)
        losses = float(cost @ rule.value(z))
    objective = 0.5 * norm + losses
    gap = float(rule.gap(z, alpha, cost).sum() - (intercept * total if fit_intercept else 0.0))
    active = cost > 0
    off = rule.residual(z, alpha, cost)
    kkt = float(np.max(off[active], initial=0.0))
    relative_gap = abs(gap) / max(abs(objective), 1e-300)
    # Rounding excuses much, but what is off in the third digit is never called exact.
    limit, kkt_limit = (min(max(1e-9, 100.0 * error), 1e-3) for error in (rounding, spread))
    exact = relative_gap <= limit and kkt <= kkt_limit
    if status.ok and not exact:
        status = Status(
            "inexact",
            f"relative duality gap {relative_gap:.1e}, residual {kkt:.1e}: the kernel matrix is "
            "close to singular for this C; rescale the inputs, shorten the length scale or lower C",
        )
    elif not status.ok and exact:
        status = OK
    # a view of what the caller may hold, the array itself of what was made for the record
    y, weights = y.view(), weights.view()
    for array in (alpha, beta, decision, free, bound, dependent, y, weights):
        array.flags.writeable = False
    return Solution(
        alpha, beta, intercept, decision, free, bound, dependent, ends, objective, relative_gap,
        kkt, rounding, status, y, weights, C, loss, fit_intercept,
    )  # fmt: skip
