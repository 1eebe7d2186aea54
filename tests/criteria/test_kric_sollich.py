"""KRIC for Sollich's model: a likelihood that adds up to one, and KK's printed variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from criteria.machine_cases import KK_COSTS, assert_gradient, two_classes, unit_columns
from svmselect import score
from svmselect.criteria.kric_sollich import KRICSollich
from svmselect.kernels import RBF, Constant
from svmselect.machine import Solution, solve
from svmselect.testing.cases import make_case

COMPOSED = Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3)
BOTH = pytest.mark.parametrize("loss", ["hinge", "logistic"])
OFFSETS = pytest.mark.parametrize("fit_intercept", [True, False])


def joint(s: Solution) -> np.ndarray:
    """p(x_i, y) of Sollich's model, n x 2, for inputs that fall on the data with equal chances."""
    C, f = s.C, s.decision
    kappa = 1 / (1 + np.exp(-2 * C))
    q = kappa * np.exp(-C * np.maximum(1 - np.outer(f, [1, -1]), 0))
    nu = q.sum(axis=1)
    assert np.all(nu <= 1 + 1e-12)
    at_x = nu / nu.sum()  # Q(x) nu/N with Q = 1/n and N = mean of nu
    return at_x[:, None] * q / nu[:, None]


@BOTH
@OFFSETS
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_derived_likelihood_adds_up_to_one(C: float, fit_intercept: bool, loss: str) -> None:
    X, y = two_classes()
    n = len(y)
    s = solve(COMPOSED(X), y, C, loss, fit_intercept)
    p = joint(s)
    np.testing.assert_allclose(p.sum(), 1.0, rtol=1e-12)
    seen = p[np.arange(n), np.where(y > 0, 0, 1)]
    log_likelihood = np.log(n * seen).sum()  # Q itself does not depend on the machine
    rest = {"C": C, "kernel": COMPOSED, "loss": loss, "fit_intercept": fit_intercept}
    r = score(X, y, "kric-sollich", **rest)
    penalty = score(X, y, "kric", **rest).details["penalty"]
    np.testing.assert_allclose(r.value, 2 * (-log_likelihood + penalty), rtol=1e-10)
    assert not r.greater_is_better


@BOTH
def test_the_printed_variants(loss: str) -> None:
    """KK's box, letter by letter, and the combinations between it and the derivation."""
    X, y = two_classes()
    C, eta, n = 3.0, 1.5, 30
    rest: dict[str, Any] = {"C": C, "kernel": RBF(1.0), "loss": loss, "eta": eta}
    s = solve(RBF(1.0)(X), y, C, loss)
    penalty = score(X, y, "kric", **rest).details["penalty"]
    kappa = 1 / (1 + np.exp(-2 * C))
    f = s.decision
    nu = np.exp(-C * np.maximum(1 - f, 0)) + np.exp(-C * np.maximum(1 + f, 0))
    nu = kappa * nu
    logistic = np.log1p(np.exp(-eta * s.margin)).sum()
    hinge = C * np.maximum(1 - s.margin, 0).sum() - n * np.log(kappa)
    expected = {
        ("printed", "printed"): logistic - n * np.log(nu.sum()),
        ("derived", "printed"): logistic + n * np.log(nu.mean()),
        ("printed", "derived"): hinge - n * np.log(nu.sum()),
        ("derived", "derived"): hinge + n * np.log(nu.mean()),
    }
    for (sign, loss_term), value in expected.items():
        r = score(X, y, "kric-sollich", sign=sign, loss_term=loss_term, **rest)
        np.testing.assert_allclose(r.value, 2 * (value + penalty), rtol=1e-10)
        np.testing.assert_allclose(r.details["log_normalisation"], np.log(nu.mean()), rtol=1e-9)


def test_the_scale_of_the_penalty() -> None:
    """A log-likelihood C times as large, and with it the penalty on the weights: tr is C times."""
    X, y = two_classes()
    C = 3.0
    kk, model = (
        score(X, y, "kric-sollich", C=C, kernel=RBF(1.0), penalty_scale=scale)
        for scale in ("kk", "model")
    )
    K = RBF(1.0)(X)
    s = solve(K, y, C)
    e = np.exp(-s.margin)
    m, t = C * s.y * e / (1 + e), C * e / (1 + e) ** 2  # of C log p, whose prior is |w|^2/2
    P = np.diag(m**2) - np.outer(m, m) / len(m)
    expected = np.trace(np.linalg.solve(K * t + np.eye(len(m)), K @ P))
    penalty = kk.details["penalty"]
    np.testing.assert_allclose(C * penalty, expected, rtol=1e-10)
    np.testing.assert_allclose(model.value - kk.value, 2 * (C - 1) * penalty, rtol=1e-10)


@BOTH
@OFFSETS
@pytest.mark.parametrize("kernel", [RBF(1.1), COMPOSED])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sign": "printed"},
        {"loss_term": "printed", "eta": 1.5},
        {"penalty_scale": "model", "offset": "exact"},
        {"nystrom": (12, 7)},
    ],
)
def test_gradient(options: dict[str, Any], kernel: Any, fit_intercept: bool, loss: str) -> None:
    X, y = two_classes(26, seed=1)
    rest = {"loss": loss, "fit_intercept": fit_intercept, **options}
    assert_gradient(X, y, "kric-sollich", 1.7, kernel, **rest)


def test_gradient_of_the_scaled_penalty_at_one() -> None:
    X, y = two_classes(26, seed=1)
    assert_gradient(X, y, "kric-sollich", 1.0, RBF(1.1), penalty_scale="model")


@OFFSETS
@pytest.mark.parametrize(
    "regime", ["mixed", "all bounded", "none bounded", "one free", "none free"]
)
def test_gradient_by_regime(regime: str, fit_intercept: bool) -> None:
    p = make_case(regime, "hinge", fit_intercept, COMPOSED)
    rest = {"fit_intercept": fit_intercept, "weights": p.weights, "sign": "printed"}
    assert_gradient(p.X, p.y, "kric-sollich", p.C, COMPOSED, **rest)


@BOTH
@pytest.mark.parametrize("sign", ["derived", "printed"])
def test_weights_are_copies(sign: str, loss: str) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest: dict[str, Any] = {"C": 2.0, "kernel": RBF(1.0), "loss": loss, "sign": sign}
    one = score(X, y, "kric-sollich", weights=w, gradient=True, **rest)
    two = score(np.repeat(X, w, axis=0), np.repeat(y, w), "kric-sollich", gradient=True, **rest)
    np.testing.assert_allclose(one.value, two.value, rtol=1e-10)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-7)


@BOTH
def test_a_nearly_constant_gram_matrix(loss: str) -> None:
    """At C = 10^7.5 every nu(f) underflows; its logarithm does not."""
    X, y = unit_columns()
    for C in KK_COSTS:
        r = score(X, y, "kric-sollich", C=C, kernel=RBF(10.0), loss=loss, gradient=True)
        assert np.isfinite(r.value)
        assert np.isfinite(r.gradient).all()
        assert r.status.ok or r.status.advice


def test_options() -> None:
    for bad in ({"sign": "+"}, {"loss_term": "hinge"}, {"penalty_scale": "C"}, {"offset": "no"},
                {"eta": -1.0}, {"nystrom": (1, 2)}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(bad))):
            KRICSollich(**bad)  # type: ignore[arg-type]
