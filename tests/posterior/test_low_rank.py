"""Priors of low rank: equal to the full one at full rank, and exactly differentiated below it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.posterior.low_rank import Landmarks

KERNEL = Constant(2.0) * RBF([1.0, 1.5, 2.0]) + Constant(0.2)


def data(n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, 3)) + 0.5 * y[:, None], y


def test_factor_is_the_nystrom_approximation() -> None:
    X, _ = data()
    K = KERNEL(X)
    for rank in (1, 5, 20):
        marks = Landmarks.choose(K, rank)
        P = marks.rows
        assert len(P) == len(set(P.tolist())) == rank
        near = K[:, P] @ np.linalg.solve(K[np.ix_(P, P)], K[P])
        np.testing.assert_allclose(marks.factor @ marks.factor.T, near, atol=1e-10)
        np.testing.assert_allclose(marks.weights @ K[np.ix_(P, P)], K[:, P], atol=1e-10)
    left = [np.trace(K - (f := Landmarks.choose(K, r).factor) @ f.T) for r in (1, 5, 20, 40)]
    assert (np.diff(left) < 0).all()
    assert left[-1] == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_full_rank_is_exact(loss: str, normalised: bool) -> None:
    X, y = data()
    K, weights = KERNEL(X), np.where(np.arange(40) == 5, 3.0, 1.0)
    run = partial(expectation_propagation, K, y, 1.5, loss, weights, normalised, tol=1e-11)
    full, low = run(), run(rank=40)
    assert low.status.ok
    assert low.log_evidence == pytest.approx(full.log_evidence, abs=1e-9)
    np.testing.assert_allclose(low.mean, full.mean, atol=1e-8)
    np.testing.assert_allclose(low.variance, full.variance, rtol=1e-7)
    np.testing.assert_allclose(low.covariance, full.covariance, atol=1e-7)
    np.testing.assert_allclose(K @ low.dual, full.mean, atol=1e-8)
    assert low.sensitivity.log_C == pytest.approx(full.sensitivity.log_C, abs=1e-8)
    # the two cotangents may differ as matrices, not in what they say of symmetric changes
    for direction in (K, X @ X.T, np.eye(40)):
        along = (low.sensitivity.gram * direction).sum()
        assert along == pytest.approx((full.sensitivity.gram * direction).sum(), rel=1e-6)


@pytest.mark.parametrize("rank", [6, 20])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_gradient_of_the_approximate_value(loss: str, rank: int) -> None:
    X, y = data(60)
    run = partial(expectation_propagation, y=y, loss=loss, rank=rank, tol=1e-12)
    ep = run(KERNEL(X), C=1.5)
    theta, h = np.append(KERNEL.theta, np.log(1.5)), 1e-4

    def value(point: Any) -> float:
        near = run(KERNEL.at(point[:-1])(X), C=np.exp(point[-1]), start=ep)
        np.testing.assert_array_equal(near.support, ep.support)
        return near.log_evidence

    slopes = [
        (8 * (value(theta + a) - value(theta - a)) - value(theta + 2 * a) + value(theta - 2 * a))
        / (12 * h)
        for a in h * np.eye(len(theta))
    ]
    sensitivity = ep.sensitivity
    exact = np.append(KERNEL.pullback(X, sensitivity.gram), sensitivity.log_C)
    np.testing.assert_allclose(exact, slopes, rtol=1e-6, atol=1e-7)


def test_converges_with_rank() -> None:
    X, y = data(120)
    run = partial(expectation_propagation, KERNEL(X), y, 1.0)
    truth = run().log_evidence
    errors = [abs(run(rank=r).log_evidence - truth) for r in (5, 20, 60, 110)]
    assert (np.diff(errors) < 0).all()
    assert errors[-1] < 1e-3


def test_stops_where_the_kernel_has_no_more_to_give() -> None:
    """A linear kernel in three inputs has rank three, whatever is asked for."""
    X, y = data()
    K = X @ X.T
    marks = Landmarks.choose(K, 30)
    assert len(marks.rows) == 3
    np.testing.assert_allclose(marks.factor @ marks.factor.T, K, atol=1e-12)
    full, low = expectation_propagation(K, y, 1.0), expectation_propagation(K, y, 1.0, rank=30)
    assert low.log_evidence == pytest.approx(full.log_evidence, abs=1e-8)
    assert low.support.shape == (3,)
    assert low.root.shape == (40, 3)


def test_rank_out_of_range_is_refused() -> None:
    for rank in (0, 41):
        with pytest.raises(ValueError, match="rank must be between 1 and the 40 points"):
            Landmarks.choose(np.eye(40), rank)
