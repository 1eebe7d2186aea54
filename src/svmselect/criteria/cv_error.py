"""The cross-validation error."""

from __future__ import annotations

from dataclasses import dataclass

from svmselect.criteria.base import Context, Verdict, every
from svmselect.criteria.resampling import Resampled

NO_GRADIENT = "a count of errors is a step function: it has no gradient; see 'smoothed-cv'"


@dataclass(frozen=True)
class CVError(Resampled):
    """The share of rows that machines trained without them misclassify.

    Parameters
    ----------
    cv : int, splitter or iterable, default 5
        A number of stratified folds, an object with ``split(X, y)`` as scikit-learn's splitters
        have, or pairs of training rows and held-out rows.
    random_state : int or None, default 0
        Seed of the stratified folds. None draws a seed once, when the criterion is made, so that
        every point of a search sees the same folds.

    Notes
    -----
    The value is ``1/n sum_i [y_i f^(-fold of i)(x_i) < 0]``; a decision of exactly zero counts one
    half. There is one machine a fold, exact, all on one Gram matrix and each started from the last.
    Any loss. ``details`` hold the held-out decisions, the error of each fold and its standard error
    over the folds (an underestimate: their training parts overlap). A weight counts as copies of
    its row, all in one fold.

    References
    ----------
    Glasmachers & Igel 2010, section 3.
    """

    name = "cv-error"
    greater_is_better = False
    serves = every("hinge", "squared_hinge", "logistic")
    smooth = False
    scaling = 0.0
    formula = "1/n sum_i [y_i f^(-fold of i)(x_i) < 0]"
    cost = "one training a fold"
    reference = "Glasmachers & Igel 2010, section 3"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        held = self.held_out(context)
        details = held.details() | {"gradient": NO_GRADIENT}
        return Verdict(held.mean(held.errors), details=details, status=held.status)
