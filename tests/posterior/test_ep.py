"""Expectation propagation against quadrature, a textbook implementation and differences."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from posterior.panels import exact
from svmselect.posterior import EP, expectation_propagation
from svmselect.posterior.backend import get_backend
from svmselect.posterior.factors import get_sites
from svmselect.posterior.fixed_point import Equations
from svmselect.posterior.iteration import _descend
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.latent import DensePrior, FactoredPrior

MODELS = [(loss, norm) for loss in ("hinge", "squared_hinge", "logistic") for norm in (False, True)]


def clouds(n: int, d: int = 2, flipped: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None]
    return X, np.where(rng.random(n) < flipped, -y, y) if flipped else y


def rbf(X: Any, length: float = 1.0, amplitude: float = 1.0, offset: float = 0.1) -> Any:
    d2 = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    return amplitude * np.exp(-0.5 * d2 / length**2) + offset


def slope(f: Callable[[float], Any], h: float = 1e-4) -> Any:
    """f'(0) by central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def textbook(K: Any, y: Any, C: float, loss: str, weights: Any, normalised: bool) -> Any:
    """One site at a time, natural parameters, the inverse of K: ln Z, mean and covariance."""
    n = len(y)
    tau, nu, inverse = np.zeros(n), np.zeros(n), np.linalg.inv(K)
    for _ in range(60):
        for i in range(n):
            cov = np.linalg.inv(inverse + np.diag(tau))
            mu = cov @ nu
            precision = 1 / cov[i, i] - tau[i]
            m, s2 = (mu[i] / cov[i, i] - nu[i]) / precision, 1 / precision
            one = get_sites(loss, C, weights[i : i + 1], normalised)
            t = one(np.array([y[i] * m]), np.array([s2]))
            variance = s2 * t.shrink[0]
            mean = m + s2 * y[i] * t.slope[0]
            tau[i], nu[i] = 1 / variance - precision, mean / variance - m * precision
    cov = np.linalg.inv(inverse + np.diag(tau))
    mu = cov @ nu

    def log_partition(linear: Any, precision: Any) -> Any:
        return 0.5 * linear**2 / precision - 0.5 * np.log(precision)

    marginal = 1 / cov.diagonal()
    cavity, linear = marginal - tau, mu * marginal - nu
    t = get_sites(loss, C, weights, normalised)(y * linear / cavity, 1 / cavity)
    sites = t.log_Z + log_partition(linear, cavity) - log_partition(mu * marginal, marginal)
    logdet = np.linalg.slogdet(np.eye(n) + K * tau)[1]
    kappa = 0.0 if normalised else weights.sum() * log_kappa(loss, C)[0]
    return 0.5 * nu @ mu - 0.5 * logdet + sites.sum() + kappa, mu, cov


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_textbook(loss: str, normalised: bool) -> None:
    X, y = clouds(7)
    K, weights = rbf(X, amplitude=3.0), np.array([1.0, 1, 2.5, 1, 0, 1, 0.5])
    for C in (0.2, 3.0):
        ep = expectation_propagation(K, y, C, loss, weights, normalised)
        value, mean, covariance = textbook(K, y, C, loss, weights, normalised)
        assert ep.status.ok
        assert ep.log_evidence == pytest.approx(value, abs=1e-9)
        np.testing.assert_allclose(ep.mean, mean, atol=1e-9)
        np.testing.assert_allclose(ep.variance, covariance.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(ep.covariance, covariance, atol=1e-9)
        np.testing.assert_allclose(ep.root @ ep.root.T, covariance, atol=1e-9)
        np.testing.assert_allclose(ep.K @ ep.dual, mean, atol=1e-9)
        # the sites: Sigma^-1 = K^-1 + precision, Sigma^-1 mean = shift
        np.testing.assert_allclose(np.linalg.solve(covariance, mean), ep.shift, atol=1e-8)


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_quadrature(loss: str, normalised: bool) -> None:
    """Exact for uncorrelated points; else the approximation's own error, measured per point."""
    for n, C, amplitude, correlation, error in (
        (2, 1.0, 1.0, 0.0, 1e-10),
        (2, 1.0, 1.0, 0.5, 1e-3),
        (2, 1.0, 3.0, 0.9, 4e-3),
        (2, 3.0, 1.0, -0.6, 2e-3),
        (3, 1.0, 1.0, 0.5, 1e-3),
    ):
        y = np.array([1.0, -1.0, 1.0])[:n]
        K = amplitude * (correlation + (1 - correlation) * np.eye(n))
        truth = exact(K, y, C, loss, normalised)
        ep = expectation_propagation(K, y, C, loss, normalised=normalised)
        assert abs(ep.log_evidence - truth.log_evidence) / n < error
        np.testing.assert_allclose(ep.mean, truth.mean(truth.theta), atol=10 * error)


REGIMES = {
    "mixed": (1.3, 1.0, 0.15),
    "soft": (0.02, 1.0, 0.15),  # every support vector at the bound
    "hard": (300.0, 1.0, 0.15),
    "separable": (20.0, 2.0, 0.0),
    "wide": (2.0, 8.0, 0.15),  # nearly singular
    "narrow": (2.0, 0.05, 0.15),  # nearly diagonal
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_gradient(loss: str, normalised: bool, regime: str) -> None:
    """d/dK along two directions and d/dlog C, by central differences of the value."""
    C, length, flipped = REGIMES[regime]
    X, y = clouds(24, flipped=flipped)
    weights = np.where(np.arange(24) == 3, 2.0, 1.0)
    run = partial(expectation_propagation, y=y, loss=loss, weights=weights, normalised=normalised)
    ep = run(rbf(X, length, 2.0), C=C, tol=1e-12)
    assert ep.status.ok

    def value(K: Any, C: float) -> Any:
        return run(K, C=C, start=ep, tol=1e-12).log_evidence

    grams = {
        "amplitude": lambda t: rbf(X, length, 2.0 * np.exp(t)),
        "length": lambda t: rbf(X, length * np.exp(t), 2.0),
    }
    for gram in grams.values():
        rise = slope(lambda t, gram=gram: value(gram(t), C))
        along = (ep.sensitivity.gram * slope(gram)).sum()
        assert along == pytest.approx(rise, rel=1e-6, abs=1e-8)
    rise = slope(lambda t: value(rbf(X, length, 2.0), C * np.exp(t)))
    assert ep.sensitivity.log_C == pytest.approx(rise, rel=1e-6, abs=1e-8)


def test_marginals_match_tilted_moments() -> None:
    """The defining property: every site's tilted mean and variance are those of the posterior."""
    X, y = clouds(40)
    ep = expectation_propagation(rbf(X, 0.7, 5.0), y, 2.0)
    s2 = ep.cavity
    m = y * ep.mean - s2 * y * ep.dual
    t = get_sites("hinge", 2.0, np.ones(40))(m, s2)
    np.testing.assert_allclose(m + s2 * t.slope, y * ep.mean, atol=1e-9)
    np.testing.assert_allclose(s2 * t.shrink, ep.variance, rtol=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_row_of_weight_zero_is_a_new_point(loss: str) -> None:
    X, y = clouds(20)
    K, w = rbf(X), np.where(np.arange(20) < 16, 1.0, 0.0)
    ep = expectation_propagation(K, y, 1.0, loss, w)
    few = expectation_propagation(K[:16, :16], y[:16], 1.0, loss)
    assert ep.log_evidence == pytest.approx(few.log_evidence, abs=1e-10)
    k = K[16:, :16]
    np.testing.assert_allclose(ep.mean[16:], k @ few.dual, atol=1e-9)
    left = K.diagonal()[16:] - np.einsum("ij,jk,ik->i", k, few.inner, k)
    np.testing.assert_allclose(ep.variance[16:], left, atol=1e-9)
    assert (ep.dual[16:] == 0).all()


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_warm_start(loss: str, normalised: bool) -> None:
    X, y = clouds(60)
    run = partial(expectation_propagation, y=y, loss=loss, normalised=normalised)
    near = run(rbf(X, 1.05, 2.1), C=1.1)
    cold, warm = run(rbf(X, 1.0, 2.0), C=1.0), run(rbf(X, 1.0, 2.0), C=1.0, start=near)
    assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-9)
    assert warm.sweeps < cold.sweeps
    light = run(rbf(X, 1.0, 2.0), C=1.0, start=near.start)
    assert light.log_evidence == warm.log_evidence
    far = run(rbf(X, 1.0, 2.0), C=1.0, start=run(rbf(X, 0.05, 1e4), C=500.0))
    assert far.log_evidence == pytest.approx(cold.log_evidence, abs=1e-8)


def hostile() -> dict[str, tuple[Any, Any, float]]:
    X, y = clouds(40, flipped=0.1)
    line, sides = clouds(100, 1, 0.05, seed=1)
    ones = np.ones((6, 6))
    signs = np.array([1.0, -1, 1, 1, -1, 1])
    copies = np.repeat(X[:10], 4, axis=0)
    return {
        "large C": (rbf(X, 1.0), y, 1e4),
        "large amplitude and C": (rbf(X, 2.0, 1e5, 1.0), y, 1e4),
        "large amplitude, separable": (rbf(*clouds(40, 20, 0.0)[:1], 4.0, 1e5), y * 0 + SIGNS, 1e4),
        "tiny C": (rbf(X), y, 1e-6),
        "contradictions on a line": (rbf(line, 1.0, 100.0), sides, 1e3),
        "copies": (rbf(copies), np.repeat(y[:10], 4), 10.0),
        "rank one": (3.0 * ones, signs, 5.0),
        "nearly singular": (rbf(X, 1e4, 10.0), y, 10.0),
        "one point a class": (np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1]), 1.0),
        "a row of zeros": (np.diag([0.0, 1.0, 2.0]), np.array([1.0, -1, 1]), 3.0),
        "tiny kernel": (1e-12 * rbf(X), y, 1.0),
    }


SIGNS = np.where(np.arange(40) % 2, 1.0, -1.0)


@pytest.mark.parametrize("name", hostile())
@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_hostile(name: str, loss: str, normalised: bool) -> None:
    K, y, C = hostile()[name]
    ep = expectation_propagation(K, y, C, loss, normalised=normalised)
    assert ep.status.ok, ep.status
    for part in (ep.log_evidence, ep.mean, ep.variance, ep.dual, ep.sensitivity.gram):
        assert np.isfinite(part).all()
    assert (ep.variance >= 0).all()
    # every likelihood is below one; at equal odds for all points ln Q is -n ln 2
    assert ep.log_evidence < 0
    if name == "tiny C" and loss != "squared_hinge":
        assert ep.log_evidence / len(y) == pytest.approx(-np.log(2), abs=1e-4)


def test_failure_is_a_status() -> None:
    X, y = clouds(40)
    ep = expectation_propagation(rbf(X, 1.0, 10.0), y, 5.0, max_sweeps=2)
    assert ep.status.name == "not converged"
    assert "lower C" in ep.status.advice
    assert np.isfinite(ep.log_evidence)
    assert ep.sweeps <= 4


def test_few_factorisations() -> None:
    """What a sweep of the classical algorithm costs is spent fewer than ten times."""
    X, y = clouds(100, 5)
    for loss in ("hinge", "squared_hinge", "logistic"):
        for C, length, amplitude in ((1.0, 2.0, 1.0), (2.0, 2.0, 180.0), (0.05, 3.0, 10.0)):
            assert expectation_propagation(rbf(X, length, amplitude), y, C, loss).sweeps < 10


def test_pickle_and_lazy_inner() -> None:
    X, y = clouds(20)
    for normalised in (False, True):
        run = partial(expectation_propagation, rbf(X), y, 3.0, normalised=normalised)
        whole, lazy = run(), run(gradient=False)
        assert lazy.full is None
        np.testing.assert_allclose(lazy.inner, whole.inner, atol=1e-10)
        again: EP = pickle.loads(pickle.dumps(whole))
        assert again.log_evidence == whole.log_evidence
        np.testing.assert_array_equal(again.sensitivity.gram, whole.sensitivity.gram)


def test_dense_and_factored_algebra_agree() -> None:
    """Both ways to condition a Gaussian, beside the plain inverse; and sites of either sign."""
    X, _ = clouds(15)
    K, rng = rbf(X, 0.8, 2.0), np.random.default_rng(0)
    on, v = get_backend("cpu"), rng.normal(size=15)
    factored = FactoredPrior(np.linalg.cholesky(K), K.diagonal(), on)
    signed = DensePrior.of(K, on, signed=True)
    for tau in (rng.gamma(1.0, size=15), rng.normal(0.1, 0.1, size=15)):
        Sigma = np.linalg.inv(np.linalg.inv(K) + np.diag(tau))
        for prior in (factored, signed):
            latent = prior.condition(tau)
            assert latent is not None
            assert latent.logdet == pytest.approx(np.linalg.slogdet(np.eye(15) + K * tau)[1])
            np.testing.assert_allclose(latent.variance, Sigma.diagonal(), rtol=1e-8)
            np.testing.assert_allclose(latent.retained, 1 - tau * Sigma.diagonal(), rtol=1e-8)
            step = np.linalg.solve(np.eye(15) + tau[:, None] * K, v)
            np.testing.assert_allclose(latent.solve(v), step, atol=1e-9)
            squares = Sigma**2 - np.diag(Sigma.diagonal() ** 2)
            np.testing.assert_allclose(latent.spread(v), squares @ v, atol=1e-9)
            R = np.diag(tau) - tau[:, None] * Sigma * tau
            np.testing.assert_allclose(latent.inner(), R, atol=1e-9)
            np.testing.assert_allclose(latent.inner(v[:, None])[:, 0], R @ v, atol=1e-9)
    assert DensePrior.of(K, on).condition(-np.ones(15)) is None
    assert signed.condition(-100 * np.ones(15)) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"C": -1.0}, "C must be"),
        ({"C": np.nan}, "C must be"),
        ({"loss": "huber"}, "loss"),
        ({"device": "tpu"}, "device"),
        ({"rank": 0}, "rank"),
        ({"K": -np.eye(4)}, "positive semi-definite"),
    ],
)
def test_errors(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"K": np.eye(4), "y": [1, -1, 1, -1], "C": 1.0, **arguments}
    with pytest.raises(ValueError, match=message):
        expectation_propagation(**given)


def test_start_of_other_points_is_refused() -> None:
    start = expectation_propagation(np.eye(3), [1, -1, 1], 1.0)
    with pytest.raises(ValueError, match="start is for 3 points"):
        expectation_propagation(np.eye(4), [1, -1, 1, -1], 1.0, start=start)


@pytest.mark.torch
@pytest.mark.parametrize("rank", [None, 12])
@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_torch(loss: str, normalised: bool, rank: int | None) -> None:
    """The same numbers through torch; 300 points, so that triangles are halved."""
    X, y = clouds(300, 4)
    run = partial(expectation_propagation, rbf(X, 2.0, 3.0), y, 0.7, loss, normalised=normalised)
    one, two = run(rank=rank), run(rank=rank, device="torch-cpu")
    assert two.log_evidence == pytest.approx(one.log_evidence, abs=1e-8)
    np.testing.assert_allclose(two.mean, one.mean, atol=1e-7)
    np.testing.assert_allclose(two.sensitivity.gram, one.sensitivity.gram, atol=1e-7)


def test_a_step_that_gains_nothing_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clouds(20)
    prior = DensePrior.of(rbf(X), get_backend("cpu"))
    at = Equations(prior, y, get_sites("hinge", 2.0, np.ones(20), False))
    state = at.visit(np.zeros(20), np.log(prior.diagonal))
    assert state is not None
    assert np.abs(_descend(state)).max() > 0.1
    rising = iter(range(10**6))
    monkeypatch.setattr(Equations, "objective", lambda *_: float(next(rising)))
    np.testing.assert_array_equal(_descend(state), 0.0)
