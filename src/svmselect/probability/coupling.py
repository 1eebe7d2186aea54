"""Class probabilities from the probabilities of pairs."""

from __future__ import annotations

import numpy as np

from svmselect.types import Array

SMALLEST = 1e-15
"""Pairwise probabilities are kept this far from 0 and 1: no class is ever impossible."""
_BLOCK = 200_000
"""Probabilities of pairs that are worked on together: what a processor has close at hand."""


def couple(pairwise: Array) -> Array:
    """Combine the probabilities of pairs of classes into one probability for each class.

    Parameters
    ----------
    pairwise : ndarray of shape (n, k, k)
        ``pairwise[:, i, j]`` is r_ij, the probability of class i against class j.

    Returns
    -------
    ndarray of shape (n, k)
        The probability of each class.

    Notes
    -----
    p solves ``p_i = 1/(k - 1) sum_j (p_i + p_j) r_ij``: it is the stationary distribution of the
    chain that goes from i to j with probability r_ji / (k - 1). Where some p has r_ij = p_i / (p_i
    + p_j) for all pairs, that p is found. It is computed by elimination without a subtraction, so
    that small probabilities are as accurate, relatively, as large ones. O(n k^3).

    References
    ----------
    Wu, Lin & Weng 2004, the first of their two approaches; Grassmann, Taksar & Heyman 1985.
    """
    n, k = pairwise.shape[:2]
    if n > (most := max(1, _BLOCK // k**2)):
        parts = [couple(pairwise[start : start + most]) for start in range(0, n, most)]
        return np.concatenate(parts)
    # rows last, so that each operation runs along them
    flow = np.ascontiguousarray(np.minimum(np.maximum(pairwise, SMALLEST), 1.0 - SMALLEST).T)
    for m in range(k - 1, 0, -1):  # leave state m out: its visits go on to the states before it
        onward, visits = flow[m, :m], flow[:m, m]
        visits /= np.add.reduce(onward)
        flow[:m, :m] += visits[:, None] * onward
    p = np.ones((k, len(pairwise)))
    for m in range(1, k):
        p[m] = np.add.reduce(p[:m] * flow[:m, m])
    p /= np.add.reduce(p)
    return np.ascontiguousarray(p.T)
