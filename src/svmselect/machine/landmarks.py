"""Which rows serve as landmarks: drawn evenly, far apart from one another, or by their leverage.

Every rule gives an order, of which any beginning may be taken: growing keeps those there are.
"""

from __future__ import annotations

import numpy as np

from svmselect.kernels import Kernel
from svmselect.machine.features import basis_of
from svmselect.types import Array, IntArray

_BATCH = 32  # rows that are proposed at a time
RULES = ("kmeans++", "leverage", "uniform")


def order_landmarks(
    rule: str, kernel: Kernel, X: Array, m: int, rng: np.random.Generator
) -> IntArray:
    """Give m of the rows of X, best first.

    "kmeans++" draws one after another, each with a chance in proportion to the squared distance, in
    the kernel's feature space, from those drawn before, or from zero if that is nearer (Arthur &
    Vassilvitskii 2007), O(n m d).
    "leverage" draws by ridge leverage scores ``(K (K + lambda)^-1)_ii``, estimated from a uniform
    draw (Alaoui & Mahoney 2015), lambda such that they sum to about m/2, O(n m^2).
    """
    m = min(m, len(X))
    if rule == "uniform":
        return rng.permutation(len(X))[:m]
    if rule == "leverage":
        return _by_leverage(kernel, X, m, rng)
    if rule != "kmeans++":
        raise ValueError(f"landmarks {rule!r} are none of {', '.join(RULES)}")
    return _far_apart(kernel, X, m, rng)


def _far_apart(kernel: Kernel, X: Array, m: int, rng: np.random.Generator) -> IntArray:
    """k-means++, exactly, with kernel values of many rows at a time.

    Rows are proposed by the distances before a batch; since distances only shrink, one accepted
    with the share that is left of its own is a row drawn by the distances of the moment.
    """
    own = kernel.diag(X)
    away = own.copy()
    chosen: list[int] = []
    while len(chosen) < m:
        mass = np.cumsum(away)
        if not mass[-1] > 0.0:  # rows that are left are copies of those drawn
            left = np.setdiff1d(np.arange(len(X)), chosen)
            chosen += rng.permutation(left).tolist()
            break
        at = np.searchsorted(mass, rng.random(_BATCH) * mass[-1], "right")
        proposed, chances = np.minimum(at, len(X) - 1), rng.random(_BATCH)
        K, before = kernel(X, X[proposed]), away[proposed]
        for j, i in enumerate(proposed.tolist()):
            if chances[j] * before[j] < away[i]:
                chosen.append(i)
                away = np.minimum(away, np.maximum(own + own[i] - 2.0 * K[:, j], 0.0))
                away[i] = 0.0
    return np.array(chosen[:m], dtype=np.intp)


def leverage_scores(kernel: Kernel, X: Array, pilots: IntArray, target: float) -> Array:
    """Estimate ridge leverage scores on the features of some rows; they sum to about ``target``."""
    Phi = kernel(X, X[pilots]) @ basis_of(kernel, X[pilots])
    values, U = np.linalg.eigh(Phi.T @ Phi)
    values = np.maximum(values, 0.0)
    low, high = -30.0, 30.0 + float(np.log(values[-1]))
    for _ in range(60):  # the sum falls with lambda
        middle = 0.5 * (low + high)
        more = np.sum(values / (values + np.exp(middle))) > target
        low, high = (middle, high) if more else (low, middle)
    turned = Phi @ U
    scores = np.sum(turned * turned / (values + np.exp(low)), axis=1)
    # what the pilots' features leave of a row counts as its own
    rest = np.maximum(kernel.diag(X) - np.sum(Phi * Phi, axis=1), 0.0)
    return np.asarray(np.minimum(scores + rest / np.exp(low), 1.0))


def _by_leverage(kernel: Kernel, X: Array, m: int, rng: np.random.Generator) -> IntArray:
    pilots = rng.permutation(len(X))[: min(m, 500)]
    scores = leverage_scores(kernel, X, pilots, 0.5 * len(pilots))
    keys = rng.exponential(size=len(X)) / np.maximum(scores, 1e-12)
    return np.argsort(keys)[:m]
