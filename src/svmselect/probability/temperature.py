"""One number that makes class probabilities as sure as held-out rows say they may be."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from svmselect.types import Array, IntArray

SPREAD = 1.0
"""Standard deviation of the logarithm of the sharpness, about 0, in its prior."""
_LOW, _HIGH, _CELLS = -3.0, 4.0, 29


def sharpened(probabilities: Array, sharpness: float) -> Array:
    """Raise probabilities to a power and let them sum to one again.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Positive, each row summing to one.
    sharpness : float
        The power, the inverse of what is called the temperature; 1 changes nothing.

    Returns
    -------
    ndarray of shape (n, k)
        The new probabilities; the order of the classes in a row stays what it is.
    """
    if sharpness == 1.0:
        return probabilities
    return np.asarray(np.exp(_normalised(sharpness * logarithms(probabilities))))


def fit_sharpness(probabilities: Array, codes: IntArray, weights: Array) -> float:
    """Find the power that gives held-out rows the highest likelihood.

    Probabilities coupled from pairs of classes are too timid: each pair allows for errors that the
    others rule out. One number mends that, and being one it can hardly be overfitted; a prior
    keeps it finite where no held-out row is wrong.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Those of held-out rows.
    codes : ndarray of int of shape (n,)
        The column of each row's class.
    weights : ndarray of shape (n,)
        What the rows count.

    Returns
    -------
    float
        The sharpness, between ``exp(-3)`` and ``exp(4)``.

    Notes
    -----
    It maximises ``sum_i w_i log q_i(y_i) - u^2 / 2`` over ``u = log s``, q being the sharpened
    probabilities: the best of a grid, then Brent's method between its neighbours.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017 (temperature scaling).
    """
    logs, rows = logarithms(probabilities), np.arange(len(codes))

    def loss(u: float) -> float:
        q = _normalised(np.exp(u) * logs)[rows, codes]
        return 0.5 * (u / SPREAD) ** 2 - float(weights @ q)

    grid = np.linspace(_LOW, _HIGH, _CELLS)
    best = int(np.argmin([loss(u) for u in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, _CELLS - 1)])
    found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-6})
    # the method does not look at the ends of its interval, where the best of all may be
    return float(np.exp(min((float(found.x), float(grid[best])), key=loss)))


def logarithms(probabilities: Array) -> Array:
    """Their logarithms, of zero that of next to nothing."""
    return np.asarray(np.log(np.maximum(probabilities, 1e-300)))


def _normalised(logs: Array) -> Array:
    """Logarithms of probabilities that sum to one."""
    logs = logs - logs.max(axis=1, keepdims=True)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))
