"""The leave-one-out error, exactly and without training n machines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.criteria.cv_error import NO_GRADIENT
from svmselect.criteria.resampling import wrong
from svmselect.machine import Solution
from svmselect.machine.left_out import left_out
from svmselect.machine.losses import get_loss
from svmselect.machine.train import train
from svmselect.types import BoolArray

NO_SLOPE = "it would need that of every machine with a point left out; gacv approximates it"


@dataclass(frozen=True)
class LOOError(Criterion):
    """The share of points that the machine trained on all others misclassifies; exact.

    Parameters
    ----------
    measure : {"error", "loss"}, default "error"
        What is averaged over left-out points: errors, or the machine's own loss, which is Wahba,
        Lin & Zhang's V_0 and what ``gacv`` approximates.

    Notes
    -----
    The value is ``1/n sum_i [y_i f^(-i)(x_i) < 0]``; a decision of exactly zero counts one half.
    With ``measure="loss"`` it is ``1/n sum_i loss(y_i f^(-i)(x_i))``.

    What cannot change is skipped: a point that is no support vector leaves the machine as it is,
    and a training error stays one (its loss can only grow when it is left out). The others are
    followed from the full machine, all at once: by exchanges of active sets for the hinges, by
    Newton steps until the sign is certain for the logistic loss; what that does not settle is
    trained, from the full machine.

    Any loss. A weight counts as copies, of which one is left out (all of it, where it is less than
    one). ``details`` count the points skipped, updated and retrained, and hold each point's error
    (``measure="loss"``: its loss; only points without alpha are skipped, and with the logistic loss
    all others are trained anew). One training and O(n^2 m), with m free points; for the logistic
    loss one training and a few products of n x n matrices.

    References
    ----------
    Glasmachers & Igel 2010, section 3; Luntz & Brailovsky 1969; Wahba, Lin & Zhang 1999, eq. 19.
    """

    measure: str = "error"

    name = "loo-error"
    greater_is_better = False
    serves = every("hinge", "squared_hinge", "logistic")
    smooth = False
    scaling = 0.0
    formula = "1/n sum_i [y_i f^(-i)(x_i) < 0]"
    cost = "one training and O(n^2 |free|); logistic: one training and a few products of n x n"
    reference = "Glasmachers & Igel 2010, section 3; Luntz & Brailovsky 1969"

    def __post_init__(self) -> None:
        """Check the option."""
        if self.measure not in ("error", "loss"):
            raise ValueError(f"loo-error: measure={self.measure!r} is not one of 'error', 'loss'")

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        _check_classes(context)
        s, w = context.solution, context.weights
        rule = get_loss(s.loss)
        judge = wrong if self.measure == "error" else rule.value
        errors = judge(s.margin)  # right for all that are skipped
        asked = _undecided(context, s) if self.measure == "error" else _moved(context, s)
        open_rows = np.flatnonzero(asked)
        margins = np.full(len(open_rows), np.nan)
        if self.measure == "error" or rule.quadratic:  # else only signs are to be had
            single = w[open_rows] <= 1.0
            margins[single] = left_out(context.K, s, open_rows[single])
        status, left = s.status, np.flatnonzero(np.isnan(margins))
        for k in left:
            i = open_rows[k]
            less = w.copy()
            less[i] -= min(w[i], 1.0)
            shape = (context.C, context.loss, context.fit_intercept)
            without = train(context.K, context.y, *shape, less, s)
            margins[k] = without.margin[i]
            status = status if without.status.ok else without.status
        errors[open_rows] = judge(margins)
        errors[w == 0] = 0.0
        details = {
            "errors" if self.measure == "error" else "losses": errors,
            "skipped": int((w > 0).sum()) - len(open_rows),
            "updated": len(open_rows) - len(left),
            "retrained": len(left),
            "gradient": NO_GRADIENT if self.measure == "error" else NO_SLOPE,
        }
        return Verdict(float(w @ errors) / context.total, details=details, status=status)


def _moved(context: Context, s: Solution) -> BoolArray:
    """Points whose left-out margin is not that of the full machine."""
    moved = s.alpha > 0
    if context.fit_intercept and len(s.ends):
        moved[list(s.ends)] = True  # they hold the intercept, whatever their alpha
    return np.asarray(moved & (context.weights > 0))


def _undecided(context: Context, s: Solution) -> BoolArray:
    """Points whose left-out sign does not follow from the full machine.

    With P the objective and P_i = P - C loss(z_i) that of the machine without point i,
    P_i(f_i) <= P_i(f) and P(f) <= P(f_i) give loss(z_i(f_i)) >= loss(z_i(f)).
    """
    w = context.weights
    undecided = (s.alpha > 0) & (s.margin >= 0)
    if not context.fit_intercept:
        # |h - h_i|^2 <= alpha_i (z_i - z_i(f_i)) (Jaakkola & Haussler 1999), for every loss
        copy = np.divide(s.alpha * np.minimum(w, 1.0), w, out=np.zeros_like(w), where=w > 0)
        undecided &= s.margin <= copy * context.K.diagonal() * (1.0 + 1e-9) + 1e-9
    elif len(s.ends):
        undecided[list(s.ends)] = True  # they hold the intercept, whatever their alpha
        undecided &= s.margin >= 0
    return np.asarray(undecided & (w > 0))


def _check_classes(context: Context) -> None:
    for sign, label in zip((-1.0, 1.0), context.data.classes.tolist(), strict=True):
        members = context.weights[(context.y == sign) & (context.weights > 0)]
        if len(members) == 1 and members[0] <= 1.0:
            raise ValueError(
                f"class {label!r} has one member only; left out, there is none to train on: add "
                "rows of this class or choose a criterion that does not leave points out"
            )
