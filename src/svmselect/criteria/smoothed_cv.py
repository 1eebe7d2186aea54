"""The cross-validation error, made smooth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from svmselect.criteria.base import Context, Verdict, every
from svmselect.criteria.resampling import Resampled
from svmselect.types import Status

_STEEPNESS = 10.0  # Keerthi, Sindhwani & Chapelle 2007
_LEAST = 1e-290  # a decision below is zero: its reciprocal would overflow


@dataclass(frozen=True)
class SmoothedCV(Resampled):
    """The cross-validation error with a steep sigmoid in place of the step at zero.

    Parameters
    ----------
    cv : int, splitter or iterable, default 5
        The folds, as in ``cv-error``.
    random_state : int or None, default 0
        Seed of the stratified folds, as in ``cv-error``.
    slope : float, optional
        The sigmoid's slope. If None it is 10 over the standard deviation of all held-out f: it
        moves with the hyperparameters, and the gradient takes that into account.

    Notes
    -----
    The value is ``1/n sum_i 1/(1 + exp(slope z_i))``, with z_i = y_i f(x_i) by the machine that did
    not see row i. Any loss. A weight counts as copies of its row, all in one fold. One machine a
    fold; the gradient is one solve on its free set.

    References
    ----------
    Keerthi, Sindhwani & Chapelle 2007; Glasmachers & Igel 2010, section 3.
    """

    slope: float | None = None

    name = "smoothed-cv"
    greater_is_better = False
    serves = every("hinge", "squared_hinge", "logistic")
    scaling = 0.0
    formula = "1/n sum_i 1/(1 + exp(slope z_i)), z_i held out; slope = 10/std(f)"
    cost = "one training a fold"
    reference = "Keerthi, Sindhwani & Chapelle 2007; Glasmachers & Igel 2010, section 3"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.slope is not None and not (np.isfinite(self.slope) and self.slope > 0):
            raise ValueError(f"slope must be None or a positive finite number, got {self.slope!r}")

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        held = self.held_out(context)
        share = held.weights / held.weights.sum()
        # In units of their own size: squares of 1e-170 would vanish, and with them the scale.
        largest = float(np.abs(held.decision).max(initial=0.0))
        unit, f = 1.0, held.decision
        if self.slope is None:
            unit = float(np.ldexp(1.0, np.frexp(largest)[1])) if largest > _LEAST else 1.0
            f = f / unit if largest > _LEAST else np.zeros_like(f)
        mean = float(share @ f)
        scale = float(np.sqrt(share @ (f - mean) ** 2))
        # An f that does not vary has no scale: a step at zero, to working precision.
        least = 1e-12 * float(np.abs(f).max(initial=0.0))
        slope = _STEEPNESS / max(scale, least, 1e-150) if self.slope is None else self.slope
        loss = expit(-slope * held.y * f)
        value = float(share @ loss)
        details = held.details() | {"slope": slope / unit}
        status = held.status
        if status.ok and self.slope is None and not f.any():
            status = Status(
                "undefined",
                "every held-out decision is zero to working precision; lengthen the length scale",
            )
        sensitivity = None
        if gradient:
            steep = -share * loss * (1.0 - loss) * held.y  # d value / d (slope f)
            partial = slope * steep
            if self.slope is None:
                # d slope / d f_k = -slope/scale d scale / d f_k
                if scale > least:
                    partial -= slope * float(steep @ f) / scale**2 * share * (f - mean)
                elif not f.any():
                    partial[:] = 0.0
            sensitivity = held.pullback(context, partial / unit)
        return Verdict(value, sensitivity, details=details, status=status)
