"""The kernel regularisation information criterion for Sollich's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.kric import describe, penalty
from svmselect.criteria.laplace_algebra import (
    Covariance,
    Link,
    check_choice,
    check_link_options,
    judged,
    moving,
)
from svmselect.data import Seed
from svmselect.posterior.kappa import log_kappa
from svmselect.types import Array


@dataclass(frozen=True)
class KRICSollich(Criterion):
    """The kernel regularisation information criterion with Sollich's likelihood, normalised.

    Parameters
    ----------
    eta : float, default 1.0
        As in ``kric``.
    offset : {"kk", "exact"}, default "kk"
        As in ``kric``.
    sign : {"derived", "printed"}, default "derived"
        "printed" has ``- n log sum_i nu(f_i)``, as KK's box does.
    loss_term : {"derived", "printed"}, default "derived"
        "printed" has ``sum_i log(1 + e^(-eta z_i))`` in place of
        ``C sum_i (1 - z_i)_+ - n log kappa``.
    penalty_scale : {"kk", "model"}, default "kk"
        "model" multiplies the penalty by C: a log-likelihood C times as large has a trace C times
        as large (KK's is that of C = 1).
    nystrom : tuple of int, optional
        As in ``kric``.
    random_state : int, Generator or None, default 0
        As in ``kric``.

    Notes
    -----
    The value is ``2 [-log p_S(D) + penalty]`` with the penalty of ``kric`` and ::

        -log p_S = C sum_i (1 - z_i)_+ - n log kappa + n log N,    N = 1/n sum_i nu(f_i),
        nu(f) = kappa [e^(-C (1-f)_+) + e^(-C (1+f)_+)]

    The hinge here is the model's, whatever the machine's loss (KK Table 3 evaluates it for KLR). A
    weight counts as copies of its row. Losses and cost are those of ``kric``. The options named
    "printed" are for reproducing KK's tables.

    References
    ----------
    Kobayashi & Komaki 2005 (KK), section 6; Sollich 2002.
    """

    eta: float = 1.0
    offset: str = "kk"
    sign: str = "derived"
    loss_term: str = "derived"
    penalty_scale: str = "kk"
    nystrom: tuple[int, int] | None = None
    random_state: Seed = 0

    name = "kric-sollich"
    greater_is_better = False
    serves = every("hinge", "logistic")
    units = "deviance"
    formula = "2 [C sum (1-z)_+ - n log kappa + n log mean nu(f) + tr{(K T + I/C)^-1 K P}]"
    cost = "O(n^3); O(m^2 n) with nystrom=(m, p)"
    reference = "Kobayashi & Komaki 2005, section 6; Sollich 2002"

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice(self.name, "offset", self.offset, ("kk", "exact"))
        check_choice(self.name, "sign", self.sign, ("derived", "printed"))
        check_choice(self.name, "loss_term", self.loss_term, ("derived", "printed"))
        check_choice(self.name, "penalty_scale", self.penalty_scale, ("kk", "model"))
        pair = check_link_options(self.eta, self.nystrom, self.name)
        object.__setattr__(self, "nystrom", pair)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, C, n = context.solution, context.C, context.total
        frame = Covariance.of(context.K, context.weights, self.nystrom, self.random_state)
        f, y, w = s.decision[frame.rows], context.y[frame.rows], context.weights[frame.rows]
        link = Link.of(f, y, self.eta)
        flat = self.offset == "exact" and s.fit_intercept
        extra = penalty(frame, link, w, C, flat, gradient)
        scale = C if self.penalty_scale == "model" else 1.0
        kappa, kappa_slope = log_kappa("hinge", C)
        log_sum, on_f, log_sum_slope = _log_sum(f, w, C)

        if self.loss_term == "derived":
            slack = np.where(y * f < 1.0, 1.0 - y * f, 0.0)
            value = C * float(w @ slack) - n * kappa
            on_decision = -C * w * y * (slack > 0)
            slope = C * float(w @ slack) - n * C * kappa_slope
        else:
            value, on_decision, slope = float(w @ link.loss), -w * link.score, 0.0
        sign = 1.0 if self.sign == "derived" else -1.0
        mean = log_sum - np.log(n) if self.sign == "derived" else log_sum
        value += sign * n * (kappa + mean) + scale * extra.value
        details = {**describe(frame, extra), "log_normalisation": kappa + log_sum - np.log(n)}
        status = judged(value, s.status)
        if not gradient or extra.kernel is None:
            return Verdict(2.0 * value, details=details, status=status)
        on_decision = on_decision + sign * n * on_f + scale * extra.on_decision
        slope += sign * n * C * (kappa_slope + log_sum_slope)
        slope += scale * extra.log_C
        if self.penalty_scale == "model":  # the factor C moves too
            slope += C * extra.value
        through = context.system.pullback(
            decision=moving(s, frame.spread(on_decision)), log_C=slope
        )
        total = (through + extra.kernel * scale) * 2.0
        return Verdict(2.0 * value, total, details=details, status=status)


def _log_sum(f: Array, w: Array, C: float) -> tuple[float, Array, float]:
    """log sum_i w_i [e^(-C (1-f_i)_+) + e^(-C (1+f_i)_+)], its derivatives by f and by C."""
    near, far = np.maximum(1.0 - f, 0.0), np.maximum(1.0 + f, 0.0)
    each = np.logaddexp(-C * near, -C * far)
    total = float(logsumexp(each, b=w))
    share = w * np.exp(each - total)
    plus, minus = np.exp(-C * near - each), np.exp(-C * far - each)
    on_f = share * C * (plus * (near > 0) - minus * (far > 0))
    return total, on_f, -float(share @ (plus * near + minus * far))
