"""The xi-alpha estimate of the leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.resampling import wrong
from svmselect.kernels import Kernel
from svmselect.machine.losses import get_loss
from svmselect.types import Array

_VARIANTS = ("joachims", "kk", "jaakkola-haussler", "support-vectors")
_ROUNDING = 1e-9  # of a margin


@dataclass(frozen=True)
class XiAlpha(Criterion):
    """The share of points that leaving out could turn into errors, by slack and alpha alone.

    Parameters
    ----------
    variant : {"joachims", "kk", "jaakkola-haussler", "support-vectors"}, default "joachims"
        "kk" leaves xi out, as Kobayashi & Komaki print it: it is then zero wherever 2 C R^2 < 1.
        "jaakkola-haussler" counts ``z_i <= alpha_i K_ii``, each point with its own K_ii, a bound
        for machines without an intercept. "support-vectors" is the training error plus the share of
        support vectors, the bound that needs no proof (Gold & Sollich 2003, section 3.1).
    rho : float, default 2.0
        The factor of alpha. The value is an upper bound of the leave-one-out error at rho = 2, and
        without an intercept at rho = 1 too.

    Notes
    -----
    ``1/n #{i : rho alpha_i R^2 + xi_i >= 1}``, R^2 = max_i K_ii. With xi_i = 1 - z_i that is
    ``z_i <= rho alpha_i R^2``, and so it serves any loss: leaving a point out moves its own margin
    by at most alpha_i times the largest squared span ``S_i^2`` on the way. Without an intercept
    that is at most ``K_ii``. With one, it is at most ``|phi_i - mean of the others|^2 + 1/V_i``,
    where ``V_i = sum_(j != i) alpha_j (1 - alpha_j / C)`` is the logistic loss's curvature along
    the intercept, so that R^2 becomes ``R^2 + 1/(2 V_i)``; V_i is taken at the machine, which makes
    the count there an estimate and no proven bound. (The hinge has no such term: its free vectors
    hold the intercept.)

    That it is an upper bound needs an intercept, if there is one, that a free vector determines:
    where none is free, leaving a point out may turn every one into an error, and ``details`` says
    so. The value moves in steps of 1/n,
    so there is no gradient. Losses: hinge, logistic. A weight k counts as k copies with alpha/k
    each. O(n).

    References
    ----------
    Joachims 2000; Jaakkola & Haussler 1999; Kobayashi & Komaki 2005, section 8.
    """

    variant: str = "joachims"
    rho: float = 2.0

    name = "xi-alpha"
    greater_is_better = False
    serves = every("hinge", "logistic")
    smooth = False
    splits_alpha = True
    scaling = 0.0
    formula = "1/n #{i : 2 alpha_i R^2 + xi_i >= 1}"
    cost = "O(n)"
    reference = "Joachims 2000; Kobayashi & Komaki 2005, section 8"

    def __post_init__(self) -> None:
        if self.variant not in _VARIANTS:
            raise ValueError(f"variant={self.variant!r} is not one of {', '.join(_VARIANTS)}")
        if not self.rho > 0:
            raise ValueError(f"rho={self.rho!r} must be positive; Joachims proves the bound for 2")

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        if self.variant == "jaakkola-haussler" and fit_intercept:
            return (
                "Jaakkola & Haussler's bound is for machines without an intercept; pass "
                "fit_intercept=False and add a Constant to the kernel, or use variant='joachims'"
            )
        return super().refusal(kernel, loss, fit_intercept)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, w = context.solution, context.weights
        diagonal = context.K.diagonal()
        radius2 = float(diagonal[w > 0].max())
        size = s.alpha / np.maximum(w, 1.0)
        counts = np.zeros(len(w))
        if self.variant == "support-vectors":
            counts = (s.alpha > 0) + wrong(s.margin)
        elif self.variant == "jaakkola-haussler":
            counts[(s.alpha > 0) & (s.margin <= size * diagonal + _ROUNDING)] = 1.0
        else:
            reach = self.rho * size * (radius2 + self._of_the_intercept(context, size))
            slack = self._slack(context)
            counts[(s.alpha > 0) & (reach + slack >= 1.0)] = 1.0
        errors = float(w @ counts)
        details: dict[str, Any] = {
            "errors": errors,
            "radius2": radius2,
            "suspects": np.flatnonzero((counts > 0) & (w > 0)),
            "intercept_determined": not (context.fit_intercept and len(s.ends)),
            "discontinuous": True,
            "gradient": "it counts points, so its derivative is zero or does not exist",
        }
        return Verdict(errors / context.total, details=details, status=s.status)

    def _slack(self, context: Context) -> Array:
        """1 - z; of the hinge's free vectors zero, which it is up to round-off."""
        s = context.solution
        if self.variant == "kk":
            return np.zeros(len(s.margin))
        if get_loss(s.loss).curved:
            return 1.0 - s.margin
        slack = np.zeros(len(s.margin))
        slack[s.bound] = np.maximum(1.0 - s.margin[s.bound], 0.0)
        return slack

    def _of_the_intercept(self, context: Context, size: Array) -> Array:
        """1/(2 V_i): what the intercept adds to a point's reach where the loss is curved."""
        s, w = context.solution, context.weights
        if self.variant == "kk" or not (context.fit_intercept and get_loss(s.loss).curved):
            return np.zeros(len(w))
        own = size * (1.0 - size / s.C)
        rest = np.maximum(float(w @ own) - own, np.finfo(float).tiny)
        return np.asarray(0.5 / rest)
