"""The counts beside Joachims' own: any loss, Jaakkola & Haussler's, and support vectors."""

from __future__ import annotations

import numpy as np
import pytest

from criteria.machine_cases import two_classes, without
from svmselect import score
from svmselect.kernels import RBF, Constant
from svmselect.machine import solve

BOTH = pytest.mark.parametrize("fit_intercept", [True, False])


@BOTH
@pytest.mark.parametrize("C", [0.05, 0.5, 5.0, 50.0])
def test_logistic_bounds_the_leave_one_out_error(fit_intercept: bool, C: float) -> None:
    """Every point that its own machine gets wrong is counted, on many small sets."""
    tight = 0
    for seed in range(6):
        X, y = two_classes(24, shift=(0.3, 1.0)[seed % 2], seed=seed)
        K = RBF(1.0)(X)
        s = solve(K, y, C, "logistic", fit_intercept)
        wrong = {p for p in range(len(y)) if y[p] * without(K, s, p).decision[p] <= 0}
        rest = {"C": C, "kernel": RBF(1.0), "loss": "logistic", "fit_intercept": fit_intercept}
        r = score(X, y, "xi-alpha", **rest)
        suspects = set(r.details["suspects"].tolist())
        assert wrong <= suspects
        tight += len(suspects) < len(y)
        if not fit_intercept:
            assert wrong <= set(score(X, y, "xi-alpha", rho=1.0, **rest).details["suspects"])
    assert tight or C in (0.05, 50.0)


def test_logistic_by_its_formula() -> None:
    X, y = two_classes(40, shift=1.0, seed=3)
    kernel = 0.4 * RBF(1.0)
    for fit_intercept in (True, False):
        s = solve(kernel(X), y, 2.0, "logistic", fit_intercept)
        V = s.alpha * (1.0 - s.alpha / 2.0)
        extra = 0.5 / (V.sum() - V) if fit_intercept else 0.0
        expected = np.mean(s.margin <= 2.0 * s.alpha * (0.4 + extra))
        rest = {"C": 2.0, "kernel": kernel, "loss": "logistic", "fit_intercept": fit_intercept}
        assert 0 < expected < 1
        assert score(X, y, "xi-alpha", **rest).value == pytest.approx(expected)
        printed = score(X, y, "xi-alpha", variant="kk", **rest).value
        assert printed == pytest.approx(np.mean(2.0 * s.alpha * 0.4 >= 1.0))


def test_without_the_intercepts_part_the_logistic_count_is_no_bound() -> None:
    """Hardly any curvature along the intercept: leaving one out moves it far."""
    missed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(8) < 4, 1.0, -1.0)
        X = rng.normal(size=(8, 1))
        kernel = 1e-3 * RBF(1.0)
        s = solve(kernel(X), y, 1.0, "logistic", True)
        wrong = [y[p] * without(kernel(X), s, p).decision[p] <= 0 for p in range(8)]
        plain = s.margin <= 2.0 * s.alpha * 1e-3
        missed += bool(np.any(wrong & ~plain))
        r = score(X, y, "xi-alpha", C=1.0, kernel=kernel, loss="logistic")
        assert set(np.flatnonzero(wrong)) <= set(r.details["suspects"])
    assert missed


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("C", [0.3, 3.0])
def test_jaakkola_haussler_is_a_bound_without_an_intercept(loss: str, C: float) -> None:
    X, y = two_classes(24, shift=1.0, seed=1)
    kernel = RBF(1.0) + Constant(0.3)
    K = kernel(X)
    s = solve(K, y, C, loss, False)
    wrong = {p for p in range(len(y)) if y[p] * without(K, s, p).decision[p] <= 0}
    rest = {"C": C, "kernel": kernel, "loss": loss, "fit_intercept": False}
    r = score(X, y, "xi-alpha", variant="jaakkola-haussler", **rest)
    by_hand = np.flatnonzero((s.alpha > 0) & (s.margin <= s.alpha * K.diagonal() + 1e-9))
    assert list(r.details["suspects"]) == list(by_hand)
    assert wrong <= set(by_hand)
    assert r.value <= score(X, y, "xi-alpha", **rest).value  # tighter than Joachims' 2 R^2
    with pytest.raises(ValueError, match="without an intercept"):
        score(X, y, "xi-alpha", variant="jaakkola-haussler")


@BOTH
def test_training_error_plus_support_vectors(fit_intercept: bool) -> None:
    X, y = two_classes(40, shift=1.0, seed=2)
    s = solve(RBF(1.0)(X), y, 2.0, fit_intercept=fit_intercept)
    rest = {"C": 2.0, "kernel": RBF(1.0), "fit_intercept": fit_intercept}
    r = score(X, y, "xi-alpha", variant="support-vectors", **rest)
    assert r.value == pytest.approx(np.mean(s.alpha > 0) + np.mean(s.margin < 0))
    assert r.value >= score(X, y, "loo-error", **rest).value
    assert np.mean(s.margin < 0) > 0
