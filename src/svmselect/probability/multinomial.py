"""Logistic regression of several classes at once, for inputs whose columns are orthogonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from svmselect.clock import look
from svmselect.types import Array, IntArray

_STEPS = 1000  # of L-BFGS in a row, at most; ten to a hundred are usual
_TRIES = 4  # how often it may begin anew


@dataclass(frozen=True, eq=False)
class Multinomial:
    """log p_c(x) = x' slopes_c + offsets_c, less the logarithm of their sum."""

    slopes: Array
    offsets: Array


def fit_multinomial(
    values: Array,
    sizes: Array,
    codes: IntArray,
    weights: Array,
    base: Array,
    restraint: float,
    slack: float,
) -> Multinomial:
    """Minimise the logistic loss of the classes, and half the squares of slopes and offsets.

    Parameters
    ----------
    values, sizes : ndarray of shape (n, m), ndarray of shape (m,)
        The inputs, of orthogonal columns, and their squared norms.
    codes : ndarray of int of shape (n,)
        The classes of the rows: 0, 1, ...
    weights : ndarray of shape (n,)
        What their losses count.
    base : ndarray of shape (n, k)
        Logits that are there already.
    restraint : float
        What the squares of the offsets count; those of the slopes count one.
    slack : float
        By how much the result may miss the minimum.

    Returns
    -------
    Multinomial
        The solution.

    Notes
    -----
    L-BFGS, in coordinates in which the Hessian is near the identity: it is ``1 + h sizes`` on the
    diagonal where all rows have the weight and the variance of their classes h, which is taken to
    be the mean at the start. The objective is as convex as its penalty, so half the squared
    gradient, each part over what its squares count, bounds what is left to gain.
    """
    (n, m), k, rows = values.shape, base.shape[1], np.arange(len(codes))
    p = np.exp(log_softmax(base, axis=1))
    h = float(np.mean(weights[:, None] * p * (1.0 - p)))
    # where all is sure the rows that are not yet may still turn up
    h = max(h, 1e-3 * float(weights.mean()))
    scale = np.repeat(1.0 / np.sqrt(1.0 + h * sizes), k)
    scale = np.concatenate([scale, np.full(k, 1.0 / np.sqrt(restraint + h * n))])
    counts = np.concatenate([np.ones(m * k), np.full(k, restraint)])

    def loss(x: Array) -> tuple[float, Array]:
        look()
        z = scale * x
        logs = log_softmax(base + values @ z[: m * k].reshape(m, k) + z[m * k :], axis=1)
        away = np.exp(logs)
        away[rows, codes] -= 1.0
        away *= weights[:, None]
        gradient = np.concatenate([(values.T @ away).ravel(), away.sum(axis=0)]) + counts * z
        value = 0.5 * float(z @ (counts * z)) - float(weights @ logs[rows, codes])
        return value, scale * gradient

    x, steepest = np.zeros((m + 1) * k), np.sqrt(2.0 * slack / ((m + 1) * k))
    for _ in range(_TRIES):
        options = {"gtol": steepest, "ftol": 0.0, "maxiter": _STEPS}
        found = minimize(loss, x, jac=True, method="L-BFGS-B", options=options)
        x = found.x
        left = 0.5 * float(np.sum((found.jac / scale) ** 2 / counts))
        if left <= slack:
            break
        steepest *= 0.5 * np.sqrt(slack / left)
    z = scale * x
    return Multinomial(z[: m * k].reshape(m, k), z[m * k :])
