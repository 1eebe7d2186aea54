"""The Laplace evidence of the logistic model that stands behind a trained machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.laplace_algebra import (
    Covariance,
    Determinant,
    Link,
    Posterior,
    check_choice,
    check_link_options,
    judged,
    log_determinant,
    moving,
)
from svmselect.data import Seed
from svmselect.types import Array, Sensitivity


@dataclass(frozen=True)
class LogisticLaplace(Criterion):
    """The log evidence (total) of the logistic model behind a trained machine, by Laplace's method.

    Parameters
    ----------
    eta : float, default 1.0
        Slope of the model p(y|f) = 1/(1 + exp(-eta y f)).
    variant : {"derived", "printed"}, default "derived"
        "printed" leaves the middle term out, as KK's display does.
    nystrom : tuple of int, optional
        (m, p): replace K in the determinant by m random landmarks and p components.
    random_state : int, Generator or None, default 0
        Draws the landmarks; an integer draws the same ones at every point of a search.

    Notes
    -----
    The value is ::

        sum_i w_i log p(y_i|f_i) - beta'K beta/(2C) - 1/2 log det(I + C T^1/2 K T^1/2)

    with prior w ~ N(0, C I) and T the curvatures of -log p. A free intercept is left out of the
    determinant, as KK do. Since the scale is prior C K and likelihood e^-loss, it is not comparable
    in C with ``laplace``, whose prior is K and likelihood e^(-C loss).

    Losses: hinge, logistic. A weight counts as copies of its row. O(n^3), or O(m^2 n) with
    landmarks.

    References
    ----------
    Kobayashi & Komaki 2005 (KK), section 8.
    """

    eta: float = 1.0
    variant: str = "derived"
    nystrom: tuple[int, int] | None = None
    random_state: Seed = 0

    name = "logistic-laplace"
    greater_is_better = True
    serves = every("hinge", "logistic")
    scaling = 0.0
    units = "total"
    formula = "sum log p(y|f) - beta'K beta/(2C) - 1/2 log det(I + C T^1/2 K T^1/2)"
    cost = "O(n^3); O(m^2 n) with nystrom=(m, p)"
    reference = "Kobayashi & Komaki 2005, section 8"

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice(self.name, "variant", self.variant, ("derived", "printed"))
        pair = check_link_options(self.eta, self.nystrom, self.name)
        object.__setattr__(self, "nystrom", pair)

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, C = context.solution, context.C
        rows = np.flatnonzero(context.weights > 0)
        w = context.weights[rows]
        link = Link.of(s.decision[rows], context.y[rows], self.eta)
        det, kernel, parts = self._determinant(context, C * w * link.curvature, gradient)
        logdet, gain = det.logdet, det.gain
        values = s.decision - s.intercept  # K beta
        norm = float(s.beta @ values) / C if self.variant == "derived" else 0.0
        value = -float(w @ link.loss) - 0.5 * norm - 0.5 * logdet
        details = {"log_determinant": logdet, "effective_parameters": float(gain.sum()), **parts}
        status = judged(value, s.status, det.rounding)
        if not gradient or kernel is None:
            return Verdict(value, details=details, status=status)
        on_decision, on_beta = np.zeros(len(s.beta)), np.zeros(len(s.beta))
        # t enters through log t, whose slope eta y (1 - 2 p) is bounded
        bend = np.divide(link.bend, link.curvature, out=np.zeros_like(w), where=link.curvature > 0)
        on_decision[rows] = w * link.score - 0.5 * gain * bend
        on_decision = moving(s, on_decision)
        if norm:  # -beta'(f - b)/(2C), in which b has the factor sum(beta) = 0 if it is free
            on_decision = on_decision - 0.5 * s.beta / C
            on_beta = -0.5 * values / C
        slope = 0.5 * norm - 0.5 * float(gain.sum())
        through = context.system.pullback(decision=on_decision, beta=on_beta, log_C=slope)
        return Verdict(value, through + kernel * -0.5, details=details, status=status)

    def _determinant(
        self, context: Context, curvature: Array, gradient: bool
    ) -> tuple[Determinant, Sensitivity | None, dict[str, object]]:
        """log det, and its derivative by K where that exists and is asked for."""
        if self.nystrom is None:
            rows = np.flatnonzero(context.weights > 0)
            K = context.K if len(rows) == len(context.K) else context.K[np.ix_(rows, rows)]
            det = log_determinant(K, curvature)
            frame = Covariance(len(context.K), rows, np.zeros((0, 0)), None)
            return det, frame.dense(det.gram) if gradient else None, {}
        frame = Covariance.of(context.K, context.weights, self.nystrom, self.random_state)
        posterior = Posterior.of(frame.factor, curvature)
        details: dict[str, object] = {"components": frame.factor.shape[1]}
        kernel = None
        if not frame.differentiable:
            details["gradient"] = "none: the last component kept ties with the first left out"
        elif gradient and frame.nystrom is not None:
            on_factor = 2.0 * curvature[:, None] * posterior.shrunk
            kernel = frame.by_factor(frame.nystrom, on_factor)
        det = Determinant(posterior.logdet, posterior.gain, np.zeros((0, 0)), 0.0)
        return det, kernel, details
