"""The interior-point method by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from machine.problems import cloud, regimes
from svmselect.kernels import RBF
from svmselect.machine.interior import interior_point


@pytest.mark.parametrize("name", regimes(4))
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("total", [None, 0.0])
def test_optimality_with_its_multipliers(name: str, C: float, total: float | None) -> None:
    K, y = regimes(24, seed=6)[name]
    low, high = np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0)
    x, z_low, z_high = interior_point(K, y, low, high, total, 1.0)
    assert np.all((x >= low - 1e-12 * C) & (x <= high + 1e-12 * C))
    assert np.all(z_low >= 0)
    assert np.all(z_high >= 0)
    slack = K @ x - y - z_low + z_high  # minus the multiplier of the sum
    tol = 1e-7 * (1.0 + np.abs(K).max() * np.abs(x).max())
    if total is None:
        np.testing.assert_allclose(slack, 0.0, atol=tol)
    else:
        assert abs(x.sum() - total) <= 1e-9 * C * len(x)
        np.testing.assert_allclose(slack, slack.mean(), atol=tol)
    assert (x - low) @ z_low + (high - x) @ z_high <= 1e-7 * C * len(x)


def test_against_bounded_least_squares() -> None:
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 12)), rng.normal(size=30)
    low, high = np.full(12, -0.05), rng.uniform(0.0, 0.1, 12)
    best = lsq_linear(A, b, (low, high), method="bvls", tol=1e-14).x
    x, _, _ = interior_point(A.T @ A, A.T @ b, low, high, None, float(np.abs(A.T @ b).max()))
    np.testing.assert_allclose(x, best, atol=1e-9)


def test_sides_without_a_bound() -> None:
    # x >= 0 in some, x <= 0 in others, free in the rest
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(30, 12)), rng.normal(size=30)
    low = np.where(np.arange(12) < 4, 0.0, -1e300)
    high = np.where((np.arange(12) >= 4) & (np.arange(12) < 8), 0.0, 1e300)
    x, z_low, z_high = interior_point(A.T @ A, A.T @ b, low, high, None, 10.0)
    bounds = (np.where(low < -1, -np.inf, low), np.where(high > 1, np.inf, high))
    np.testing.assert_allclose(x, lsq_linear(A, b, bounds, method="bvls", tol=1e-14).x, atol=1e-8)
    assert np.all(z_low[4:] == 0)
    assert np.all(z_high[:4] == 0)


def test_the_iteration_limit_gives_the_best_so_far() -> None:
    X, y = cloud(30)
    K, C = RBF(1.0)(X), 10.0
    args = (K, y, np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0), 0.0, 1.0)

    def value(limit: int) -> float:
        x, _, _ = interior_point(*args, max_iterations=limit)
        assert np.all(np.isfinite(x))
        return float(x @ K @ x / 2 - y @ x)

    best = value(100)
    assert value(1) > value(5) > best - 1e-9 * abs(best)


@pytest.mark.parametrize("least", [-1.0, -1e6])
def test_an_indefinite_matrix_ends_too(least: float) -> None:
    H = np.diag([1.0, least, 1.0])
    x, _, _ = interior_point(H, np.ones(3), np.zeros(3), np.ones(3), None, 1.0)
    assert np.all(np.isfinite(x))
    assert np.all((x >= 0) & (x <= 1))
