"""An independent judge of a trained machine: everything again, in extended precision.

What cancels is computed in fractions, without any rounding, where the machine is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from svmselect.machine import Solution

Long = NDArray[np.longdouble]
EPS = np.finfo(float).eps
_FEW = 16


@dataclass(frozen=True)
class Judgement:
    """Relative duality gap, largest violation of the KKT conditions, and what rounding excuses."""

    gap: float
    kkt: float
    sum: float
    decision: float
    gap_limit: float
    kkt_limit: float

    @property
    def exact(self) -> bool:
        """The promise of ``solve``."""
        return (
            -self.gap_limit <= self.gap <= self.gap_limit
            and self.kkt <= self.kkt_limit
            and self.sum <= 1e-12
            and self.decision <= 1.0
        )


def judge(K: np.ndarray, s: Solution) -> Judgement:
    """Compare primal and dual objective and the optimality conditions, from beta and b alone.

    The gap is relative to the primal objective, the KKT violation is in units of the margin (hinge)
    or of alpha / C (the others). ``sum`` is |sum(beta)| / sum |beta|, ``decision`` the error of
    ``s.decision`` over what a product in double precision may lose.
    """
    exact = _in_fractions(K, s) if len(s.y) <= _FEW else None
    K = np.asarray(K, dtype=np.longdouble)
    beta, y, b = (np.asarray(v, dtype=np.longdouble) for v in (s.beta, s.y, s.intercept))
    cost = np.asarray(s.C * s.weights, dtype=np.longdouble)
    here = cost > 0
    assert np.all(beta[~here] == 0)
    g = K @ beta
    norm, z, alpha = beta @ g, y * (g + b), y * beta
    slack = np.maximum(1 - z, 0)
    if exact is not None:
        g, norm, z, slack = exact
    primal_loss, conjugate, off = {"hinge": _hinge, "squared_hinge": _squared, "logistic": _log}[
        s.loss
    ](z[here], slack[here], alpha[here], cost[here])
    primal = norm / 2 + primal_loss.sum()
    dual = -norm / 2 - conjugate.sum()  # conjugate: C loss*(-alpha / C)
    total = np.abs(beta.sum()) if s.fit_intercept else np.longdouble(0)
    absolute = np.abs(K) @ np.abs(beta) + 1  # EPS times it: what one decision value may lose
    touched = here & ((alpha > 0) | (slack > 0))
    noise = EPS * (np.abs(beta) @ absolute / 2 + cost[touched] @ absolute[touched])
    size = max(abs(primal), np.longdouble(1e-300))
    return Judgement(
        gap=float((primal - dual) / size),
        kkt=float(off.max()),
        sum=float(total / max(np.abs(beta).sum(), np.longdouble(1e-300))),
        decision=float(np.abs(s.decision - (g + b)).max() / (64 * EPS * (absolute.max() + abs(b)))),
        gap_limit=float(min(max(1e-9, 100 * noise / size), 1e-3)),
        kkt_limit=float(min(max(1e-9, 100 * EPS * absolute.max()), 1e-3)),
    )


def _in_fractions(K: np.ndarray, s: Solution) -> tuple[Long, np.longdouble, Long, Long]:
    """K beta, beta'K beta, the margins and what they lack."""
    rows = [[Fraction(v) for v in row] for row in K.tolist()]
    beta, b = [Fraction(v) for v in s.beta.tolist()], Fraction(s.intercept)
    g = [sum((k * v for k, v in zip(row, beta, strict=True)), Fraction(0)) for row in rows]
    norm = sum((v * h for v, h in zip(beta, g, strict=True)), Fraction(0))
    z = [int(sign) * (h + b) for sign, h in zip(s.y, g, strict=True)]
    slack = [max(1 - margin, Fraction(0)) for margin in z]
    vectors = (np.array([float(v) for v in u], dtype=np.longdouble) for u in (g, z, slack))
    product, margins, lacking = vectors
    return product, np.longdouble(float(norm)), margins, lacking


def _hinge(z: Long, slack: Long, alpha: Long, cost: Long) -> tuple[Long, Long, Long]:
    assert np.all((alpha >= 0) & (alpha <= cost))
    off = np.where(alpha < cost, slack, 0) + np.where(alpha > 0, np.maximum(z - 1, 0), 0)
    return cost * slack, -alpha, off


def _squared(z: Long, slack: Long, alpha: Long, cost: Long) -> tuple[Long, Long, Long]:
    assert np.all(alpha >= 0)
    return (
        cost * slack**2 / 2,
        alpha**2 / (2 * cost) - alpha,
        np.abs(alpha / cost - slack),
    )


def _log(z: Long, slack: Long, alpha: Long, cost: Long) -> tuple[Long, Long, Long]:
    p = np.clip(alpha / cost, 0, 1)  # Newton leaves the box by no more than the KKT violation
    entropy = np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0)
    entropy += np.where(p < 1, (1 - p) * np.log1p(-np.where(p < 1, p, 0)), 0)
    return (
        cost * np.logaddexp(0, -z),
        cost * entropy,
        np.abs(alpha / cost - np.exp(-np.logaddexp(0, z))),
    )
