"""The generalised comparative Kullback-Leibler distance: what GACV estimates, in a simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from svmselect.criteria.resampling import wrong
from svmselect.machine.losses import get_loss


def gckl(p: ArrayLike, decision: ArrayLike, loss: str = "hinge") -> float:
    """Compute the mean loss of decision values over labels drawn anew from the true probabilities.

    Only a simulation knows them; this is what ``gacv`` estimates.

    Parameters
    ----------
    p : array-like of shape (n,)
        The true probability of the class +1 at each point.
    decision : array-like of shape (n,)
        The decision values, held fixed.
    loss : {"hinge", "squared_hinge", "logistic", "zero-one"}, default "hinge"
        The loss. "zero-one" counts errors, a decision of exactly zero as half a one: the value is
        then the expected error rate at these points.

    Returns
    -------
    float
        ``1/n sum_j [p_j loss(f_j) + (1 - p_j) loss(-f_j)]``. O(n).

    Notes
    -----
    For the hinge this is an upper bound of the expected error rate, which "zero-one" gives.

    References
    ----------
    Wahba, Lin & Zhang 1999, eqs 11-14.
    """
    value = wrong if loss == "zero-one" else get_loss(loss).value
    probability, f = np.asarray(p, dtype=float), np.asarray(decision, dtype=float)
    if f.ndim != 1 or probability.shape != f.shape or not f.size:
        raise ValueError(
            f"p has shape {probability.shape} and decision {f.shape}; "
            "give one probability and one decision value a point"
        )
    bad = ~((probability >= 0) & (probability <= 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"p[{row}] is {probability[row]}; probabilities lie between 0 and 1")
    if not np.isfinite(f).all():
        row = int(np.argmin(np.isfinite(f)))
        raise ValueError(f"decision[{row}] is {f[row]}; decision values must be finite")
    return float(np.mean(probability * value(f) + (1.0 - probability) * value(-f)))
