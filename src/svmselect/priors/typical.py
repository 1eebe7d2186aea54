"""What the data suggest: typical length scales, and the C that goes with them."""

from __future__ import annotations

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.stationary import Stationary
from svmselect.types import Array, IntArray

_SAMPLE = 500


def from_kernel(kernel: Kernel) -> Array:
    """C = 1 and the kernel's own parameters."""
    return np.concatenate([[0.0], kernel.theta])


def from_data(data: Dataset, kernel: Kernel) -> Array:
    """Length scales from the median distance, C from the spread in feature space and the classes.

    A length scale is the median distance of two rows over sqrt 2; a vector of them is proportional
    to the inputs' standard deviations, times sqrt d. Then C is the inverse of the variance of the
    rows in feature space, times n / (2 m), m the size of the smaller class. Other parameters keep
    their values. For standardised, balanced data: about sqrt d, and between 1 and 3.
    """
    rows = _some(data)
    X, w = data.X[rows], data.weights[rows] / data.weights[rows].sum()
    spread = np.sqrt(np.maximum(w @ (X - w @ X) ** 2, 0.0))
    typical = float(np.sqrt((spread**2).mean())) or 1.0
    spread = np.where(spread > 1e-12 * typical, spread, typical)
    theta = kernel.theta.copy()
    place = 0
    for leaf in kernel.leaves():
        size = len(leaf.theta)
        if isinstance(leaf, Stationary):
            vector = isinstance(leaf.length_scale, tuple)
            if vector and len(leaf.by_column()) != X.shape[1]:
                kernel(X[:1])  # says what does not fit
            units = _by_variable(spread, leaf) if vector else np.ones(())
            middle = _median_distance(X / leaf.by_column(units)) / np.sqrt(2.0)
            theta[place : place + size] = np.log(middle * units)
        place += size
    share = min(float(data.weights[data.y == s].sum()) for s in (-1.0, 1.0)) / data.weights.sum()
    C = 0.5 / share / _variance(kernel.at(theta), X, w)
    return np.concatenate([[np.log(C)], theta])


def least_C(data: Dataset, kernel: Kernel, start: Array) -> float:
    """1 / (n variance in feature space): below about this f cannot reach its margins.

    Every vector is then at its bound, C only scales f, and nothing determines the intercept: a
    corner where likelihoods can be high and the machine that is trained in the end is poor.
    """
    rows = _some(data)
    w = data.weights[rows] / data.weights[rows].sum()
    return 1.0 / (float(data.weights.sum()) * _variance(kernel.at(start[1:]), data.X[rows], w))


def _by_variable(spread: Array, leaf: Stationary) -> Array:
    """One spread a variable: the root mean square of those of its columns."""
    if leaf.variables is None:
        return spread
    member = np.asarray(leaf.variables)
    return np.asarray(np.sqrt(np.bincount(member, spread**2) / np.bincount(member)))


def _some(data: Dataset) -> IntArray:
    """Rows of positive weight, a few hundred at most."""
    rows = np.flatnonzero(data.weights > 0)
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLE)).astype(np.intp)]


def _variance(kernel: Kernel, X: Array, w: Array) -> float:
    """The variance of the rows in feature space; 1 where they do not vary."""
    K = kernel(X)
    found = float(w @ K.diagonal() - w @ K @ w)
    return found if found > 1e-12 * float(w @ K.diagonal()) else 1.0


def _median_distance(X: Array) -> float:
    square = (X**2).sum(axis=1)
    d2 = square[:, None] + square - 2.0 * (X @ X.T)
    pairs = d2[np.triu_indices(len(X), 1)]
    positive = pairs[pairs > 1e-12 * max(float(square.max()), 1e-300)]
    return float(np.sqrt(np.median(positive))) if len(positive) else 1.0
