"""The smallest enclosing ball: against geometry in the plane and central differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from machine.problems import regimes
from svmselect.kernels import RBF
from svmselect.machine import enclosing_ball


def smallest_circle(P: np.ndarray) -> float:
    """Squared radius, by trying every pair as a diameter and every triple as a circumcircle."""
    best = np.inf
    for size in (2, 3):
        for group in combinations(range(len(P)), size):
            Q = P[list(group)]
            A = 2.0 * (Q[1:] - Q[0])
            centre = Q[0] + np.linalg.lstsq(A, np.sum((Q[1:] - Q[0]) ** 2, axis=1), rcond=None)[0]
            radius2 = np.sum((Q[0] - centre) ** 2)
            if np.all(np.sum((P - centre) ** 2, axis=1) <= radius2 * (1 + 1e-12)):
                best = min(best, radius2)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_in_the_plane(seed: int) -> None:
    P = np.random.default_rng(seed).normal(size=(12, 2)) * [1.0, 1.0 + seed]
    P += 10.0 * seed  # far from the origin: the ball does not care
    ball = enclosing_ball(P @ P.T)
    assert ball.status.ok
    assert ball.radius2 == pytest.approx(smallest_circle(P), rel=1e-9)
    assert np.all(ball.weights >= 0)
    assert ball.weights.sum() == pytest.approx(1.0, abs=1e-14)
    distances = np.sum((P - ball.weights @ P) ** 2, axis=1)
    assert distances.max() == pytest.approx(ball.radius2, rel=1e-9)
    np.testing.assert_allclose(distances[ball.weights > 0], ball.radius2, rtol=1e-9)


def test_in_feature_space_no_other_centre_does_better() -> None:
    X = np.random.default_rng(0).normal(size=(15, 2))
    K = RBF(1.5)(X)
    ball = enclosing_ball(K)
    root = np.linalg.cholesky(K + 1e-12 * np.eye(15))

    def constraint(v: np.ndarray) -> np.ndarray:
        return np.asarray(v[-1] - np.sum((root - v[:-1]) ** 2, axis=1))

    found = minimize(
        lambda v: v[-1],
        np.append(root.mean(axis=0), 2.0),
        constraints={"type": "ineq", "fun": constraint},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert ball.radius2 == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.parametrize("name", regimes(4))
def test_every_kernel_matrix_has_its_ball(name: str) -> None:
    K, _ = regimes(30, seed=3)[name]
    ball = enclosing_ball(K)
    assert ball.status.ok
    b = ball.weights
    assert np.all(b >= 0)
    assert b.sum() == pytest.approx(1.0, abs=1e-12)
    # every point within, those that hold the centre on the sphere
    distances = K.diagonal() - 2.0 * K @ b + b @ K @ b
    slack = 1e-9 * max(K.diagonal().max(), 1e-300)
    assert np.all(distances <= ball.radius2 + slack)
    np.testing.assert_allclose(distances[b > 0], ball.radius2, atol=slack)


def test_of_two_points_and_of_one() -> None:
    ball = enclosing_ball(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert ball.radius2 == pytest.approx(0.5, rel=1e-15)
    np.testing.assert_allclose(ball.weights, [0.5, 0.5], rtol=1e-15)
    assert enclosing_ball(np.array([[3.0]])).radius2 == 0.0


def test_a_ridge_is_a_larger_diagonal() -> None:
    X = np.random.default_rng(1).normal(size=(20, 3))
    K, ridge = RBF(1.0)(X), np.linspace(0.1, 0.5, 20)
    one, two = enclosing_ball(K, ridge), enclosing_ball(K + np.diag(ridge))
    assert one.radius2 == pytest.approx(two.radius2, rel=1e-12)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-12)


def test_rows_of_weight_zero_are_outside() -> None:
    X = np.random.default_rng(2).normal(size=(20, 3))
    X[:3] *= 10.0
    K = X @ X.T
    weights = np.where(np.arange(20) < 3, 0.0, 2.0)
    ball = enclosing_ball(K, weights=weights)
    assert ball.radius2 == pytest.approx(enclosing_ball(K[3:, 3:]).radius2, rel=1e-12)
    assert np.all(ball.weights[:3] == 0)


@pytest.mark.parametrize("ridge", [None, 0.3])
def test_the_derivative(ridge: float | None) -> None:
    X = np.random.default_rng(3).normal(size=(15, 3))
    kernel = RBF([0.8, 1.5, 3.0])
    D = None if ridge is None else np.full(15, ridge)
    ball = enclosing_ball(kernel(X), D)
    found = kernel.pullback(X, ball.gram)
    for i, step in enumerate(1e-5 * np.eye(3)):
        up, down = (
            enclosing_ball(kernel.at(kernel.theta + e)(X), D).radius2 for e in (step, -step)
        )
        assert found[i] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-9)
    if ridge is not None:
        up, down = (enclosing_ball(kernel(X), D + e).radius2 for e in (1e-5, -1e-5))
        assert ball.gram.diagonal().sum() == pytest.approx((up - down) / 2e-5, rel=1e-6)


def test_a_warm_start_gives_the_same_ball() -> None:
    X = np.random.default_rng(4).normal(size=(40, 3))
    start = enclosing_ball(RBF(1.0)(X))
    for width in (0.2, 0.95, 1.05, 20.0):
        K = RBF(width)(X)
        cold, warm = enclosing_ball(K), enclosing_ball(K, start=start)
        assert warm.radius2 == pytest.approx(cold.radius2, rel=1e-12)
        np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-9)
