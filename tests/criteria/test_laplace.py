"""The Laplace evidence against hand-worked cases, quadrature and dense determinants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from criteria.machine_cases import KK_COSTS, assert_gradient, two_classes, unit_columns
from svmselect import score
from svmselect.criteria.laplace import Laplace
from svmselect.kernels import RBF, Constant
from svmselect.machine import solve
from svmselect.machine.losses import get_loss
from svmselect.posterior.kappa import log_kappa
from svmselect.testing.cases import make_case

COMPOSED = Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3)


def laplace(X: Any, y: Any, **rest: Any) -> Any:
    return score(X, y, "laplace", fit_intercept=False, **rest)


def far_apart(k: float, C: float, loss: str, **rest: Any) -> float:
    """The evidence per point of two points that do not know of each other: that of one point."""
    return laplace(
        [[0.0], [1e3]], [-1, 1], C=C, kernel=Constant(k) * RBF(1.0), loss=loss, **rest
    ).value


@pytest.mark.parametrize(
    ("k", "C"),
    [(2.0, 3.0), (0.5, 10.0), (2.0, 0.2)],  # alpha = 1/2, 2, C
)
def test_one_point_by_hand_hinge(k: float, C: float) -> None:
    alpha = min(1 / k, C)
    z = alpha * k
    L = 2 * np.pi * (alpha * (C - alpha) / C) ** 2
    expected = -alpha * z / 2 - C * (1 - z) - np.log1p(np.exp(-2 * C)) - np.log1p(L * k) / 2
    np.testing.assert_allclose(far_apart(k, C, "hinge"), expected, rtol=1e-12)


@pytest.mark.parametrize(("k", "C"), [(2.0, 0.6), (0.5, 4.0)])
def test_one_point_by_hand_squared_hinge(k: float, C: float) -> None:
    slack = 1 / (1 + C * k)  # z = C k slack
    M = C * np.exp(-0.1 / slack)
    expected = -C * slack * (1 - slack) / 2 - C * slack**2 / 2
    expected += log_kappa("squared_hinge", C)[0] - np.log1p(M * k) / 2
    np.testing.assert_allclose(far_apart(k, C, "squared_hinge"), expected, rtol=1e-12)


def exact(k: float, C: float, loss: str) -> float:
    """ln Q of one point, by quadrature."""
    rule = get_loss(loss)
    mode = 1.0 if loss == "hinge" else C * k / (1 + C * k)
    best = mode**2 / (2 * k)

    def integrand(t: float) -> float:
        exponent = best - t * t / (2 * k) - C * float(rule.value(np.array([t]))[0])
        return float(np.exp(exponent)) / np.sqrt(2 * np.pi * k)

    s = np.sqrt(k)
    pieces = [
        quad(integrand, a, b, epsabs=0, limit=200)[0] for a, b in ((mode - 9 * s, 1), (1, 1 + s))
    ]
    return float(np.log(sum(pieces))) - best + log_kappa(loss, C)[0]


def test_close_to_quadrature_where_the_prior_is_narrow() -> None:
    """The exponent is then steep beside the kink, as the expansion of GS eq. 15 supposes."""
    value = far_apart(0.01, 1000.0, "hinge")
    truth = exact(0.01, 1000.0, "hinge")
    np.testing.assert_allclose(truth, norm.logsf(10.0), rtol=5e-3)  # P(theta > 1), nearly
    np.testing.assert_allclose(value, truth, rtol=2e-3)
    # squared hinge: the loss is quadratic wherever there is mass, so the expansion is exact
    value = far_apart(0.01, 20.0, "squared_hinge", a=1e-9)
    np.testing.assert_allclose(value, exact(0.01, 20.0, "squared_hinge"), rtol=1e-7)


@pytest.mark.parametrize("regime", ["mixed", "all bounded", "none bounded", "one free"])
def test_hinge_by_dense_algebra(regime: str) -> None:
    p = make_case(regime, "hinge", False, COMPOSED)
    K = COMPOSED(p.X)
    s = solve(K, p.y, p.C, "hinge", False)
    m = s.free
    L = 2 * np.pi * (s.alpha[m] * (p.C - s.alpha[m]) / p.C) ** 2
    logdet = np.linalg.slogdet(np.eye(len(m)) + np.diag(L) @ K[np.ix_(m, m)])[1]
    total = -s.objective + len(p.y) * log_kappa("hinge", p.C)[0] - logdet / 2
    r = laplace(p.X, p.y, C=p.C, kernel=COMPOSED)
    np.testing.assert_allclose(r.value, total / len(p.y), rtol=1e-10)
    assert r.details["vectors"] == len(m)
    assert r.greater_is_better


@pytest.mark.parametrize("C", [0.3, 4.0])
def test_squared_hinge_by_eigenvalues(C: float) -> None:
    X, y = two_classes()
    K = COMPOSED(X)
    s = solve(K, y, C, "squared_hinge", False)
    M = np.where(s.margin < 1, C * np.exp(-0.3 / np.maximum(1 - s.margin, 1e-9)), 0.0)
    eigenvalues = np.linalg.eigvalsh(np.sqrt(np.outer(M, M)) * K)
    total = -s.objective + len(y) * log_kappa("squared_hinge", C)[0]
    total -= np.log1p(np.maximum(eigenvalues, 0)).sum() / 2
    r = laplace(X, y, C=C, kernel=COMPOSED, loss="squared_hinge", a=0.3)
    np.testing.assert_allclose(r.value, total / len(y), rtol=1e-10)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [RBF(1.1), RBF([0.9, 1.4]), COMPOSED])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient(loss: str, kernel: Any, weighted: bool) -> None:
    X, y = two_classes(26, seed=1)
    w = np.random.default_rng(0).uniform(0.5, 2.5, len(y)) if weighted else None
    rest = {"loss": loss, "fit_intercept": False, "weights": w}
    assert_gradient(X, y, "laplace", 1.7, kernel, **rest)


@pytest.mark.parametrize(
    "regime", ["mixed", "all bounded", "none bounded", "one free", "none free"]
)
def test_gradient_by_regime(regime: str) -> None:
    p = make_case(regime, "hinge", False, COMPOSED)
    assert_gradient(p.X, p.y, "laplace", p.C, COMPOSED, loss="hinge", fit_intercept=False)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_are_copies(loss: str) -> None:
    """With the hinge too, where the dual leaves it open how copies share their alpha."""
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest: dict[str, Any] = {"C": 2.0, "kernel": COMPOSED, "loss": loss, "gradient": True}
    s = solve(COMPOSED(X), y, 2.0, loss, False, w)
    assert (w[s.free] > 1).any()
    one = laplace(X, y, weights=w, **rest)
    two = laplace(np.repeat(X, w, axis=0), np.repeat(y, w), **rest)
    np.testing.assert_allclose(one.value, two.value, rtol=1e-10)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-8)


def test_an_intercept_is_refused_with_the_reason() -> None:
    X, y = two_classes()
    for loss in ("hinge", "squared_hinge"):
        with pytest.raises(ValueError, match=r"Constant in the kernel.*fit_intercept=False"):
            score(X, y, "laplace", loss=loss)
    with pytest.raises(ValueError, match="logistic"):
        score(X, y, "laplace", loss="logistic", fit_intercept=False)


def test_a_determinant_that_the_smoothing_switches_off_is_reported() -> None:
    X, y = two_classes()
    r = laplace(X, y, C=1e4, kernel=RBF(0.3), loss="squared_hinge")
    assert r.status.name == "determinant off"
    assert "C smaller" in r.status.advice
    assert r.details["log_determinant"] < 1e-3
    assert laplace(X, y, C=1.0, kernel=RBF(0.3), loss="squared_hinge").status.ok
    r = laplace(X, y, C=1.0, kernel=RBF(0.3), loss="squared_hinge", a=1e4)
    assert r.status.name == "determinant off"
    assert r.details["vectors"] == 0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_nearly_constant_gram_matrix(loss: str) -> None:
    X, y = unit_columns()
    for C in KK_COSTS:
        r = laplace(X, y, C=C, kernel=RBF(10.0), loss=loss, gradient=True)
        assert np.isfinite(r.value)
        assert np.isfinite(r.gradient).all()
        assert r.status.ok or r.status.advice


def test_options_are_checked() -> None:
    for a in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="a must be a positive"):
            Laplace(a=a)
