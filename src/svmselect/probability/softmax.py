"""Probabilities of several classes from one decision value a class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from svmselect.probability.sigmoid import sigmoid_likelihood
from svmselect.types import Array, IntArray

_FLAT = 1e-12  # decision values that differ by less than this, relative to their size, are alike
_STEEP = 1e-9  # slope, in log-likelihood a row, at which the descent ends
_LEFT = 1e-4  # and what is warned of


@dataclass(frozen=True, eq=False)
class Softmax:
    """log p_c = scale f_c + shift_c - log of the sum; of one machine f, p_1 against f_0 = 0."""

    scale: float
    shifts: Array

    def logits(self, f: Array) -> Array:
        """Log-probabilities up to a number a row, (rows, classes)."""
        if f.shape[1] == 1:
            f = np.hstack([np.zeros_like(f), f])
        return self.scale * f + self.shifts

    def logs(self, f: Array) -> Array:
        """Log-probabilities of the classes."""
        return np.asarray(log_softmax(self.logits(f), axis=1))


def fit_softmax(f: Array, codes: IntArray, weights: Array, classes: int) -> Softmax:
    """Fit scale and shifts to held-out decision values, by maximum likelihood.

    Two classes have one column, and their sigmoid Platt's targets. The scale stays positive, and a
    weak prior, one row's worth, keeps the shift of a class without held-out rows finite. What does
    not converge is warned of.
    """
    if f.shape[1] == 1:
        signs = np.where(codes == 1, 1.0, -1.0)
        fit = sigmoid_likelihood(f[:, 0], signs, weights, "platt", one_sided=True)
        return Softmax(-fit.slope, np.array([0.0, -fit.offset]))
    own = f - f.mean(axis=1, keepdims=True)  # the rest says nothing of the classes
    spread = float(own.std())
    if spread <= _FLAT * float(np.abs(f).max()):
        own, spread = np.zeros_like(own), 1.0
    own /= spread
    rows = np.arange(len(f))

    def loss(x: Array) -> tuple[float, Array]:
        scale = np.exp(x[0])
        logs = log_softmax(scale * own + x[1:], axis=1)
        away = np.exp(logs)
        away[rows, codes] -= 1.0
        away *= weights[:, None]
        slope = np.concatenate([[scale * np.sum(away * own)], away.sum(axis=0)])
        value = -float(weights @ logs[rows, codes])
        return value + 0.5 * float(x @ x), slope + x

    options = {"ftol": 1e-15, "gtol": _STEEP * float(weights.sum()), "maxiter": 1000}
    found = minimize(loss, np.zeros(1 + classes), jac=True, method="L-BFGS-B", options=options)
    steepest = float(np.abs(found.jac).max() / weights.sum())
    if not steepest <= _LEFT:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            "the probabilities of the classes are not at their maximum: the slope that is left is "
            f"{steepest:.2g} in log-likelihood a row",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Softmax(float(np.exp(found.x[0])) / spread, np.asarray(found.x[1:]))
