"""The cross-validated likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.criteria.base import Context, Verdict, every
from svmselect.criteria.resampling import HeldOut, Resampled
from svmselect.probability import (
    MAX_SLOPE,
    SigmoidFit,
    check_sigmoid_options,
    sigmoid_likelihood,
    sigmoid_probability,
)
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class Unfolded:
    """Held-out rows of one two-class problem, their sigmoid, and d decision/d hyperparameters."""

    held: HeldOut
    fit: SigmoidFit
    jacobian: Array | None


@dataclass(frozen=True)
class Likelihood(Resampled):
    """The mean log-probability of held-out labels under one sigmoid of the held-out decisions.

    1/n sum_i log p(y_i | f_i), p(+1 | f) = 1/(1 + exp(s f + r)): f_i by the machine that did not
    see row i, (s, r) by maximum likelihood over all of them at once. At that maximum they need no
    derivative. Where the classes do not overlap in f there is none, so |s| is at most ``max_slope``
    over the standard deviation of f; the value then is as good as 0 and has a gradient, as good as
    0. ``targets="platt"`` fits and scores Platt's softened labels. ``details`` hold the sigmoid; s
    is negative unless the machines are worse than chance. A weight counts as copies of its row,
    all in one fold. Training is one machine a fold, the gradient one solve on its free set.
    ``one_sided`` allows no sigmoid that falls with f: held-out decisions that point the wrong way
    say nothing then. The Hessian is Gauss and Newton's: that of the likelihood in the decisions,
    the sigmoid following, between Jacobians of the decisions.
    """

    targets: str = "labels"
    max_slope: float = MAX_SLOPE
    one_sided: bool = False

    name = "likelihood"
    greater_is_better = True
    serves = every("hinge", "squared_hinge", "logistic")
    scaling = 0.0
    units = "mean"
    formula = "1/n max_(s,r) sum_i log 1/(1 + exp(y_i (s f_i + r))), f_i held out"
    cost = "one training a fold"
    reference = "Glasmachers & Igel 2010, section 4"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sigmoid_options(self.targets, self.max_slope)

    @property
    def curved(self) -> bool:
        return True

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        held, fit = self.judge(context)
        sensitivity = held.pullback(context, fit.gradient) if gradient else None
        return self._verdict(held, fit, sensitivity=sensitivity)

    def expand(self, context: Context) -> Verdict:
        held, fit = self.judge(context)
        J = held.jacobian(context)
        bend = profiled_curvature(J, held.decision, fit.slope, fit.offset, held.weights)
        hessian = -bend / float(held.weights.sum())
        return self._verdict(held, fit, gradient=fit.gradient @ J, hessian=hessian)

    def unfold(self, context: Context, jacobian: bool) -> list[Unfolded]:
        """What the value is made of: the held-out rows, their sigmoid and how they move."""
        held, fit = self.judge(context)
        return [Unfolded(held, fit, held.jacobian(context) if jacobian else None)]

    def judge(self, context: Context) -> tuple[HeldOut, SigmoidFit]:
        """The held-out decisions and their sigmoid."""
        held = self.held_out(context)
        if self.targets == "labels" and np.all(held.y == held.y[0]):
            raise ValueError(
                "cv holds out rows of one class only; a sigmoid needs both: use stratified folds"
            )
        fit = sigmoid_likelihood(
            held.decision, held.y, held.weights, self.targets, self.max_slope, self.one_sided
        )
        return held, fit

    def _verdict(self, held: HeldOut, fit: SigmoidFit, **slopes: Any) -> Verdict:
        details = held.details() | {"sigmoid_slope": fit.slope, "sigmoid_offset": fit.offset}
        return Verdict(fit.value, details=details, status=held.status, **slopes)


def profiled_curvature(J: Array, f: Array, slope: float, offset: float, weights: Array) -> Array:
    """Gauss-Newton Hessian of the total negative log-likelihood, the sigmoid profiled out.

    With W = slope^2 p (1-p) on f, a change of f that the sigmoid can follow, f -> a f + c, costs
    nothing: the directions f and 1 are projected out in the metric of W.
    """
    p = sigmoid_probability(f, slope, offset)
    root = abs(slope) * np.sqrt(weights * p * (1.0 - p))
    J = root[:, None] * J
    sigmoid = root[:, None] * np.column_stack([f, np.ones_like(f)])
    Q, R = np.linalg.qr(sigmoid)
    Q = Q[:, np.abs(R.diagonal()) > 1e-12 * max(float(np.abs(R).max()), 1e-300)]
    J = J - Q @ (Q.T @ J)
    return np.asarray(J.T @ J)
