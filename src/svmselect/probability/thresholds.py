"""From probabilities to decisions: where the largest probability is not what is wanted.

A decision is the column of ``probabilities @ utilities`` that is largest. ``utilities[i, j]`` is
what predicting class j is worth where the class is i: minus the cost of it, or, on the diagonal, a
factor for each class; of two classes that is a threshold on the probability of the second.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from svmselect.types import Array, IntArray

_LOOKS = 200
"""Thresholds looked at from end to end, and again near the best of them."""
_ROUNDS = 10
"""The most times that all classes have their turn."""

Judge = Callable[[Array], float]
"""What a table of weights, true class against predicted class, is worth: greater is better."""


def decide(probabilities: Array, utilities: Array) -> IntArray:
    """Predict the class that is worth most.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        The probabilities of the classes.
    utilities : ndarray of shape (k, k)
        What it is worth to predict class j (column) where the class is i (row).

    Returns
    -------
    ndarray of int of shape (n,)
        The number of the class: the largest column of ``probabilities @ utilities``, the first of
        equal ones.
    """
    return np.asarray((probabilities @ utilities).argmax(axis=1), dtype=np.intp)


def threshold_utilities(threshold: float) -> Array:
    """Make the utilities by which the second of two classes is predicted above a threshold.

    Parameters
    ----------
    threshold : float
        The probability of the second class above which it is predicted.

    Returns
    -------
    ndarray of shape (2, 2)
        The utilities.
    """
    return np.diag([threshold, 1.0 - threshold])


def cost_utilities(costs: ArrayLike, n_classes: int) -> Array:
    """Check a matrix of costs and turn it into utilities.

    Parameters
    ----------
    costs : array-like of shape (k, k)
        What it costs to predict class j (column) where the class is i (row).
    n_classes : int
        The number of classes, k.

    Returns
    -------
    ndarray of shape (k, k)
        Minus the costs. ``decide`` then minimises the expected cost: of two classes it predicts the
        second above the probability ``c_01 / (c_01 + c_10)``, where being right costs nothing.
    """
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the costs must be numbers, got {costs!r}") from None
    shape = (n_classes, n_classes)
    if matrix.shape != shape:
        raise ValueError(
            f"the costs have shape {matrix.shape}; {n_classes} classes need one of {shape}: a row "
            "for each true class, a column for each prediction, in the order of classes_"
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"the cost of predicting class {j} for class {i} is {matrix[i, j]}")
    right = matrix.diagonal()[:, None]
    if (matrix < right).any():
        i, j = np.argwhere(matrix < right)[0]
        raise ValueError(
            f"predicting class {j} for class {i} costs {matrix[i, j]:g}, less than the right "
            f"answer ({matrix[i, i]:g}); rows are the true classes, columns the predictions"
        )
    if not (matrix > right).any():
        raise ValueError("every prediction costs the same, so there is nothing to decide")
    return -matrix


def tune_utilities(
    probabilities: Array, codes: IntArray, weights: Array, judge: Judge
) -> tuple[Array, float]:
    """Find factors of the classes' probabilities by which decisions are judged best.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Probabilities of rows, best of rows that the machine was not trained on.
    codes : ndarray of int of shape (n,)
        The classes they are of.
    weights : ndarray of shape (n,)
        What each row counts for.
    judge : callable
        Takes the (k, k) table of weights, true class against predicted class; greater is better.

    Returns
    -------
    utilities : ndarray of shape (k, k)
        The factors, on the diagonal.
    value : float
        What the judge says of them.

    Notes
    -----
    Of two classes: up to 200 thresholds between neighbouring probabilities, at equal ranks from end
    to end, then those near the best. Of more: one class after the other so, the others' factors
    fixed, until none brings a gain. Where values tie, the threshold nearest to the largest
    probability's is taken. O(n) for each look, of which there are at most 400 a class and round.
    """
    k = probabilities.shape[1]
    factors = np.ones(k)
    value = judge(decision_table(codes, probabilities.argmax(axis=1), weights, k))
    for _ in range(1 if k == 2 else _ROUNDS):
        before = value
        for j in range(k - 1, 0 if k == 2 else -1, -1):
            factors, value = _tune_one(j, factors, value, probabilities, codes, weights, judge)
        if not value > before:
            break
    return np.diag(factors / factors.sum()), value


def _tune_one(
    j: int,
    factors: Array,
    value: float,
    probabilities: Array,
    codes: IntArray,
    weights: Array,
    judge: Judge,
) -> tuple[Array, float]:
    """The best factor of class j, the others fixed; all factors and what they are worth."""
    k = len(factors)
    worth = probabilities * factors
    worth[:, j] = -np.inf
    other = worth.argmax(axis=1)
    most = worth[np.arange(len(worth)), other]
    # with the factor (1 - t)/t a row is given to class j where its share here is above t
    share = probabilities[:, j] / (probabilities[:, j] + most)
    levels = np.unique(share)
    cuts = np.array([0.5 * (low + high) for low, high in pairwise([0.0, *levels, 1.0])])
    cuts = cuts[(cuts > 0.0) & (cuts < 1.0)]
    now = 1.0 / (1.0 + factors[j])

    def look(threshold: float) -> tuple[float, float]:
        chosen = np.where(share > threshold, j, other)
        return judge(decision_table(codes, chosen, weights, k)), -abs(threshold - now)

    seen: dict[int, tuple[float, float]] = {}
    low, high = 0, len(cuts) - 1
    while high >= low:
        ranks = np.unique(np.linspace(low, high, _LOOKS).round().astype(np.intp)).tolist()
        seen |= {rank: look(cuts[rank]) for rank in ranks if rank not in seen}
        best = max(seen, key=lambda rank: seen[rank])
        if len(ranks) == high - low + 1:
            break
        known = sorted(seen)
        at = known.index(best)
        low, high = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
    if not seen or not seen[best][0] > value:
        return factors, value
    changed = factors.copy()
    changed[j] = (1.0 - cuts[best]) / cuts[best]
    return changed, seen[best][0]


def decision_table(codes: IntArray, predicted: IntArray, weights: Array, k: int) -> Array:
    """Add up weights, true class against predicted class.

    Parameters
    ----------
    codes, predicted : ndarray of int of shape (n,)
        The classes that rows are of, and those predicted.
    weights : ndarray of shape (n,)
        What each row counts for.
    k : int
        The number of classes.

    Returns
    -------
    ndarray of shape (k, k)
        The table.
    """
    return np.asarray(np.bincount(codes * k + predicted, weights, k * k), float).reshape(k, k)
