"""The cross-validated likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.clock import look
from svmselect.criteria.base import Context, Verdict, every
from svmselect.criteria.resampling import FoldDecisions, Resampled
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

    held: FoldDecisions
    fit: SigmoidFit
    jacobian: Array | None


@dataclass(frozen=True)
class Likelihood(Resampled):
    """The mean log-probability of held-out labels under one sigmoid of the held-out decisions.

    Parameters
    ----------
    cv : int, splitter or iterable, default 5
        The folds, as in ``cv-error``.
    random_state : int or None, default 0
        Seed of the stratified folds, as in ``cv-error``.
    targets : {"labels", "platt"}, default "labels"
        What the sigmoid is fitted to and scored on: the labels, or Platt's softened ones.
    max_slope : float, default 1000
        Bound on the sigmoid's slope s: ``abs(s)`` is at most this over the standard deviation of f.
    one_sided : bool, default False
        Whether a sigmoid that falls with f is ruled out. Held-out decisions that point the wrong
        way say nothing then.

    Notes
    -----
    The value is ``1/n sum_i log p(y_i | f_i)`` with ``p(+1 | f) = 1/(1 + exp(s f + r))``. Each f_i
    is given by the machine that did not see row i; s and r maximise the likelihood of all rows at
    once. At that maximum they need no derivative. Where the classes do not overlap in f there is no
    maximum, hence ``max_slope``; the value then is as good as 0 and has a gradient, as good as 0.
    ``details`` hold the sigmoid; s is negative unless the machines are worse than chance.

    Any loss. A weight counts as copies of its row, all in one fold. One machine a fold; the
    gradient is one solve on its free set. The Hessian is that of Gauss and Newton: that of the
    likelihood in the decisions, the sigmoid following, between Jacobians of the decisions.

    References
    ----------
    Glasmachers & Igel 2010, section 4.
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
        return self._verdict(context, held, fit, sensitivity=sensitivity)

    def expand(self, context: Context) -> Verdict:
        held, fit = self.judge(context)
        J = held.jacobian(context)
        bend = profiled_curvature(J, held.decision, fit.slope, fit.offset, held.weights)
        hessian = -bend / float(held.weights.sum())
        return self._verdict(context, held, fit, gradient=fit.gradient @ J, hessian=hessian)

    def unfold(self, context: Context, jacobian: bool) -> list[Unfolded]:
        """Give what the value is made of: the held-out rows, their sigmoid and how they move.

        Parameters
        ----------
        context : Context
            The point, and all that may be asked there.
        jacobian : bool
            Whether the Jacobian of the held-out decisions is wanted.

        Returns
        -------
        list of Unfolded
            One for each two-class problem, here one.
        """
        held, fit = self.judge(context)
        return [Unfolded(held, fit, held.jacobian(context) if jacobian else None)]

    def judge(self, context: Context) -> tuple[FoldDecisions, SigmoidFit]:
        """Compute the held-out decisions and fit their sigmoid.

        Parameters
        ----------
        context : Context
            The point, and all that may be asked there.

        Returns
        -------
        held : FoldDecisions
            The held-out rows and their decisions.
        fit : SigmoidFit
            The sigmoid.
        """
        held = self.held_out(context)
        look()
        if self.targets == "labels" and np.all(held.y == held.y[0]):
            raise ValueError(
                "cv holds out rows of one class only; a sigmoid needs both: use stratified folds"
            )
        fit = sigmoid_likelihood(
            held.decision, held.y, held.weights, self.targets, self.max_slope, self.one_sided
        )
        return held, fit

    def _verdict(
        self, context: Context, held: FoldDecisions, fit: SigmoidFit, **slopes: Any
    ) -> Verdict:
        if context.whole is None:
            details = held.details() | {"sigmoid_slope": fit.slope, "sigmoid_offset": fit.offset}
        else:  # of one pair of many, whose details nobody sees, and which take time
            details = {"folds": len(held.solutions)}
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
