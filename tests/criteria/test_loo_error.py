"""The leave-one-out error: equal to n trainings, with hardly any of them done."""

from __future__ import annotations

import numpy as np
import pytest

from criteria.resampled_cases import MACHINES, cloud
from svmselect import score
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.machine import removal, removal_logistic, solve
from svmselect.machine.losses import get_loss
from svmselect.testing import REGIMES, make_case


def brute(
    K: np.ndarray,
    y: np.ndarray,
    C: float,
    loss: str,
    intercept: bool,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Errors of n machines, each trained from nothing on a sub-matrix or with one copy less."""
    n = len(y)
    w = np.ones(n) if weights is None else weights
    errors = np.zeros(n)
    for i in np.flatnonzero(w):
        less = w.copy()
        less[i] -= min(w[i], 1.0)
        kept = np.flatnonzero(less)
        s = solve(K[np.ix_(kept, kept)], y[kept], C, loss, intercept, less[kept])
        z = y[i] * (K[i, kept] @ s.beta + s.intercept)
        errors[i] = 1.0 if z < 0 else 0.0
    return errors


def check(
    X: np.ndarray,
    y: np.ndarray,
    C: float,
    kernel: Kernel,
    loss: str,
    intercept: bool,
    weights: np.ndarray | None = None,
) -> dict:
    rest = {"C": C, "kernel": kernel, "loss": loss, "fit_intercept": intercept}
    r = score(X, y, "loo-error", weights=weights, **rest)
    expected = brute(kernel(X), y, C, loss, intercept, weights)
    np.testing.assert_array_equal(r.details["errors"], expected)
    w = np.ones(len(y)) if weights is None else weights
    assert r.value == pytest.approx(w @ expected / w.sum())
    counted = sum(r.details[key] for key in ("skipped", "updated", "retrained"))
    assert counted == np.count_nonzero(w)
    return dict(r.details)


@pytest.mark.parametrize("C", [0.02, 0.3, 3.0, 100.0])
@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_equals_retraining(loss: str, intercept: bool, C: float) -> None:
    X, y = cloud(34, shift=0.4)
    details = check(X, y, C, Constant(1.5) * RBF(1.2), loss, intercept)
    assert details["errors"].any()
    # near a hard margin the logistic curvature changes too much for steps with the old one
    assert details["retrained"] <= (4 if loss == "logistic" and C > 10 else 0)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_equals_retraining_in_every_regime(loss: str, intercept: bool, regime: str) -> None:
    p = make_case(regime, loss, intercept)
    check(p.X, p.y, p.C, p.kernel, loss, intercept, p.weights)


@pytest.mark.parametrize("seed", range(4))
def test_equals_retraining_where_no_vector_is_free(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(30) < 15, 1.0, -1.0)
    X = rng.normal(size=(30, 2)) + 0.7 * y[:, None]
    X[:4] += 3.0 * y[:4, None]  # some need no alpha
    s = solve(RBF(3.0)(X), y, 0.01)
    assert not len(s.free)
    assert len(s.ends) == 2
    check(X, y, 0.01, RBF(3.0), "hinge", True)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_a_copy_is_left_out_not_the_row(loss: str, intercept: bool) -> None:
    X, y = cloud(24, shift=0.4)
    weights = (np.arange(24) % 4).astype(float)
    check(X, y, 1.0, RBF(1.0), loss, intercept, weights)
    index = np.repeat(np.arange(24), weights.astype(int))
    rest = {"kernel": RBF(1.0), "loss": loss, "fit_intercept": intercept}
    spelt = score(X[index], y[index], "loo-error", **rest)
    weighted = score(X, y, "loo-error", weights=weights, **rest)
    assert weighted.value == pytest.approx(spelt.value, abs=1e-12)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_fractional_weights(loss: str, intercept: bool) -> None:
    X, y = cloud(24, shift=0.4)
    weights = np.random.default_rng(0).uniform(0.2, 1.8, 24)
    check(X, y, 1.0, RBF(1.0), loss, intercept, weights)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_duplicated_rows(loss: str, intercept: bool) -> None:
    X, y = cloud(30, shift=0.4)
    check(np.round(X[:, :2]), y, 5.0, RBF(1.0), loss, intercept)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_what_does_not_settle_is_retrained(
    loss: str, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "_ROUNDS", 1)
    monkeypatch.setattr(removal_logistic, "_STEPS", 1)
    X, y = cloud(30, shift=0.4)
    details = check(X, y, 30.0, RBF(1.5), loss, intercept)
    assert details["retrained"] > 0


def test_what_cannot_change_is_skipped() -> None:
    X, y = cloud(40, shift=0.5)
    s = solve(RBF(1.5)(X), y, 3.0)
    certain = (s.alpha == 0) | (s.margin < 0)
    details = score(X, y, "loo-error", C=3.0, kernel=RBF(1.5)).details
    assert details["skipped"] == certain.sum() > 10
    without = score(X, y, "loo-error", C=0.1, kernel=RBF(1.5), fit_intercept=False).details
    s = solve(RBF(1.5)(X), y, 0.1, fit_intercept=False)
    safe = s.margin > s.alpha  # K_ii = 1: Jaakkola and Haussler's bound
    assert (safe & (s.alpha > 0)).any()
    assert without["skipped"] == (safe | (s.margin < 0)).sum()


def test_a_class_of_one_is_refused() -> None:
    X, y = cloud(20)
    y[:] = -1.0
    y[3] = 1.0
    with pytest.raises(ValueError, match="one member only"):
        score(X, y, "loo-error")
    weights = np.ones(20)
    weights[3] = 2.0
    assert np.isfinite(score(X, y, "loo-error", weights=weights).value)


def test_no_gradient_and_it_says_why() -> None:
    X, y = cloud(20)
    r = score(X, y, "loo-error", gradient=True)
    assert r.gradient is None
    assert "step" in r.details["gradient"]


@pytest.mark.parametrize("C", [0.05, 1.0, 30.0])
@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_the_left_out_loss_is_that_of_n_trainings(loss: str, intercept: bool, C: float) -> None:
    """V_0 of Wahba, Lin & Zhang, eq. 19: every point's loss by the machine that never saw it."""
    X, y = cloud(26, shift=0.4)
    kernel = Constant(1.5) * RBF(1.2)
    K, w = kernel(X), np.ones(26)
    w[:3] = 2.0  # of copies one is left out
    losses = np.zeros(26)
    for i in range(26):
        less = w.copy()
        less[i] -= 1.0
        s = solve(K, y, C, loss, intercept, less)
        z = y[i] * s.decision[i]
        losses[i] = get_loss(loss).value(np.array([z]))[0]
    rest = {"C": C, "kernel": kernel, "loss": loss, "fit_intercept": intercept, "weights": w}
    r = score(X, y, "loo-error", measure="loss", **rest)
    np.testing.assert_allclose(r.details["losses"], losses, rtol=1e-6, atol=1e-8)
    assert r.value == pytest.approx(w @ losses / w.sum(), rel=1e-7)
    counted = sum(r.details[key] for key in ("skipped", "updated", "retrained"))
    assert counted == 26
    if loss != "logistic":
        assert r.details["retrained"] <= 3


def test_measure_is_checked() -> None:
    X, y = cloud(20)
    with pytest.raises(ValueError, match="measure='likelihood' is not one of 'error', 'loss'"):
        score(X, y, "loo-error", measure="likelihood")
