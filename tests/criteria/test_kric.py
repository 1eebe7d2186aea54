"""KRIC against the explicit matrices of a finite feature space and dense inverses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from criteria.machine_cases import (
    KK_COSTS,
    assert_gradient,
    assert_invariant,
    two_classes,
    unit_columns,
)
from svmselect import score
from svmselect.criteria.kric import KRIC
from svmselect.kernels import RBF, Constant, Linear
from svmselect.machine import Solution, solve
from svmselect.testing.cases import make_case

COMPOSED = Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3)
BOTH = pytest.mark.parametrize("loss", ["hinge", "logistic"])
OFFSETS = pytest.mark.parametrize("fit_intercept", [True, False])


def derivatives(s: Solution, eta: float) -> tuple[float, np.ndarray, np.ndarray]:
    """-log p(D), m and t, written as KK write them (eqs 14, 16, 18)."""
    e = np.exp(-eta * s.margin)
    return float(np.log1p(e).sum()), -eta * s.y * e / (1 + e), eta**2 * e / (1 + e) ** 2


def dense(K: np.ndarray, s: Solution, eta: float) -> float:
    """KK eq. 23, term by term."""
    loss, m, t = derivatives(s, eta)
    n = len(m)
    inverse = np.linalg.inv(K @ np.diag(t) + np.eye(n) / s.C)
    return 2 * (loss + np.trace(inverse @ (K @ np.diag(m**2) - K @ np.outer(m, m) / n)))


@BOTH
@OFFSETS
@pytest.mark.parametrize("eta", [1.0, 2.5])
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_by_dense_inverse(C: float, eta: float, fit_intercept: bool, loss: str) -> None:
    X, y = two_classes()
    K = COMPOSED(X)
    s = solve(K, y, C, loss, fit_intercept)
    rest = {"loss": loss, "fit_intercept": fit_intercept, "eta": eta}
    r = score(X, y, "kric", C=C, kernel=COMPOSED, **rest)
    np.testing.assert_allclose(r.value, dense(K, s, eta), rtol=1e-10)
    t = derivatives(s, eta)[2]
    e = C * np.linalg.eigvalsh(np.sqrt(np.outer(t, t)) * K)
    np.testing.assert_allclose(r.details["effective_parameters"], (e / (1 + e)).sum(), rtol=1e-9)
    assert not r.greater_is_better


def in_feature_space(X: np.ndarray, s: Solution, penalised: np.ndarray) -> float:
    """2 [-log p + tr(J^-1 I)] with the matrices of KK eqs 15 and 17, one row a feature."""
    loss, m, t = derivatives(s, 1.0)
    J = (X.T * t) @ X + np.diag(penalised) / s.C
    variance = (X.T * m**2) @ X - np.outer(X.T @ m, X.T @ m) / len(m)
    return 2 * (loss + np.trace(np.linalg.solve(J, variance)))


@BOTH
def test_in_a_finite_feature_space(loss: str) -> None:
    """Free offset as KK take it (left out) and exactly (a feature without penalty); section 9."""
    X, y = two_classes(d=3)
    X1 = np.column_stack([X, np.ones(len(y))])
    rest: dict[str, Any] = {"C": 2.0, "kernel": Linear(1.0), "loss": loss}
    free = solve(X @ X.T, y, 2.0, loss)
    kk = score(X, y, "kric", **rest).value
    np.testing.assert_allclose(kk, in_feature_space(X, free, np.ones(3)), rtol=1e-10)
    exact = score(X, y, "kric", offset="exact", **rest).value
    expected = in_feature_space(X1, free, np.array([1.0, 1.0, 1.0, 0.0]))
    np.testing.assert_allclose(exact, expected, rtol=1e-10)
    assert exact > kk + 0.1
    # KK section 9: the offset is one more feature, of size B = 0.5
    X1[:, -1] *= 0.5
    penalised = solve(X1 @ X1.T, y, 2.0, loss, False)
    rest |= {"kernel": Linear(1.0) + Constant(0.25), "fit_intercept": False}
    for offset in ("kk", "exact"):
        value = score(X, y, "kric", offset=offset, **rest).value
        np.testing.assert_allclose(value, in_feature_space(X1, penalised, np.ones(4)), rtol=1e-10)


@BOTH
def test_exact_offset_is_the_limit_of_a_large_constant(loss: str) -> None:
    X, y = two_classes()
    rest: dict[str, Any] = {"C": 2.0, "loss": loss}
    exact = score(X, y, "kric", kernel=RBF(1.0), offset="exact", **rest).value
    # with a free intercept the constant changes the trace alone
    values = [
        score(X, y, "kric", kernel=RBF(1.0) + Constant(c), **rest).value for c in (1e2, 1e4, 1e6)
    ]
    errors = np.abs(np.array(values) - exact)
    assert errors[2] < 1e-4 * abs(exact)
    np.testing.assert_allclose(errors[:-1] / errors[1:], 100.0, rtol=0.05)
    moved = score(X, y, "kric", kernel=RBF(1.0) + Constant(7.0), offset="exact", **rest).value
    np.testing.assert_allclose(moved, exact, rtol=1e-10)


@BOTH
@pytest.mark.parametrize("offset", ["kk", "exact"])
def test_nystrom(loss: str, offset: str) -> None:
    X, y = two_classes()
    rest: dict[str, Any] = {"C": 2.0, "loss": loss, "offset": offset, "gradient": True}
    full = score(X, y, "kric", kernel=RBF(0.7), **rest)
    low = score(X, y, "kric", kernel=RBF(0.7), nystrom=(30, 30), **rest)
    np.testing.assert_allclose(low.value, full.value, rtol=1e-11)
    np.testing.assert_allclose(low.gradient, full.gradient, rtol=1e-8)
    assert low.details["components"] == 30
    # fewer: the dense formula, with the low-rank matrix in the trace and the exact machine
    one, two = (score(X, y, "kric", kernel=RBF(0.7), nystrom=(12, 5), **rest) for _ in range(2))
    assert one.value == two.value
    drawn = np.sort(np.random.default_rng(0).choice(30, size=12, replace=False))
    K = RBF(0.7)(X)
    values, vectors = np.linalg.eigh(K[np.ix_(drawn, drawn)])
    top = vectors[:, -5:] / values[-5:]
    approximate = K[:, drawn] @ top @ vectors[:, -5:].T @ K[drawn]
    if offset == "kk":
        expected = dense(approximate, solve(K, y, 2.0, loss), 1.0)
        np.testing.assert_allclose(one.value, expected, rtol=1e-9)
    seeds = {score(X, y, "kric", kernel=RBF(0.7), nystrom=(12, 5), random_state=i, **rest).value
             for i in range(3)}  # fmt: skip
    assert len(seeds) == 3


@BOTH
@OFFSETS
@pytest.mark.parametrize("kernel", [RBF(1.1), RBF([0.9, 1.4]), COMPOSED])
@pytest.mark.parametrize(
    "options",
    [{}, {"eta": 2.0}, {"offset": "exact"}, {"nystrom": (12, 7)}, {"nystrom": (9, 9)}],
)
def test_gradient(options: dict[str, Any], kernel: Any, fit_intercept: bool, loss: str) -> None:
    X, y = two_classes(26, seed=1)
    rest = {"loss": loss, "fit_intercept": fit_intercept, **options}
    assert_gradient(X, y, "kric", 1.7, kernel, **rest)


@OFFSETS
@pytest.mark.parametrize("options", [{"offset": "exact"}, {"offset": "exact", "nystrom": (9, 5)}])
@pytest.mark.parametrize(
    "regime", ["mixed", "all bounded", "none bounded", "one free", "none free"]
)
def test_gradient_by_regime(regime: str, options: dict[str, Any], fit_intercept: bool) -> None:
    p = make_case(regime, "hinge", fit_intercept, COMPOSED)
    rest = {"fit_intercept": fit_intercept, "weights": p.weights, **options}
    assert_gradient(p.X, p.y, "kric", p.C, COMPOSED, **rest)


def test_no_gradient_where_components_tie() -> None:
    X = 1e3 * np.arange(8.0)[:, None]  # K is the unit matrix
    y = np.tile([-1.0, 1.0], 4)
    r = score(X, y, "kric", kernel=RBF(1.0), nystrom=(6, 3), gradient=True)
    assert r.gradient is None
    assert "ties" in r.details["gradient"]
    assert np.isfinite(r.value)
    r = score(X, y, "kric", kernel=RBF(1.0), nystrom=(6, 6), gradient=True)
    assert r.gradient is not None


@BOTH
@pytest.mark.parametrize("offset", ["kk", "exact"])
def test_weights_are_copies(loss: str, offset: str) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest: dict[str, Any] = {"C": 2.0, "kernel": RBF(1.0), "loss": loss, "offset": offset}
    one = score(X, y, "kric", weights=w, gradient=True, **rest)
    two = score(np.repeat(X, w, axis=0), np.repeat(y, w), "kric", gradient=True, **rest)
    np.testing.assert_allclose(one.value, two.value, rtol=1e-10)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-7)


@BOTH
@OFFSETS
def test_invariances(loss: str, fit_intercept: bool) -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    for offset in ("kk", "exact"):
        rest = {"loss": loss, "fit_intercept": fit_intercept, "offset": offset}
        assert_invariant(X, y, "kric", 1.5, *kernels, 4.0, **rest)


@BOTH
@OFFSETS
@pytest.mark.parametrize("options", [{}, {"offset": "exact"}, {"nystrom": (50, 30)}])
def test_a_nearly_constant_gram_matrix(
    options: dict[str, Any], fit_intercept: bool, loss: str
) -> None:
    """KK's own setting: unit columns, width 10, m = 50, p = 30."""
    X, y = unit_columns()
    for C in KK_COSTS:
        rest: dict[str, Any] = {"C": C, "loss": loss, "fit_intercept": fit_intercept}
        r = score(X, y, "kric", kernel=RBF(10.0), gradient=True, **rest, **options)
        assert np.isfinite(r.value)
        assert np.isfinite(r.gradient).all()
        assert 0 < r.details["effective_parameters"] < len(y)
        if options:
            plain = score(X, y, "kric", kernel=RBF(10.0), **rest).value
            np.testing.assert_allclose(r.value, plain, rtol=0.01)


@BOTH
def test_a_large_cost_by_dense_inverse(loss: str) -> None:
    X, y = unit_columns(40)
    K = RBF(10.0)(X)
    for C in (1e3, 1e5):
        r = score(X, y, "kric", C=C, kernel=RBF(10.0), loss=loss)
        expected = dense(K, solve(K, y, C, loss), 1.0)
        np.testing.assert_allclose(r.value, expected, rtol=1e-8)


def test_options() -> None:
    for bad in ({"eta": np.nan}, {"offset": "free"}, {"nystrom": (3, 5)}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            KRIC(**bad)  # type: ignore[arg-type]
    X, y = two_classes(10)
    with pytest.raises(ValueError, match="11 landmarks, but there are 10 rows"):
        score(X, y, "kric", nystrom=(11, 3))
    with pytest.raises(ValueError, match="squared_hinge"):
        score(X, y, "kric", loss="squared_hinge")
