"""The kernel regularisation information criterion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.laplace_algebra import (
    Covariance,
    Link,
    Posterior,
    check_choice,
    check_link_options,
    judged,
    moving,
)
from svmselect.data import Seed
from svmselect.types import Array, Sensitivity


@dataclass(frozen=True, eq=False)
class Penalty:
    """tr{(K T + I/C)^-1 K P} over the rows of positive weight, and its partial derivatives.

    ``kernel`` is None where none was asked for, or K's approximation is not smooth.
    """

    value: float
    effective_parameters: float
    on_decision: Array
    log_C: float
    kernel: Sensitivity | None


def penalty(
    frame: Covariance, link: Link, w: Array, C: float, flat: bool, gradient: bool
) -> Penalty:
    """Evaluate KK's penalty, C tr(N P) with N = (K^-1 + C T)^-1, P = M^2 - m m'/n (KK eq. 22).

    ``flat`` treats a free offset exactly: N is then the limit for a constant of any size in K.
    """
    total = float(w.sum())
    wm, wm2 = w * link.score, w * link.score**2
    curvature = C * w * link.curvature
    posterior = Posterior.of(frame.factor, curvature, flat)
    E, variance = posterior.spread, posterior.variance
    mixed = E @ (E.T @ wm)  # N m
    trace = float(wm2 @ variance - wm @ mixed / total)
    effective = float(curvature @ variance)
    if not gradient:
        return Penalty(C * trace, effective, np.zeros(0), 0.0, None)
    inner = E.T @ (wm2[:, None] * E)
    product = E @ inner
    squeezed = np.einsum("ij,ij->i", product, E) - mixed**2 / total  # diag(N P N)
    on_score = 2.0 * w * (link.score * variance - mixed / total)
    on_decision = -on_score * link.curvature - squeezed * C * w * link.bend
    kernel = None
    if frame.nystrom is None:
        # (I - L N) P (I - N L), multiplied out
        half = (0.5 * curvature[:, None] * product - wm2[:, None] * E) @ posterior.weighted.T
        rest = wm - curvature * mixed
        block = half + half.T - np.outer(rest, rest) / total
        block.flat[:: len(block) + 1] += wm2
        kernel = frame.dense(C * block)
    elif frame.differentiable:
        # 2 (I - L N) P (I - N L) G
        shrunk = posterior.shrunk
        right = wm2[:, None] * shrunk - np.outer(wm, wm @ shrunk) / total
        right = right - posterior.weighted @ (E.T @ right)
        kernel = frame.by_factor(frame.nystrom, 2.0 * C * right)
    slope = C * trace - C * float(curvature @ squeezed)
    return Penalty(C * trace, effective, C * on_decision, slope, kernel)


@dataclass(frozen=True)
class KRIC(Criterion):
    """The kernel regularisation information criterion: an estimate of the total deviance.

    Parameters
    ----------
    eta : float, default 1.0
        Slope of the logistic model p(y|f) = 1/(1 + exp(-eta y f)).
    offset : {"kk", "exact"}, default "kk"
        With an intercept: "kk" is KK's eq. 23, which ignores it; "exact" is the trace with the
        intercept as an unpenalised parameter.
    nystrom : tuple of int, optional
        (m, p): replace K in the trace by m random landmarks and p components (KK section 7).
    random_state : int, Generator or None, default 0
        Draws the landmarks; an integer draws the same ones at every point of a search.

    Notes
    -----
    The value is ::

        2 [sum_i log(1 + e^(-eta z_i)) + tr{(K T + I/C)^-1 K P}]

    with T = diag(t), t = -d^2 log p/df^2, m = d log p/df and P = diag(m)^2 - m m'/n. With
    ``offset="exact"`` the trace is ``tr{(Kc T + I/C)^-1 Kc P} + 1'P1/sum(t)``, Kc = H K H' and H =
    I - 1 t'/sum(t). With ``fit_intercept=False`` the offset is in K (KK section 9), and both agree.

    Losses: hinge, logistic. A weight counts as copies of its row. O(n^3), or O(m^2 n) with
    landmarks.

    References
    ----------
    Kobayashi & Komaki 2005 (KK), eq. 23.
    """

    eta: float = 1.0
    offset: str = "kk"
    nystrom: tuple[int, int] | None = None
    random_state: Seed = 0

    name = "kric"
    greater_is_better = False
    serves = every("hinge", "logistic")
    scaling = 0.0
    units = "deviance"
    formula = "2 [sum log(1 + e^(-eta z)) + tr{(K T + I/C)^-1 K (M^2 - mm'/n)}]"
    cost = "O(n^3); O(m^2 n) with nystrom=(m, p)"
    reference = "Kobayashi & Komaki 2005, eq. 23"

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice(self.name, "offset", self.offset, ("kk", "exact"))
        pair = check_link_options(self.eta, self.nystrom, self.name)
        object.__setattr__(self, "nystrom", pair)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s = context.solution
        frame = Covariance.of(context.K, context.weights, self.nystrom, self.random_state)
        w = context.weights[frame.rows]
        link = Link.of(s.decision[frame.rows], context.y[frame.rows], self.eta)
        flat = self.offset == "exact" and s.fit_intercept
        extra = penalty(frame, link, w, context.C, flat, gradient)
        value = 2.0 * (float(w @ link.loss) + extra.value)
        details = describe(frame, extra)
        status = judged(value, s.status)
        if not gradient or extra.kernel is None:
            return Verdict(value, details=details, status=status)
        on_decision = moving(s, frame.spread(extra.on_decision - w * link.score))
        through = context.system.pullback(decision=on_decision, log_C=extra.log_C)
        return Verdict(value, (through + extra.kernel) * 2.0, details=details, status=status)


def describe(frame: Covariance, extra: Penalty) -> dict[str, object]:
    """What a user may want to know of the penalty."""
    details: dict[str, object] = {
        "penalty": extra.value,
        "effective_parameters": extra.effective_parameters,
    }
    if frame.nystrom is not None:
        details["components"] = frame.nystrom.components
    if not frame.differentiable:
        details["gradient"] = "none: the last component kept ties with the first left out"
    return details
