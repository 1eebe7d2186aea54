"""Kwok's evidence: MacKay's framework with a smoothed hinge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, log
from typing import Any

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.laplace_algebra import check_choice, factorise, judged, moving
from svmselect.posterior.moderation import smoothed_curvature
from svmselect.types import Array, Sensitivity, Status

_VANISHED = 1e-8  # relative to lambda: eigenvalues that determine nothing


@dataclass(frozen=True)
class Kwok(Criterion):
    """The log evidence of the data (total) for lambda = 1/C, or for the model (level 3).

    Parameters
    ----------
    level : {2, 3}, default 2
        2: the evidence for lambda. 3: that for the model, meant for the lambda that maximises level
        2.
    eta : float, default 100.0
        Slope of the sigmoid that smooths the hinge.
    curvature : {"clipped", "literal"}, default "clipped"
        The curvature r is negative beyond ``|u| = 2.4/eta``: "clipped" takes max(r, 0), "literal" r
        as printed.
    alpha_max : bool, default False
        Where no alpha is at its bound (the data are separable, and C is large enough), the machine
        is that of any larger C too; with True the evidence is then taken at the least C that has
        it, the largest alpha, and does not depend on the C given.

    Notes
    -----
    Level 2 is ::

        -lambda E_W - sum_i w_i (1 - z_i)_+ - 1/2 sum_j log(1 + rho_j/lambda)

    with E_W = beta'K beta/2 and rho the eigenvalues of diag(r) K, where r(u) = u s''(u) + 2 s'(u)
    and u = 1 - z, is the curvature of the hinge smoothed by a sigmoid s of slope ``eta``. Level 3
    adds -1/2 log gamma, with gamma = sum_j rho_j/(lambda + rho_j) the effective number of
    parameters.

    The clipped level 2 is finite and continuous, and its gradient is that between the kinks of
    max(r, 0). The literal value is minus infinity, with a status that says why, where a lambda +
    rho is not positive and, as in KW section V, where all rho vanish; level 3 also where gamma is
    not positive. There it jumps.

    Where ``select`` is given several kernels it compares them by level 3, whichever is fitted.

    The offset is not in the determinant. Loss: hinge. A weight counts as copies of its row. O(m^3),
    m the points with r > 0 (literal: all). ``details`` has gamma ("effective_parameters"), E_W
    ("weight_energy") and Kwok's next C = 2 E_W/gamma ("next_C").

    References
    ----------
    Kwok 2000 (KW), eqs 11, 20.
    """

    level: int = 2
    eta: float = 100.0
    curvature: str = "clipped"
    alpha_max: bool = False

    name = "kwok"
    greater_is_better = True
    serves = every("hinge")
    scaling = 0.0
    units = "total"
    formula = "-lambda E_W - sum xi - 1/2 sum log(1 + rho/lambda) [- 1/2 log gamma]"
    cost = "O(m^3), m points near the margin"
    reference = "Kwok 2000, eqs 11, 20"

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice(self.name, "curvature", self.curvature, ("clipped", "literal"))
        if self.level not in (2, 3):
            raise ValueError(f"kwok: level must be 2 or 3, got {self.level!r}")
        if not (isfinite(self.eta) and self.eta > 0):
            raise ValueError(f"kwok: eta must be a positive finite number, got {self.eta!r}")

    def price_of_C(self, details: Mapping[str, Any]) -> float:
        if self.level == 3:
            return 0.0  # the value has it already
        gamma = float(details.get("effective_parameters", 0.0))
        return 0.5 * log(gamma) if gamma > 0 else inf

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, w = context.solution, context.weights
        C, largest = self._penalty(context)
        r, slope = smoothed_curvature(1.0 - s.margin, self.eta)
        if self.curvature == "clipped":
            slope, r = np.where(r > 0, slope, 0.0), np.maximum(r, 0.0)
        rows = np.flatnonzero(w * r)
        L = C * w[rows] * r[rows]
        # rho/lambda are the eigenvalues of L K, and of the symmetric G'LG with K = G G'
        G = factorise(context.K[np.ix_(rows, rows)])
        e, V = np.linalg.eigh(G.T @ (L[:, None] * G))
        energy = 0.5 * float(s.beta @ (s.decision - s.intercept))
        details: dict[str, object] = {
            "level": self.level,
            "effective_C": C,
            "weight_energy": energy,
            "eigenvalues": len(e),
        }
        reason = self._undefined(e)
        if reason is not None:
            return Verdict(-np.inf, details=details, status=reason)
        gamma = float((e / (1.0 + e)).sum())
        details["effective_parameters"] = gamma
        details["next_C"] = 2.0 * energy / gamma if gamma > 0 else np.inf  # KW eq. 9
        fit = -energy / C - float(w @ np.maximum(1.0 - s.margin, 0.0))
        value = fit - 0.5 * float(np.log1p(e).sum())  # KW eq. 20
        if self.level == 3:
            value -= 0.5 * log(gamma)  # KW eq. 11
        status = judged(value, s.status)
        if not gradient:
            return Verdict(value, details=details, status=status)
        # lambda E_W + sum xi is the machine's own objective over C: stationary in beta and b
        direct = Sensitivity(0.5 / C * s.beta[:, None], s.beta[:, None].copy(), 0.0)
        on_e = _log_slopes(e, gamma if self.level == 3 else None)
        at_zero = float(_log_slopes(np.zeros(1), gamma if self.level == 3 else None)[0])
        F = G @ V
        on_L = np.einsum("ij,j,ij->i", F, on_e, F)
        LF = L[:, None] * F
        bend = np.divide(on_e - at_zero, e, out=np.zeros_like(e), where=e != 0)
        gram = np.zeros_like(context.K)
        gram[np.ix_(rows, rows)] = (LF * bend) @ LF.T + np.diag(at_zero * L)
        on_decision = np.zeros(len(w))
        on_decision[rows] = -on_L * C * w[rows] * slope[rows] * context.y[rows]
        by_C = energy / C + float(on_L @ L)
        on_beta = np.zeros(len(w))
        if largest is not None:  # C is the largest alpha: it moves with the machine, not as given
            on_beta[largest], by_C = by_C / s.beta[largest], 0.0
        implicit = context.system.pullback(
            decision=moving(s, on_decision), beta=on_beta, log_C=by_C, gram=gram
        )
        return Verdict(value, direct + implicit, details=details, status=status)

    def _penalty(self, context: Context) -> tuple[float, int | None]:
        """The C of the evidence; and the row whose alpha it is, where it is not the one given."""
        s, w = context.solution, context.weights
        share = np.divide(s.alpha, w, out=np.zeros_like(w), where=w > 0)
        largest = int(np.argmax(share))
        free = 0.0 < share[largest] < context.C * (1.0 - 1e-9)
        if not (self.alpha_max and free):
            return context.C, None
        return float(share[largest]), largest

    def _undefined(self, e: Array) -> Status | None:
        """Why there is no evidence for these rho/lambda, if there is none."""
        if float(np.min(e, initial=0.0)) <= -1.0:
            advice = "lambda + rho is not positive, so its log is undefined; use 'clipped'"
            return Status("undefined", advice)
        strict = self.level == 3 or self.curvature == "literal"
        if strict and float(np.max(np.abs(e), initial=0.0)) < _VANISHED:
            return Status(
                "no curvature",
                "no point is near the margin, so the data determine no parameter; raise C, or "
                "lower eta",
            )
        if self.level == 3 and float((e / (1.0 + e)).sum()) <= 0.0:
            advice = "the effective number of parameters is not positive; use 'clipped'"
            return Status("undefined", advice)
        return None


def _log_slopes(e: Array, gamma: float | None) -> Array:
    """Slope in e of -1/2 log(1 + e) and, for level 3, of -1/2 log sum e/(1 + e)."""
    slopes = -0.5 / (1.0 + e)
    return slopes if gamma is None else slopes - 0.5 / (gamma * (1.0 + e) ** 2)
