"""Kwok's posterior against the space of weights, and his moderated output against quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, roots_hermitenorm

from criteria.machine_cases import two_classes
from svmselect import score
from svmselect.kernels import RBF, Polynomial
from svmselect.machine import solve
from svmselect.posterior.moderation import Moderation, smoothed_curvature
from svmselect.posterior.predictive import moderated_log_odds, moderated_output


def features(X: np.ndarray) -> np.ndarray:
    """Those of (x.z + 1)^2 in the plane."""
    a, b = X.T
    root = np.sqrt(2.0)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a**2, b**2, root * a * b])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.3, 4.0])
def test_variance_is_that_of_the_weights(C: float, fit_intercept: bool) -> None:
    X, y = two_classes(30, shift=1.0, seed=1)
    X = X[:, :2]
    weights = np.where(np.arange(30) % 5 == 0, 2.0, 1.0)
    kernel = Polynomial(2)
    K = kernel(X)
    s = solve(K, y, C, fit_intercept=fit_intercept, weights=weights)
    found = Moderation.of(K, s)
    new = np.random.default_rng(0).normal(size=(7, 2))
    got = found.variance(kernel(new, X[found.rows]), kernel.diag(new))
    # A = lambda I + B, KW eqs 15 and 16, in six dimensions
    r = np.maximum(smoothed_curvature(1.0 - s.margin, 100.0)[0], 0.0)
    F = features(X)
    A = np.eye(6) / C + (F * (weights * r)[:, None]).T @ F
    Z = features(new)
    expected = np.einsum("ij,ij->i", Z, np.linalg.solve(A, Z.T).T)
    np.testing.assert_allclose(got, expected, rtol=1e-8)
    assert len(found.rows)
    # the same matrix as in the evidence: gamma = k - lambda trace A^-1
    rest = {"C": C, "kernel": kernel, "fit_intercept": fit_intercept, "weights": weights}
    gamma = score(X, y, "kwok", **rest).details["effective_parameters"]
    assert gamma == pytest.approx(6 - np.trace(np.linalg.inv(A)) / C, rel=1e-8)


def test_far_from_all_data_the_prior_is_left() -> None:
    X, y = two_classes(30, shift=1.0)
    kernel = RBF(1.0)
    K = kernel(X)
    found = Moderation.of(K, solve(K, y, 2.0))
    far = np.full((1, X.shape[1]), 100.0)
    variance = found.variance(kernel(far, X[found.rows]), kernel.diag(far))
    assert variance[0] == pytest.approx(2.0)
    near = found.variance(K[:, found.rows], K.diagonal())
    assert near.max() < 2.0
    assert near[found.rows].max() < 0.2


def test_no_point_near_the_margin_leaves_the_prior_everywhere() -> None:
    X = np.array([[-1.0, 0.0], [1.0, 0.0]])
    kernel = RBF(1.0)
    K = kernel(X)
    found = Moderation.of(K, solve(K, np.array([-1.0, 1.0]), 0.01))
    assert len(found.rows) == 0
    np.testing.assert_allclose(found.variance(K[:, :0], K.diagonal()), 0.01)


def test_moderated_output_is_nearly_the_average() -> None:
    x, w = roots_hermitenorm(60)
    w = w / w.sum()
    for mean in (-1.0, 0.0, 0.4):
        for variance in (1e-4, 0.3, 2.0):
            exact = w @ expit(2.0 * (mean + np.sqrt(variance) * x))
            got = moderated_output(np.array([mean]), np.array([variance]))[0]
            assert got == pytest.approx(exact, abs=0.02)  # MacKay's approximation
    odds = moderated_log_odds(np.array([60.0]), np.array([1e-3]))[0]
    assert odds == pytest.approx(120.0 / np.sqrt(1.0 + np.pi / 2.0 * 1e-3))
