"""Class probabilities made right by rows held out: every class may speak for every other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from svmselect.probability.multinomial import fit_multinomial
from svmselect.probability.temperature import fit_sharpness, logarithms
from svmselect.types import Array, IntArray

RIDGE = 10.0
"""What the squares of a matrix's departures, and of the offsets, count, in rows."""
_SLACK = 1e-4
"""Log-likelihood, of all rows, that a fit may miss."""


@dataclass(frozen=True, eq=False)
class Recalibration:
    """log q = matrix log p + offsets, less the logarithm of their sum.

    ``table`` is (k, k + 1), the offsets its last column.
    """

    table: Array

    @classmethod
    def of_sharpness(cls, sharpness: float, k: int) -> Recalibration:
        """All classes made surer by one power."""
        return cls(np.hstack([sharpness * _centring(k), np.zeros((k, 1))]))

    @property
    def matrix(self) -> Array:
        """What log p is multiplied by, (k, k); its rows sum to zero."""
        return self.table[:, :-1]

    @property
    def offsets(self) -> Array:
        """What is added, (k,)."""
        return self.table[:, -1]

    def __call__(self, probabilities: Array) -> Array:
        """The new probabilities, (n, k)."""
        return np.asarray(softmax(logarithms(probabilities) @ self.matrix.T + self.offsets, axis=1))

    def sharpness(self, i: int, j: int) -> float:
        """By what the log odds of two classes are multiplied, others left as they are."""
        a = self.matrix
        return float(0.5 * (a[i, i] + a[j, j] - a[i, j] - a[j, i]))

    def widened(self, place: IntArray, k: int) -> Recalibration:
        """Of k classes, of which those at ``place`` are known: others are sharpened as they are."""
        known = len(place)
        power = float(np.trace(self.matrix)) / max(known - 1, 1)
        table = np.zeros((k, k + 1))
        table[:, :-1] = power * np.eye(k)
        table[:, place] -= power / known
        table[np.ix_(place, place)] = self.matrix
        table[place, -1] = self.offsets
        return Recalibration(table)


def fit_recalibration(
    probabilities: Array, codes: IntArray, weights: Array, groups: IntArray
) -> tuple[Recalibration, Array]:
    """Find the matrix that gives held-out rows the highest likelihood.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Those of held-out rows.
    codes : ndarray of int of shape (n,)
        The column of each row's class.
    weights : ndarray of shape (n,)
        What the rows count.
    groups : ndarray of int of shape (n,)
        The folds that the rows were held out in.

    Returns
    -------
    Recalibration
        The matrix and its offsets.
    ndarray of shape (n, k)
        The rows' own probabilities, not too good though the rows were fitted to: the geometric
        mean of what all rows say, which is too good, and what the other folds say, which is too
        bad, since the machines that the others were held out from have seen the row.

    Notes
    -----
    First comes the one power that serves best (``fit_sharpness``); the departures of the matrix
    from that multiple of the identity, and the offsets, cost half ``RIDGE`` times their squares.
    Logarithms are centred, so a common factor of a row's probabilities says nothing.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger 2017 (matrix scaling), there without a ridge.
    """
    power = fit_sharpness(probabilities, codes, weights)
    logs = logarithms(probabilities)
    logs = logs - logs.mean(axis=1, keepdims=True)
    whole = _fit(logs, codes, weights, power)
    seen = _applied(whole, logs)
    apart = seen.copy()
    for fold in np.unique(groups):
        held = groups == fold
        if held.all():
            continue
        apart[held] = _applied(_fit(logs[~held], codes[~held], weights[~held], power), logs[held])
    centred = np.hstack([whole[:, :-1] @ _centring(len(whole)), whole[:, -1:]])
    return Recalibration(centred), np.asarray(softmax(0.5 * (seen + apart), axis=1))


def _fit(logs: Array, codes: IntArray, weights: Array, power: float) -> Array:
    """The table that belongs to centred logarithms."""
    k = logs.shape[1]
    sizes, turned = np.linalg.eigh(logs.T @ logs)
    values, sizes = logs @ turned / np.sqrt(RIDGE), np.maximum(sizes, 0.0) / RIDGE
    found = fit_multinomial(values, sizes, codes, weights, power * logs, RIDGE, _SLACK)
    matrix = power * np.eye(k) + (turned @ found.slopes).T / np.sqrt(RIDGE)
    return np.hstack([matrix, found.offsets[:, None]])


def _applied(table: Array, logs: Array) -> Array:
    return np.asarray(log_softmax(logs @ table[:, :-1].T + table[:, -1], axis=1))


def _centring(k: int) -> Array:
    """What takes the mean of k numbers from them."""
    return np.asarray(np.eye(k) - 1.0 / k)
