"""Trained machines against dense references, scikit-learn, and other ways to the same optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from machine.dense import by_least_squares, enumerate_active_sets
from machine.problems import cloud, regimes, weightings
from svmselect.kernels import RBF
from svmselect.machine import solve

HINGES = ("hinge", "squared_hinge")


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("loss", HINGES)
@pytest.mark.parametrize("weighting", ["equal", "counts", "uneven"])
def test_against_every_active_set(loss: str, fit_intercept: bool, weighting: str) -> None:
    n = 4 if loss == "hinge" else 6
    for name, (K, y) in regimes(n, seed=1).items():
        if len(set(y)) < 2 or "polynomial" in name or name in ("tiny kernel", "huge kernel"):
            continue  # scales at which the reference itself is not to be trusted
        weights = weightings(y, seed=4)[weighting]
        for C in (0.05, 2.0, 50.0):
            s = solve(K, y, C, loss, fit_intercept, weights)
            beta, decision, objective = enumerate_active_sets(
                K, y, C * weights, loss, fit_intercept
            )
            assert s.objective == pytest.approx(objective, rel=1e-9), (name, C)
            # K beta is unique, and so is the intercept where a vector is free
            np.testing.assert_allclose(K @ s.beta, K @ beta, atol=1e-7, err_msg=f"{name}, C = {C}")
            if fit_intercept and len(s.free) and loss == "squared_hinge":
                np.testing.assert_allclose(s.decision, decision, atol=1e-7)


@pytest.mark.parametrize("loss", HINGES)
@pytest.mark.parametrize("weighting", ["equal", "uneven"])
def test_against_bounded_least_squares(loss: str, weighting: str) -> None:
    X, y = cloud(40, seed=5)
    K = RBF(0.7)(X)
    weights = weightings(y)[weighting]
    for C in (0.05, 1.0, 20.0, 1000.0):
        s = solve(K, y, C, loss, False, weights)
        alpha = by_least_squares(K, y, C * weights, loss)
        np.testing.assert_allclose(s.alpha, alpha, atol=1e-8 * alpha.max(), err_msg=f"C = {C}")


def single(K: np.ndarray) -> np.ndarray:
    """K as LIBSVM keeps it, in single precision, lifted so that rounding leaves it definite."""
    return np.asarray(K + 2.0**-12 * np.eye(len(K)), dtype=np.float32).astype(np.float64)


def libsvm(K: np.ndarray, y: np.ndarray, C: float, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """SVC's beta and intercept. (Rows of weight zero it miscounts in a precomputed kernel.)"""
    rows = np.flatnonzero(weights)
    svc = SVC(kernel="precomputed", C=C, tol=1e-10)
    svc.fit(K[np.ix_(rows, rows)], y[rows], sample_weight=weights[rows])
    beta = np.zeros(len(y))
    beta[rows[svc.support_]] = svc.dual_coef_[0]
    return beta, float(svc.intercept_[0])


@pytest.mark.parametrize("weighting", ["equal", "counts", "uneven"])
@pytest.mark.parametrize("kernel", ["narrow", "wide", "linear"])
def test_hinge_with_intercept_against_libsvm(kernel: str, weighting: str) -> None:
    X, y = cloud(80, seed=6)
    K = single(X @ X.T if kernel == "linear" else RBF({"narrow": 0.5, "wide": 3.0}[kernel])(X))
    weights = weightings(y)[weighting]
    for C in (0.02, 1.0, 30.0):
        s = solve(K, y, C, weights=weights)
        theirs, intercept = libsvm(K, y, C, weights)
        np.testing.assert_allclose(K @ s.beta, K @ theirs, atol=2e-9, err_msg=f"C = {C}")
        dual, their_dual = (y @ b - b @ K @ b / 2 for b in (s.beta, theirs))
        assert s.objective == pytest.approx(dual, rel=1e-12)
        assert their_dual == pytest.approx(dual, rel=1e-9)
        if len(s.free):  # else the intercept is a matter of choice
            assert s.intercept == pytest.approx(intercept, abs=2e-9)
        if kernel == "narrow":
            np.testing.assert_allclose(s.beta, theirs, atol=1e-8)
            np.testing.assert_array_equal(s.support, np.flatnonzero(theirs))


@pytest.mark.parametrize("C", [0.125, 4.0, 128.0])
def test_squared_hinge_is_a_hard_margin_with_a_ridge(C: float) -> None:
    X, y = cloud(60, seed=7)
    ridged = single(RBF(1.0)(X) + np.eye(60) / C)
    s = solve(ridged - np.eye(60) / C, y, C, "squared_hinge")
    beta, intercept = libsvm(ridged, y, 1e10, np.ones(60))
    np.testing.assert_allclose(s.beta, beta, atol=1e-7)
    assert s.intercept == pytest.approx(intercept, abs=2e-9)


@pytest.mark.parametrize("weighting", ["equal", "uneven"])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
def test_linear_logistic_against_scikit_learn(fit_intercept: bool, weighting: str) -> None:
    X, y = cloud(60, seed=8)
    weights = weightings(y)[weighting]
    for C in (0.01, 1.0, 100.0):
        s = solve(X @ X.T, y, C, "logistic", fit_intercept, weights)
        model = LogisticRegression(
            C=C, fit_intercept=fit_intercept, solver="newton-cholesky", tol=1e-12
        ).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(X.T @ s.beta, model.coef_[0], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(s.decision, model.decision_function(X), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
def test_kernel_logistic_against_a_general_optimiser(fit_intercept: bool) -> None:
    X, y = cloud(25, seed=9)
    K = RBF(1.0)(X)
    root = np.linalg.cholesky(K)  # f = root u + b, |u|^2 = beta'K beta
    weights = weightings(y)["counts"]
    C = 3.0

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        u, b = v[:-1], v[-1] * fit_intercept
        z = y * (root @ u + b)
        push = -C * weights * y / (1.0 + np.exp(z))
        value = u @ u / 2 + C * weights @ np.logaddexp(0.0, -z)
        return value, np.append(u + root.T @ push, push.sum() * fit_intercept)

    best = minimize(objective, np.zeros(26), jac=True, method="BFGS", options={"gtol": 1e-10})
    s = solve(K, y, C, "logistic", fit_intercept, weights)
    assert s.objective == pytest.approx(best.fun, rel=1e-11)
    assert s.objective <= best.fun + 1e-12
    f = root @ best.x[:-1] + best.x[-1] * fit_intercept
    np.testing.assert_allclose(s.decision, f, atol=1e-6)


def test_a_weight_is_that_many_copies() -> None:
    X, y = cloud(30, seed=10)
    K = RBF(0.8)(X)
    counts = weightings(y)["counts"].astype(int)
    rows = np.repeat(np.arange(30), counts)
    for loss in ("hinge", "squared_hinge", "logistic"):
        for fit_intercept in (True, False):
            one = solve(K, y, 2.0, loss, fit_intercept, counts)
            many = solve(K[np.ix_(rows, rows)], y[rows], 2.0, loss, fit_intercept)
            assert one.objective == pytest.approx(many.objective, rel=1e-10)
            np.testing.assert_allclose(one.decision[rows], many.decision, atol=1e-9)


def test_a_held_out_row_has_the_decision_of_a_new_point() -> None:
    X, y = cloud(40, seed=11)
    K = RBF(1.0)(X)
    weights = np.ones(40)
    weights[[3, 8, 20, 39]] = 0.0
    kept = np.flatnonzero(weights)
    for loss in ("hinge", "squared_hinge", "logistic"):
        s = solve(K, y, 5.0, loss, weights=weights)
        t = solve(K[np.ix_(kept, kept)], y[kept], 5.0, loss)
        np.testing.assert_allclose(s.decision, K[:, kept] @ t.beta + t.intercept, atol=1e-9)
        assert np.all(s.beta[weights == 0] == 0)
        assert not np.any(np.isin([3, 8, 20, 39], np.concatenate([s.free, s.bound])))
