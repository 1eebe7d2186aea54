"""The interval of a rate: how far the share that was seen may be from the true one."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.types import Array, ErrorEstimate

_Z = 1.959964  # 95 %


def wilson(rate: Array | float, n: Any) -> tuple[Array, Array]:
    """Compute Wilson's 95 % interval of a rate seen in n rows.

    Parameters
    ----------
    rate : ndarray or float
        The share that was seen.
    n : ndarray or float
        In how many rows.

    Returns
    -------
    low, high : ndarray
        The ends.
    """
    rate, n = np.asarray(rate, dtype=np.float64), np.asarray(n, dtype=np.float64)
    centre = (rate + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * np.sqrt(rate * (1 - rate) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def interval(estimate: ErrorEstimate) -> tuple[float, float]:
    """Compute the 95 % interval of an estimated error.

    It is Wilson's, of as many rows as the estimate is worth.

    Parameters
    ----------
    estimate : ErrorEstimate
        The error, its rows, and what choosing adds to its variance.

    Returns
    -------
    tuple of float
        Its ends, low and high.
    """
    n = estimate.n
    rate = (estimate.error * n + 1.0) / (n + 2.0)  # what no error at all is worth, too
    counted = rate * (1.0 - rate) / n
    low, high = wilson(estimate.error, n * counted / (counted + estimate.spread**2))
    return float(low), float(high)
