"""Kwok's evidence against dense eigenvalues, and its rules where logs are undefined."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from criteria.machine_cases import (
    KK_COSTS,
    assert_gradient,
    assert_invariant,
    two_classes,
    unit_columns,
)
from svmselect import score, select
from svmselect.criteria.kwok import Kwok
from svmselect.kernels import RBF, Constant, Linear, Polynomial
from svmselect.machine import solve
from svmselect.posterior.moderation import smoothed_curvature
from svmselect.search import get_search
from svmselect.testing.cases import make_case

COMPOSED = Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3)


@pytest.mark.parametrize("eta", [3.0, 100.0])
def test_the_curvature_is_that_of_the_smoothed_hinge(eta: float) -> None:
    h = 1e-4 / eta
    u = np.array([-2.0, -0.7, 0.0, 0.3, 1.1]) / eta

    def loss(v: np.ndarray) -> np.ndarray:
        return np.asarray(v * expit(eta * v))

    r, slope = smoothed_curvature(u, eta)
    second = (loss(u + h) - 2 * loss(u) + loss(u - h)) / h**2
    np.testing.assert_allclose(r, second, rtol=1e-5, atol=1e-5 * eta)
    third = (smoothed_curvature(u + h, eta)[0] - smoothed_curvature(u - h, eta)[0]) / (2 * h)
    np.testing.assert_allclose(slope, third, rtol=1e-6, atol=1e-6 * eta**2)
    np.testing.assert_allclose(smoothed_curvature(-u, eta)[0], r, rtol=1e-12)
    assert smoothed_curvature(np.zeros(1), eta)[0][0] == eta / 2
    sides = smoothed_curvature(np.array([2.39, 2.41]) / eta, eta)[0]
    assert sides[0] > 0 > sides[1]


def by_eigenvalues(
    X: np.ndarray, y: np.ndarray, C: float, kernel: Any, fit_intercept: bool, **o: Any
) -> tuple[float, float]:
    """KW eq. 20 with lambda spelt out and the eigenvalues of the unsymmetric matrix; and gamma."""
    eta = o.get("eta", 100.0)
    K = kernel(X)
    s = solve(K, y, C, "hinge", fit_intercept)
    r = smoothed_curvature(1 - s.margin, eta)[0]
    if o.get("curvature", "clipped") == "clipped":
        r = np.maximum(r, 0)
    rho = np.linalg.eigvals(r[:, None] * K).real
    lam = 1 / C
    value = -lam * s.beta @ K @ s.beta / 2 - np.maximum(1 - s.margin, 0).sum()
    value += (-np.log(lam + rho) + np.log(lam)).sum() / 2
    gamma = (rho / (lam + rho)).sum()
    return value - (np.log(gamma) / 2 if o.get("level", 2) == 3 else 0), gamma


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"level": 3}, {"eta": 4.0}, {"eta": 4.0, "curvature": "literal"}]
)
@pytest.mark.parametrize("C", [0.5, 5.0])
def test_value(C: float, options: dict[str, Any], fit_intercept: bool) -> None:
    X, y = two_classes()
    kernel = RBF(1.0)
    r = score(X, y, "kwok", C=C, kernel=kernel, fit_intercept=fit_intercept, **options)
    value, gamma = by_eigenvalues(X, y, C, kernel, fit_intercept, **options)
    np.testing.assert_allclose(r.value, value, rtol=1e-9)
    np.testing.assert_allclose(r.details["effective_parameters"], gamma, rtol=1e-8)
    np.testing.assert_allclose(r.details["next_C"], 2 * r.details["weight_energy"] / gamma)
    assert r.greater_is_better
    assert r.status.ok


def test_two_points_by_hand() -> None:
    # f = x, both free: E_W = 1/2, no slack, and r = eta/2 for both; K = [[1, -1], [-1, 1]]
    r = score([[-1.0], [1.0]], [-1, 1], "kwok", C=2.0, kernel=Linear(1.0), eta=10.0)
    rho = 2 * 5.0
    np.testing.assert_allclose(r.value, -0.25 - np.log1p(2.0 * rho) / 2, rtol=1e-12)
    np.testing.assert_allclose(r.details["effective_parameters"], rho / (0.5 + rho), rtol=1e-12)


def test_next_C_maximises_the_evidence_of_the_fixed_weights() -> None:
    """KW eq. 9: with E_W, xi and rho held, the derivative by lambda vanishes there."""
    X, y = two_classes()
    K, C = RBF(1.0)(X), 1.0
    s = solve(K, y, C)
    rho = np.linalg.eigvals(np.maximum(smoothed_curvature(1 - s.margin, 100.0)[0], 0)[:, None] * K)
    energy = s.beta @ K @ s.beta / 2
    for _ in range(200):  # gamma is that of the old lambda: iterate to the fixed point
        C = 2 * energy / (rho.real / (1 / C + rho.real)).sum()
    h, lam = 1e-6, 1 / C

    def evidence(t: float) -> float:
        return float(-t * energy + 0.5 * np.log(t / (t + rho.real)).sum())

    slope = (evidence(lam * (1 + h)) - evidence(lam * (1 - h))) / (2 * h)
    assert abs(slope) < 1e-6 * lam * energy


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kernel", [RBF(1.1), RBF([0.9, 1.4]), COMPOSED])
@pytest.mark.parametrize(
    "options", [{}, {"level": 3}, {"eta": 4.0, "level": 3}, {"eta": 4.0, "curvature": "literal"}]
)
def test_gradient(options: dict[str, Any], kernel: Any, fit_intercept: bool) -> None:
    X, y = two_classes(26, seed=1)
    assert_gradient(X, y, "kwok", 1.7, kernel, fit_intercept=fit_intercept, **options)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "regime", ["mixed", "all bounded", "none bounded", "one free", "none free"]
)
def test_gradient_by_regime(regime: str, fit_intercept: bool) -> None:
    p = make_case(regime, "hinge", fit_intercept, COMPOSED)
    rest = {"fit_intercept": fit_intercept, "weights": p.weights, "eta": 8.0}
    assert_gradient(p.X, p.y, "kwok", p.C, COMPOSED, **rest)


def test_where_no_point_is_near_the_margin() -> None:
    """Clipped, level 2: the prior alone. Else minus infinity, as KW section V has it."""
    X, y = two_classes()
    rest: dict[str, Any] = {"C": 1e-3, "kernel": RBF(1.0), "gradient": True}
    r = score(X, y, "kwok", **rest)
    s = solve(RBF(1.0)(X), y, 1e-3)
    np.testing.assert_allclose(r.value, -s.objective / 1e-3, rtol=1e-12)
    assert r.details["effective_parameters"] == 0.0
    assert r.status.ok
    for options in ({"curvature": "literal"}, {"level": 3}):
        r = score(X, y, "kwok", **rest, **options)
        assert r.value == -np.inf
        assert r.gradient is None
        assert r.status.name == "no curvature"
        assert "raise C" in r.status.advice


def test_where_the_literal_log_is_undefined() -> None:
    X, y = two_classes()
    r = score(X, y, "kwok", C=100.0, kernel=RBF(1.0), curvature="literal")
    assert r.value == -np.inf
    assert r.status.name == "undefined"
    assert "clipped" in r.status.advice
    assert np.isfinite(score(X, y, "kwok", C=100.0, kernel=RBF(1.0)).value)


def test_a_negative_number_of_parameters() -> None:
    """Literal r, all of it negative but mild: level 2 has a value, level 3 none."""
    X, y = two_classes()
    rest: dict[str, Any] = {"C": 0.01, "kernel": RBF(1.0), "eta": 4.0, "curvature": "literal"}
    two, three = (score(X, y, "kwok", level=level, **rest) for level in (2, 3))
    assert two.details["effective_parameters"] < 0
    assert np.isfinite(two.value)
    assert three.value == -np.inf
    assert "effective number" in three.status.advice


@pytest.mark.parametrize("curvature", ["clipped", "literal"])
def test_weights_are_copies(curvature: str) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest: dict[str, Any] = {"C": 2.0, "kernel": RBF(1.0), "curvature": curvature, "eta": 8.0}
    rest["gradient"] = True
    one = score(X, y, "kwok", weights=w, **rest)
    two = score(np.repeat(X, w, axis=0), np.repeat(y, w), "kwok", **rest)
    np.testing.assert_allclose(one.value, two.value, rtol=1e-9)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-7)


def test_invariances() -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    assert_invariant(X, y, "kwok", 1.5, *kernels, 4.0)


@pytest.mark.parametrize("curvature", ["clipped", "literal"])
def test_a_nearly_constant_gram_matrix(curvature: str) -> None:
    X, y = unit_columns()
    for C in KK_COSTS:
        r = score(X, y, "kwok", C=C, kernel=RBF(10.0), curvature=curvature, gradient=True)
        assert np.isfinite(r.value) or (r.value == -np.inf and r.status.advice)
        assert r.gradient is None or np.isfinite(r.gradient).all()
        assert curvature == "literal" or np.isfinite(r.value)


def test_options_and_losses() -> None:
    for bad in ({"level": 1}, {"eta": 0.0}, {"curvature": "smooth"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Kwok(**bad)  # type: ignore[arg-type]
    X, y = two_classes()
    with pytest.raises(ValueError, match="hinge with an intercept"):
        score(X, y, "kwok", loss="logistic")


@pytest.mark.filterwarnings("ignore:the result lies:UserWarning")
@pytest.mark.parametrize("level", [2, 3])
def test_kernels_of_different_form_are_compared_by_level_3(level: int) -> None:
    X, y = two_classes(40, shift=1.0, seed=1)
    forms = [RBF(1.0), Polynomial(2)]
    criterion = Kwok(level=level)
    rest = {"start": None, "random_state": 0, "search": get_search("grid", size=4)}
    chosen = select(X, y, criterion, kernel=forms, **rest)
    alone = [select(X, y, criterion, kernel=form, **rest) for form in forms]
    ranks = []
    for one in (chosen, *alone):
        gamma = one.record.evaluation.details["effective_parameters"]
        evidence = one.value - (0.5 * np.log(gamma) if level == 2 else 0.0)  # KW eq. 11
        rank = -(evidence - len(one.kernel.theta)) / len(y)
        assert one.details["rank"] == pytest.approx(rank, rel=1e-12)
        ranks.append(rank)
    assert ranks[0] == pytest.approx(min(ranks[1:]))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_beyond_the_largest_alpha_the_given_C_does_not_matter(fit_intercept: bool) -> None:
    X, y = two_classes(30, shift=2.5, seed=4)
    kernel = RBF([0.8, 1.3]) if X.shape[1] == 2 else RBF(1.1)
    rest = {"kernel": kernel, "fit_intercept": fit_intercept, "gradient": True}
    s = solve(kernel(X), y, 1e6, fit_intercept=fit_intercept)
    top = s.alpha.max()
    assert top < 1e5
    far, near = (score(X, y, "kwok", C=c * top, alpha_max=True, **rest) for c in (50.0, 2.0))
    plain = score(X, y, "kwok", C=top * (1 + 1e-10), **rest)
    assert far.value == pytest.approx(near.value, rel=1e-9)
    assert far.value == pytest.approx(plain.value, rel=1e-6)
    assert far.details["effective_C"] == pytest.approx(top)
    assert far.gradient[0] == 0.0
    assert far.value != pytest.approx(score(X, y, "kwok", C=50.0 * top, **rest).value, rel=1e-3)
    h = 1e-5
    for axis in range(len(kernel.theta)):
        step = h * np.eye(len(kernel.theta))[axis]
        ends = [
            score(
                X, y, "kwok", C=50.0 * top, alpha_max=True, kernel=kernel.at(kernel.theta + d),
                fit_intercept=fit_intercept,
            ).value
            for d in (step, -step)
        ]  # fmt: skip
        assert far.gradient[1 + axis] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5)
    # with a vector at its bound nothing changes
    low = {"C": 0.2 * top, **rest}
    with_rule = score(X, y, "kwok", alpha_max=True, **low)
    np.testing.assert_array_equal(with_rule.gradient, score(X, y, "kwok", **low).gradient)
