"""Shared by the tests of criteria that need one trained machine: data, differences, retraining."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect import score
from svmselect.kernels import Kernel
from svmselect.machine import Solution, solve


def two_classes(
    n: int = 30, d: int = 2, shift: float = 0.7, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds with equal or nearly equal numbers of points."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, 0] += shift * y
    return X, y


def slopes(
    X: np.ndarray, y: np.ndarray, criterion: str, C: float, kernel: Kernel, **rest: Any
) -> np.ndarray:
    """Central differences of fourth order in log C and every kernel parameter."""
    h, point = 1e-4, np.append(np.log(C), kernel.theta)

    def value(t: np.ndarray) -> float:
        there = kernel.at(t[1:])
        return score(X, y, criterion, C=float(np.exp(t[0])), kernel=there, **rest).value

    result = []
    for step in h * np.eye(len(point)):
        near = value(point + step) - value(point - step)
        far = value(point + 2 * step) - value(point - 2 * step)
        result.append((8 * near - far) / (12 * h))
    return np.array(result)


def assert_gradient(
    X: np.ndarray, y: np.ndarray, criterion: str, C: float, kernel: Kernel, **rest: Any
) -> np.ndarray:
    """Compare the gradient with central differences, to 1e-6 of its largest entry."""
    r = score(X, y, criterion, C=C, kernel=kernel, gradient=True, **rest)
    expected = slopes(X, y, criterion, C, kernel, **rest)
    assert r.gradient is not None
    assert r.gradient.shape == (len(r.names),)
    np.testing.assert_allclose(r.gradient, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    return r.gradient


def assert_invariant(
    X: np.ndarray,
    y: np.ndarray,
    criterion: str,
    C: float,
    kernel: Kernel,
    scaled: Kernel,
    t: float,
    **rest: Any,
) -> None:
    """Permutation, y -> -y, and C -> tC with ``scaled`` = kernel/t leave the value as it is."""
    value = score(X, y, criterion, C=C, kernel=kernel, **rest).value
    order = np.random.default_rng(1).permutation(len(y))
    for other in (
        score(X[order], y[order], criterion, C=C, kernel=kernel, **rest),
        score(X, -y, criterion, C=C, kernel=kernel, **rest),
        score(X, y, criterion, C=t * C, kernel=scaled, **rest),
    ):
        np.testing.assert_allclose(other.value, value, rtol=1e-9)


def without(K: np.ndarray, s: Solution, p: int) -> Solution:
    """Retrain without point p, or with one copy of it less."""
    weights = s.weights.copy()
    weights[p] -= min(weights[p], 1.0)
    return solve(K, s.y, s.C, s.loss, s.fit_intercept, weights, start=s)


def unit_columns(n: int = 120, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Inputs scaled to unit columns: with an RBF of width 10 the Gram matrix is nearly constant."""
    X, y = two_classes(n, d, shift=0.8, seed=5)
    return X / np.sqrt((X**2).sum(axis=0)), y


KK_COSTS = 10.0 ** np.arange(-2.0, 7.6, 1.9)
