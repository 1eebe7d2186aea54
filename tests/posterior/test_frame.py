"""The gradient in the frame of expectation propagation, with averages by quadrature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posterior.panels import exact, slope
from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.posterior.averages import Gatherer
from svmselect.posterior.backend import get_backend
from svmselect.posterior.frame import Frame, prior_factor

K = np.array([[2.0, 0.9], [0.9, 1.5]])
Y = np.array([1.0, -1.0])
CPU = get_backend("cpu")
CASES = [("hinge", False), ("squared_hinge", False), ("logistic", False), ("hinge", True)]


def by_quadrature(ep: object, loss: str, normalised: bool, mix: float) -> np.ndarray:
    frame = Frame.of(ep, CPU)  # type: ignore[arg-type]
    posterior = exact(K, Y, 1.3, loss, normalised)
    delta = Y[:, None] * posterior.theta - frame.mean
    r = frame.residual_force(delta)
    weighted = r * posterior.share
    return frame.gram_slope(weighted.sum(axis=1), weighted @ delta.T, weighted @ r.T, mix)


@pytest.mark.parametrize(("loss", "normalised"), CASES)
@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_exact_averages_give_the_exact_gradient(loss: str, normalised: bool, mix: float) -> None:
    def log_evidence(entries: np.ndarray) -> float:
        a, b, c = entries
        return exact([[a, b], [b, c]], Y, 1.3, loss, normalised).log_evidence

    d = slope(log_evidence, np.array([K[0, 0], K[0, 1], K[1, 1]]))
    expected = np.array([[d[0], d[1] / 2], [d[1] / 2, d[2]]])  # the off-diagonal counts twice
    ep = expectation_propagation(K, Y, 1.3, loss, normalised=normalised)
    np.testing.assert_allclose(by_quadrature(ep, loss, normalised, mix), expected, atol=1e-7)
    # any sites will do, converged or not
    other = replace(ep, precision=ep.precision * 1.7 + 0.05, shift=ep.shift - 0.2)
    np.testing.assert_allclose(by_quadrature(other, loss, normalised, mix), expected, atol=1e-7)


@pytest.mark.parametrize(("loss", "normalised"), CASES)
def test_frame_splits_the_posterior(loss: str, normalised: bool) -> None:
    """Prior times likelihood is the Gaussian times exp(-R), up to the stated constants."""
    ep = expectation_propagation(K, Y, 1.3, loss, normalised=normalised)
    frame = Frame.of(ep, CPU)
    np.testing.assert_allclose(frame.mean[:, 0], Y * ep.mean, atol=1e-10)
    np.testing.assert_allclose(frame.covariance, np.outer(Y, Y) * ep.covariance, atol=1e-10)
    delta = np.random.default_rng(0).normal(size=(2, 5))
    z = frame.mean + delta
    R, V = frame.residual(delta)
    np.testing.assert_allclose(V, frame.potential.value(z))
    prior = np.linalg.inv(K * np.outer(Y, Y))
    left = 0.5 * np.einsum("ic,ij,jc->c", z, prior, z) + 0.5 * np.linalg.slogdet(K)[1] + V
    right = 0.5 * np.einsum("ic,ij,jc->c", delta, np.linalg.inv(frame.covariance), delta)
    right = right + 0.5 * np.linalg.slogdet(frame.covariance)[1] + R
    np.testing.assert_allclose(left, right + frame.constant - frame.log_partition, atol=1e-9)


def test_rows_of_weight_zero_take_no_part() -> None:
    X = np.random.default_rng(3).normal(size=(6, 2))
    gram, y = RBF(1.0)(X), np.array([1.0, -1, 1, -1, 1, -1])
    weights = np.array([1.0, 0, 2, 1, 0, 1])
    keep = weights > 0
    whole = Frame.of(expectation_propagation(gram, y, 1.0, weights=weights), CPU)
    part = Frame.of(
        expectation_propagation(gram[np.ix_(keep, keep)], y[keep], 1.0, weights=weights[keep]), CPU
    )
    np.testing.assert_allclose(whole.covariance, part.covariance, atol=1e-9)
    gathered = Gatherer(whole, 2)
    gathered.add(np.random.default_rng(0).normal(size=(4, 8)))
    gram_slope = gathered.sensitivity(None).gram
    assert gram_slope.shape == (6, 6)
    assert not gram_slope[~keep].any()
    assert not gram_slope[:, ~keep].any()


def test_factor_of_a_singular_matrix_keeps_its_rank() -> None:
    X = np.random.default_rng(4).normal(size=(30, 2))
    twice = np.vstack([X, X])
    gram = (RBF(1.0) + Constant(0.1))(twice)
    F, pivots = prior_factor(gram, CPU)
    assert F.shape[1] <= 30
    np.testing.assert_allclose(F @ F.T, gram, atol=1e-12)
    assert not np.triu(F[pivots], 1).any()


def test_groups_average_to_the_whole() -> None:
    ep = expectation_propagation(K, Y, 1.3)
    frame = Frame.of(ep, CPU)
    rng = np.random.default_rng(0)
    for chains in (8, 2):  # groups of chains; stretches of draws
        gathered = Gatherer(frame, 4, stretch=5)
        draws = [rng.normal(size=(2, chains)) for _ in range(20)]
        for delta in draws:
            gathered.add(delta)
        parts = [gathered.sensitivity(k) for k in range(4)]
        whole = gathered.sensitivity(None)
        np.testing.assert_allclose(np.mean([p.gram for p in parts], axis=0), whole.gram)
        every = np.hstack(draws)
        slopes = frame.potential.by_log_C(frame.mean + every)
        assert whole.log_C == pytest.approx(-slopes.mean())
        assert np.mean([p.log_C for p in parts]) == pytest.approx(whole.log_C)
        r = frame.residual_force(every)
        n = every.shape[1]
        expected = frame.gram_slope(r.mean(axis=1), r @ every.T / n, r @ r.T / n, 0.4)
        np.testing.assert_allclose(gathered.sensitivity(None, 0.4).gram, expected, atol=1e-12)
