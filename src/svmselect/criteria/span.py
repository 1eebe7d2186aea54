"""The span estimate of the leave-one-out error, and the span bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.span_hinge import HingeSpans
from svmselect.criteria.span_squared_hinge import SquaredHingeSpans
from svmselect.criteria.spans import Spans
from svmselect.kernels import Kernel
from svmselect.machine.losses import get_loss
from svmselect.types import Array, Status

_VARIANTS = ("estimate", "bound")


@dataclass(frozen=True)
class Span(Criterion):
    """How many support vectors would be misclassified if left out, from one trained machine.

    Parameters
    ----------
    smooth : bool, default True
        Whether a sigmoid takes the place of the step H, so that the estimate has a gradient.
    variant : {"estimate", "bound"}, default "estimate"
        The span estimate, or the span bound (hinge only).
    c1, c2 : float, default 5.0 and 0.0
        The sigmoid is ``expit(c1 u - c2)``.
    eta : float, default 1.0
        Regularises S by eta/alpha where ``smooth``. With an intercept eta = 1 overestimates where
        few vectors are free: they must carry every removal.
    over : {"support", "all"}, default "support"
        "all" counts the points with alpha = 0 too, as GS eq. 12 reads.

    Notes
    -----
    Estimate: ``1/n sum_SV H(u_p)`` with u_p = alpha_p S_p^2 - z_p (hinge) or alpha_p S_p^2 - 1
    (squared hinge), and S_p the distance of x_p from the span of the other free vectors; u = 0
    counts as an error. It is exact wherever leaving p out leaves the active sets as they are. Where
    it is smooth and a support vector comes or goes, the value jumps by expit(-c1 - c2)/n only, or
    not at all with ``over="all"``.

    Bound (hinge): ``1/n [number of SVs at their bound + sum_free alpha_p S_p^2]``, with eta = 0. It
    has a gradient, but jumps where the sets change.

    With an intercept a single free vector, or any where none is free, has an infinite span and
    counts as one error. A free vector that other free ones can replace exactly has S = 0. Losses:
    hinge, squared hinge. Of a row of weight k one of k copies is left out; give repeated rows as
    weights, as how rows that are written out share their alpha is arbitrary for the hinge. O(m^3 +
    m^2 b), with m free points and b at their bound.

    References
    ----------
    Vapnik & Chapelle 2000; Chapelle et al. 2002; Gold & Sollich 2003 (GS), eq. 12.
    """

    variant: str = "estimate"
    smooth: bool = True  # type: ignore[misc]
    c1: float = 5.0
    c2: float = 0.0
    eta: float = 1.0
    over: str = "support"

    name = "span"
    greater_is_better = False
    serves = every("hinge", "squared_hinge")
    splits_alpha = True
    scaling = 0.0
    formula = "1/n sum_SV H(alpha_p S_p^2 - z_p), S_p^2 = 1/[M^-1]_pp"
    cost = "O(m^3) for m free vectors"
    reference = "Vapnik & Chapelle 2000; Chapelle et al. 2002; Gold & Sollich 2003, eq. 12"

    def __post_init__(self) -> None:
        if self.variant not in _VARIANTS:
            raise ValueError(f"variant={self.variant!r} is not one of {', '.join(_VARIANTS)}")
        if self.over not in ("support", "all"):
            raise ValueError(f"over={self.over!r} is not one of support, all")
        if not (self.c1 > 0 and self.eta >= 0 and np.isfinite([self.c1, self.c2, self.eta]).all()):
            raise ValueError(
                f"c1={self.c1!r}, c2={self.c2!r}, eta={self.eta!r}: "
                "c1 must be positive, eta not negative, all of them finite"
            )

    @property
    def differentiable(self) -> bool:
        return self.smooth or self.variant == "bound"

    @property
    def continuous(self) -> bool:
        return self._smoothed and self.over == "all"

    @property
    def _smoothed(self) -> bool:
        return self.variant == "estimate" and self.smooth and self.eta > 0

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        reason = super().refusal(kernel, loss, fit_intercept)
        if reason is None and self.variant == "bound" and not get_loss(loss).reaches_bound:
            return "variant='bound' counts the vectors at their bound, which only the hinge has"
        return reason

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        estimate = self.variant == "estimate"
        eta = self.eta if estimate and self.smooth else 0.0
        cls: type[HingeSpans] | type[SquaredHingeSpans]
        cls = SquaredHingeSpans if get_loss(context.loss).curved else HingeSpans
        spans = cls.of(context.system, eta)
        weights = context.weights[spans.rows]
        if not estimate:
            terms, slopes = _bound(spans)
        elif self.smooth:
            terms = expit(self.c1 * spans.excess - self.c2)
            slopes = self.c1 * terms * (1.0 - terms)
        else:
            terms, slopes = (spans.excess >= 0).astype(float), np.zeros(len(weights))
        value = float(weights @ terms) / context.total
        if estimate and self.smooth and self.over == "all":
            others = context.total - float(weights.sum())
            value += others * float(expit(-self.c1 - self.c2)) / context.total
        wanted = gradient and self.differentiable
        return Verdict(
            value,
            spans.pullback(weights * slopes / context.total) if wanted else None,
            details=self._details(context, spans),
            status=_status(context, spans),
        )

    def _details(self, context: Context, spans: Spans) -> dict[str, Any]:
        s = context.solution
        details = {
            "errors": float(context.weights[spans.rows] @ (spans.excess >= 0)),
            "support": spans.rows,
            "span2": spans.squared,
            "change": spans.change,
            "excess": spans.excess,
            "infinite": int(np.isinf(spans.excess).sum()),
            "free": len(s.free),
            "bound": len(s.bound),
            "dependent": len(s.dependent),
            "discontinuous": not self._smoothed,
        }
        if not self.differentiable:
            details["gradient"] = "it counts points, and jumps where the active sets change"
        return details


def _bound(spans: Spans) -> tuple[Array, Array]:
    """Terms and their slopes: alpha S^2 of free vectors, one for those at their bound."""
    counted = np.isin(spans.rows, spans.system.solution.bound) | np.isinf(spans.change)
    return np.where(counted, 1.0, spans.change), np.where(counted, 0.0, 1.0)


def _status(context: Context, spans: Spans) -> Status:
    left_out = len(context.solution.support) - len(spans.rows)
    if context.solution.status.ok and left_out:
        return Status(
            "ill-conditioned",
            f"{left_out} support vectors depend on the others to working precision and were left "
            "out of the estimate; rescale the inputs, shorten the length scale or lower C",
        )
    return context.solution.status
