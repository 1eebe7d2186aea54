"""The radius-margin bound against a general-purpose solver of both quadratic programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from criteria.machine_cases import (
    KK_COSTS,
    assert_gradient,
    assert_invariant,
    two_classes,
    unit_columns,
    without,
)
from svmselect import score
from svmselect.kernels import RBF, Constant, Linear, Polynomial
from svmselect.machine import solve

BOTH = pytest.mark.parametrize("fit_intercept", [True, False])


def by_programs(K: np.ndarray, y: np.ndarray, C: float, fit_intercept: bool) -> tuple[float, float]:
    """(R^2, sum of alpha) by sequential quadratic programming on the textbook duals."""
    n = len(y)
    Q = K + np.eye(n) / C
    yQy = Q * np.outer(y, y)
    tight = {"ftol": 1e-15, "maxiter": 1000}
    one = [{"type": "eq", "fun": lambda b: b.sum() - 1, "jac": lambda b: np.ones(n)}]
    ball = minimize(
        lambda b: b @ Q @ b - b @ Q.diagonal(), np.full(n, 1 / n), method="SLSQP",
        jac=lambda b: 2 * Q @ b - Q.diagonal(), bounds=n * [(0, None)], constraints=one,
        options=tight,
    )  # fmt: skip
    balance = [{"type": "eq", "fun": lambda a: a @ y, "jac": lambda a: y}]
    dual = minimize(
        lambda a: 0.5 * a @ yQy @ a - a.sum(), np.full(n, 0.1), method="SLSQP",
        jac=lambda a: yQy @ a - 1, bounds=n * [(0, None)],
        constraints=balance if fit_intercept else [], options=tight,
    )  # fmt: skip
    return -ball.fun, dual.x.sum()


@BOTH
@pytest.mark.parametrize("kernel", [RBF([1.0, 2.0]), Polynomial(2, 0.5, 1.0)], ids=str)
@pytest.mark.parametrize("C", [0.1, 3.0])
def test_both_programs(C: float, kernel: Any, fit_intercept: bool) -> None:
    X, y = two_classes(14)
    radius2, alphas = by_programs(kernel(X), y, C, fit_intercept)
    rest = {"loss": "squared_hinge", "fit_intercept": fit_intercept}
    r = score(X, y, "radius-margin", C=C, kernel=kernel, **rest)
    np.testing.assert_allclose(r.details["radius2"], radius2, rtol=1e-6)
    np.testing.assert_allclose(r.details["margin"], alphas**-0.5, rtol=1e-6)
    np.testing.assert_allclose(r.value, radius2 * alphas / len(y), rtol=1e-6)


def test_two_points_by_hand() -> None:
    # K + I/C = [[2, -1], [-1, 2]]: distance^2 6, R^2 = 6/4; alpha (2 + 1) = 1
    r = score(
        [[-1.0], [1.0]], [-1, 1], "radius-margin", C=1.0, kernel=Linear(1.0), loss="squared_hinge"
    )
    np.testing.assert_allclose(r.details["radius2"], 1.5, rtol=1e-12)
    np.testing.assert_allclose(r.value, 1.5 * (2 / 3) / 2, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_bounds_the_leave_one_out_error(seed: int) -> None:
    """Vapnik's theorem for a hard margin, which this machine has in the space of K + I/C."""
    X, y = two_classes(24, shift=1.5, seed=seed)
    K = RBF(2.0)(X)
    s = solve(K, y, 1.0, "squared_hinge")
    errors = sum(y[p] * without(K, s, p).decision[p] <= 0 for p in range(len(y)))
    r = score(X, y, "radius-margin", kernel=RBF(2.0), loss="squared_hinge")
    assert errors / len(y) <= r.value


@BOTH
@pytest.mark.parametrize("C", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient(C: float, weighted: bool, fit_intercept: bool) -> None:
    X, y = two_classes()
    w = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0, 3.0], len(y)) if weighted else None
    kernel = Constant(1.3) * RBF([1.0, 2.0]) + 0.2 * Polynomial(2, 0.5, 1.0)
    rest = {"loss": "squared_hinge", "fit_intercept": fit_intercept, "weights": w}
    assert_gradient(X, y, "radius-margin", C, kernel, **rest)


@BOTH
def test_gradient_is_continuous(fit_intercept: bool) -> None:
    """Where a support vector leaves, only the second derivative jumps."""
    X, y = two_classes(20)
    rest = {"kernel": RBF(1.0), "loss": "squared_hinge", "fit_intercept": fit_intercept}

    def at(t: float) -> tuple[int, np.ndarray]:
        C = float(np.exp(t))
        r = score(X, y, "radius-margin", C=C, gradient=True, **rest)
        return len(solve(RBF(1.0)(X), y, C, "squared_hinge", fit_intercept).support), r.gradient

    low, high = 0.0, 5.0
    most = at(low)[0]
    assert at(high)[0] < most
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle)[0] == most else (low, middle)
    np.testing.assert_allclose(at(low)[1], at(high)[1], rtol=1e-6)


@BOTH
def test_weights_are_copies(fit_intercept: bool) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    kernel = RBF(1.0) + Linear(0.5)
    rest = {"kernel": kernel, "loss": "squared_hinge", "fit_intercept": fit_intercept}
    for C in (0.1, 10.0):
        weighted = score(X, y, "radius-margin", C=C, weights=w, **rest)
        rows = np.repeat(X, w, axis=0), np.repeat(y, w)
        repeated = score(*rows, "radius-margin", C=C, **rest)
        np.testing.assert_allclose(weighted.value, repeated.value, rtol=1e-9)
        np.testing.assert_allclose(
            weighted.details["radius2"], repeated.details["radius2"], rtol=1e-9
        )


@BOTH
def test_invariances(fit_intercept: bool) -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    rest = {"loss": "squared_hinge", "fit_intercept": fit_intercept}
    assert_invariant(X, y, "radius-margin", 1.5, *kernels, 4.0, **rest)
    if fit_intercept:  # neither the machine nor the ball sees a constant
        values = [
            score(X, y, "radius-margin", kernel=k, **rest).value for k in (RBF(1.0), RBF(1.0) + 9.0)
        ]
        np.testing.assert_allclose(*values, rtol=1e-9)


def test_the_hinge_is_refused() -> None:
    with pytest.raises(ValueError, match="squared_hinge with an intercept"):
        score(*two_classes(), "radius-margin", loss="hinge")


@BOTH
def test_a_nearly_constant_gram_matrix(fit_intercept: bool) -> None:
    X, y = unit_columns()
    rest = {"kernel": RBF(10.0), "loss": "squared_hinge", "fit_intercept": fit_intercept}
    for C in KK_COSTS:
        r = score(X, y, "radius-margin", C=C, gradient=True, **rest)
        assert r.status.ok
        assert 0 < r.value < np.inf
        assert np.isfinite(r.gradient).all()
