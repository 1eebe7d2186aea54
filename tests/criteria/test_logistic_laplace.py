"""The logistic Laplace evidence against weight-space integrals and dense determinants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from criteria.machine_cases import (
    KK_COSTS,
    assert_gradient,
    assert_invariant,
    two_classes,
    unit_columns,
)
from svmselect import score
from svmselect.criteria.logistic_laplace import LogisticLaplace
from svmselect.kernels import RBF, Constant, Linear
from svmselect.machine import solve
from svmselect.testing.cases import make_case

COMPOSED = Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3)
BOTH = pytest.mark.parametrize("loss", ["hinge", "logistic"])
OFFSETS = pytest.mark.parametrize("fit_intercept", [True, False])
NAME = "logistic-laplace"


@BOTH
@OFFSETS
@pytest.mark.parametrize("eta", [1.0, 2.5])
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_by_dense_algebra(C: float, eta: float, fit_intercept: bool, loss: str) -> None:
    X, y = two_classes()
    K = COMPOSED(X)
    s = solve(K, y, C, loss, fit_intercept)
    e = np.exp(-eta * s.margin)
    t = eta**2 * e / (1 + e) ** 2
    logdet = np.linalg.slogdet(np.eye(len(y)) + C * np.diag(t) @ K)[1]
    printed = -np.log1p(e).sum() - logdet / 2
    derived = printed - s.beta @ K @ s.beta / (2 * C)
    rest = {"C": C, "kernel": COMPOSED, "loss": loss, "fit_intercept": fit_intercept, "eta": eta}
    r = score(X, y, NAME, **rest)
    np.testing.assert_allclose(r.value, derived, rtol=1e-10)
    other = score(X, y, NAME, variant="printed", **rest)
    np.testing.assert_allclose(other.value, printed, rtol=1e-10)
    spectrum = C * np.linalg.eigvalsh(np.sqrt(np.outer(t, t)) * K)
    number = (spectrum / (1 + spectrum)).sum()
    np.testing.assert_allclose(r.details["effective_parameters"], number, rtol=1e-9)
    assert r.greater_is_better


def test_laplace_in_weight_space() -> None:
    """log p(D|w) + log N(w; 0, C) - 1/2 log det(Hessian/2 pi), of kernel logistic regression."""
    X, y = two_classes(d=3)
    C = 2.0
    s = solve(X @ X.T, y, C, "logistic", False)
    w = X.T @ s.beta
    p = 1 / (1 + np.exp(-s.margin))
    hessian = (X.T * (p * (1 - p))) @ X + np.eye(3) / C
    expected = np.log(p).sum() - w @ w / (2 * C) - 1.5 * np.log(2 * np.pi * C)
    expected -= np.linalg.slogdet(hessian / (2 * np.pi))[1] / 2
    r = score(X, y, NAME, C=C, kernel=Linear(1.0), loss="logistic", fit_intercept=False)
    np.testing.assert_allclose(r.value, expected, rtol=1e-10)


@pytest.mark.parametrize("n", [2, 30])
def test_close_to_quadrature(n: int) -> None:
    """One weight: the evidence is an integral over a line."""
    X, y = two_classes(n, d=1)
    C = 0.5 if n == 2 else 2.0

    def integrand(w: float) -> float:
        prior = np.exp(-(w**2) / (2 * C)) / np.sqrt(2 * np.pi * C)
        return float(prior * np.prod(1 / (1 + np.exp(-y * X[:, 0] * w))))

    truth = np.log(quad(integrand, -12, 12, epsabs=0, limit=200)[0])
    r = score(X, y, NAME, C=C, kernel=Linear(1.0), loss="logistic", fit_intercept=False)
    np.testing.assert_allclose(r.value, truth, rtol=5e-3)


@BOTH
def test_nystrom(loss: str) -> None:
    X, y = two_classes()
    rest: dict[str, Any] = {"C": 2.0, "kernel": RBF(0.7), "loss": loss, "gradient": True}
    full, low = score(X, y, NAME, **rest), score(X, y, NAME, nystrom=(30, 30), **rest)
    np.testing.assert_allclose(low.value, full.value, rtol=1e-11)
    np.testing.assert_allclose(low.gradient, full.gradient, rtol=1e-8)
    few = score(X, y, NAME, nystrom=(12, 5), **rest)
    drawn = np.sort(np.random.default_rng(0).choice(30, size=12, replace=False))
    K = RBF(0.7)(X)
    values, vectors = np.linalg.eigh(K[np.ix_(drawn, drawn)])
    G = K[:, drawn] @ (vectors[:, -5:] / np.sqrt(values[-5:]))
    s = solve(K, y, 2.0, loss)
    p = 1 / (1 + np.exp(-s.margin))
    logdet = np.linalg.slogdet(np.eye(30) + 2.0 * np.diag(p * (1 - p)) @ G @ G.T)[1]
    np.testing.assert_allclose(few.details["log_determinant"], logdet, rtol=1e-9)
    np.testing.assert_allclose(
        few.value - full.value, (full.details["log_determinant"] - logdet) / 2, rtol=1e-8
    )


@BOTH
@OFFSETS
@pytest.mark.parametrize("kernel", [RBF(1.1), RBF([0.9, 1.4]), COMPOSED])
@pytest.mark.parametrize(
    "options", [{}, {"eta": 2.0}, {"variant": "printed"}, {"nystrom": (12, 7)}, {"nystrom": (9, 9)}]
)
def test_gradient(options: dict[str, Any], kernel: Any, fit_intercept: bool, loss: str) -> None:
    X, y = two_classes(26, seed=1)
    rest = {"loss": loss, "fit_intercept": fit_intercept, **options}
    assert_gradient(X, y, NAME, 1.7, kernel, **rest)


@OFFSETS
@pytest.mark.parametrize("options", [{"eta": 2.0}, {"nystrom": (9, 5)}])
@pytest.mark.parametrize(
    "regime", ["mixed", "all bounded", "none bounded", "one free", "none free"]
)
def test_gradient_by_regime(regime: str, options: dict[str, Any], fit_intercept: bool) -> None:
    p = make_case(regime, "hinge", fit_intercept, COMPOSED)
    rest = {"fit_intercept": fit_intercept, "weights": p.weights, **options}
    assert_gradient(p.X, p.y, NAME, p.C, COMPOSED, **rest)


def test_no_gradient_where_components_tie() -> None:
    X = 1e3 * np.arange(8.0)[:, None]  # K is the unit matrix
    r = score(X, np.tile([-1, 1], 4), NAME, kernel=RBF(1.0), nystrom=(6, 3), gradient=True)
    assert r.gradient is None
    assert "ties" in r.details["gradient"]
    assert np.isfinite(r.value)


@BOTH
def test_weights_are_copies(loss: str) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest: dict[str, Any] = {"C": 2.0, "kernel": RBF(1.0), "loss": loss, "gradient": True}
    one = score(X, y, NAME, weights=w, **rest)
    two = score(np.repeat(X, w, axis=0), np.repeat(y, w), NAME, **rest)
    np.testing.assert_allclose(one.value, two.value, rtol=1e-10)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-7)


@BOTH
@OFFSETS
def test_invariances(loss: str, fit_intercept: bool) -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    rest = {"loss": loss, "fit_intercept": fit_intercept}
    assert_invariant(X, y, NAME, 1.5, *kernels, 4.0, **rest)


@BOTH
@OFFSETS
@pytest.mark.parametrize("nystrom", [None, (50, 30)])
def test_a_nearly_constant_gram_matrix(
    nystrom: tuple[int, int] | None, fit_intercept: bool, loss: str
) -> None:
    X, y = unit_columns()
    for C in KK_COSTS:
        rest: dict[str, Any] = {"C": C, "loss": loss, "fit_intercept": fit_intercept}
        r = score(X, y, NAME, kernel=RBF(10.0), gradient=True, nystrom=nystrom, **rest)
        assert np.isfinite(r.value)
        assert np.isfinite(r.gradient).all()
        assert r.status.ok or r.status.advice


def test_a_determinant_of_rounding_errors_is_reported() -> None:
    """A kernel of rank two and a huge C: the other 28 eigenvalues are rounding, times C."""
    X, y = two_classes()
    assert score(X, y, NAME, C=1e8, kernel=Linear(1.0)).status.ok
    r = score(X, y, NAME, C=1e12, kernel=Linear(1.0))
    assert np.isfinite(r.value)
    assert r.status.name == "inexact"
    assert "lower C" in r.status.advice


def test_options() -> None:
    for bad in ({"variant": "kk"}, {"eta": 0.0}, {"nystrom": (4, 9)}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            LogisticLaplace(**bad)  # type: ignore[arg-type]
    X, y = two_classes(10)
    with pytest.raises(ValueError, match="11 landmarks, but there are 10 rows"):
        score(X, y, NAME, nystrom=(11, 3))
