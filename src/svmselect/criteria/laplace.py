"""The Laplace approximation to the evidence of a support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from svmselect.criteria.base import IN_THE_KERNEL, PENALISED, Context, Criterion, Verdict, every
from svmselect.criteria.laplace_algebra import judged, log_determinant
from svmselect.kernels import Kernel
from svmselect.machine.losses import get_loss
from svmselect.posterior.kappa import log_kappa
from svmselect.types import Array, IntArray, Sensitivity, Status


@dataclass(frozen=True)
class Laplace(Criterion):
    """The log evidence per point, ln Q / n, by an expansion around the trained machine.

    Parameters
    ----------
    a : float, default 0.1
        Squared hinge: smooths the value where a support vector appears.

    Notes
    -----
    ``n E = -1/2 beta'K beta - C sum_i w_i loss(z_i) + n ln kappa(C) - 1/2 ln det(I + L K)``, over
    the free support vectors for the hinge, with L = 2 pi [alpha (C - alpha)/C]^2, and over all
    support vectors for the squared hinge, with L = C exp(-a/(1 - z)). That exponential makes the
    value smooth where a vector appears; but at large C, where 1 - z = alpha/C is far below ``a``,
    it switches the whole determinant off, which ``status`` reports.

    The offset is a ``Constant`` in the kernel (``fit_intercept=False``). Losses: hinge, squared
    hinge. A weight counts as copies of its row; copies share their alpha equally, which the hinge's
    dual leaves open. O(m^3), with m such vectors.

    References
    ----------
    Gold & Sollich 2003, eqs 15-17; Sollich 2002.
    """

    a: float = 0.1

    name = "laplace"
    greater_is_better = True
    serves = every("hinge", "squared_hinge", offsets=(PENALISED,))
    units = "mean"
    formula = "1/n [-1/2 beta'K beta - C sum loss - 1/2 ln det(I + L K)] + ln kappa(C)"
    cost = "O(m^3), m free support vectors (squared hinge: all of them)"
    reference = "Gold & Sollich 2003, eqs 15-17; Sollich 2002"

    def __post_init__(self) -> None:
        """Refuse a smoothing that is not positive."""
        if not (isfinite(self.a) and self.a > 0):
            raise ValueError(f"laplace: a must be a positive finite number, got {self.a!r}")

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        if fit_intercept and (loss, PENALISED) in self.serves:
            return IN_THE_KERNEL
        return super().refusal(kernel, loss, fit_intercept)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, K, w, n = context.solution, context.K, context.weights, context.total
        rule = get_loss(s.loss)
        part = _square(context, self.a) if rule.curved else _hinge(context)
        rows, curvature = part.rows, part.curvature
        det = log_determinant(K[np.ix_(rows, rows)], curvature)
        kappa, kappa_slope = log_kappa(s.loss, s.C)
        losses = s.C * float(w @ rule.value(s.margin))
        best = -0.5 * float(s.beta @ s.decision) - losses + n * kappa  # n ln Q*, GS eq. 16
        value = (best - 0.5 * det.logdet) / n  # GS eqs 15, 17
        status = judged(value, s.status, det.rounding)
        on = float(np.max(curvature / (s.C * w[rows]), initial=0.0))
        if status.ok and rule.curved and on < 0.01:
            status = Status(
                "determinant off",
                "every support vector is so close to the margin that the smoothing a removes it "
                "from the determinant; keep C smaller, or a",
            )
        details = {"log_determinant": det.logdet, "vectors": len(rows)}
        if not gradient:
            return Verdict(value, details=details, status=status)
        # ln Q* is stationary in beta: its derivatives are those at fixed beta (envelope theorem)
        direct = Sensitivity(
            0.5 * s.beta[:, None], s.beta[:, None].copy(), s.C * n * kappa_slope - losses
        )
        on_beta, gram = np.zeros(len(K)), np.zeros_like(K)
        on_beta[part.members] = context.y[part.members] * (det.gain * part.on_alpha)[part.group]
        gram[np.ix_(rows, rows)] = det.gram
        slope = float(det.gain @ part.on_log_C)
        implicit = context.system.pullback(beta=on_beta, log_C=slope, gram=gram)
        return Verdict(
            value, (direct + implicit * -0.5) * (1.0 / n), details=details, status=status
        )


@dataclass(frozen=True, eq=False)
class Curvatures:
    """L of the rows in the determinant, with its derivatives by alpha and by log C (logarithmic).

    ``members`` are the rows whose alpha it depends on, ``group`` to which row of L each belongs.
    """

    rows: IntArray
    curvature: Array
    on_alpha: Array
    on_log_C: Array
    members: IntArray
    group: IntArray


def _hinge(context: Context) -> Curvatures:
    """The free support vectors (GS eq. 15), copies of a point taken together.

    Copies at the margin may have any alphas of the same sum; some solvers leave one at the bound
    and another at zero. Each is given the mean.
    """
    s = context.solution
    present = np.flatnonzero(s.weights > 0)
    points = np.column_stack([context.X, context.y])[present]
    _, first, group = np.unique(points, axis=0, return_index=True, return_inverse=True)
    group = group.ravel()
    within = np.ones(len(s.y), dtype=bool)
    within[s.bound] = False
    marginal = np.zeros((2, len(first)), dtype=bool)
    np.logical_or.at(marginal[0], group, within[present])
    np.logical_or.at(marginal[1], group, s.alpha[present] > 0)
    w = np.bincount(group, s.weights[present])
    share = np.bincount(group, s.alpha[present]) / w
    kept = np.flatnonzero(marginal.all(axis=0) & (share > 0) & (share < s.C))
    place = np.full(len(first), -1)
    place[kept] = np.arange(len(kept))
    rows, w, share = present[first[kept]], w[kept], share[kept]
    left = s.C - share
    member = place[group] >= 0
    return Curvatures(
        rows,
        2.0 * np.pi * w * (share * left / s.C) ** 2,
        2.0 * (1.0 / share - 1.0 / left) / w,
        2.0 * share / left,
        present[member],
        place[group[member]],
    )


def _square(context: Context, a: float) -> Curvatures:
    """All support vectors of the squared hinge, 1 - z = alpha/(C w) (GS eq. 17)."""
    s = context.solution
    rows = np.flatnonzero(s.alpha > 0)
    ratio = a * s.C * s.weights[rows] / s.alpha[rows]
    rows, ratio = (
        rows[ratio < 600.0],
        ratio[ratio < 600.0],
    )  # beyond, exp(-ratio) counts for nothing
    curvature = s.C * s.weights[rows] * np.exp(-ratio)
    return Curvatures(
        rows, curvature, ratio / s.alpha[rows], 1.0 - ratio, rows, np.arange(len(rows))
    )
