"""Generalised approximate cross-validation.

Leaving out point i changes its loss by about -loss'(f_i) (f_i - f_i^-i), and f_i - f_i^-i is about
(y_i - mu_i) df_i/dy_i, where mu_i is the label that would have left f_i^-i as it is (Wahba, Lin &
Zhang 1999, eqs 23-27). What a label between -1 and +1 means is the loss's own affair:

hinge     loss(y f): mu = 0 inside the margins and sign(f) beyond them; df_i/dy_i = alpha_i K_ii
          (their eq. 29, alpha held fixed).
logistic  log(1 + e^f) - f (1 + y)/2, the extension linear in y: under it the label mu = 2 p - 1
          does leave f^-i as it is. Then -loss' = (y - mu)/2 = y q, q = alpha/(C w), and the
          optimality conditions give df_i/dy_i = C/2 G_ii, where G is the inverse Hessian of the
          objective in the decision values: D - D [M^-1] D, or K - [K 1] M^-1 [K 1]'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.kernels import Kernel
from svmselect.machine import ActiveSystem, Solution
from svmselect.machine.losses import get_loss
from svmselect.types import Array, Sensitivity

_ROUNDING = 1e-8  # of a margin; the machines are exact to 1e-9


@dataclass(frozen=True)
class GACV(Criterion):
    """Training loss plus an estimate of how much leaving a point out would add to it.

    Notes
    -----
    Hinge: ``1/n sum_i [(1 - z_i)_+ + alpha_i K_ii m_i]`` with m_i = 2 where z_i < -1, else 1.
    Logistic: ``1/n sum_i [log(1 + e^-z_i) + C q_i^2 G_ii]`` with q_i = alpha_i / (C w_i) the
    probability of the other label and G the inverse Hessian of the objective in the decision
    values. A weight counts as copies of its row. O(n) for the hinge, O(n^3) for the logistic loss.

    The hinge's value has no gradient: it jumps by C K_ii / n where a z_i passes -1, and with the
    intercept where the last free vector leaves. The logistic value is smooth and has one, O(n^3).

    A ``Constant`` added to the kernel changes nothing in a machine with an intercept, but would
    change K_ii, so that the hinge refuses it. The logistic G does not have that flaw.

    References
    ----------
    Wahba, Lin & Zhang 1999, eqs 24-31; Gold & Sollich 2003, eq. 13.
    """

    name = "gacv"
    greater_is_better = False
    serves = every("hinge", "logistic")
    smooth = False
    scaling = 0.0
    formula = "1/n sum_i [loss(z_i) - loss'(z_i) (df_i/dy_i) |y_i - mu_i|]"
    cost = "O(n) for the hinge, O(n^3) for the logistic loss"
    reference = "Wahba, Lin & Zhang 1999, eqs 24-31; Gold & Sollich 2003, eq. 13"

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        reason = super().refusal(kernel, loss, fit_intercept)
        if reason is not None or get_loss(loss).curved:
            return reason
        if fit_intercept and kernel.additive_constant():
            return (
                "a constant added to the kernel leaves a machine with an intercept as it is but "
                "changes K_ii and so this value; drop the Constant, or use fit_intercept=False"
            )
        return reason

    def differentiable_for(self, loss: str) -> bool:
        return get_loss(loss).curved

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s = context.solution
        rule = get_loss(context.loss)
        fit = float(context.weights @ rule.value(s.margin) / context.total)
        if not rule.curved:
            # alpha > 0 instead of z <= 1: free vectors sit at one only up to round-off
            # (and -1 of their twins with the other label: there the factor is one)
            factor = np.where(s.margin < -1.0 - _ROUNDING, 2.0, 1.0)
            optimism = float((s.alpha * context.K.diagonal()) @ factor / context.total)
            why = "it jumps where a margin passes -1, and with the intercept where none is free"
        else:
            variance = _variance(context.system)
            optimism = float(context.weights @ (_weight(s) * variance) / context.total)
            why = ""
        details: dict[str, Any] = {
            "fit": fit,
            "optimism": optimism,
            "intercept_determined": not (context.fit_intercept and len(s.ends)),
            "discontinuous": not rule.curved,
        }
        if why:
            details["gradient"] = why
        slopes = None
        if gradient and rule.curved:
            slopes = _slopes(context.system, variance, context.total)
        return Verdict(fit + optimism, slopes, details=details, status=s.status)


def _share(s: Solution) -> Array:
    """q = alpha/(C w), the probability of the other label; zero for absent rows."""
    cost = s.C * s.weights
    return np.divide(s.alpha, cost, out=np.zeros_like(cost), where=cost > 0)


def _weight(s: Solution) -> Array:
    """C q^2, what a row's variance counts for."""
    return s.C * _share(s) ** 2


def _variance(system: ActiveSystem) -> Array:
    """G_ii for the logistic loss, at every row of positive weight."""
    s, K, free = system.solution, system.K, system.free
    rows = np.flatnonzero(s.weights > 0)
    ridge = np.full(len(K), np.inf)
    ridge[free] = system.ridge
    variance = np.zeros(len(K))
    variance[free] = system.ridge * (1.0 - system.ridge * system.inverse_diagonal())
    # D - D M^-1 D cancels where D is large, K - [K 1] M^-1 [K 1]' where it is small
    large = rows[ridge[rows] > K.diagonal()[rows]]
    columns = K[np.ix_(free, large)]
    x, shift = system.solve(columns, 1.0)
    variance[large] = K.diagonal()[large] - np.einsum("ij,ij->j", columns, x) - shift
    return np.maximum(variance, 0.0)


def _slopes(system: ActiveSystem, variance: Array, total: float) -> Sensitivity:
    """How the logistic value depends on K and log C.

    G = (K~^-1 + W)^-1 with W = C w q (1 - q) = 1/D and K~ the kernel with its intercept, so that

        dG = N dK N' - G dW G,   N = D M^-1 (block), G_ij = -N_ij D_j off the diagonal,

    and with c_i = C w_i q_i^2 the optimism sum_i c_i G_ii has the partial derivatives

        by K: N' diag(c) N,   by log W_j: -(sum_(i != j) c_i N_ij^2 D_j + c_j G_jj^2 W_j),
        by log c_i: c_i G_ii,   where dlog W/dz = 2 q - 1 and dlog c/dz = -2 (1 - q).

    Points so far from the margin that W underflows are no part of M; they have no say.
    """
    s, free = system.solution, system.free
    q = _share(s)
    c = s.weights * _weight(s)
    D, G = system.ridge, variance[free]
    N = D[:, None] * system.inverse
    gram = np.zeros_like(system.K)
    gram[np.ix_(free, free)] = (N.T * c[free]) @ N
    cross = N**2
    np.fill_diagonal(cross, 0.0)
    on_W = -(D * (c[free] @ cross) + c[free] * G**2 / D)
    on_c = c * variance
    on_z = -s.weights * q - 2.0 * (1.0 - q) * on_c
    on_z[free] += (2.0 * q[free] - 1.0) * on_W
    return system.pullback(
        decision=s.y * on_z / total,
        log_C=(float(on_c.sum()) + float(on_W.sum())) / total,
        gram=gram / total,
    )
