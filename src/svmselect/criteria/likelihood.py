"""The cross-validated likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Verdict, every
from svmselect.criteria.resampling import Resampled
from svmselect.probability import MAX_SLOPE, check_sigmoid_options, sigmoid_likelihood


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
    """

    targets: str = "labels"
    max_slope: float = MAX_SLOPE

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

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        held = self.held_out(context)
        if np.all(held.y == held.y[0]):
            raise ValueError(
                "cv holds out rows of one class only; a sigmoid needs both: use stratified folds"
            )
        fit = sigmoid_likelihood(held.decision, held.y, held.weights, self.targets, self.max_slope)
        details = held.details() | {"sigmoid_slope": fit.slope, "sigmoid_offset": fit.offset}
        sensitivity = held.pullback(context, fit.gradient) if gradient else None
        return Verdict(fit.value, sensitivity, details=details, status=held.status)
