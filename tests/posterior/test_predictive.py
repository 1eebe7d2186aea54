"""Class probabilities against quadrature over the latent value."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from posterior.panels import exact
from svmselect.kernels import RBF, Constant
from svmselect.machine.losses import get_loss
from svmselect.posterior import expectation_propagation
from svmselect.posterior.predictive import (
    class_probability,
    latent_at,
    moderated_output,
    predict_probability,
)

MODELS = [(loss, norm) for loss in ("hinge", "squared_hinge", "logistic") for norm in (False, True)]


def average(f: Any, mean: float, variance: float) -> float:
    s = math.sqrt(variance)
    edges = sorted({mean + k * s for k in range(-9, 10)} | {-1.0, 0.0, 1.0})

    def density(t: float) -> float:
        return float(f(t)) * math.exp(-0.5 * ((t - mean) / s) ** 2) / (s * math.sqrt(2 * math.pi))

    return math.fsum(quad(density, a, b, epsrel=1e-12)[0] for a, b in pairwise(edges))


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_probability_by_quadrature(loss: str, normalised: bool) -> None:
    value = get_loss(loss).value
    for C in (0.4, 2.0):
        q = {y: lambda t, y=y, C=C: np.exp(-C * value(np.array(y * t))) for y in (1, -1)}
        for mean, variance in ((0.3, 0.2), (-1.5, 2.0), (0.0, 5.0), (4.0, 0.5)):
            if normalised:
                want = average(lambda t, q=q: q[1](t) / (q[1](t) + q[-1](t)), mean, variance)
            else:
                up, down = (average(q[y], mean, variance) for y in (1, -1))
                want = up / (up + down)
            got = class_probability([mean], [variance], C, loss, normalised)
            assert got[0] == pytest.approx(want, abs=1e-10)


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_probability_has_its_symmetries(loss: str, normalised: bool) -> None:
    mean = np.array([0.0, 0.5, 3.0, 40.0, 1e4])
    for variance in (0.0, 1e-12, 1.0, 1e5):
        p = class_probability(mean, np.full(5, variance), 2.0, loss, normalised)
        opposite = class_probability(-mean, np.full(5, variance), 2.0, loss, normalised)
        np.testing.assert_allclose(p + opposite, 1.0, atol=1e-12)
        assert p[0] == pytest.approx(0.5, abs=1e-12)
        assert (np.diff(p) >= -1e-12).all()


def test_no_variance_is_the_likelihood_itself() -> None:
    t, C = np.array([-2.0, -0.3, 0.1, 0.9, 5.0]), 1.3
    hinge = np.maximum(1 - t, 0) - np.maximum(1 + t, 0)
    want = 1 / (1 + np.exp(C * hinge))
    for normalised in (False, True):
        got = class_probability(t, np.zeros(5), C, "hinge", normalised)
        np.testing.assert_allclose(got, want, atol=1e-9)


def test_moderated_output() -> None:
    """MacKay's approximation of the average of a sigmoid: within 0.02, exact without variance."""
    for C in (0.5, 1.0):
        for mean, variance in ((0.2, 0.5), (-1.0, 2.0), (2.0, 4.0), (0.7, 0.0)):
            got = moderated_output([mean], [variance], C)[0]
            if variance == 0.0:
                assert got == pytest.approx(1 / (1 + math.exp(-2 * C * mean)))
            else:
                want = average(lambda t, C=C: 1 / (1 + math.exp(-2 * C * t)), mean, variance)
                assert got == pytest.approx(want, abs=0.02)
    confident, unsure = moderated_output([1.0, 1.0], [0.1, 10.0])
    assert 0.5 < unsure < confident


@pytest.mark.parametrize("rank", [None, 60])
def test_latent_at_new_points(rank: int | None) -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    X, new = rng.normal(size=(60, 2)) + 0.5 * y[:, None], rng.normal(size=(7, 2))
    kernel = Constant(2.0) * RBF(0.7) + Constant(0.1)
    K, k, d = kernel(X), kernel(new, X), kernel.diag(new)
    ep = expectation_propagation(K, y, 1.5, rank=rank)
    mean, variance = latent_at(ep, k, d)
    # given theta at the training points the new ones are Gaussian: average over the posterior
    A = np.linalg.solve(K, k.T).T
    np.testing.assert_allclose(mean, A @ ep.mean, atol=1e-6)
    spread = d - np.einsum("ij,ij->i", A, k) + np.einsum("ij,jk,ik->i", A, ep.covariance, A)
    np.testing.assert_allclose(variance, spread, atol=1e-6)
    p = predict_probability(ep, k, d)
    np.testing.assert_array_equal(p, class_probability(mean, variance, 1.5))
    # the training points themselves
    again, spread = latent_at(ep, K, K.diagonal())
    np.testing.assert_allclose(again, ep.mean, atol=1e-8)
    np.testing.assert_allclose(spread, ep.variance, atol=1e-8)


def test_few_landmarks_predict() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    X, new = rng.normal(size=(200, 2)) + 0.7 * y[:, None], rng.normal(size=(50, 2))
    kernel = Constant(2.0) * RBF(1.5) + Constant(0.1)
    k, d = kernel(new, X), kernel.diag(new)
    full = predict_probability(expectation_propagation(kernel(X), y, 1.5), k, d)
    low = predict_probability(expectation_propagation(kernel(X), y, 1.5, rank=60), k, d)
    np.testing.assert_allclose(low, full, atol=2e-3)


def test_three_points_by_quadrature() -> None:
    """Two points of a class each, and the probability of a third, by integrating all three."""
    K = np.array([[2.0, 1.2, 0.8], [1.2, 2.0, 1.0], [0.8, 1.0, 2.0]])
    y, C = np.array([1.0, -1.0]), 1.5
    ep = expectation_propagation(K[:2, :2], y, C)
    p = predict_probability(ep, K[2:, :2], K[2:, 2])
    truth = [exact(K, np.append(y, side), C, "hinge").log_evidence for side in (1.0, -1.0)]
    assert p[0] == pytest.approx(1 / (1 + math.exp(truth[1] - truth[0])), abs=2e-3)


def test_errors() -> None:
    with pytest.raises(ValueError, match="one length"):
        class_probability([0.0, 1.0], [1.0], 1.0)
    with pytest.raises(ValueError, match="not negative"):
        class_probability([0.0], [-1.0], 1.0)
    with pytest.raises(ValueError, match="C must be"):
        class_probability([0.0], [1.0], 0.0)
    ep = expectation_propagation(np.eye(3), [1, -1, 1], 1.0)
    with pytest.raises(ValueError, match="3 training points"):
        latent_at(ep, np.zeros((2, 4)), np.ones(2))
