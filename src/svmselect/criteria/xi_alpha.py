"""The xi-alpha estimate of the leave-one-out error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every

_VARIANTS = ("joachims", "kk")


@dataclass(frozen=True)
class XiAlpha(Criterion):
    """The share of points that leaving out could turn into errors, by slack and alpha alone.

    Parameters
    ----------
    variant : {"joachims", "kk"}, default "joachims"
        "kk" leaves xi out, as Kobayashi & Komaki print it: it is then zero wherever 2 C R^2 < 1.
    rho : float, default 2.0
        The factor of alpha. The value is an upper bound of the leave-one-out error at rho = 2, and
        without an intercept at rho = 1 too.

    Notes
    -----
    ``1/n #{i : rho alpha_i R^2 + xi_i >= 1}``, R^2 = max_i K_ii. That it is an upper bound needs an
    intercept, if there is one, that a free vector determines: where none is free, leaving a point
    out may turn every one into an error, and ``details`` says so. The value moves in steps of 1/n,
    so there is no gradient. Loss: hinge. A weight k counts as k copies with alpha/k each. O(n).

    References
    ----------
    Joachims 2000; Kobayashi & Komaki 2005, section 8.
    """

    variant: str = "joachims"
    rho: float = 2.0

    name = "xi-alpha"
    greater_is_better = False
    serves = every("hinge")
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

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, w = context.solution, context.weights
        slack = np.zeros(len(w))
        if self.variant == "joachims":  # of free vectors it is zero up to round-off
            slack[s.bound] = np.maximum(1.0 - s.margin[s.bound], 0.0)
        radius2 = float(context.K.diagonal()[w > 0].max())
        size = s.alpha / np.maximum(w, 1.0)
        suspects = (s.alpha > 0) & (self.rho * size * radius2 + slack >= 1.0)
        details: dict[str, Any] = {
            "errors": float(w[suspects].sum()),
            "radius2": radius2,
            "suspects": np.flatnonzero(suspects),
            "intercept_determined": not (context.fit_intercept and len(s.ends)),
            "discontinuous": True,
            "gradient": "it counts points, so its derivative is zero or does not exist",
        }
        value = float(w[suspects].sum() / context.total)
        return Verdict(value, details=details, status=s.status)
