"""Sets of classes that hold the true one as often as they say, from held-out probabilities.

Conformal prediction with the score 1 - p(true class): if the held-out rows and a new one are
exchangeable, the rank of the new one's probability of its own class is uniform, so that it is below
the k-th smallest of n held-out ones with probability at most k / (n + 1) (Vovk et al. 2005; Sadinle
et al. 2019 for the sets this makes, the smallest on average).
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from svmselect.types import Array, BoolArray

_ROUNDING = 1e-12
"""So that 0.1 times 10 rows is one of them."""


def check_alpha(alpha: Any) -> float:
    """Refuse what is no error rate.

    Parameters
    ----------
    alpha : float
        How often the true class may be missed.

    Returns
    -------
    float
        The number.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 < float(alpha) < 1.0:
        raise ValueError(f"alpha={alpha!r} must be a number between 0 and 1, e.g. 0.1 for 90 %")
    return float(alpha)


def least_probability(given: Array, weights: Array, alpha: float) -> float:
    """Compute the probability that a class needs to be in a prediction set.

    Parameters
    ----------
    given : ndarray of shape (n,)
        Held-out probabilities of the classes that rows are of.
    weights : ndarray of shape (n,)
        What each row counts for; a row of weight w stands for w copies.
    alpha : float
        How often the true class may be missed.

    Returns
    -------
    float
        The k-th smallest of them, with ``k = floor(alpha (n + 1))``; 0.0 where that is less than
        one row, so that every class is in every set.

    References
    ----------
    Vovk, Gammerman & Shafer 2005.
    """
    order = np.argsort(given, kind="stable")
    mass = np.cumsum(weights[order])
    k = np.floor(alpha * (mass[-1] + 1.0) * (1.0 + _ROUNDING))
    if k < 1.0:
        return 0.0
    k = min(k, mass[-1])  # n + 1 of them only where alpha rounds to one
    return float(given[order[np.searchsorted(mass, k * (1.0 - _ROUNDING))]])


def prediction_sets(probabilities: Array, least: float) -> BoolArray:
    """Find the classes that have at least this probability, and always the most probable one.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        The probabilities of the classes.
    least : float
        What ``least_probability`` gave.

    Returns
    -------
    ndarray of bool of shape (n, k)
        Whether each class is in the row's set. Without its most probable class a set may be empty
        where classes are easily told apart; adding it only makes the sets right more often.
    """
    inside = probabilities >= least
    inside[np.arange(len(inside)), probabilities.argmax(axis=1)] = True
    return np.asarray(inside)
