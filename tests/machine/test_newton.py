"""Newton's method by itself, for the losses with a curvature."""

from __future__ import annotations

import numpy as np
import pytest

from machine.problems import cloud, leave_to_python, regimes
from svmselect.kernels import RBF
from svmselect.machine import newton as module
from svmselect.machine import solve
from svmselect.machine.losses import get_loss
from svmselect.machine.newton import _newton_point, newton

X, Y = cloud(40, seed=40)
K = RBF(1.0)(X)
LOSSES = ("squared_hinge", "logistic")


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_vanishes_from_any_start(name: str, fit_intercept: bool) -> None:
    loss = get_loss(name)
    rng = np.random.default_rng(0)
    cost = 3.0 * rng.exponential(size=40)
    answers = []
    for beta, b in ((np.zeros(40), 0.0), (rng.normal(size=40), 2.0), (100.0 * Y, -50.0)):
        beta, b, f, status = newton(K, Y, cost, loss, fit_intercept, beta, b * fit_intercept)
        assert status.ok
        np.testing.assert_allclose(f, K @ beta + b, atol=1e-12)
        # d/df: beta = y C w slope(y f); d/db: their sum
        np.testing.assert_allclose(beta, Y * cost * loss.slope(Y * f), atol=1e-10)
        assert fit_intercept or b == 0.0
        assert not fit_intercept or abs(beta.sum()) < 1e-11
        answers.append(f)
    np.testing.assert_allclose(answers[1], answers[0], atol=1e-10)
    np.testing.assert_allclose(answers[2], answers[0], atol=1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_points_without_cost_are_not_trained_on(name: str) -> None:
    loss = get_loss(name)
    cost = np.where(np.arange(40) < 10, 0.0, 2.0)
    beta, b, f, status = newton(K, Y, cost, loss, True, np.ones(40), 0.0)
    inner, b2, _, _ = newton(K[10:, 10:], Y[10:], cost[10:], loss, True, np.zeros(30), 0.0)
    assert status.ok
    assert np.all(beta[:10] == 0)
    np.testing.assert_allclose(beta[10:], inner, atol=1e-10)
    assert b == pytest.approx(b2, abs=1e-10)
    np.testing.assert_allclose(f, K @ beta + b, atol=1e-12)


def test_using_all_steps_ends_in_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_STEPS", 2)
    leave_to_python(monkeypatch)
    s = solve(K, Y, 1e4, "logistic")
    assert s.status.name == "max-iterations"
    assert "lower C" in s.status.advice
    assert s.gap > 1e-9
    assert np.all(np.isfinite(s.decision))


@pytest.mark.parametrize("name", regimes(4))
def test_both_ways_to_the_squared_hinge_agree(name: str) -> None:
    G, y = regimes(30, seed=7)[name]
    loss = get_loss("squared_hinge")
    for fit_intercept in (True, False):
        for C in (1e-2, 1.0, 100.0):
            beta, b, f, _ = newton(G, y, np.full(30, C), loss, fit_intercept, np.zeros(30), 0.0)
            s = solve(G, y, C, "squared_hinge", fit_intercept)
            value = beta @ (f - b) / 2 + C * loss.value(y * f).sum()
            assert value == pytest.approx(s.objective, rel=1e-7), (fit_intercept, C)


def test_a_numerically_singular_system_is_lifted() -> None:
    # C K exceeds 1 / eps and rounding makes the matrix indefinite: an end, and finite numbers
    X, y = cloud(30, seed=41)
    G = (1e4 * X) @ (1e4 * X).T
    loss = get_loss("logistic")
    beta, b, f, _ = newton(G, y, np.full(30, 1e10), loss, False, np.zeros(30), 0.0)
    assert np.all(np.isfinite(beta))
    assert np.all(np.isfinite(f))
    value = beta @ (f - b) / 2 + 1e10 * loss.value(y * f).sum()
    assert value < 1e10 * 30 * np.log(2.0)  # no worse than nothing


def test_a_direction_that_leads_uphill_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    # what a badly rounded system may give: the objective must not rise with it
    loss, cost = get_loss("squared_hinge"), np.full(40, 3.0)

    def objective(beta: np.ndarray, b: float) -> float:
        f = K @ beta + b
        return float(0.5 * beta @ K @ beta + cost @ loss.value(Y * f))

    point = module._newton_point

    def misled(*arguments: object) -> object:
        target, b, system = point(*arguments)
        return -1e3 * target, b, system

    start = newton(K, Y, cost, loss, True, np.zeros(40), 0.0)[0]
    monkeypatch.setattr(module, "_newton_point", misled)
    beta, b, _, _ = newton(K, Y, cost, loss, True, 0.9 * start, 0.0)
    assert objective(beta, b) <= objective(0.9 * start, 0.0) * (1.0 + 1e-9)


@pytest.mark.parametrize("broken", [np.inf, -np.inf])
def test_entries_that_are_not_finite_end_it(broken: float) -> None:
    bad = K.copy()
    bad[3, 5] = bad[5, 3] = broken
    arguments = (Y, np.ones(40), get_loss("logistic"), True, np.zeros(40))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="not finite"):
        _newton_point(bad, *arguments)
