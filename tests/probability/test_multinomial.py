"""Logistic regression of several classes against scikit-learn's and a dense Newton's method."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from svmselect.probability.multinomial import fit_multinomial


def problem(n: int, m: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * 3.0 ** rng.normal(size=m)
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    return X + np.eye(k)[codes] @ rng.normal(size=(k, m)), codes, rng.uniform(0.2, 3.0, n)


def fitted(X, codes, weights, base, restraint, slack) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of X, and offsets."""
    sizes, turned = np.linalg.eigh(X.T @ X)
    sizes = np.maximum(sizes, 0.0)
    found = fit_multinomial(X @ turned, sizes, codes, weights, base, restraint, slack)
    return turned @ found.slopes, found.offsets


def objective(X, codes, weights, base, restraint, solution) -> float:
    slopes, offsets = solution
    logs = log_softmax(base + X @ slopes + offsets, axis=1)
    penalty = np.sum(slopes**2) + restraint * np.sum(offsets**2)
    return 0.5 * penalty - weights @ logs[np.arange(len(codes)), codes]


@pytest.mark.parametrize(("n", "m", "k"), [(30, 2, 3), (60, 10, 4), (15, 40, 5)])
def test_is_the_one_of_scikit_learn(n: int, m: int, k: int) -> None:
    X, codes, weights = problem(n, m, k, n)
    # an offset whose square hardly counts is one that is free, which theirs is
    slopes, offsets = fitted(X, codes, weights, np.zeros((n, k)), 1e-9, 1e-9)
    rival = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(X, codes, weights)
    np.testing.assert_allclose(
        log_softmax(X @ slopes + offsets, axis=1), rival.predict_log_proba(X), rtol=0, atol=1e-3
    )


@pytest.mark.parametrize("slack", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_misses_the_minimum_by_what_it_may(slack: float, scale: float) -> None:
    X, codes, weights = problem(80, 6, 4, 1)
    given = X, codes, scale * weights, np.random.default_rng(2).normal(size=(80, 4)), 10.0
    best, found = (objective(*given, fitted(*given, one)) for one in (1e-9, slack))
    assert found - best <= slack + 1e-10 * best


def test_a_base_that_is_right_is_left_alone() -> None:
    X, codes, weights = problem(50, 3, 3, 3)
    slopes, offsets = fitted(X, codes, weights, np.zeros((50, 3)), 1.0, 1e-10)
    # the gradient of the loss there is that of the penalty, so a penalty about it keeps it
    again = fitted(np.zeros_like(X), codes, weights, X @ slopes + offsets, 1e6, 1e-10)
    np.testing.assert_allclose(again[0], 0.0)
    np.testing.assert_allclose(again[1], 0.0, atol=1e-4)


def test_classes_that_are_apart_stay_finite() -> None:
    codes = np.repeat(np.arange(3), 10)
    slopes, offsets = fitted(
        100.0 * np.eye(3)[codes], codes, np.full(30, 1e6), np.zeros((30, 3)), 1.0, 1e-3
    )
    assert np.isfinite(slopes).all()
    assert np.isfinite(offsets).all()
