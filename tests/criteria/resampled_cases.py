"""Shared by the tests of criteria that retrain: data, brute force, differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.criteria import get_criterion
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.machine import solve
from svmselect.selection.objective import Objective

MACHINES = [
    (loss, intercept)
    for loss in ("hinge", "squared_hinge", "logistic")
    for intercept in (True, False)
]
KERNEL = Constant(1.4) * RBF([0.9, 1.3, 2.0]) + Constant(0.2)


def cloud(n: int = 36, shift: float = 0.6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds of three inputs, a third of the points positive."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + shift * y[:, None]
    order = rng.permutation(n)
    return X[order], y[order]


def splits(n: int, k: int = 4) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ready folds: row i is held out in fold i mod k."""
    fold = np.arange(n) % k
    return [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(k)]


def brute(
    X: np.ndarray,
    y: np.ndarray,
    kernel: Kernel,
    C: float,
    loss: str,
    intercept: bool,
    pairs: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Rows held out and what machines trained on sub-matrices say of them."""
    K = kernel(X)
    rows, decision = [], []
    for train, test in pairs:
        s = solve(K[np.ix_(train, train)], y[train], C, loss, intercept)
        rows.append(test)
        decision.append(K[np.ix_(test, train)] @ s.beta + s.intercept)
    return np.concatenate(rows), np.concatenate(decision)


def objective(
    X: np.ndarray,
    y: np.ndarray,
    criterion: str,
    kernel: Kernel = KERNEL,
    loss: str = "hinge",
    intercept: bool = True,
    weights: np.ndarray | None = None,
    **options: Any,
) -> Objective:
    made = get_criterion(criterion, **options)
    return Objective(Dataset.of(X, y, weights), kernel, made, loss, intercept)


def assert_gradient(o: Objective, C: float, h: float = 1e-4, tolerance: float = 1e-6) -> np.ndarray:
    """The gradient is that of fourth-order central differences, relative to its largest entry."""
    point = np.concatenate([[np.log(C)], o.kernel.theta])
    gradient = o.at(point, order=1)[0].gradient
    assert gradient is not None
    expected = []
    for e in h * np.eye(len(point)):
        v = [o.at(point + k * e)[0].value for k in (-2, -1, 1, 2)]
        expected.append((v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * h))
    assert np.abs(expected).max() > 1e-6  # else nothing is compared
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    return gradient
